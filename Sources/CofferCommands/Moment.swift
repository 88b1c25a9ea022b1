internal import CofferCore
internal import Glibc

/// Points in time on the command line.
enum Moment {
    /// Whether a time without a date is in the future or in the past.
    enum Direction: String {
        case fromNow = "from now"
        case ago
    }

    /// Reads `2027-01-31`, `2027-01-31T12:00:00Z`, or a time relative to now, such as `30d`.
    ///
    /// - Returns: Milliseconds since 1970; a date without a time is midnight, UTC.
    /// - Throws: `param` for anything else.
    static func milliseconds(
        _ text: String,
        of option: String,
        _ direction: Direction = .fromNow
    ) throws(CofferError) -> Int64 {
        if let seconds = seconds(text) { return now + (direction == .ago ? -seconds : seconds) * 1000 }
        let form = /([0-9]{4})-([0-9]{2})-([0-9]{2})(?:T([0-9]{2}):([0-9]{2}):([0-9]{2})Z)?/
        if let match = text.wholeMatch(of: form) {
            let parts = [match.1, match.2, match.3, match.4 ?? "0", match.5 ?? "0", match.6 ?? "0"].compactMap {
                Int32($0)
            }
            if let seconds = secondsSince1970(parts) { return seconds * 1000 }
        }
        throw CofferError(
            .param,
            "\(option) \(quotedForDisplay(text)): expected a date or a time \(direction.rawValue)",
            hint: "such as 2027-01-31, 2027-01-31T12:00:00Z, 90m, 12h, 30d or 4w"
        )
    }

    /// The time of the wall clock, in milliseconds since 1970.
    private static var now: Int64 { Int64(time(nil)) * 1000 }

    /// Reads a duration such as `90s`, `10m`, `2h`, `30d` or `4w`.
    ///
    /// - Returns: Seconds; `nil` for anything else.
    static func seconds(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
            (0...99_999).contains(count)
        else { return nil }
        return count * unit
    }

    /// - Returns: `nil` where there is no such day or time.
    private static func secondsSince1970(_ parts: [Int32]) -> Int64? {
        var fields = unsafe tm()
        unsafe fields.tm_year = parts[0] - 1900
        unsafe fields.tm_mon = parts[1] - 1
        unsafe fields.tm_mday = parts[2]
        unsafe fields.tm_hour = parts[3]
        unsafe fields.tm_min = parts[4]
        unsafe fields.tm_sec = parts[5]
        let seconds = unsafe timegm(&fields)
        // `timegm` normalises a time that does not exist.
        let found = unsafe [
            fields.tm_year + 1900, fields.tm_mon + 1, fields.tm_mday, fields.tm_hour, fields.tm_min, fields.tm_sec,
        ]
        return found == parts ? Int64(seconds) : nil
    }
}
