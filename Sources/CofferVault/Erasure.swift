internal import CofferCore
internal import CofferKeys
internal import CofferSystem

/// The erasure of a vault: its keys first, then what they sealed.
///
/// A mark on the disk comes before everything else: an interrupted erasure is completed when the state directory is
/// used again. The contents, which no key opens any more, are only renamed, so that erasing a million items takes as
/// long as erasing ten.
enum Erasure {
    private static let mark = "erasing"
    private static let makingMark = "making"
    private static let remains = "erased"
    /// Everything of a vault in the state directory, except its keys.
    private static let contents =
        Catalog.fileNames + CatalogLog.names + [Catalog.contentsName, Catalog.reserveName]

    /// Erases a vault; when this returns, no key of it is left, and the state directory is ready for a new one.
    static func perform(in directory: Directory) throws(CofferError) {
        do {
            try directory.replace(mark, with: RawSpan())
        } catch {
            throw error.cofferError("can't erase the vault")
        }
        try finish(in: directory)
    }

    /// Completes an erasure, or takes back a new vault, that was interrupted.
    static func finishInterrupted(in directory: Directory) throws(CofferError) {
        if try isMarked(mark, in: directory) { try finish(in: directory) }
        if try isMarked(makingMark, in: directory) { try finishTakingBack(in: directory) }
    }

    private static func isMarked(_ mark: String, in directory: Directory) throws(CofferError) -> Bool {
        guard directory.contains(mark) else { return false }
        // A file of another user is no request to erase.
        do { try directory.requireOwnFile(mark) } catch {
            throw error.cofferError("can't tell whether to erase the vault")
        }
        return true
    }

    private static func finish(in directory: Directory) throws(CofferError) {
        try VaultKeys.destroy(in: directory)
        try putAway(in: directory, mark)
    }

    /// Moves the contents away, and removes the mark.
    private static func putAway(in directory: Directory, _ mark: String) throws(CofferError) {
        do {
            // A new directory each time: an earlier vault's contents may still be there.
            let place = try directory.subdirectory(remains).subdirectory(ItemID().hexadecimal)
            for name in contents where directory.contains(name) { try directory.rename(name, to: name, in: place) }
            try directory.remove(mark)
            try directory.synchronize()
        } catch {
            throw error.cofferError("the keys are destroyed, but what they sealed can't be removed")
        }
    }

    // MARK: A vault in the making

    /// Marks a new vault before its keybag is stored: until ``endMaking(in:)`` returns, an interruption takes it back.
    static func beginMaking(in directory: Directory) throws(CofferError) {
        do {
            try directory.replace(makingMark, with: RawSpan())
        } catch {
            throw error.cofferError("can't make a vault")
        }
    }

    /// Completes a new vault; when this returns, it stays.
    static func endMaking(in directory: Directory) throws(CofferError) {
        do {
            try directory.remove(makingMark)
            try directory.synchronize()
        } catch {
            throw error.cofferError("can't make a vault")
        }
    }

    /// Removes a vault whose creation has failed: its recovery key was never delivered.
    static func takeBack(in directory: Directory) throws(CofferError) {
        // The mark may have been removed already.
        if !directory.contains(makingMark) { try beginMaking(in: directory) }
        try finishTakingBack(in: directory)
    }

    private static func finishTakingBack(in directory: Directory) throws(CofferError) {
        try VaultKeys.takeBack(in: directory)
        try putAway(in: directory, makingMark)
    }

    // MARK: Remains

    /// Whether ``removeRemains(in:)`` has something to remove.
    static func hasRemains(in directory: Directory) -> Bool { directory.contains(remains) }

    /// Removes the contents of erased vaults.
    ///
    /// It takes time in proportion to the contents, so it must not run on the event loop.
    static func removeRemains(in directory: Directory) throws(CofferError) {
        do {
            try directory.removeTree(remains)
        } catch {
            throw error.cofferError("can't remove what is left of an erased vault")
        }
    }
}
