internal import CCofferShims
internal import CofferCore
internal import Glibc

/// The reason why an existing file or directory is refused, and the command that repairs it.
package struct FileFinding: Equatable, Sendable {
    /// The kinds of reasons.
    package enum Reason: Equatable, Sendable {
        case noFile
        case noDirectory
        case ofAnotherUser(UInt32)
        /// Another user's file where only this user and root may have some.
        case untrusted(UInt32)
        /// A file of another user in a directory of this user.
        case misplaced(UInt32)
        /// Others than the owner can write it, by its mode.
        case writable(UInt32)
        /// A secret that other users can read or write.
        case exposed
        /// A directory above it in which every user can replace entries.
        case replaceable
    }

    package let reason: Reason
    package let path: String

    package var message: String {
        let name = quotedForDisplay(path)
        return switch reason {
        case .noFile: "\(name) is no file"
        case .noDirectory: "\(name) is no directory"
        case .ofAnotherUser(let number): "\(name) belongs to user \(number), and so does the vault in it"
        case .untrusted(let number), .misplaced(let number):
            "\(name) belongs to user \(number), who could write anything there"
        case .writable(let mode): "\(name) can be written by others than its owner (mode \(Self.octal(mode)))"
        case .exposed: "\(name) can be read or written by others than its owner"
        case .replaceable: "\(name) can be written by every user, who may exchange what is in it"
        }
    }

    /// The command that repairs it.
    package var hint: String {
        let name = Self.quotedForShell(path)
        return switch reason {
        case .noFile, .noDirectory: "mv \(name) \(Self.quotedForShell(path + ".away"))"
        case .ofAnotherUser(let number):
            "use that vault as user \(number), by the daemon that runs as this user; 'cofferd --state DIR' takes another one"
        case .untrusted: "as root: chown \(geteuid()) \(name)"
        case .misplaced(0): "root has put it there: as root, chown \(geteuid()) \(name)"
        case .misplaced: "find out how it came there before you use the vault: another user may have written it"
        case .writable: "chmod go-w \(name)"
        case .exposed: "chmod 600 \(name), and consider what is in it known"
        case .replaceable: "chmod o-w \(name)"
        }
    }

    private static func octal(_ mode: UInt32) -> String {
        let digits = String(mode & 0o7777, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }

    /// Quotes a whole path for a command that users copy.
    private static func quotedForShell(_ path: String) -> String {
        "'" + path.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}

/// The owners and modes that a trusted file may have.
struct FileTrust {
    /// Whether root may own it, besides the daemon's user.
    let includesRoot: Bool
    /// The mode bits that it must not have.
    let forbiddenModes: mode_t
    /// The reason against a file of another user.
    let foreign: @Sendable (UInt32) -> FileFinding.Reason

    /// Owned by this user, and writable for no other.
    static let own = FileTrust(false, S_IWGRP | S_IWOTH, FileFinding.Reason.misplaced)
    /// Owned by this user, and readable or writable for no other.
    static let secret = FileTrust(false, S_IRWXG | S_IRWXO, FileFinding.Reason.misplaced)
    /// Owned by this user, and writable for no other: a directory that would be another user's vault otherwise.
    static let state = FileTrust(false, S_IWGRP | S_IWOTH, FileFinding.Reason.ofAnotherUser)
    /// Owned by this user or root, and writable for no other.
    static let system = FileTrust(true, S_IWGRP | S_IWOTH, FileFinding.Reason.untrusted)

    private init(
        _ includesRoot: Bool,
        _ forbiddenModes: mode_t,
        _ foreign: @escaping @Sendable (UInt32) -> FileFinding.Reason
    ) {
        self.includesRoot = includesRoot
        self.forbiddenModes = forbiddenModes
        self.foreign = foreign
    }

    /// The reason to refuse a file.
    ///
    /// - Returns: `nil` if it is trusted.
    func reasonAgainst(_ status: stat) -> FileFinding.Reason? {
        guard status.st_uid == geteuid() || includesRoot && status.st_uid == 0 else {
            return foreign(status.st_uid)
        }
        guard status.st_mode & forbiddenModes != 0 else { return nil }
        return forbiddenModes & S_IRGRP == 0 ? .writable(status.st_mode) : .exposed
    }
}

extension OwnedDescriptor {
    /// Opens a regular file.
    ///
    /// A FIFO, a device or a socket is refused without blocking.
    ///
    /// - Parameters:
    ///   - path: The path, relative to the directory.
    ///   - directory: The descriptor of a directory, or `AT_FDCWD`.
    ///   - flags: The flags of `open`.
    ///   - trust: The owners and modes that it may have; any if there is none.
    ///   - whole: The path for error messages.
    static func openFile(
        _ path: String,
        in directory: Int32,
        _ flags: Int32,
        trusting trust: FileTrust? = nil,
        called whole: @autoclosure () -> String
    ) throws(SystemError) -> OwnedDescriptor {
        let file: OwnedDescriptor
        do throws(SystemError) {
            file = try open(path, in: directory, flags | O_NONBLOCK | O_NOCTTY)
        } catch {
            // A symbolic link that is not followed, a socket, or a directory opened for writing.
            guard [ELOOP, ENXIO, EISDIR].contains(error.code) else { throw error }
            throw SystemError("open", code: error.code, FileFinding(reason: .noFile, path: whole()))
        }
        try file.require(S_IFREG, trust, called: whole())
        // With O_NONBLOCK, some file systems would fail a read that has to wait.
        let number = file.number
        _ = try retrying("fcntl") { fcntl(number, F_SETFL, flags & O_ACCMODE) }
        return file
    }

    /// Refuses a file of another type, or one that is not trusted.
    ///
    /// - Parameters:
    ///   - kind: The type: `S_IFREG` or `S_IFDIR`.
    ///   - trust: The owners and modes that it may have; any if there is none.
    ///   - whole: The path for error messages.
    borrowing func require(
        _ kind: mode_t,
        _ trust: FileTrust?,
        called whole: @autoclosure () -> String
    ) throws(SystemError) {
        let status = try status()
        let isKind = status.st_mode & S_IFMT == kind
        let reason = isKind ? trust?.reasonAgainst(status) : kind == S_IFDIR ? .noDirectory : .noFile
        if let reason { throw SystemError("open", code: EPERM, FileFinding(reason: reason, path: whole())) }
    }
}
