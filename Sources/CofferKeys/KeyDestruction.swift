package import CofferCore
package import CofferSystem

extension VaultKeys {
    /// Destroys the keys of the vault in a state directory: when this returns, nothing opens it any more, with passcode,
    /// recovery key and all.
    ///
    /// May be repeated after it was interrupted. A device key that the service manager gives is not the vault's to destroy.
    ///
    /// - Parameter directory: The state directory.
    /// - Throws: `io`, after all was destroyed that can be.
    package static func destroy(in directory: Directory) throws(CofferError) {
        let names = [Keybag.fileName, DeviceKey.fileName, PasscodeAttempts.fileName, CatalogAnchor.fileName]
        try shred(names, in: directory)
    }

    /// Destroys the keybag of a vault whose making was cut off.
    ///
    /// The device key stays, which may be older than it.
    ///
    /// - Parameter directory: The state directory.
    /// - Throws: `io`, after all was destroyed that can be.
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
