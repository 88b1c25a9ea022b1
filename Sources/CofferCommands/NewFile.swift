internal import CofferCore
internal import CofferMemory
internal import CofferSystem
internal import Glibc

/// A file that must not be there yet, for its owner only: gone again unless it was finished.
///
/// It is made before what goes into it, so that a bad path is found out while nothing has happened.
final class NewFile {
    private let path: String
    private let file: OwnedDescriptor
    private var isFinished = false

    init(_ path: String) throws(CofferError) {
        self.path = path
        let number = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if number < 0 && errno == EEXIST {
            throw CofferError(
                .duplicateItem,
                "can't write \(quotedForDisplay(path)): it exists already",
                hint: "name a file that does not exist"
            )
        }
        guard number >= 0 else { throw SystemError("open").cofferError("can't write \(quotedForDisplay(path))") }
        file = OwnedDescriptor(owning: number)
    }

    /// The descriptor to write to.
    var number: Int32 { file.number }

    /// Writes all of the content, and a line end, synced.
    func finish(_ content: borrowing SecretBytes) throws(CofferError) {
        do throws(SystemError) {
            try content.withBytes { (bytes) throws(SystemError) in try file.write(all: bytes) }
            try unsafe file.write(all: [UInt8(ascii: "\n")].span.bytes)
        } catch {
            throw error.cofferError("can't write \(quotedForDisplay(path))")
        }
        try finish()
    }

    /// Keeps what was written to the descriptor, synced.
    func finish() throws(CofferError) {
        do throws(SystemError) {
            _ = try SystemError.check("fsync", fsync(file.number))
            try syncDirectory()
        } catch {
            throw error.cofferError("can't write \(quotedForDisplay(path))")
        }
        isFinished = true
    }

    /// The name has to outlive a power cut as well.
    private func syncDirectory() throws(SystemError) {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let directory = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let number = try SystemError.check("open", unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC))
        let opened = OwnedDescriptor(owning: number)
        _ = try SystemError.check("fsync", fsync(opened.number))
    }

    deinit {
        if !isFinished { unsafe unlink(path) }
    }
}
