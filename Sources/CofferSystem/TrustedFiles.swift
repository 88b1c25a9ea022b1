internal import CCofferShims
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
        let folder: OwnedDescriptor
        let names: [String]
        do throws(SystemError) {
            folder = try open(directory, in: AT_FDCWD)
        } catch {
            if error.code == ENOENT { return [] }
            throw error.cofferError("can't read \(quotedForDisplay(directory))")
        }
        try check(folder, directory, S_IFDIR)
        do throws(SystemError) {
            names = try folder.entries()
        } catch {
            throw error.cofferError("can't read \(quotedForDisplay(directory))")
        }
        let wanted = names.filter { $0.hasSuffix(suffix) && !$0.hasPrefix(".") }
        var files: [Content] = []
        for name in wanted.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            let path = directory + "/" + name
            files.append((path, try read(name, in: folder.number, path, upTo: maximum)))
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
        (path, try read(path, in: AT_FDCWD, path, upTo: maximum))
    }

    /// Reads one file, if it exists.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - maximum: The maximum size; a longer file is read up to one byte more.
    /// - Returns: `nil` if it does not exist.
    /// - Throws: As ``read(at:upTo:)``.
    package static func readIfPresent(at path: String, upTo maximum: Int) throws(CofferError) -> Content? {
        if unsafe access(path, F_OK) != 0 && errno == ENOENT { return nil }
        return try read(at: path, upTo: maximum)
    }

    private static func read(
        _ name: String,
        in directory: Int32,
        _ path: String,
        upTo maximum: Int
    ) throws(CofferError) -> [UInt8] {
        let file: OwnedDescriptor
        do throws(SystemError) {
            file = try open(name, in: directory)
        } catch {
            throw error.cofferError("can't read \(quotedForDisplay(path))")
        }
        try check(file, path, S_IFREG)
        do throws(SystemError) {
            return try file.content(upTo: maximum)
        } catch {
            throw error.cofferError("can't read \(quotedForDisplay(path))")
        }
    }

    /// Opens without blocking, whatever the type of the file.
    private static func open(_ path: String, in directory: Int32) throws(SystemError) -> OwnedDescriptor {
        OwnedDescriptor(
            owning: try retrying("open") { unsafe coffer_openat(directory, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0) }
        )
    }

    private static func check(
        _ descriptor: borrowing OwnedDescriptor,
        _ path: String,
        _ kind: mode_t
    ) throws(CofferError) {
        let status: stat
        do throws(SystemError) {
            status = try descriptor.status()
        } catch {
            throw error.cofferError("can't look at \(quotedForDisplay(path))")
        }
        let isKind = status.st_mode & S_IFMT == kind
        let reason = isKind ? FileTrust.system.reasonAgainst(status) : kind == S_IFDIR ? .noDirectory : .noFile
        guard let reason else { return }
        let finding = FileFinding(reason: reason, path: path)
        throw CofferError(.param, finding.message, hint: finding.hint)
    }
}

/// The users of the machine, by name.
package enum UserDatabase {
    /// The number of a user.
    ///
    /// - Parameter name: The user's name.
    /// - Throws: `param` if there is no such user.
    package static func userID(named name: String) throws(CofferError) -> UInt32 {
        var entry = unsafe passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 1 << 16)
        let code = unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &found)
        guard code == 0, unsafe found != nil else {
            throw CofferError(.param, "there is no user \(quotedForDisplay(name))", hint: "'UID=' takes a number")
        }
        return unsafe entry.pw_uid
    }
}
