internal import CofferCore
internal import CofferKeys
internal import CofferSystem

/// The end of a vault: its keys first, then what they sealed.
///
/// A mark on the disk comes before all else: what was interrupted is finished when the state directory is used again. What is
/// left of the contents, without a key, is moved out of the way, so that erasing takes as long for a million items as for ten.
enum Erasure {
    private static let mark = "erasing"
    private static let remains = "erased"
    /// All that a vault has in the state directory besides its keys.
    private static let contents =
        Catalog.fileNames + CatalogLog.names + [Catalog.contentsName, Catalog.reserveName]

    /// Erases; when this returns, no key of the vault is left, and the state directory is ready for another one.
    static func perform(in directory: Directory) throws(CofferError) {
        do {
            try directory.replace(mark, with: RawSpan())
        } catch {
            throw error.cofferError("can't erase the vault")
        }
        try finish(in: directory)
    }

    /// Goes on with what was interrupted.
    static func finishInterrupted(in directory: Directory) throws(CofferError) {
        guard directory.contains(mark) else { return }
        // What is no mark of ours asks for nothing.
        do { try directory.requireOwnFile(mark) } catch { throw error.cofferError("can't tell whether to erase the vault") }
        try finish(in: directory)
    }

    private static func finish(in directory: Directory) throws(CofferError) {
        try VaultKeys.destroy(in: directory)
        do {
            // A place of its own: what an earlier vault has left may still be there.
            let place = try directory.subdirectory(remains).subdirectory(ItemID().hexadecimal)
            for name in contents where directory.contains(name) { try directory.rename(name, to: name, in: place) }
            try directory.remove(mark)
            try directory.synchronize()
        } catch {
            throw error.cofferError("the keys are destroyed, but what they sealed can't be removed")
        }
    }

    /// Whether there is something for ``removeRemains(in:)``.
    static func hasRemains(in directory: Directory) -> Bool { directory.contains(remains) }

    /// Removes what the keys of erased vaults had sealed.
    ///
    /// Lasts as long as there was much of it: not for the event loop.
    static func removeRemains(in directory: Directory) throws(CofferError) {
        do {
            try directory.removeTree(remains)
        } catch {
            throw error.cofferError("can't remove what is left of an erased vault")
        }
    }
}
