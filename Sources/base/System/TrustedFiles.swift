package import CofferCore
internal import Glibc

/// Files that only root and this process' user may be able to write, such as configuration.
package enum TrustedFiles {
    /// The path and the content of a file.
    package typealias Content = (path: String, bytes: [UInt8])

    /// Reads the files of a directory with a suffix, in the byte order of their names.
    ///
    /// Hidden files are skipped. Symbolic links are followed: only trusted users can create them there.
    ///
    /// - Parameters:
    ///   - directory: The directory.
    ///   - suffix: The suffix of the names.
    ///   - maximum: The maximum size; a longer file is read up to one byte more.
    /// - Returns: The paths and the contents; nothing if there is no such directory.
    /// - Throws: `param` if another user can change a file; `io` if one can't be read.
    package static func read(
        in directory: String,
        suffix: String,
        upTo maximum: Int
    ) throws(CofferError) -> [Content] {
        let folder = try reading(directory) { () throws(SystemError) in
            try tolerating(ENOENT) { () throws(SystemError) in
                try open(directory, in: AT_FDCWD, S_IFDIR, called: directory)
            }
        }
        guard let folder else { return [] }
        let names = try reading(directory) { () throws(SystemError) in try folder.entries() }
        let wanted = names.filter { $0.hasSuffix(suffix) && !$0.hasPrefix(".") }
        var files: [Content] = []
        for name in wanted.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            let path = directory + "/" + name
            files.append((path, try content(of: name, in: folder.number, called: path, upTo: maximum)))
        }
        return files
    }

    /// Reads the files of several directories, in the order given.
    ///
    /// - Parameters:
    ///   - directories: The directories.
    ///   - suffix: The suffix of the names.
    ///   - maximum: The maximum size; a longer file is read up to one byte more.
    /// - Returns: The paths and the contents.
    /// - Throws: As ``read(in:suffix:upTo:)`` for one directory.
    package static func read(
        inAll directories: [String],
        suffix: String,
        upTo maximum: Int
    ) throws(CofferError) -> [Content] {
        var files: [Content] = []
        for directory in directories { files += try read(in: directory, suffix: suffix, upTo: maximum) }
        return files
    }

    /// Reads one file.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - maximum: The maximum size; a longer file is read up to one byte more.
    /// - Throws: `param` if another user can change it; `io` if it can't be read.
    package static func read(at path: String, upTo maximum: Int) throws(CofferError) -> Content {
        (path, try content(of: path, in: AT_FDCWD, called: path, upTo: maximum))
    }

    /// Reads one file, if it exists.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - maximum: The maximum size; a longer file is read up to one byte more.
    /// - Returns: `nil` if it does not exist.
    /// - Throws: As ``read(at:upTo:)``.
    package static func readIfPresent(at path: String, upTo maximum: Int) throws(CofferError) -> Content? {
        let bytes = try reading(path) { () throws(SystemError) in
            try tolerating(ENOENT) { () throws(SystemError) in
                try open(path, in: AT_FDCWD, S_IFREG, called: path).content(upTo: maximum)
            }
        }
        return bytes.map { (path, $0) }
    }

    private static func content(
        of name: String,
        in directory: Int32,
        called path: String,
        upTo maximum: Int
    ) throws(CofferError) -> [UInt8] {
        try reading(path) { () throws(SystemError) in
            try open(name, in: directory, S_IFREG, called: path).content(upTo: maximum)
        }
    }

    /// Opens without blocking, whatever the type of the file.
    private static func open(
        _ name: String,
        in directory: Int32,
        _ kind: mode_t,
        called path: String
    ) throws(SystemError) -> OwnedDescriptor {
        let file = try OwnedDescriptor.open(name, in: directory, O_RDONLY | O_NONBLOCK | O_NOCTTY)
        try file.require(kind, .system, called: path)
        return file
    }

    /// Words the error of a call.
    private static func reading<Value: ~Copyable>(
        _ path: String,
        _ call: () throws(SystemError) -> Value
    ) throws(CofferError) -> Value {
        do throws(SystemError) {
            return try call()
        } catch {
            guard let finding = error.finding else { throw error.cofferError("can't read \(quotedForDisplay(path))") }
            throw CofferError(.param, finding.message, hint: finding.hint)
        }
    }
}
