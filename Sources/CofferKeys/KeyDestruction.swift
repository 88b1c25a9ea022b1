package import CofferCore
package import CofferSystem

extension VaultKeys {
    /// Destroys the keys of the vault in a state directory: when this returns, nothing opens it any more, with passcode,
    /// recovery key and all.
    ///
    /// May be repeated after it was interrupted. A device key that the service manager gives is not the vault's to destroy.
    ///
    /// - Parameter directory: The state directory.
    /// - Throws: `io`.
    package static func destroy(in directory: Directory) throws(CofferError) {
        do {
            for name in [Keybag.fileName, DeviceKey.fileName, PasscodeAttempts.fileName] {
                try directory.shred(name)
                try directory.shredLeftovers(of: name)
            }
        } catch {
            throw error.cofferError("can't destroy the keys")
        }
    }
}
