/// Points in time as other programs write them, in milliseconds since 1970.
package enum ExchangeDate {
    private static let dayMilliseconds: Int64 = 86_400_000

    /// Reads `2024-05-06T07:08:09.123Z`, also with a space in place of the `T`, without what follows the seconds, or a date alone.
    ///
    /// - Returns: `nil` for anything else.
    package static func milliseconds(iso text: String) -> Int64? {
        let form =
            /([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:Z|\+00:00)?)?/
        guard let match = text.wholeMatch(of: form) else { return nil }
        let parts = [match.1, match.2, match.3, match.4 ?? "0", match.5 ?? "0", match.6 ?? "0"].compactMap { Int64($0) }
        guard parts.count == 6, (1...12).contains(parts[1]), (1...31).contains(parts[2]), parts[3] < 24, parts[4] < 60,
            parts[5] < 61
        else { return nil }
        let seconds = days(parts[0], parts[1], parts[2]) * 86_400 + parts[3] * 3600 + parts[4] * 60 + parts[5]
        return seconds * 1000
    }

    /// Writes `2024-05-06T07:08:09.000Z`.
    package static func iso(_ milliseconds: Int64) -> String {
        let day = milliseconds.floored(by: dayMilliseconds)
        let rest = milliseconds - day * dayMilliseconds
        let (year, month, date) = civil(day)
        func digits(_ number: Int64, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        let clock = [rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60].map { digits($0, 2) }
        return
            "\(digits(year, 4))-\(digits(month, 2))-\(digits(date, 2))T\(clock.joined(separator: ":")).\(digits(rest % 1000, 3))Z"
    }

    /// The days from 1970-01-01 to a day of the Gregorian calendar.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        // Years begin in March, so that the leap day is the last one.
        let year = month > 2 ? year : year - 1
        let era = year.floored(by: 400)
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let day = day + 719_468
        let era = day.floored(by: 146_097)
        let dayOfEra = day - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let isLate = month >= 10
        return (
            yearOfEra + era * 400 + (isLate ? 1 : 0), isLate ? month - 9 : month + 3,
            dayOfYear - (153 * month + 2) / 5 + 1
        )
    }
}

extension Int64 {
    fileprivate func floored(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
