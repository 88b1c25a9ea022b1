internal import CofferCore
internal import CofferDatabase
internal import CofferPast

// Items that want a passcode: those of ``Accessibility/whenPasscodeSetThisDeviceOnly``.

extension KeychainStore {
    /// The number of items with ``Accessibility/whenPasscodeSetThisDeviceOnly``.
    package func countWantingPasscode() throws -> Int {
        try connection.row("SELECT count(*) FROM keychain_items WHERE class_key = 22") { Int(try $0.integer(0)) } ?? 0
    }

    /// Removes the items with ``Accessibility/whenPasscodeSetThisDeviceOnly``, whose key was destroyed with the passcode,
    /// from the keychain, its quarantine and the past.
    package func removeWantingPasscode() throws {
        try connection.transaction {
            // This scans all tags.
            if try countWantingPasscode() > 0 {
                try connection.execute(
                    """
                    DELETE FROM keychain_tags WHERE item IN (SELECT id FROM keychain_items WHERE class_key = 22)
                    """
                )
            }
            try connection.execute("DELETE FROM keychain_items WHERE class_key = 22")
            try connection.execute("DELETE FROM keychain_quarantine WHERE class_key = 22")
            try past.removeWantingPasscode()
        }
    }
}

extension Accessibility {
    /// Whether its items are destroyed with the passcode.
    var wantsPasscode: Bool { self == .whenPasscodeSetThisDeviceOnly }
}
