internal import CCofferShims
package import CofferCore
internal import Glibc

/// Files that say what may be done, and so may be changed by root and by this process' own user only.
package enum TrustedFiles {
    /// One of them.
    package typealias Content = (path: String, bytes: [UInt8])

    /// Reads the files of a directory whose names end in some way, in the order of the bytes of their names.
    ///
    /// Hidden ones are passed over. A symbolic link is followed: whoever could put it there is trusted.
    ///
    /// - Parameters:
    ///   - directory: Where they are.
    ///   - suffix: How their names end.
    ///   - maximum: How many bytes one may have: one more is read of those that have more.
    /// - Returns: The paths and the contents; nothing where there is no such directory.
    /// - Throws: `param` where somebody else may change one; `io` where one can't be read.
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

    /// Reads the files of directories, one directory after the other.
    ///
    /// - Parameters:
    ///   - directories: Where they are.
    ///   - suffix: How their names end.
    ///   - maximum: How many bytes one may have: one more is read of those that have more.
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
    ///   - path: Where it is.
    ///   - maximum: How many bytes it may have: one more is read where it has more.
    /// - Throws: `param` where somebody else may change it; `io` where it can't be read.
    package static func read(at path: String, upTo maximum: Int) throws(CofferError) -> Content {
        (path, try read(path, in: AT_FDCWD, path, upTo: maximum))
    }

    /// Reads one file, if there is one.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - maximum: How many bytes it may have: one more is read where it has more.
    /// - Returns: `nil` where there is none.
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

    /// Nothing that is not a file or a directory keeps us waiting.
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
    /// - Throws: `param` where there is none.
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
