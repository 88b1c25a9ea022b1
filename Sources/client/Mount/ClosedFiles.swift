internal import CofferCore
internal import CofferSystem
internal import CofferWire
internal import Glibc
internal import Synchronization

/// The files that were closed before all that was written to them was on the disk.
///
/// The daemon syncs them a moment later. If it ends before, no program has a descriptor by which it could be told of the
/// loss: the journal is told, and the next program that syncs the file, or gives it a name under which it may replace a
/// whole one.
final class ClosedFiles: Sendable {
    /// What was written last to a file.
    struct Change: Sendable {
        /// When the request began, in nanoseconds since 1970; the time of the change is not before.
        var start: Int64
        /// The size of the file then; `nil` if it is not known.
        var byteCount: Int64?
        /// Whether a program has stated another time since.
        var hasStatedTime = false

        /// Whether a description of the file is of after the change, as far as that can be told.
        func isIn(_ file: FileInfo) -> Bool {
            // A time that was stated says nothing; then the size does, of what is new.
            if hasStatedTime {
                return byteCount == file.byteCount || start < wallClockNanoseconds() - Limits.closedSyncNanoseconds
            }
            return file.modifiedNanoseconds >= start
        }
    }

    fileprivate struct Entry {
        var change: Change
        /// The connection by which it was written, and in which epoch.
        let connection: DaemonConnection
        let epoch: Int
        /// When it was closed, among all that were.
        let order: Int
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var nextOrder = 0
        /// The files of which no program was told that something was lost.
        var lost: Set<UInt64> = []
    }

    private let state = Mutex(State())

    /// Records a file that is being closed.
    func add(_ number: UInt64, _ change: Change, _ connection: DaemonConnection, epoch: Int) {
        state.withLock { state in
            let order = state.nextOrder
            state.nextOrder += 1
            state.entries[number] = Entry(change: change, connection: connection, epoch: epoch, order: order)
            if state.entries.count > 2 * Limits.closedFilesOfMount {
                state.entries = state.entries.filter { $0.value.order > order - Limits.closedFilesOfMount }
            }
        }
    }

    /// Records that a file was synced.
    func remove(_ number: UInt64) { state.withLock { $0.entries[number] = nil } }

    /// Records that a program has stated when a file was changed.
    func noteStatedTime(of number: UInt64) { state.withLock { $0.entries[number]?.change.hasStatedTime = true } }

    /// The files that were written by connections that have ended since.
    var doubtful: [UInt64] { state.withLock { $0.entries }.filter { Self.isDoubtful($0.value) }.map(\.key) }

    /// What was written last to a file, if its connection has ended since.
    fileprivate func doubt(about number: UInt64) -> Entry? {
        guard let entry = state.withLock({ $0.entries[number] }), Self.isDoubtful(entry) else { return nil }
        return entry
    }

    /// Ends a doubt, unless another thread has done so or the file was closed once more.
    ///
    /// - Parameter isLost: Whether a program has to be told of a loss.
    /// - Returns: Whether this call has ended it.
    fileprivate func settle(_ doubt: Entry, about number: UInt64, isLost: Bool) -> Bool {
        state.withLock { state in
            guard state.entries[number]?.order == doubt.order else { return false }
            state.entries[number] = nil
            if isLost { state.lost.insert(number) }
            return true
        }
    }

    private static func isDoubtful(_ entry: Entry) -> Bool { !entry.connection.isOpen(in: entry.epoch) }

    /// Records that what was written last to a file is lost.
    func lose(_ number: UInt64) {
        state.withLock { state in
            state.entries[number] = nil
            state.lost.insert(number)
        }
    }

    /// Whether a program has to be told of a loss; each is told once.
    func takeLoss(of number: UInt64) -> Bool { state.withLock { $0.lost.remove(number) != nil } }
}

extension Filesystem {
    /// Checks that nothing is lost of what programs have written to a file, open or not.
    ///
    /// - Throws: `EIO`, once to one program.
    func checkKept(_ number: UInt64) throws(Errno) {
        if let file = try? openFiles.file(number), file.hasUnsyncedChanges {
            // If its connection has ended, this opens it again and finds out.
            _ = try? file.read { FileStatParameters(handle: $0, group: nil) }
            if file.hasUntoldLoss { throw .readFailed }
        }
        try checkClosed(number)
    }

    /// Checks that nothing is lost of what programs have written to a file that they have closed.
    ///
    /// - Throws: `EIO`, once to one program.
    func checkClosed(_ number: UInt64) throws(Errno) {
        try review(number)
        if closedFiles.takeLoss(of: number) { throw .readFailed }
    }

    /// Finds out which of the files that were closed are not on the disk, after the daemon has ended.
    func reviewClosedFiles() { for number in closedFiles.doubtful { try? review(number) } }

    private func review(_ number: UInt64) throws(Errno) {
        guard let doubt = closedFiles.doubt(about: number) else { return }
        let isLost: Bool
        do throws(Errno) {
            // If the kernel has forgotten its name, a program that uses it again looks it up first.
            guard let file = try description(of: number) else { return }
            isLost = !doubt.change.isIn(file)
        } catch {
            guard error.code == ENOENT else { throw error }
            // Who has removed it does not miss what was written.
            isLost = false
        }
        if closedFiles.settle(doubt, about: number, isLost: isLost), isLost {
            Journal.report(lossOf: number, "the daemon ended right after it was closed")
        }
    }

    /// What the daemon says of a file; `nil` if no known name leads to it.
    private func description(of number: UInt64) throws(Errno) -> FileInfo? {
        guard let name = try? name(of: number) else { return nil }
        let file = try call(FileStatParameters(name: name, group: group))
        guard UInt64(clamping: file.inode) == number else { throw Errno(ENOENT) }
        return file
    }
}
