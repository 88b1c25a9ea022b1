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
        var failure: SystemError?
        for name in [Keybag.fileName, DeviceKey.fileName, PasscodeAttempts.fileName, CatalogAnchor.fileName] {
            for shred in [directory.shred, directory.shredLeftovers] {
                do throws(SystemError) { try shred(name) } catch { failure = failure ?? error }
            }
        }
        if let failure { throw failure.cofferError("can't destroy the keys") }
    }
}
