internal import CofferCore
internal import CofferKeys
internal import CofferSystem

/// The end of a vault: its keys first, then what they sealed.
///
/// A mark on the disk comes before all else: what was interrupted is finished when the state directory is used again. What is
/// left of the contents, without a key, is moved out of the way, so that erasing takes as long for a million items as for ten.
enum Erasure {
    private static let mark = "erasing"
    private static let makingMark = "making"
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
        if try isMarked(mark, in: directory) { try finish(in: directory) }
        if try isMarked(makingMark, in: directory) { try finishTakingBack(in: directory) }
    }

    private static func isMarked(_ mark: String, in directory: Directory) throws(CofferError) -> Bool {
        guard directory.contains(mark) else { return false }
        // What is no mark of ours asks for nothing.
        do { try directory.requireOwnFile(mark) } catch {
            throw error.cofferError("can't tell whether to erase the vault")
        }
        return true
    }

    private static func finish(in directory: Directory) throws(CofferError) {
        try VaultKeys.destroy(in: directory)
        try putAway(in: directory, mark)
    }

    /// Moves out of the way what the keys have sealed; the mark goes with that.
    private static func putAway(in directory: Directory, _ mark: String) throws(CofferError) {
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

    // MARK: A vault that is being made

    /// Comes before the keybag of a new vault: until ``endMaking(in:)`` returns, what is cut off is taken back.
    static func beginMaking(in directory: Directory) throws(CofferError) {
        do {
            try directory.replace(makingMark, with: RawSpan())
        } catch {
            throw error.cofferError("can't make a vault")
        }
    }

    /// The vault is whole: when this returns, it stays.
    static func endMaking(in directory: Directory) throws(CofferError) {
        do {
            try directory.remove(makingMark)
            try directory.synchronize()
        } catch {
            throw error.cofferError("can't make a vault")
        }
    }

    /// Takes a vault back whose making has failed: nobody has seen its recovery key.
    static func takeBack(in directory: Directory) throws(CofferError) {
        // It may have gone already.
        if !directory.contains(makingMark) { try beginMaking(in: directory) }
        try finishTakingBack(in: directory)
    }

    private static func finishTakingBack(in directory: Directory) throws(CofferError) {
        try VaultKeys.takeBack(in: directory)
        try putAway(in: directory, makingMark)
    }

    // MARK: Remains

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
