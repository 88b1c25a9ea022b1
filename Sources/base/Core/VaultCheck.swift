/// The parameters of a store's check of itself.
package struct CheckOrder: Sendable {
    /// The access groups whose names may be reported.
    package let groups: AccessGroups
    /// Whether to repair.
    package let repairs: Bool
    /// Milliseconds since 1970.
    package let now: Int64
    /// The maximum number of rows to check.
    package let limit: Int

    package init(groups: AccessGroups, repairs: Bool, now: Int64, limit: Int = Limits.queryBatch) {
        self.groups = groups
        self.repairs = repairs
        self.now = now
        self.limit = limit
    }
}

/// The result of checking some rows of a store.
package struct CheckSlice<Place: Sendable>: Sendable {
    /// The number of rows checked.
    package var checkedCount = 0
    /// The number of these rows whose secret could not be checked.
    package var sealedCount = 0
    /// The number of rows moved to quarantine.
    package var quarantinedCount = 0
    /// The sizes of these rows' contents whose key is available.
    package var byteCount: Int64 = 0
    /// The damage found.
    package var findings: [Finding] = []
    /// Where to continue; `nil` at the end.
    package var next: Place?

    package init() {}
}
