internal import CofferSecretFormats
package import CofferCore
internal import Glibc

/// Points in time on the command line.
package enum Moment {
    /// Whether a time without a date is in the future or in the past.
    package enum Direction: String {
        case fromNow = "from now"
        case ago
    }

    /// Reads `2027-01-31` or `2027-01-31T12:00:00` in the user's time zone, the same with `Z` in UTC, `today`, `tomorrow`, or
    /// a time relative to now, such as `30d` or `1y`.
    ///
    /// - Returns: Milliseconds since 1970. A date without a time is the last second of that day for a time from now, and its
    ///   midnight for a time ago: an interval between both contains the whole day.
    /// - Throws: `param` for anything else.
    package static func milliseconds(
        _ text: String,
        of option: String,
        _ direction: Direction = .fromNow
    ) throws(CofferError) -> Int64 {
        if let seconds = seconds(text) { return now + (direction == .ago ? -seconds : seconds) * 1000 }
        if let seconds = years(text, direction) ?? day(text, direction) ?? date(text, direction) {
            return seconds * 1000
        }
        throw CofferError(
            .param,
            "\(option) \(quotedForDisplay(text)): expected a date or a time \(direction.rawValue)",
            hint: "such as 2027-01-31, 2027-01-31T12:00:00, today, tomorrow, 90m, 12h, 30d, 4w or 1y"
        )
    }

    /// Reads the end of an interval that contains the time itself.
    package static func end(_ text: String, of option: String) throws(CofferError) -> Int64 {
        try milliseconds(text, of: option) + 1
    }

    /// Reads `1y`: the same day and time of another year.
    private static func years(_ text: String, _ direction: Direction) -> Int64? {
        guard text.last == "y", let count = Int32(text.dropLast()), (0...999).contains(count) else { return nil }
        var fields = unsafe localFields()
        unsafe fields.tm_year += direction == .ago ? -count : count
        return Int64(unsafe mktime(&fields))
    }

    /// Reads `today` or `tomorrow`.
    private static func day(_ text: String, _ direction: Direction) -> Int64? {
        guard let offset = ["today": 0, "tomorrow": 1][text] as Int32? else { return nil }
        var fields = unsafe localFields()
        unsafe fields.tm_mday += offset
        return unsafe bound(of: fields, direction)
    }

    /// The midnight at which a day begins in the user's zone, or its last second.
    ///
    /// Where the clock is changed at midnight, a time that does not exist is moved to the nearest one.
    private static func bound(of day: tm, _ direction: Direction) -> Int64 {
        var fields = unsafe day
        unsafe (fields.tm_hour, fields.tm_min, fields.tm_sec) = direction == .ago ? (0, 0, 0) : (23, 59, 59)
        unsafe fields.tm_isdst = -1
        return Int64(unsafe mktime(&fields))
    }

    private static func date(_ text: String, _ direction: Direction) -> Int64? {
        let form = /([0-9]{4})-([0-9]{2})-([0-9]{2})(?:T([0-9]{2}):([0-9]{2}):([0-9]{2})(Z)?)?/
        guard let match = text.wholeMatch(of: form) else { return nil }
        let parts = [match.1, match.2, match.3, match.4 ?? "0", match.5 ?? "0", match.6 ?? "0"].compactMap { Int32($0) }
        guard match.4 == nil else { return GregorianTime.secondsSince1970(parts, inUTC: match.7 != nil) }
        // In UTC each day has a midnight.
        guard GregorianTime.secondsSince1970(parts, inUTC: true) != nil else { return nil }
        var day = unsafe tm()
        unsafe (day.tm_year, day.tm_mon, day.tm_mday) = (parts[0] - 1900, parts[1] - 1, parts[2])
        return unsafe bound(of: day, direction)
    }

    /// The time in the user's zone; whether it is summer time is left to be found.
    private static func localFields() -> tm {
        var seconds = time(nil)
        var fields = unsafe tm()
        unsafe localtime_r(&seconds, &fields)
        unsafe fields.tm_isdst = -1
        return unsafe fields
    }

    /// The time of the wall clock, in milliseconds since 1970.
    package static var now: Int64 { Int64(time(nil)) * 1000 }

    /// Reads a duration such as `90s`, `10m`, `2h`, `30d` or `4w`.
    ///
    /// - Returns: Seconds; `nil` for anything else.
    package static func seconds(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
            (0...99_999).contains(count)
        else { return nil }
        return count * unit
    }
}
