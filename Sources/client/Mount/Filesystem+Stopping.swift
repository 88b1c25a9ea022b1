internal import CofferCore

// The end of a mount.
extension Filesystem {
    /// Waits until all that was written is on the disk.
    ///
    /// - Returns: How many files could not be synced.
    func syncAll() -> Int {
        settle()
        return openFiles.all.count { file in fails { () throws(Errno) in try file.sync() } }
            + (fails { () throws(Errno) in try syncTree(includesClosedFiles: true) } ? 1 : 0)
    }

    private func fails(_ sync: () throws(Errno) -> Void) -> Bool {
        do throws(Errno) {
            try sync()
            return false
        } catch {
            // Who has removed a file does not miss what was written.
            return error != .stale
        }
    }
}
