import CofferFileContent
import CofferCore
import CofferCrypto
import CofferDatabase
import CofferFiles
import CofferKeys
import CofferMemory
import CofferPast
import CofferSystem
import CofferTestSupport
import Foundation
import Synchronization
import Testing

/// Makes the Nth operation that changes the disk fail, counted from when it is armed.
final class Saboteur: Sendable {
    private let countdown = Mutex<Int?>(nil)
    private let performed = Mutex<[FileSystem.Operation]>([])

    func arm(_ target: Int) { countdown.withLock { $0 = target } }

    /// Stops failing.
    ///
    /// - Returns: Whether it has struck.
    func disarm() -> Bool {
        countdown.withLock { countdown in
            defer { countdown = nil }
            return (countdown ?? 1) <= 0
        }
    }

    /// The operations of some work, in their order.
    func operations(_ work: () throws -> Void) rethrows -> [FileSystem.Operation] {
        performed.withLock { $0 = [] }
        try work()
        return performed.withLock { $0 }
    }

    var fileSystem: FileSystem {
        FileSystem(intercept: { (operation) throws(SystemError) in
            self.performed.withLock { $0.append(operation) }
            let isNow = self.countdown.withLock { countdown in
                guard let left = countdown else { return false }
                countdown = left - 1
                return left == 1
            }
            if isNow { throw SystemError("sabotage", code: ENOSPC) }
        })
    }
}

/// A file store in a vault of its own.
///
/// It holds its database: let it go before another one is opened.
final class OpenStore {
    let store: FileStore
    let connection: Connection
    let keys: VaultKeys
    let vault: Vault

    init(_ vault: Vault, _ keys: VaultKeys, fileSystem: FileSystem = .real, bootID: String = "boot") throws {
        self.vault = vault
        self.keys = keys
        let directory = try Directory(makingPath: vault.temporary.path, fileSystem: fileSystem)
        connection = try Connection(path: "\(try directory.resolvedPath())/vault.sqlite")
        try connection.migrate(PastStore.migrations + FileStore.migrations, applicationID: 1)
        store = FileStore(
            connection: connection,
            keys: keys,
            contents: try ContentDirectory(in: directory),
            unsynced: UnsyncedLog(in: directory, keys: keys, clock: ManualClock(bootID: bootID).clock)
        )
    }

    convenience init(_ state: TestState = .noPasscode, fileSystem: FileSystem = .real) throws {
        let vault = try Vault(hasPasscode: state != .noPasscode)
        try self.init(vault, try vault.open(state), fileSystem: fileSystem)
    }

    /// Writes a file and makes it visible; where it fails, it is given up as the service does.
    func put(
        _ path: String,
        _ bytes: [UInt8],
        _ protectionClass: ProtectionClass = .completeUntilFirstUserAuthentication,
        now: Int64 = 1000,
        settles: Bool = true
    ) throws {
        let name = try ItemName(path)
        let write = try store.prepareWrite(name, in: "default", as: protectionClass)
        defer { store.openContents.finished(write) }
        let count = try write.perform(prefix: try SecretBytes(copying: bytes.span.bytes), rest: nil)
        do {
            try store.commit(write, at: name, in: "default", byteCount: count, kind: nil, created: nil, now: now)
        } catch {
            store.discard(write)
            throw error
        }
        if settles { store.settleDurably() }
    }

    func put(_ path: String, _ text: String) throws { try put(path, Array(text.utf8)) }

    func find(_ path: String) throws -> FileItem? { try store.find(try ItemName(path), in: "default") }

    /// The content, or a part of it; `nil` where there is no such file.
    func read(_ path: String, _ range: Range<Int64>? = nil) throws -> [UInt8]? {
        guard let file = try find(path) else { return nil }
        let read = try store.prepareRead(file)
        defer { store.openContents.finished(read) }
        let content = try read.collect(range ?? 0..<file.byteCount)
        return content.exposeBytes()
    }

    func text(_ path: String) throws -> String? { try read(path).map { String(decoding: $0, as: UTF8.self) } }

    func remove(_ path: String) throws {
        try store.remove(try #require(try find(path)), now: 3)
        store.settleDurably()
    }

    /// Where the content of a file lies once it is settled.
    func contentPath(_ path: String) throws -> String {
        let read = try store.prepareRead(try #require(try find(path)))
        defer { store.openContents.finished(read) }
        return vault.temporary.path("blobs/\(read.id.hexadecimal.prefix(2))/\(read.id.hexadecimal)")
    }

    /// The class of a file, in every state of the vault.
    func protectionClass(of path: String) throws -> ProtectionClass? {
        try store.protectionClass(of: try ItemName(path), in: "default")
    }

    /// The paths that a listing shows, and how many rows are damaged.
    func survey() throws -> (paths: [String], damaged: Int) {
        var paths: [String] = []
        var damaged = 0
        var walk = store.walk(below: nil, in: ["default"], isRecursive: true)
        while let visit = try walk.next() {
            switch visit {
            case .entry(let entry): if !entry.isDirectory { paths.append(entry.path) }
            case .damaged(let row):
                #expect(row.error.code == .decode)
                damaged += 1
            case .sealed(let row): #expect(row.error.code == .interactionNotAllowed)
            case .end: break
            }
        }
        var directory: Int64?
        while let lost = try store.lostFiles(behind: directory) {
            damaged += lost.count
            directory = lost.directory
        }
        return (paths.sorted(), damaged)
    }

    func count(_ table: StaticString) throws -> Int {
        try #require(try connection.row(table) { Int(try $0.integer(0)) })
    }
}

extension Vault {
    /// The contents that are staged, and not in their places yet.
    var staged: [String] {
        get throws {
            let placed = Set(try placed.map { ($0 as NSString).lastPathComponent })
            return try stagedNames.filter { !placed.contains($0) }
        }
    }

    /// The contents that have a staged name, be they in their places or not.
    var stagedNames: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: temporary.path("blobs/staging")) }
    }

    /// The contents that are in their places.
    var placed: [String] {
        get throws {
            try FileManager.default.subpathsOfDirectory(atPath: temporary.path("blobs"))
                .filter { !$0.hasPrefix("staging") && $0.contains("/") }
        }
    }
}

/// Content in which no part is like another.
func pattern(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 11) }
}

/// The code of an error; `nil` where there is none.
func code(_ body: () throws -> Void) -> ErrorCode? {
    do {
        try body()
        return nil
    } catch let error as CofferError {
        return error.code
    } catch {
        Issue.record(error)
        return .internal
    }
}

func bytes(at path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

func overwrite(_ path: String, _ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(filePath: path)) }

/// A pipe that no child of this process inherits: one that did would keep its ends open.
///
/// There is no `pipe2` in the module of the C library; a named pipe can be opened close-on-exec.
///
/// - Returns: The end for reading, then the one for writing.
func makePipe() throws -> [Int32] {
    let path = NSTemporaryDirectory() + "coffer-pipe-\(UUID().uuidString)"
    try #require(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    let reading = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    let writing = open(path, O_WRONLY | O_CLOEXEC)
    try #require(reading >= 0 && writing >= 0)
    try #require(fcntl(reading, F_SETFL, fcntl(reading, F_GETFL) & ~O_NONBLOCK) == 0)
    return [reading, writing]
}

extension FileStore {
    /// Settles changes that are committed and synced.
    func settleDurably() {
        settle()
        settleSynced()
    }
}
