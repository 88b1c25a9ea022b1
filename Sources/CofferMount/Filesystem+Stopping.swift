internal import CofferCore

// The end of a mount.
extension Filesystem {
    /// Waits until all that was written is on the disk.
    ///
    /// - Returns: How many files could not be synced.
    func syncAll() -> Int {
        openFiles.all.count { file in
            do throws(Errno) {
                try file.sync()
                return false
            } catch {
                return true
            }
        }
    }
}
