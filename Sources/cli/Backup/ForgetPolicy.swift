internal import Glibc

/// Which snapshots are kept; each number counts the newest snapshots of so many days, weeks, months or years.
package struct ForgetPolicy: Equatable, Sendable {
    package var last = 0
    package var daily = 0
    package var weekly = 0
    package var monthly = 0
    package var yearly = 0

    package init() {}

    /// Whether it says nothing about what is kept.
    package var isEmpty: Bool { self == ForgetPolicy() }

    /// The snapshots that are kept; the newest always is.
    ///
    /// - Parameter dates: The dates of the snapshots in milliseconds since 1970, the oldest first.
    /// - Returns: Their indices.
    package func kept(of dates: [Int64]) -> Set<Int> {
        var kept: Set<Int> = Set(dates.indices.suffix(max(1, last)))
        let days = dates.map(fields)
        for (count, period) in [
            (daily, days.map { $0.year * 1000 + $0.day }), (weekly, days.map(\.week)),
            (monthly, days.map { $0.year * 100 + $0.month }), (yearly, days.map(\.year)),
        ] { keepLast(count, period, in: &kept) }
        return kept
    }

    /// Keeps the newest snapshot of each of the last periods that have one.
    private func keepLast(_ count: Int, _ periods: [Int], in kept: inout Set<Int>) {
        var seen: Set<Int> = []
        for index in periods.indices.reversed() where !seen.contains(periods[index]) {
            if seen.count == count { return }
            seen.insert(periods[index])
            kept.insert(index)
        }
    }

    /// The day of a date in local time; weeks begin on Monday, and are counted from one of them.
    private func fields(_ milliseconds: Int64) -> (year: Int, month: Int, day: Int, week: Int) {
        var seconds = time_t(milliseconds / 1000)
        var fields = unsafe tm()
        unsafe localtime_r(&seconds, &fields)
        let local = unsafe Int(seconds) + fields.tm_gmtoff
        let dayNumber = local >= 0 ? local / 86400 : (local - 86399) / 86400
        // 1970-01-01 was a Thursday.
        return unsafe (Int(fields.tm_year), Int(fields.tm_mon), Int(fields.tm_yday), (dayNumber + 3) / 7)
    }
}
