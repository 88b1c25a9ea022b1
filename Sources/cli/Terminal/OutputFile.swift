package import CofferClient
package import CofferSystem
internal import Glibc

/// A file that a verb writes: it appears when its content is complete, with access for its owner only.
///
/// Every verb that writes a file uses this type, so that no interrupted program leaves part of a secret
/// behind.
package struct OutputFile {
    private let path: String
    private let file: PendingFile

    /// Makes a file that replaces an existing one.
    ///
    /// It is created before its content is requested, so that a bad path fails before anything has happened.
    package init(_ path: String) throws(CofferError) { try self.init(path, .isReplaced) }

    /// Makes a file that must not exist.
    package init(new path: String) throws(CofferError) { try self.init(path, .isKept) }

    private init(_ path: String, _ existing: PendingFile.Existing) throws(CofferError) {
        self.path = path
        do throws(SystemError) {
            file = try PendingFile(at: path, existing)
        } catch {
            throw Self.failure(error, path)
        }
    }

    /// Makes a file below a directory, which must not exist.
    ///
    /// - Parameters:
    ///   - components: Its path in the directory.
    ///   - tree: The directory.
    ///   - path: The path for error messages.
    package init(new components: [String], in tree: OutputTree, shownAs path: String) throws(CofferError) {
        self.path = path
        do throws(SystemError) {
            file = try tree.file(components, .isKept)
        } catch {
            throw Self.failure(error, path)
        }
    }

    /// The descriptor to write to.
    package var number: Int32 { file.number }

    /// Writes a text.
    package func write(_ text: String) throws(CofferError) {
        try attempt { () throws(SystemError) in try unsafe file.write(all: Array(text.utf8).span.bytes) }
    }

    /// Writes the whole content and a line end, syncs the file and moves it to its path.
    package func finish(_ content: Secret) throws(CofferError) {
        try attempt { () throws(SystemError) in
            try content.withBytes { (bytes) throws(SystemError) in try file.write(all: bytes) }
        }
        try write("\n")
        try finish()
    }

    /// Syncs the file and moves it to its path.
    package func finish() throws(CofferError) { try attempt { () throws(SystemError) in try file.finish() } }

    private func attempt(_ step: () throws(SystemError) -> Void) throws(CofferError) {
        do throws(SystemError) { try step() } catch { throw Self.failure(error, path) }
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
