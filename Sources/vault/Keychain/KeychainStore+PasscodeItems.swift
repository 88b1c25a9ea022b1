internal import CofferCore
internal import CofferDatabase

// Items that want a passcode: those of ``Accessibility/whenPasscodeSetThisDeviceOnly``.

extension KeychainStore {
    /// The number of items with ``Accessibility/whenPasscodeSetThisDeviceOnly``.
    package func countWantingPasscode() throws -> Int {
        try connection.row("SELECT count(*) FROM keychain_items WHERE class_key = 22") { Int(try $0.integer(0)) } ?? 0
    }

    /// Removes the items with ``Accessibility/whenPasscodeSetThisDeviceOnly``, whose key was destroyed with the
    /// passcode.
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
            // A former value of another class has lost its item.
            try connection.execute(
                """
                DELETE FROM keychain_history WHERE uuid IN (SELECT uuid FROM keychain_items WHERE class_key = 22)
                """
            )
            try connection.execute("DELETE FROM keychain_items WHERE class_key = 22")
            try connection.execute("DELETE FROM keychain_history WHERE class_key = 22")
            try connection.execute("DELETE FROM keychain_quarantine WHERE class_key = 22")
        }
    }
}
