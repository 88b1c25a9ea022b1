package import CofferCore
internal import CofferSystem
internal import Glibc

/// A repository on a machine that ssh reaches, by OpenSSH's `sftp`.
///
/// Objects are written to a directory on this machine first, and fetched whole, the last ones being kept.
///
/// Sendable: each use of the session waits for the one before it.
package final class SFTPStorage: RepositoryStorage, @unchecked Sendable {
    package let place: String
    private let path: String
    private let connecting: [String]
    private let patience: Int64
    private let turn = CountingSemaphore(1)
    private var session: SFTPSession?
    private var spool: Spool?
    private var folders: Set<String> = []
    private var isAppendOnly = false
    /// The last objects that were fetched, and that are read in parts.
    private var fetched: [(name: String, path: String)] = []

    /// Makes a storage; it connects when it is first used.
    ///
    /// - Parameters:
    ///   - place: The place as the user wrote it.
    ///   - path: The directory there.
    ///   - connecting: The arguments of `sftp` that say whereto.
    ///   - silenceSeconds: The time without any progress after which the server counts as silent.
    package init(
        _ place: String,
        path: String,
        connecting: [String],
        silenceSeconds: Int64 = Limits.backupServerSilenceSeconds
    ) {
        patience = silenceSeconds
        self.place = place
        self.path = path
        self.connecting = connecting
    }

    package func useAppendOnly() { isAppendOnly = true }

    private func inTurn<Value>(_ body: () throws(CofferError) -> Value) throws(CofferError) -> Value {
        turn.wait()
        defer { turn.signal() }
        return try body()
    }

    // MARK: Commands

    /// Runs a command.
    ///
    /// - Returns: Its output; `nil` if it says that there is no such file.
    private func run(_ command: String) throws(CofferError) -> [String]? {
        let answer: SFTPSession.Answer
        do throws(SystemError) {
            if session == nil { session = try SFTPSession(connecting: connecting, patience: patience) }
            guard let session else { return nil }
            answer = try session.run(command)
        } catch {
            session = nil
            if error.code == ETIMEDOUT { throw silence() }
            throw error.cofferError("can't use sftp for the repository \(quotedForDisplay(place))")
        }
        if answer.hasEnded {
            session = nil
            throw failure(answer.errors)
        }
        if answer.errors.isEmpty { return answer.lines }
        if answer.errors.contains("not found") || answer.errors.contains("No such file") { return nil }
        throw failure(answer.errors)
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.flatMap { $0 == "\"" || $0 == "\\" ? ["\\", $0] : [$0] }
        return "\"\(String(escaped))\""
    }

    private func failure(_ errors: String) -> CofferError {
        let line = errors.split(whereSeparator: \.isNewline).last.map(String.init) ?? "sftp has ended"
        return CofferError(
            .io,
            "the repository \(quotedForDisplay(place)) can't be used: \(quotedForDisplay(line))",
            hint: "try 'sftp' there yourself: it has to work without a question"
        )
    }

    private func silence() -> CofferError {
        CofferError(
            .notAvailable,
            "the server of the repository \(quotedForDisplay(place)) has been silent for \(patience) s",
            hint: "try 'sftp' there yourself; if it answers, run the command again",
            retry: .afterDelay(seconds: 60)
        )
    }

    private func name(_ name: String) -> String { Self.quoted("\(path)/\(name)") }

    // MARK: Reading

    package func objects(in folder: String) throws(CofferError) -> [StoredObject] {
        try inTurn { () throws(CofferError) in
            if folder.hasPrefix("\(BackupFormat.packs)/"), try !hasPackFolder(folder) { return [] }
            return try list(folder).filter { !$0.name.hasSuffix(".part") }
        }
    }

    /// Whether a folder of packs exists: all of them are listed at once.
    private func hasPackFolder(_ folder: String) throws(CofferError) -> Bool {
        if folder == BackupFormat.packFolders.first {
            for found in try list(BackupFormat.packs) { folders.insert("\(BackupFormat.packs)/\(found.name)") }
        }
        return folders.contains(folder)
    }

    private func list(_ folder: String) throws(CofferError) -> [StoredObject] {
        // Mode, links, owner, group, size, three words of a date, path.
        try (run("ls -ln \(name(folder))") ?? []).compactMap { line in
            let words = line.split(separator: " ")
            guard words.count >= 9, let byteCount = Int64(words[4]), let path = words.last else { return nil }
            let name = path.split(separator: "/").last.map(String.init) ?? ""
            return StoredObject(name: name, byteCount: byteCount)
        }
    }

    package func read(_ name: String, at offset: Int64, _ count: Int) throws(CofferError) -> [UInt8]? {
        try inTurn { () throws(CofferError) in
            guard let path = try fetch(name) else { return nil as [UInt8]? }
            do throws(SystemError) {
                return try OwnedDescriptor.open(path, O_RDONLY).bytes(count, at: offset)
            } catch {
                throw error.cofferError("can't read \(quotedForDisplay(path))")
            }
        }
    }

    /// Has an object on this machine.
    private func fetch(_ name: String) throws(CofferError) -> String? {
        if let known = fetched.first(where: { $0.name == name }) { return known.path }
        while fetched.count >= Limits.fetchedObjects { unsafe unlink(fetched.removeFirst().path) }
        let path = try spoolDirectory().newPath()
        guard try run("get \(self.name(name)) \(Self.quoted(path))") != nil else { return nil }
        fetched.append((name, path))
        return path
    }

    private func spoolDirectory() throws(CofferError) -> Spool {
        if let spool { return spool }
        let new = try Spool()
        spool = new
        return new
    }

    // MARK: Writing

    package func create(_ name: String) throws(CofferError) -> any ObjectSink {
        let path = try inTurn { () throws(CofferError) in try spoolDirectory().newPath() }
        do throws(SystemError) {
            return SpooledSink(self, name, path, try PendingFile(at: path, .isReplaced, isRemovedWhenKilled: false))
        } catch {
            throw error.cofferError("can't write \(quotedForDisplay(path))")
        }
    }

    fileprivate func upload(_ path: String, as name: String) throws(CofferError) {
        defer { unsafe unlink(path) }
        try inTurn { () throws(CofferError) in
            try makeFolders(of: name)
            // Without a rename, a reader may find the beginning of an object; a snapshot comes last of all.
            let temporary = isAppendOnly ? name : "\(name).part"
            try runWhole("put -f \(Self.quoted(path)) \(self.name(temporary))")
            if !isAppendOnly { try runWhole("rename \(self.name(temporary)) \(self.name(name))") }
        }
    }

    private func runWhole(_ command: String) throws(CofferError) {
        guard try run(command) != nil else { throw failure("a directory of it is missing") }
    }

    private func makeFolders(of name: String) throws(CofferError) {
        var folder = ""
        for part in name.split(separator: "/").dropLast() {
            folder += folder.isEmpty ? part : "/\(part)"
            if folders.contains(folder) { continue }
            // That it exists is a failure without a reason.
            if try run("ls -ln \(self.name(folder))") == nil { try runWhole("mkdir \(self.name(folder))") }
            folders.insert(folder)
        }
        if folder.isEmpty, try run("ls -ln \(Self.quoted(path))") == nil { try runWhole("mkdir \(Self.quoted(path))") }
    }

    package func remove(_ name: String) throws(CofferError) {
        try inTurn { () throws(CofferError) in
            fetched.removeAll { $0.name == name }
            _ = try run("rm \(self.name(name))")
        }
    }

    package func removeLeftovers(in folder: String) throws(CofferError) {
        try inTurn { () throws(CofferError) in
            if folder.hasPrefix("\(BackupFormat.packs)/"), !folders.contains(folder) { return }
            for object in try list(folder) where object.name.hasSuffix(".part") {
                _ = try run("rm \(name("\(folder)/\(object.name)"))")
            }
        }
    }

    // MARK: Locks

    package func lock(_ kind: LockKind) throws(CofferError) -> (any RepositoryLock)? {
        // It could not be removed afterwards; the vault signs no number twice.
        if isAppendOnly { return nil }
        return try RemoteLock(self, kind)
    }
}

/// A directory for objects on their way, which are ciphertext.
private final class Spool {
    private let path: String
    private var count = 0

    init() throws(CofferError) {
        // Not in /tmp, which may be memory.
        var template = Array("/var/tmp/coffer-backup-XXXXXX".utf8CString)
        let isMade = unsafe template.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return false }
            return unsafe mkdtemp(start) != nil
        }
        guard isMade else { throw SystemError("mkdtemp").cofferError("can't make a directory in /var/tmp") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func newPath() -> String {
        count += 1
        return "\(path)/\(count)"
    }

    deinit {
        for number in 1...max(1, count) { unsafe unlink("\(path)/\(number)") }
        unsafe rmdir(path)
    }
}

/// Sendable: one thread writes it, and hands it over to the one that finishes it.
private final class SpooledSink: ObjectSink, @unchecked Sendable {
    private let storage: SFTPStorage
    private let name: String
    private let path: String
    private let file: PendingFile

    init(_ storage: SFTPStorage, _ name: String, _ path: String, _ file: PendingFile) {
        self.storage = storage
        self.name = name
        self.path = path
        self.file = file
    }

    func write(_ bytes: RawSpan) throws(CofferError) {
        do throws(SystemError) { try file.write(all: bytes) } catch { throw failure(error) }
    }

    func finish() throws(CofferError) {
        do throws(SystemError) { try file.finish(isSynced: false) } catch { throw failure(error) }
        try storage.upload(path, as: name)
    }

    private func failure(_ error: SystemError) -> CofferError {
        error.cofferError("can't write \(quotedForDisplay(path))")
    }
}

/// An object whose name says what is locked, and when that was last said.
///
/// Sendable: it is used by the thread that uses the repository.
private final class RemoteLock: RepositoryLock, @unchecked Sendable {
    private let storage: SFTPStorage
    private let kind: LockKind
    private let id = ItemID().hexadecimal
    private var name = ""
    private var date: Int64 = 0

    init(_ storage: SFTPStorage, _ kind: LockKind) throws(CofferError) {
        self.storage = storage
        self.kind = kind
        try write()
        do throws(CofferError) {
            try check()
        } catch {
            try? storage.remove(name)
            throw error
        }
    }

    deinit { try? storage.remove(name) }

    private func write() throws(CofferError) {
        let old = name
        date = wallClockMilliseconds()
        name = "\(BackupFormat.locks)/\(kind.rawValue)-\(date)-\(id)"
        try storage.write(name, Array("\(kind.rawValue)\n".utf8))
        if !old.isEmpty { try storage.remove(old) }
    }

    private func check() throws(CofferError) {
        for object in try storage.objects(in: BackupFormat.locks) {
            let parts = object.name.split(separator: "-").map(String.init)
            guard parts.count == 3, parts[2] != id, let other = LockKind(rawValue: parts[0]), let date = Int64(parts[1])
            else { continue }
            let age = wallClockMilliseconds().nearestDifference(date)
            if age.magnitude > Limits.backupLockMilliseconds.magnitude {
                // What a crash left.
                try storage.remove("\(BackupFormat.locks)/\(object.name)")
            } else if kind == .remove || other == .remove || kind == .add && other == .add {
                throw .repositoryInUse(storage.place)
            }
        }
    }

    func refresh() throws(CofferError) {
        if wallClockMilliseconds().nearestDifference(date) > Limits.backupLockMilliseconds / 6 { try write() }
    }
}
