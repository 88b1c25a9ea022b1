internal import Synchronization

/// The files that programs have open, by number.
final class OpenFiles: Sendable {
    private struct Entry {
        let file: OpenFile
        /// How many programs have it open, or are opening it.
        var pinCount: Int
    }

    private let entries = Mutex<[UInt64: Entry]>([:])

    /// A file that is open.
    func file(_ number: UInt64) throws(Errno) -> OpenFile {
        guard let entry = entries.withLock({ $0[number] }) else { throw .stale }
        return entry.file
    }

    /// Whether a file is open.
    func isOpen(_ number: UInt64) -> Bool { entries.withLock { $0[number] != nil } }

    /// Keeps a file open, until ``unpin(_:isClosed:)``.
    ///
    /// - Parameters:
    ///   - number: Its number.
    ///   - make: Makes it, if it is not open.
    /// - Returns: The file, and whether it was open.
    func pin(_ number: UInt64, _ make: () -> OpenFile) -> (file: OpenFile, wasOpen: Bool) {
        entries.withLock { entries in
            var entry = entries[number] ?? Entry(file: make(), pinCount: 0)
            entry.pinCount += 1
            entries[number] = entry
            return (entry.file, entry.pinCount > 1)
        }
    }

    /// - Parameter isClosed: Whether no handle of the daemon is left, as far as this program is concerned.
    func unpin(_ number: UInt64, isClosed: Bool) {
        entries.withLock { entries in
            guard var entry = entries[number] else { return }
            entry.pinCount -= 1
            entries[number] = entry.pinCount == 0 && isClosed ? nil : entry
        }
    }

    /// All files that are open.
    var all: [OpenFile] { entries.withLock { $0.values.map(\.file) } }
}
