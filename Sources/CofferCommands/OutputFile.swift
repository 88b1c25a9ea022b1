internal import CofferClient
internal import CofferCore
internal import CofferSystem
internal import Glibc

/// A file that a verb writes: it is in its place when all of its content is there, for its owner only, and otherwise not at all.
///
/// Every verb that writes to a file does it so: whatever ends the program leaves no half of a secret behind.
struct OutputFile {
    private let path: String
    private let file: PendingFile

    /// Makes a file that replaces the one that is there.
    ///
    /// It is made before what goes into it is asked for, so that a bad path is found out while nothing has happened.
    init(_ path: String) throws(CofferError) { try self.init(path, .isReplaced) }

    /// Makes a file that must not be there yet.
    init(new path: String) throws(CofferError) { try self.init(path, .isKept) }

    private init(_ path: String, _ existing: PendingFile.Existing) throws(CofferError) {
        self.path = path
        do throws(SystemError) {
            file = try PendingFile(at: path, existing)
        } catch {
            throw Self.failure(error, path)
        }
    }

    /// The descriptor to write to.
    var number: Int32 { file.number }

    /// Puts a text into it.
    func write(_ text: String) throws(CofferError) {
        do throws(SystemError) {
            try unsafe file.write(all: Array(text.utf8).span.bytes)
        } catch {
            throw Self.failure(error, path)
        }
    }

    /// Writes all of the content, and a line end, and puts the file in place, synced.
    func finish(_ content: Secret) throws(CofferError) {
        do throws(SystemError) {
            try content.withBytes { (bytes) throws(SystemError) in try file.write(all: bytes) }
        } catch {
            throw Self.failure(error, path)
        }
        try write("\n")
        try finish()
    }

    /// Puts the file in place, synced.
    func finish() throws(CofferError) {
        do throws(SystemError) { try file.finish() } catch { throw Self.failure(error, path) }
    }

    private static func failure(_ error: SystemError, _ path: String) -> CofferError {
        let subject = "can't write \(quotedForDisplay(path))"
        switch error.code {
        case EEXIST:
            return CofferError(.duplicateItem, "\(subject): it exists already", hint: "name a file that does not exist")
        case ENXIO:
            return CofferError(
                .param,
                "\(subject): it is a device, a pipe or a socket, which no file can replace",
                hint: "leave the option out and redirect standard output with '>', or name a file"
            )
        default: return error.cofferError(subject)
        }
    }
}
