internal import CCofferShims
internal import CofferCore
internal import Glibc

/// A file that comes to its place with all of its content, for its owner only, and leaves nothing behind otherwise.
///
/// It has no name until then, so that the kernel takes it away whatever ends the process, SIGKILL and a power cut too. On a file
/// system that has no such files it stands beside its place under a name of its own, which goes with the value and with the
/// signals that end a process; of those, a process has one at a time.
package final class PendingFile {
    /// What becomes of a file that is in the place already.
    package enum Existing: Sendable {
        /// It is replaced, atomically.
        case isReplaced
        /// It stays, and this one fails.
        case isKept
    }

    /// Signals that would leave a second name behind between two calls.
    private static let signals = [SIGHUP, SIGINT, SIGQUIT, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU]

    private let directory: OwnedDescriptor
    private let name: String
    private let existing: Existing
    private let file: OwnedDescriptor
    /// The name that it has until it is in its place.
    private let temporaryName = ".coffer-\(ItemID().hexadecimal).part"
    private let isNamed: Bool
    private var isFinished = false

    /// Makes the file.
    ///
    /// - Parameters:
    ///   - path: Its place.
    ///   - existing: What becomes of a file that is there.
    ///   - canBeNameless: Whether it may do without a name.
    /// - Throws: `EEXIST` where there is one that stays; `ENXIO` where a device, a pipe or a socket is, which is never replaced.
    package init(at path: String, _ existing: Existing, canBeNameless: Bool = true) throws(SystemError) {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        name = end.map { String(path[path.utf8.index(after: $0)...]) } ?? path
        if name.isEmpty { throw SystemError("open", code: path.isEmpty ? ENOENT : EISDIR) }
        self.existing = existing
        directory = OwnedDescriptor(
            owning: try retrying("open") { unsafe coffer_openat(AT_FDCWD, folder, coffer_o_path | O_DIRECTORY, 0) }
        )
        try Self.checkPlace(directory, name, existing)
        let nameless = canBeNameless ? coffer_create_nameless(directory.number) : -1
        isNamed = nameless < 0
        file = nameless >= 0 ? OwnedDescriptor(owning: nameless) : try Self.create(temporaryName, in: directory)
        // Whatever the mask of the process is.
        _ = try retrying("fchmod") { [number = file.number] in fchmod(number, 0o600) }
    }

    deinit {
        if isNamed && !isFinished { discard() }
    }

    /// The descriptor to write to.
    package var number: Int32 { file.number }

    /// Writes bytes behind those that are there.
    package func write(all bytes: RawSpan) throws(SystemError) { try file.write(all: bytes) }

    /// Puts the file in its place, synced.
    package func finish() throws(SystemError) {
        let number = file.number
        _ = try retrying("fsync") { fsync(number) }
        try place()
        isFinished = true
        if isNamed { coffer_keep_when_killed() }
        do throws(SystemError) {
            try syncDirectory()
        } catch {
            // What is not sure to stay is not there: somebody else's file is not touched.
            if existing == .isKept { unsafe unlinkat(directory.number, name, 0) }
            throw error
        }
    }

    // MARK: Making it

    /// Found out before anything is written: what the file system would refuse in the end.
    private static func checkPlace(
        _ directory: borrowing OwnedDescriptor,
        _ name: String,
        _ existing: Existing
    ) throws(SystemError) {
        var status = stat()
        let number = directory.number
        if unsafe fstatat(number, name, &status, AT_SYMLINK_NOFOLLOW) != 0 {
            if errno != ENOENT { throw SystemError("stat") }
            return
        }
        if existing == .isKept { throw SystemError("open", code: EEXIST) }
        if status.st_mode & S_IFMT == S_IFDIR { throw SystemError("open", code: EISDIR) }
        // A device, a pipe or a socket, or a link to one, is there for others too: root could replace /dev/null.
        let isFound = unsafe fstatat(number, name, &status, 0) == 0
        if isFound && ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) { throw SystemError("open", code: ENXIO) }
    }

    private static func create(
        _ name: String,
        in directory: borrowing OwnedDescriptor
    ) throws(SystemError) -> OwnedDescriptor {
        let number = directory.number
        unsafe coffer_remove_when_killed(number, name)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        do throws(SystemError) {
            return OwnedDescriptor(owning: try retrying("open") { unsafe coffer_openat(number, name, flags, 0o600) })
        } catch {
            coffer_keep_when_killed()
            throw error
        }
    }

    private func discard() {
        unsafe unlinkat(directory.number, temporaryName, 0)
        coffer_keep_when_killed()
    }

    // MARK: Placing it

    private func place() throws(SystemError) {
        let number = directory.number
        switch (isNamed, existing) {
        case (true, .isReplaced):
            _ = try retrying("rename") { unsafe renameat(number, temporaryName, number, name) }
        case (true, .isKept):
            _ = try retrying("rename") { unsafe coffer_rename_new(number, temporaryName, name) }
        case (false, .isKept): try link(to: name)
        case (false, .isReplaced): try replace()
        }
    }

    private func link(to name: String) throws(SystemError) {
        _ = try retrying("link") { unsafe coffer_name(file.number, directory.number, name) }
    }

    /// A link replaces nothing, so that the file needs a second name where there is another: for two calls, between which no
    /// signal but SIGKILL comes.
    private func replace() throws(SystemError) {
        do throws(SystemError) {
            return try link(to: name)
        } catch  where error.code == EEXIST {}
        let held = try HeldSignals(Self.signals)
        defer { withExtendedLifetime(held) {} }
        try link(to: temporaryName)
        do throws(SystemError) {
            let number = directory.number
            _ = try retrying("rename") { unsafe renameat(number, temporaryName, number, name) }
        } catch {
            unsafe unlinkat(directory.number, temporaryName, 0)
            throw error
        }
    }

    /// The name has to outlive a power cut as well.
    private func syncDirectory() throws(SystemError) {
        let number = directory.number
        let opened = unsafe coffer_openat(number, ".", O_RDONLY | O_DIRECTORY, 0)
        if opened < 0 && errno == EACCES {
            // A directory that one may write to and not read.
            _ = try retrying("syncfs") { [number = file.number] in coffer_sync_file_system(number) }
            return
        }
        let readable = OwnedDescriptor(owning: try SystemError.check("open", opened))
        _ = try retrying("fsync") { [number = readable.number] in fsync(number) }
    }
}
