internal import CCofferShims
internal import CofferCore
internal import Glibc

/// Why a file or a directory that was found is not used, and the command that mends it.
package struct FileFinding: Equatable, Sendable {
    /// What is wrong with it.
    package enum Reason: Equatable, Sendable {
        case noFile
        case noDirectory
        case ofAnotherUser(UInt32)
        case writable
        /// Read or written by others, where it is secret.
        case exposed
        /// A directory above it, in which every user may put another directory in its place.
        case replaceable
    }

    /// What is wrong with it.
    package let reason: Reason
    /// Where it is.
    package let path: String

    /// What is wrong, in words.
    package var message: String {
        let name = quotedForDisplay(path)
        return switch reason {
        case .noFile: "\(name) is no file"
        case .noDirectory: "\(name) is no directory"
        case .ofAnotherUser(let number): "\(name) belongs to user \(number), who could write anything there"
        case .writable: "\(name) can be written by others than its owner"
        case .exposed: "\(name) can be read or written by others than its owner"
        case .replaceable: "\(name) can be written by every user, who may exchange what is in it"
        }
    }

    /// What mends it.
    package var hint: String {
        let name = Self.quotedForShell(path)
        return switch reason {
        case .noFile, .noDirectory: "mv \(name) \(Self.quotedForShell(path + ".away"))"
        case .ofAnotherUser: "as root: chown \(geteuid()) \(name)"
        case .writable: "chmod go-w \(name)"
        case .exposed: "chmod 600 \(name), and consider what is in it known"
        case .replaceable: "chmod o-w \(name)"
        }
    }

    /// The whole of a path, for a command that is copied.
    private static func quotedForShell(_ path: String) -> String {
        "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}

/// Who may own and write a file that is relied upon.
struct FileTrust {
    /// Whether root may own it as well as our own user.
    let includesRoot: Bool
    /// The bits of a mode that others must not have.
    let forbiddenModes: mode_t

    /// Ours, and written by nobody else.
    static let own = FileTrust(includesRoot: false, forbiddenModes: S_IWGRP | S_IWOTH)
    /// Ours, and neither written nor read by anybody else.
    static let secret = FileTrust(includesRoot: false, forbiddenModes: S_IRWXG | S_IRWXO)
    /// Ours or root's, and written by nobody else.
    static let system = FileTrust(includesRoot: true, forbiddenModes: S_IWGRP | S_IWOTH)

    /// What is wrong with a file.
    ///
    /// - Returns: `nil` if it may be relied upon.
    func reasonAgainst(_ status: stat) -> FileFinding.Reason? {
        guard status.st_uid == geteuid() || includesRoot && status.st_uid == 0 else {
            return .ofAnotherUser(status.st_uid)
        }
        guard status.st_mode & forbiddenModes != 0 else { return nil }
        return forbiddenModes & S_IRGRP == 0 ? .writable : .exposed
    }
}

extension OwnedDescriptor {
    /// Opens what has to be a file.
    ///
    /// A FIFO, a device or a socket in its place is refused, and never waited for.
    ///
    /// - Parameters:
    ///   - path: Where it is, relative to the directory.
    ///   - directory: The descriptor of a directory, or `AT_FDCWD`.
    ///   - flags: How to open it.
    ///   - trust: Who may own and write it; anybody if none is given.
    ///   - whole: The path for people.
    static func openFile(
        _ path: String,
        in directory: Int32,
        _ flags: Int32,
        trusting trust: FileTrust? = nil,
        called whole: @autoclosure () -> String
    ) throws(SystemError) -> OwnedDescriptor {
        let opened: Int32
        do throws(SystemError) {
            opened = try retrying("open") { unsafe coffer_openat(directory, path, flags | O_NONBLOCK | O_NOCTTY, 0) }
        } catch {
            // A link where none is followed, a socket, a directory that is to be written.
            guard [ELOOP, ENXIO, EISDIR].contains(error.code) else { throw error }
            throw SystemError("open", code: error.code, FileFinding(reason: .noFile, path: whole()))
        }
        let file = OwnedDescriptor(owning: opened)
        let status = try file.status()
        let reason = status.st_mode & S_IFMT == S_IFREG ? trust?.reasonAgainst(status) : .noFile
        if let reason { throw SystemError("open", code: EPERM, FileFinding(reason: reason, path: whole())) }
        // Some file systems would answer a read that has to wait with an error.
        _ = try retrying("fcntl") { fcntl(opened, F_SETFL, flags & O_ACCMODE) }
        return file
    }
}
