package import CofferCore
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// The vault that the login password unlocks, recorded in a file of the user.
///
/// The file has the vault's ID, so that the password is never sent to another vault.
package struct LoginMark {
    /// Whether the module that unlocks at login is installed.
    package static var isModuleInstalled: Bool { unsafe access("/usr/share/pam-configs/coffer", F_OK) == 0 }

    private let folder: String
    private var path: String { folder + "/login-vault" }

    package init() throws(CofferError) {
        guard let home = configurationHome else {
            throw CofferError(.param, "neither $XDG_CONFIG_HOME nor $HOME is set")
        }
        folder = home + "/coffer"
    }

    /// The vault; `nil` if the login unlocks none.
    package func read() throws(CofferError) -> ItemID? {
        do throws(SystemError) {
            let digits = 2 * ItemID.byteCount
            guard let bytes = try OwnedDescriptor.content(ofFile: path, upTo: digits) else { return nil }
            return ItemID(hexadecimal: String(decoding: bytes.prefix(digits), as: UTF8.self))
        } catch {
            throw error.cofferError("can't read \(quotedForDisplay(path))")
        }
    }

    /// Enables the unlock at login for a vault.
    package func write(_ vaultID: ItemID) throws(CofferError) {
        do throws(SystemError) {
            _ = try Directory(makingPath: folder)
        } catch {
            throw error.cofferError("can't make \(quotedForDisplay(folder))")
        }
        let file = try OutputFile(path)
        try file.write(vaultID.hexadecimal + "\n")
        try file.finish()
    }

    /// Disables the unlock at login.
    package func remove() throws(CofferError) {
        guard unsafe unlink(path) == 0 || errno == ENOENT else {
            throw SystemError("unlink").cofferError("can't remove \(quotedForDisplay(path))")
        }
    }
}
