/// A time to wait, in words for people: rounded up, never more exact than a minute from one minute on.
///
/// - Parameter seconds: The time; less than one counts as one.
/// - Returns: Words such as `45 s`, `5 min`, `3 h` or `2 h 10 min`.
public func delayForDisplay(seconds: Int) -> String {
    guard seconds >= 60 else { return "\(max(1, seconds)) s" }
    let minutes = seconds / 60 + (seconds % 60 == 0 ? 0 : 1)
    let (hours, rest) = minutes.quotientAndRemainder(dividingBy: 60)
    switch (hours, rest) {
    case (0, _): return "\(rest) min"
    case (_, 0): return "\(hours) h"
    default: return "\(hours) h \(rest) min"
    }
}
