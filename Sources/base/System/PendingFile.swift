internal import CCofferShims
internal import CofferCore
internal import Glibc

/// A new file that appears in its place with all of its content, for the owner only, or not at all.
///
/// Until then it has no name, so that the kernel removes it however the process ends, including SIGKILL and a power
/// cut. If the file system does not support that, it has a temporary name beside its place, which is removed with the
/// value and by the signals that end the process. A process can have one such temporary name at a time, and any number
/// of those that stay behind when it is killed.
package final class PendingFile {
    /// The treatment of a file that exists already.
    package enum Existing: Sendable {
        /// It is replaced, atomically.
        case isReplaced
        /// It stays, and the new file fails.
        case isKept
    }

    /// Signals that could leave a second name behind between two calls.
    private static let signals = [SIGHUP, SIGINT, SIGQUIT, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU]

    private let directory: OwnedDescriptor
    private let name: String
    private let existing: Existing
    private let file: OwnedDescriptor
    /// Its name until it is in place, if it needs one.
    private let temporaryName = ".coffer-\(ItemID().hexadecimal).part"
    private let isNamed: Bool
    private let isRemovedWhenKilled: Bool
    private var isFinished = false

    /// Creates the file.
    ///
    /// - Parameters:
    ///   - path: Its place.
    ///   - existing: The treatment of an existing file.
    ///   - canBeNameless: Whether to try without a name.
    ///   - isRemovedWhenKilled: Whether the signals that end the process remove the temporary name.
    /// - Throws: `EEXIST` for an existing file that stays; `ENXIO` for a device, a pipe or a socket, which is never
    ///   replaced.
    package convenience init(
        at path: String,
        _ existing: Existing,
        canBeNameless: Bool = true,
        isRemovedWhenKilled: Bool = true
    ) throws(SystemError) {
        let end = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        let folder = end.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let name = end.map { String(path[path.utf8.index(after: $0)...]) } ?? path
        if name.isEmpty { throw SystemError("open", code: path.isEmpty ? ENOENT : EISDIR) }
        try self.init(
            name,
            in: try .open(folder, coffer_o_path | O_DIRECTORY),
            existing,
            canBeNameless: canBeNameless,
            isRemovedWhenKilled: isRemovedWhenKilled
        )
    }

    /// Creates the file in an open directory.
    init(
        _ name: String,
        in folder: consuming OwnedDescriptor,
        _ existing: Existing,
        canBeNameless: Bool = true,
        isRemovedWhenKilled: Bool
    ) throws(SystemError) {
        self.name = name
        self.existing = existing
        self.isRemovedWhenKilled = isRemovedWhenKilled
        directory = folder
        try Self.checkPlace(directory, name, existing)
        let nameless = canBeNameless ? coffer_create_nameless(directory.number) : -1
        isNamed = nameless < 0
        file =
            nameless >= 0
            ? OwnedDescriptor(owning: nameless)
            : try Self.create(temporaryName, in: directory, isRemovedWhenKilled)
        // The mode must not depend on the umask.
        _ = try retrying("fchmod") { [number = file.number] in fchmod(number, 0o600) }
    }

    deinit {
        if isNamed && !isFinished { discard() }
    }

    /// The descriptor to write to.
    package var number: Int32 { file.number }

    /// Appends bytes.
    package func write(all bytes: RawSpan) throws(SystemError) { try file.write(all: bytes) }

    /// Starts the writeback of a part of the file, so that the sync at the end takes less time.
    ///
    /// - Parameter range: The range in bytes.
    package func startWriting(_ range: Range<Int64>) { file.startWriting(range) }

    /// Gives back the memory in which the kernel caches the file, once it is finished.
    package func dropCache() { file.dropCache() }

    /// Moves the file into place.
    ///
    /// - Parameter isSynced: Whether it is synced; otherwise the caller syncs the file system after many of them.
    package func finish(isSynced: Bool = true) throws(SystemError) {
        if isSynced { try file.synchronize() }
        try place()
        isFinished = true
        if isNamed && isRemovedWhenKilled { coffer_keep_when_killed() }
        if !isSynced { return }
        do throws(SystemError) {
            try syncDirectory()
        } catch {
            // Without the sync it may vanish, so it must not appear to be stored. A replaced file can't be restored.
            if existing == .isKept { unsafe unlinkat(directory.number, name, 0) }
            throw error
        }
    }

    // MARK: Creating

    /// Finds the errors of the final rename before anything is written.
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
        // Other programs use a device, a pipe or a socket, also behind a link: root could replace /dev/null.
        let isFound = unsafe fstatat(number, name, &status, 0) == 0
        if isFound && ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) { throw SystemError("open", code: ENXIO) }
    }

    private static func create(
        _ name: String,
        in directory: borrowing OwnedDescriptor,
        _ isRemovedWhenKilled: Bool
    ) throws(SystemError) -> OwnedDescriptor {
        let number = directory.number
        if isRemovedWhenKilled { unsafe coffer_remove_when_killed(number, name) }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
        do throws(SystemError) {
            return try OwnedDescriptor("open") { unsafe coffer_openat(number, name, flags, 0o600) }
        } catch {
            if isRemovedWhenKilled { coffer_keep_when_killed() }
            throw error
        }
    }

    private func discard() {
        unsafe unlinkat(directory.number, temporaryName, 0)
        if isRemovedWhenKilled { coffer_keep_when_killed() }
    }

    // MARK: Placing

    private func place() throws(SystemError) {
        let number = directory.number
        switch (isNamed, existing) {
        case (true, .isReplaced): try rename()
        case (true, .isKept):
            _ = try retrying("rename") { unsafe coffer_rename_new(number, temporaryName, name) }
        case (false, .isKept): try link(to: name)
        case (false, .isReplaced): try replace()
        }
    }

    private func link(to name: String) throws(SystemError) {
        _ = try retrying("link") { unsafe coffer_name(file.number, directory.number, name) }
    }

    private func rename() throws(SystemError) {
        let number = directory.number
        _ = try retrying("rename") { unsafe renameat(number, temporaryName, number, name) }
    }

    /// Replaces an existing file, for which a nameless file needs a temporary name, since a link replaces nothing.
    ///
    /// The name exists between two calls, during which the signals that could leave it behind are blocked. Only SIGKILL
    /// can't be.
    private func replace() throws(SystemError) {
        do throws(SystemError) {
            return try link(to: name)
        } catch  where error.code == EEXIST {}
        let held = try HeldSignals(Self.signals)
        defer { withExtendedLifetime(held) {} }
        try link(to: temporaryName)
        do throws(SystemError) {
            try rename()
        } catch {
            unsafe unlinkat(directory.number, temporaryName, 0)
            throw error
        }
    }

    /// Syncs the name as well.
    private func syncDirectory() throws(SystemError) {
        let readable = try tolerating(EACCES) { () throws(SystemError) in
            try OwnedDescriptor.open(".", in: directory.number, O_RDONLY | O_DIRECTORY)
        }
        if let readable { return try readable.synchronize() }
        // The directory is writable, but not readable.
        _ = try retrying("syncfs") { coffer_sync_file_system(file.number) }
    }
}
