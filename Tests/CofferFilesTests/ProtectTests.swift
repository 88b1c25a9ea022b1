import CofferFileContent
import CofferCore
import CofferCrypto
import CofferDatabase
import CofferFiles
import CofferKeys
import CofferMemory
import CofferTestSupport
import Foundation
import Testing

/// Section 3 of the semantics: R, the key for reading an existing file is there; N, the one for making a new one.
private let matrix: [TestState: [ProtectionClass: String]] = [
    .noPasscode: row("RN", "RN", "RN", "RN", "RN"),
    .beforeFirstUnlock: row("", "N", "", "", "RN"),
    .unlocked: row("RN", "RN", "RN", "RN", "RN"),
    .locking: row("RN", "RN", "RN", "RN", "RN"),
    .locked: row("", "N", "RN", "RN", "RN"),
    .lockedExpired: row("", "N", "RN", "", "RN"),
]

private func row(_ a: String, _ b: String, _ c: String, _ cx: String, _ d: String) -> [ProtectionClass: String] {
    [
        .complete: a, .completeUnlessOpen: b, .completeUntilFirstUserAuthentication: c, .completeWhenUserInactive: cx,
        .none: d,
    ]
}

/// Every change of one class to another, and those that change nothing.
private let changes = ProtectionClass.allCases.flatMap { old in ProtectionClass.allCases.map { (old: old, new: $0) } }

/// Changing a class needs both keys: the old one for unwrapping, the new one for wrapping.
private func expectation(_ old: ProtectionClass, _ new: ProtectionClass, in state: TestState) throws -> ErrorCode? {
    if !isNamed(old, in: state) { return .interactionNotAllowed }
    let cells = try #require(matrix[state])
    let isPossible = cells[old]?.contains("R") == true && cells[new]?.contains("N") == true
    return isPossible || old == new ? nil : .interactionNotAllowed
}

/// A content on the disk: protecting has to leave it alone.
private struct Trace: Equatable {
    let inode: UInt64
    let changed: [Int]
    let bytes: [UInt8]

    init(_ path: String) throws {
        var status = stat()
        try #require(lstat(path, &status) == 0)
        inode = UInt64(status.st_ino)
        // Not when its names have changed: a content loses its staged one.
        changed = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        bytes = try CofferFilesTests.bytes(at: path)
    }
}

extension OpenStore {
    /// Changes the class of a file, durably.
    fileprivate func protect(_ path: String, as protectionClass: ProtectionClass, now: Int64 = 2000) throws {
        try store.protect(try #require(try find(path)), as: protectionClass, now: now)
        store.settleDurably()
    }

    fileprivate func read(opening path: String) throws -> ContentRead {
        try store.prepareRead(try #require(try find(path)))
    }

    fileprivate func lock() {
        keys.lock()
        store.openContents.revoke(in: keys.state)
    }
}

@Suite struct `A file whose class is changed` {
    @Test(arguments: TestState.allCases)
    func `wants both keys, and keeps its content as it is`(state: TestState) throws {
        let vault = try Vault(hasPasscode: state != .noPasscode)
        let open: TestState = state == .noPasscode ? .noPasscode : .unlocked
        var traces: [String: Trace] = [:]
        var paths: [String: String] = [:]
        do {
            let store = try OpenStore(vault, try vault.open(open))
            for (old, new) in changes {
                let path = "\(old)/\(new)"
                try store.put(path, Array(path.utf8), old)
                paths[path] = try store.contentPath(path)
                traces[path] = try Trace(try #require(paths[path]))
            }
        }
        var classes: [String: ProtectionClass] = [:]
        var namedCount = 0
        do {
            let store = try OpenStore(vault, try vault.open(state))
            for (old, new) in changes {
                let path = "\(old)/\(new)"
                let expected = try expectation(old, new, in: state)
                let found = code { try store.protect(path, as: new) }
                #expect(found == expected, "\(path)")
                let now = expected == nil ? new : old
                #expect(try store.protectionClass(of: path) == now, "\(path)")
                classes[path] = now
                guard isNamed(now, in: state) else { continue }
                let file = try #require(try store.find(path))
                #expect(file.created == 1000)
                #expect(file.modified == (old == now ? 1000 : 2000), "\(path)")
                #expect(file.byteCount == Int64(path.utf8.count))
                namedCount += 1
            }
            let survey = try store.survey()
            #expect(survey.paths.count == namedCount)
            #expect(survey.damaged == 0)
        }
        for (path, trace) in traces {
            let after = try Trace(try #require(paths[path]))
            #expect(after == trace, "\(path)")
        }
        // What was changed is what its new class is, in every state.
        for later in state == .noPasscode ? [.noPasscode] : TestState.allCases.filter({ $0 != .noPasscode }) {
            let store = try OpenStore(vault, try vault.open(later))
            for (path, protectionClass) in classes {
                let isReadable = matrix[later]?[protectionClass]?.contains("R") == true
                let found = code {
                    let text = try store.text(path)
                    #expect(text == path)
                }
                #expect(found == (isReadable ? nil : .interactionNotAllowed), "\(path) \(later)")
            }
        }
    }

    @Test func `goes from class to class and back, and opens in each`() throws {
        let open = try OpenStore(.unlocked)
        let content = pattern(200_000)
        try open.put("dir/file", content, .complete)
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<40 {
            let next = try #require(ProtectionClass.allCases.randomElement(using: &generator))
            try open.protect("dir/file", as: next)
            let found = try open.read("dir/file")
            #expect(found == content)
            let file = try open.find("dir/file")
            #expect(file?.protectionClass == next)
        }
        try open.put("dir/file", Array("new".utf8), .none)
        let replaced = try open.text("dir/file")
        #expect(replaced == "new")
        try open.remove("dir/file")
        #expect(try open.vault.placed == [])
    }

    @Test func `is refused by name, as a write`() throws {
        let open = try OpenStore(.unlocked)
        try open.put("dir/file", Array("content".utf8), .complete)
        open.lock()
        do {
            try open.protect("dir/file", as: .none)
            Issue.record("the key is gone")
        } catch let error as CofferError {
            #expect(error.message == "can't write 'dir/file': the vault is locked")
            #expect(error.cocoaCode == 513)
            #expect(error.retry == .afterUnlock)
        }
    }

    @Test func `detects that only its class or its wrapped key was rolled back`() throws {
        for restored in ["class_key", "wrapped_key"] {
            let open = try OpenStore()
            try open.put("file", "content")
            let old = try #require(
                try open.connection.row("SELECT class_key, wrapped_key FROM file_nodes WHERE kind = 2") {
                    (try $0.integer(0), try $0.blob(1))
                }
            )
            try open.protect("file", as: .complete)
            if restored == "class_key" {
                try open.connection.execute("UPDATE file_nodes SET class_key = ? WHERE kind = 2", .integer(old.0))
            } else {
                try open.connection.execute("UPDATE file_nodes SET wrapped_key = ? WHERE kind = 2", .blob(old.1))
            }
            #expect(code { _ = try open.find("file") } == .decode)
        }
    }

    @Test func `that can't be unwrapped is damaged, and stays what it is`() throws {
        let open = try OpenStore(.unlocked)
        try open.put("file", "content")
        let file = try #require(try open.find("file"))
        // A key that another vault has wrapped.
        let other = try OpenStore(.noPasscode)
        try other.put("file", "content")
        #expect(code { try other.store.protect(file, as: .complete, now: 0) } == .decode)
        let text = try other.text("file")
        #expect(text == "content")
        #expect(try other.find("file")?.protectionClass == .completeUntilFirstUserAuthentication)
    }
}

@Suite struct `A read during which the class is changed` {
    private static let content = pattern(5 * 65536)

    /// Reads, and does something once the first chunk has come.
    private func read(
        _ open: OpenStore,
        _ read: ContentRead,
        _ meanwhile: () throws -> Void
    ) throws -> (received: Int, code: ErrorCode?) {
        var received: [UInt8] = []
        let found = code {
            try read.perform(
                0..<read.byteCount,
                to: { chunk in
                    chunk.withUnsafeBytes { received += $0 }
                    if received.count == chunk.byteCount { try meanwhile() }
                }
            )
        }
        open.store.openContents.finished(read)
        #expect(Self.content.starts(with: received))
        return (received.count, found)
    }

    @Test(arguments: changes)
    func `goes on to its end`(old: ProtectionClass, new: ProtectionClass) throws {
        let open = try OpenStore(.unlocked)
        try open.put("file", Self.content, old)
        let (received, code) = try read(open, try open.read(opening: "file")) { try open.protect("file", as: new) }
        #expect(code == nil)
        #expect(received == Self.content.count)
    }

    @Test(arguments: changes)
    func `ends at a lock where the file is of class A by then, and only there`(
        old: ProtectionClass,
        new: ProtectionClass
    ) throws {
        let open = try OpenStore(.unlocked)
        try open.put("file", Self.content, old)
        let (received, code) = try read(open, try open.read(opening: "file")) {
            try open.protect("file", as: new)
            open.lock()
        }
        #expect(code == (new == .complete ? .interactionNotAllowed : nil))
        #expect(received == (new == .complete ? 65536 : Self.content.count))
    }

    @Test(arguments: [ProtectionClass.completeWhenUserInactive, .completeUntilFirstUserAuthentication])
    func `ends where class CX does, if the file is of that by then`(new: ProtectionClass) throws {
        let open = try OpenStore(.unlocked)
        try open.put("file", Self.content, .none)
        let (_, code) = try read(open, try open.read(opening: "file")) {
            try open.protect("file", as: new)
            open.lock()
            open.keys.expireInactive()
            open.store.openContents.revoke(in: open.keys.state)
        }
        #expect(code == (new == .completeWhenUserInactive ? .interactionNotAllowed : nil))
    }

    @Test(arguments: [true, false])
    func `ends at a lock in a file that goes from B to A, regardless of when it was opened`(isSecond: Bool) throws {
        let open = try OpenStore(.unlocked)
        try open.put("file", Self.content, .completeUnlessOpen)
        let first = try open.read(opening: "file")
        try open.protect("file", as: .complete)
        let second = try open.read(opening: "file")
        open.lock()
        let (_, code) = try read(open, isSecond ? second : first) {}
        #expect(code == .interactionNotAllowed)
    }

    /// A change that waits for its commit, and how the lock finds it.
    @Test(
        arguments: [
            // Before the commit both classes count.
            (.none, .complete, .waiting, .interactionNotAllowed), (.complete, .none, .waiting, .interactionNotAllowed),
            (.none, .completeUnlessOpen, .waiting, nil),
            (.none, .complete, .undone, nil), (.complete, .none, .undone, .interactionNotAllowed),
            (.none, .complete, .kept, .interactionNotAllowed), (.complete, .none, .kept, nil),
        ] as [(ProtectionClass, ProtectionClass, Fate, ErrorCode?)],
        [true, false]
    )
    func `is ended by a lock as what is on the disk by then`(
        change: (ProtectionClass, ProtectionClass, Fate, ErrorCode?),
        isOpenedLater: Bool
    ) throws {
        let (old, new, fate, expected) = change
        let open = try OpenStore(.unlocked)
        try open.put("file", Self.content, old)
        let early = try open.read(opening: "file")
        if isOpenedLater { open.store.openContents.finished(early) }
        try open.connection.beginBatch()
        try open.store.protect(try #require(try open.find("file")), as: new, now: 0)
        let handle = isOpenedLater ? try open.read(opening: "file") : early
        switch fate {
        case .waiting: break
        case .undone:
            try open.connection.rollbackBatch()
            open.store.abandon(isCertain: true)
        case .kept:
            try open.connection.commitBatch()
            open.store.settleDurably()
        }
        open.lock()
        let (_, code) = try read(open, handle) {}
        #expect(code == expected)
    }

    /// What becomes of a change.
    enum Fate { case waiting, undone, kept }

    @Test func `tells the class that the file has now`() throws {
        let open = try OpenStore(.unlocked)
        try open.put("file", "content")
        let read = try open.read(opening: "file")
        try open.protect("file", as: .complete)
        #expect(open.store.openContents.protectionClass(of: read) == .complete)
        #expect(read.protectionClass == .completeUntilFirstUserAuthentication)
    }
}

@Suite struct `A power cut while a class is changed` {
    /// The log of the database cut at one place after the other: what a disk may hold of the commit.
    @Test(arguments: [(ProtectionClass.none, ProtectionClass.complete), (.complete, .completeUnlessOpen)])
    func `leaves the old class or the new, and the file opens`(old: ProtectionClass, new: ProtectionClass) throws {
        let open = try OpenStore(.unlocked)
        try open.put("dir/file", Array("content".utf8), old)
        _ = try open.connection.row("PRAGMA wal_checkpoint(TRUNCATE)") { _ in true }
        try open.connection.beginBatch()
        try open.store.protect(try #require(try open.find("dir/file")), as: new, now: 0)
        try open.connection.commitBatch()
        open.store.settleDurably()
        let log = try #require(open.vault.temporary.contents("vault.sqlite-wal"))
        try #require(!log.isEmpty)
        var found: [ProtectionClass] = []
        let whole = CatalogLog.end(of: log)
        for end in Array(stride(from: 0, to: whole, by: 997)) + [whole] {
            let copy = try Vault()
            for name in ["keybag", "device.key", "vault.sqlite"] {
                try copy.temporary.write(try #require(open.vault.temporary.contents(name)), to: name)
            }
            try copy.temporary.write(log.prefix(end), to: "vault.sqlite-wal")
            try FileManager.default.copyItem(
                atPath: open.vault.temporary.path("blobs"),
                toPath: copy.temporary.path("blobs")
            )
            let again = try OpenStore(copy, try copy.open(.unlocked))
            try again.store.recover()
            let text = try again.text("dir/file")
            #expect(text == "content", "cut at \(end)")
            let file = try #require(try again.find("dir/file"))
            found.append(file.protectionClass)
        }
        #expect(found.first == old)
        #expect(found.last == new)
        let turn = try #require(found.firstIndex(of: new))
        #expect(found == Array(repeating: old, count: turn) + Array(repeating: new, count: found.count - turn))
    }
}
