internal import CofferCore

/// What the trash keeps, and for how long.
package struct TrashPolicy: Sendable {
    /// The days that an entry stays; 0 for no trash.
    package var days: Int
    /// The space for one access group, in bytes.
    package var byteCount: Int64

    package init(days: Int = Limits.defaultTrashDays, byteCount: Int64 = Limits.defaultTrashBytes) {
        self.days = days
        self.byteCount = byteCount
    }

    /// Whether there is a trash.
    package var isOn: Bool { days > 0 }

    /// How long an entry stays, in milliseconds.
    package var lifetime: Int64 { Int64(days) * 86_400_000 }
}
