package import CofferCore
package import CofferSystem

extension VaultKeys {
    /// Destroys the keys of the vault in a state directory: when this returns, nothing opens it, neither passcode nor
    /// recovery key.
    ///
    /// It may be repeated after an interruption. A device key from the service manager does not belong to the vault and
    /// is not destroyed.
    ///
    /// - Parameter directory: The state directory.
    /// - Throws: `io`, after everything was destroyed that can be.
    package static func destroy(in directory: Directory) throws(CofferError) {
        let names = [Keybag.fileName, DeviceKey.fileName, PasscodeAttempts.fileName, CatalogAnchor.fileName]
        try shred(names, in: directory)
    }

    /// Destroys the keybag of a vault whose creation was interrupted.
    ///
    /// The device key stays, because it may be older than the keybag.
    ///
    /// - Parameter directory: The state directory.
    /// - Throws: `io`, after everything was destroyed that can be.
    package static func takeBack(in directory: Directory) throws(CofferError) {
        try shred([Keybag.fileName, PasscodeAttempts.fileName, CatalogAnchor.fileName], in: directory)
    }

    private static func shred(_ names: [String], in directory: Directory) throws(CofferError) {
        var failure: SystemError?
        for name in names {
            for shred in [directory.shred, directory.shredLeftovers] {
                do throws(SystemError) { try shred(name) } catch { failure = failure ?? error }
            }
        }
        if let failure { throw failure.cofferError("can't destroy the keys") }
    }
}
