/// A duration for people, rounded up, in the largest unit that fits.
///
/// - Parameter seconds: The duration; at least 0.
/// - Returns: Such as `45 s`, `5 min`, `3 h`, `2 d`.
public func durationForDisplay(seconds: Int) -> String {
    let units = [(24 * 60 * 60, "d"), (60 * 60, "h"), (60, "min")]
    for (length, unit) in units where seconds >= length {
        return "\((seconds - 1) / length + 1) \(unit)"
    }
    return "\(seconds) s"
}
