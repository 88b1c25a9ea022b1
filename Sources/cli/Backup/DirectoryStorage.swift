package import CofferCore
internal import CofferSystem
internal import Glibc
internal import Synchronization

/// A repository in a directory of this machine.
///
/// An object is written without a name, synced, and linked to its name, so that neither a rename nor a removal is
/// needed. On a file system without that, it has a name that begins with a dot until then.
package final class DirectoryStorage: RepositoryStorage {
    package let place: String

    /// Folders that are known to exist.
    private let folders = Mutex<Set<String>>([])

    package init(_ path: String) { place = path }

    // An object gets its name by a link.
    package func useAppendOnly() {}

    package func objects(in folder: String) throws(CofferError) -> [StoredObject] {
        do throws(SystemError) {
            let directory = try Directory(openingPath: "\(place)/\(folder)")
            var objects: [StoredObject] = []
            for name in try directory.entries() where !name.hasPrefix(".") {
                guard let file = try directory.openIfPresent(name) else { continue }
                objects.append(StoredObject(name: name, byteCount: Int64(try file.status().st_size)))
            }
            return objects
        } catch  where error.code == ENOENT && error.finding == nil {
            return []
        } catch {
            throw failure("can't list", folder, error)
        }
    }

    package func read(_ name: String, at offset: Int64, _ count: Int) throws(CofferError) -> [UInt8]? {
        do throws(SystemError) {
            let (folder, file) = Self.parts(name)
            let directory = try Directory(openingPath: folder.isEmpty ? place : "\(place)/\(folder)")
            return try directory.openIfPresent(file)?.bytes(count, at: offset)
        } catch  where error.code == ENOENT && error.finding == nil {
            return nil
        } catch {
            throw failure("can't read", name, error)
        }
    }

    package func create(_ name: String) throws(CofferError) -> any ObjectSink {
        do throws(SystemError) {
            try make(Self.parts(name).folder)
            let file = try PendingFile(at: "\(place)/\(name)", .isKept, isRemovedWhenKilled: false)
            return FileSink(file) { [self] error in failure("can't write", name, error) }
        } catch {
            throw failure("can't write", name, error)
        }
    }

    /// Creates a folder, synced, with those that it is in.
    private func make(_ folder: String) throws(SystemError) {
        if folders.withLock({ $0.contains(folder) }) { return }
        var directory = try Directory(makingPath: place)
        for part in folder.utf8.split(separator: UInt8(ascii: "/")) {
            directory = try directory.subdirectory(String(Substring(part)))
        }
        folders.withLock { _ = $0.insert(folder) }
    }

    package func remove(_ name: String) throws(CofferError) {
        do throws(SystemError) {
            let (folder, file) = Self.parts(name)
            try Directory(openingPath: "\(place)/\(folder)").remove(file)
        } catch  where error.code == ENOENT {
            return
        } catch {
            throw failure("can't remove", name, error)
        }
    }

    package func removeLeftovers(in folder: String) throws(CofferError) {
        do throws(SystemError) {
            let directory = try Directory(openingPath: "\(place)/\(folder)")
            for name in try directory.entries() where name.hasPrefix(".coffer-") { try directory.remove(name) }
        } catch  where error.code == ENOENT {
            return
        } catch {
            throw failure("can't remove leftovers of", folder, error)
        }
    }

    private static func parts(_ name: String) -> (folder: String, file: String) {
        guard let slash = name.utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", name) }
        return (String(name[..<slash]), String(name[name.utf8.index(after: slash)...]))
    }

    private func failure(_ what: String, _ name: String, _ error: SystemError) -> CofferError {
        error.cofferError("\(what) \(quotedForDisplay(name)) in the repository \(quotedForDisplay(place))")
    }

    // MARK: Locks

    package func lock(_ kind: LockKind) throws(CofferError) -> (any RepositoryLock)? {
        do throws(SystemError) {
            if isReadOnly { return nil }
            try make(BackupFormat.locks)
            // Who adds excludes others that add, and who removes excludes all.
            let use = try lock("use", isExclusive: kind == .remove)
            let change = kind == .read ? nil : try lock("change", isExclusive: true)
            return FileLock([use, change].compactMap { $0 })
        } catch  where error.code == EWOULDBLOCK {
            throw .repositoryInUse(place)
        } catch {
            throw failure("can't lock", BackupFormat.locks, error)
        }
    }

    /// A medium that can't be written needs no lock.
    private var isReadOnly: Bool { unsafe access(place, W_OK) != 0 }

    private func lock(_ name: String, isExclusive: Bool) throws(SystemError) -> FileLock.Held {
        let path = "\(place)/\(BackupFormat.locks)/\(name)"
        let number = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw SystemError("open") }
        let held = FileLock.Held(OwnedDescriptor(owning: number))
        _ = try retrying("flock") { flock(number, (isExclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) }
        return held
    }
}

/// Locked files, which the kernel unlocks however the process ends.
private final class FileLock: RepositoryLock {
    final class Held: Sendable {
        let file: OwnedDescriptor
        init(_ file: consuming OwnedDescriptor) { self.file = file }
        // A child that is being started has a copy of the descriptor until it becomes its program.
        deinit { _ = flock(file.number, LOCK_UN) }
    }

    private let files: [Held]

    init(_ files: [Held]) { self.files = files }

    func refresh() {}
}

/// Sendable: one thread writes it, and hands it over to the one that finishes it.
private final class FileSink: ObjectSink, @unchecked Sendable {
    private let file: PendingFile
    private let failure: @Sendable (SystemError) -> CofferError
    private var byteCount: Int64 = 0
    private var startedByteCount: Int64 = 0

    init(_ file: PendingFile, _ failure: @escaping @Sendable (SystemError) -> CofferError) {
        self.file = file
        self.failure = failure
    }

    func write(_ bytes: RawSpan) throws(CofferError) {
        do throws(SystemError) { try file.write(all: bytes) } catch { throw failure(error) }
        byteCount += Int64(bytes.byteCount)
        if byteCount - startedByteCount >= Limits.writebackBytes {
            file.startWriting(startedByteCount..<byteCount)
            startedByteCount = byteCount
        }
    }

    func finish() throws(CofferError) {
        do throws(SystemError) { try file.finish() } catch { throw failure(error) }
        // Large objects are packs, which a check or a restore reads. The next backup reads the small ones.
        if startedByteCount > 0 { file.dropCache() }
    }
}

extension CofferError {
    /// The error if another process uses the repository in a way that excludes this one.
    static func repositoryInUse(_ place: String) -> CofferError {
        CofferError(
            .notAvailable,
            "the repository \(quotedForDisplay(place)) is in use by another process",
            hint: "run the command again when the backup, restore or prune that is running has ended",
            retry: .later
        )
    }
}
