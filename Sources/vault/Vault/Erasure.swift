package import CofferCore
internal import CofferFiles
internal import CofferKeys
package import CofferSystem

/// The erasure of a vault: its keys first, then what they sealed.
///
/// A mark on the disk comes before everything else: an interrupted erasure is completed when the state directory is
/// used again. The contents, which no key opens any more, are only renamed, so that erasing a million items takes as
/// long as erasing ten.
package enum Erasure {
    private static let mark = "erasing"
    private static let makingMark = "making"
    private static let remains = "erased"
    /// Everything of a vault in the state directory, except its keys.
    private static let contents =
        Catalog.fileNames + CatalogLog.names + BackupSession.copyNames + UnsyncedLog.fileNames
        + [Catalog.contentsName, Catalog.reserveName]

    /// Erases a vault; when this returns, no key of it is left, and the state directory is ready for a new one.
    static func perform(in directory: Directory) throws(CofferError) {
        try attempt("can't erase the vault") { () throws(SystemError) in try directory.replace(mark, with: RawSpan()) }
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
        try attempt("can't tell whether to erase the vault") { () throws(SystemError) in
            try directory.requireOwnFile(mark)
        }
        return true
    }

    private static func finish(in directory: Directory) throws(CofferError) {
        try VaultKeys.destroy(in: directory)
        try putAway(in: directory, mark)
    }

    /// Moves the contents away, and removes the mark.
    private static func putAway(in directory: Directory, _ mark: String) throws(CofferError) {
        try attempt("the keys are destroyed, but what they sealed can't be removed") { () throws(SystemError) in
            // A new directory each time: an earlier vault's contents may still be there.
            let place = try directory.subdirectory(remains).subdirectory(ItemID().hexadecimal)
            for name in contents where directory.contains(name) { try directory.rename(name, to: name, in: place) }
            try directory.remove(mark)
            try directory.synchronize()
        }
    }

    // MARK: A vault in the making

    /// Marks a new vault before its keybag is stored: until ``endMaking(in:)`` returns, an interruption takes it back.
    static func beginMaking(in directory: Directory) throws(CofferError) {
        try attempt("can't make a vault") { () throws(SystemError) in
            try directory.replace(makingMark, with: RawSpan())
        }
    }

    /// Completes a new vault; when this returns, it stays.
    static func endMaking(in directory: Directory) throws(CofferError) {
        try attempt("can't make a vault") { () throws(SystemError) in
            try directory.remove(makingMark)
            try directory.synchronize()
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
    package static func hasRemains(in directory: Directory) -> Bool { directory.contains(remains) }

    /// Removes the contents of erased vaults.
    ///
    /// It takes time in proportion to the contents, so it must not run on the event loop.
    package static func removeRemains(in directory: Directory) throws(CofferError) {
        try attempt("can't remove what is left of an erased vault") { () throws(SystemError) in
            try directory.removeTree(remains)
        }
    }

    private static func attempt(_ subject: String, _ body: () throws(SystemError) -> Void) throws(CofferError) {
        do { try body() } catch { throw error.cofferError(subject) }
    }
}
