/// After how long without a use of a protected key the vault is locked.
package struct IdleLock: Equatable, Sendable {
    /// `nil` for never.
    package let seconds: Int?
    /// Whether nothing is configured, and the machine has no seat at which a session could be locked.
    package let isDefault: Bool

    /// - Parameters:
    ///   - configured: The setting; 0 for never, `nil` if there is none.
    ///   - hasSeat: Whether the machine has a seat with a screen.
    package init(configured: Int?, hasSeat: @autoclosure () -> Bool) {
        isDefault = configured == nil && !hasSeat()
        seconds = isDefault ? Limits.defaultIdleLockSeconds : configured == 0 ? nil : configured
    }
}
