package import CofferCore
internal import CofferKeychain

/// The expiry dates of items, followed for clients that are to be notified when one has passed.
///
/// Dates are sealed, so all items are searched for the next one: at the beginning, and whenever it has passed. Those of
/// items that are stored meanwhile are noted. It reads no clock: callers pass the time, in milliseconds since 1970.
package final class ExpiryWatch {
    package private(set) weak var catalog: Catalog?
    /// Before this time, all dates were reported, or passed before the watch began.
    private var reportedEnd: Int64
    /// The earliest later date that the last search has found: `.min` before the first search, `.max` for none.
    private var found = Int64.min
    /// The earliest later date that was stored since the last search began.
    private var stored = Int64.max
    private var isSearching = false
    private var expired: [ItemChange] = []

    /// Follows the dates of a catalog.
    package init(of catalog: Catalog, at now: Int64) {
        self.catalog = catalog
        reportedEnd = now
        catalog.keychain.noteExpiry = { [weak self] date in self?.note(date) }
    }

    private var next: Int64 { min(found, stored) }

    /// Whether an item may have expired, or none was searched for.
    package func isDue(at now: Int64) -> Bool { !isSearching && next < now }

    /// The milliseconds until that; `nil` if it is due, or no item expires.
    package func wait(at now: Int64) -> Int64? {
        guard !isSearching, next >= now, next < .max else { return nil }
        return next - now + 1
    }

    /// Notes the date of an item that was stored; one that was reported before is not reported again.
    private func note(_ date: Int64) {
        if date >= reportedEnd { stored = min(stored, date) }
    }

    /// Begins a search.
    ///
    /// - Returns: The dates that are reported then.
    package func beginSearch(at now: Int64) -> Range<Int64> {
        isSearching = true
        stored = .max
        return min(reportedEnd, now)..<now
    }

    /// Ends a search.
    ///
    /// - Parameters:
    ///   - end: The time at which it was begun.
    ///   - items: The items that have expired before.
    ///   - date: The earliest date from then on; `.max` for none.
    package func endSearch(at end: Int64, _ items: [ItemChange], next date: Int64) {
        isSearching = false
        (reportedEnd, found) = (end, date)
        expired += items
    }

    /// Ends a search that has failed: another one begins later.
    package func giveUp(until retry: Int64) {
        isSearching = false
        found = retry
    }

    /// Takes out the items of which clients have to be notified.
    package func takeExpired() -> [ItemChange] {
        defer { expired = [] }
        return expired
    }
}
