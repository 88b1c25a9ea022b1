internal import CofferCore
internal import CofferSystem
internal import Glibc

/// A file that is replaced when all of its new content is there: until then the old one stays.
final class OutputFile {
    private let path: String
    private let temporaryPath: String
    private let file: OwnedDescriptor
    private var isFinished = false

    init(_ path: String) throws(CofferError) {
        self.path = path
        temporaryPath = "\(path).\(ItemID().hexadecimal.prefix(8)).part"
        let number = unsafe open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw SystemError("open").cofferError("can't write \(quotedForDisplay(path))") }
        file = OwnedDescriptor(owning: number)
    }

    /// The descriptor to write to.
    var number: Int32 { file.number }

    /// Puts a text into it.
    func write(_ text: String) throws(CofferError) {
        do throws(SystemError) {
            try unsafe file.write(all: Array(text.utf8).span.bytes)
        } catch {
            throw error.cofferError("can't write \(quotedForDisplay(path))")
        }
    }

    /// Puts the file in place, synced.
    func finish() throws(CofferError) {
        guard fsync(file.number) == 0, unsafe rename(temporaryPath, path) == 0 else {
            throw SystemError("rename").cofferError("can't write \(quotedForDisplay(path))")
        }
        isFinished = true
    }

    deinit {
        if !isFinished { unsafe unlink(temporaryPath) }
    }
}
