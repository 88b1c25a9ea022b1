internal import Glibc

/// Times of the Gregorian calendar.
package enum GregorianTime {
    /// Reads 14 digits, `20270131120000`, of the Gregorian calendar in UTC.
    ///
    /// - Returns: Seconds since 1970; `nil` where there is no such day or time.
    static func secondsInUTC(_ digits: String) -> Int64? {
        guard let match = digits.wholeMatch(of: /([0-9]{4})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})/) else {
            return nil
        }
        let parts = [match.1, match.2, match.3, match.4, match.5, match.6].compactMap { Int32($0) }
        return secondsSince1970(parts, inUTC: true)
    }

    /// - Returns: `nil` where there is no such day or time.
    package static func secondsSince1970(_ parts: [Int32], inUTC: Bool) -> Int64? {
        var fields = unsafe tm()
        unsafe fields.tm_year = parts[0] - 1900
        unsafe fields.tm_mon = parts[1] - 1
        unsafe fields.tm_mday = parts[2]
        unsafe fields.tm_hour = parts[3]
        unsafe fields.tm_min = parts[4]
        unsafe fields.tm_sec = parts[5]
        unsafe fields.tm_isdst = -1
        let seconds = unsafe inUTC ? timegm(&fields) : mktime(&fields)
        // Both normalise a time that does not exist.
        let found = unsafe [
            fields.tm_year + 1900, fields.tm_mon + 1, fields.tm_mday, fields.tm_hour, fields.tm_min, fields.tm_sec,
        ]
        return found == parts ? Int64(seconds) : nil
    }
}
