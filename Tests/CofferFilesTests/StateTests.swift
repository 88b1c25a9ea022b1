import CofferFileContent
import CofferCore
import CofferFiles
import CofferKeys
import CofferMemory
import CofferSystem
import CofferTestSupport
import Foundation
import Testing

/// Section 3 of the semantics: R, an existing file can be read; W, replaced; N, a new one can be made.
private let matrix: [(protectionClass: ProtectionClass, cells: [TestState: String])] = [
    row(.complete, "RWN", "---", "RWN", "RWN", "---", "---"),
    row(.completeUnlessOpen, "RWN", "--N", "RWN", "RWN", "--N", "--N"),
    row(.completeUntilFirstUserAuthentication, "RWN", "---", "RWN", "RWN", "RWN", "RWN"),
    row(.completeWhenUserInactive, "RWN", "---", "RWN", "RWN", "RWN", "---"),
    row(.none, "RWN", "RWN", "RWN", "RWN", "RWN", "RWN"),
]

private func row(
    _ protectionClass: ProtectionClass,
    _ noPasscode: String,
    _ beforeFirstUnlock: String,
    _ unlocked: String,
    _ locking: String,
    _ locked: String,
    _ lockedExpired: String
) -> (ProtectionClass, [TestState: String]) {
    (
        protectionClass,
        [
            .noPasscode: noPasscode, .beforeFirstUnlock: beforeFirstUnlock, .unlocked: unlocked, .locking: locking,
            .locked: locked, .lockedExpired: lockedExpired,
        ]
    )
}

/// Whether the name of a file can be read.
func isNamed(_ protectionClass: ProtectionClass, in state: TestState) -> Bool {
    state != .beforeFirstUnlock || protectionClass == .none
}

@Suite struct `A file in a state of the vault` {
    @Test func `has a row for every class`() {
        #expect(matrix.map(\.protectionClass) == ProtectionClass.allCases)
    }

    @Test(arguments: TestState.allCases)
    func `can be read, replaced and made as the semantics say`(state: TestState) throws {
        let vault = try Vault(hasPasscode: state != .noPasscode)
        do {
            let open = try OpenStore(vault, try vault.open(state == .noPasscode ? .noPasscode : .unlocked))
            for (protectionClass, _) in matrix {
                try open.put("old \(protectionClass)", Array("old".utf8), protectionClass)
            }
        }
        let open = try OpenStore(vault, try vault.open(state))
        for (protectionClass, cells) in matrix {
            let cell = try #require(cells[state])
            func expected(_ letter: Character) -> ErrorCode? { cell.contains(letter) ? nil : .interactionNotAllowed }
            let path = "old \(protectionClass)"
            #expect(try open.protectionClass(of: path) == protectionClass, "it is found in every state")
            let naming = code {
                let file = try open.find(path)
                #expect(file?.protectionClass == protectionClass)
            }
            #expect(naming == (isNamed(protectionClass, in: state) ? nil : .interactionNotAllowed))
            let reading = code {
                let text = try open.text(path)
                #expect(text == "old")
            }
            #expect(reading == expected("R"), "\(protectionClass)")
            // To replace all of a file is to make it.
            #expect(
                code { try open.put(path, Array("new".utf8), protectionClass) } == expected("N"),
                "\(protectionClass)"
            )
            #expect(
                code { try open.put("new \(protectionClass)", Array("new".utf8), protectionClass) } == expected("N")
            )
            if [.locked, .lockedExpired].contains(state) && cell == "--N" {
                #expect(code { _ = try open.text("new \(protectionClass)") } == .interactionNotAllowed, "just made")
            }
            #expect(try open.find("missing \(protectionClass)") == nil, "missing is told from locked")
        }
        #expect(try open.vault.staged == [])
        #expect(try open.survey().damaged == 0)
        // Removing wants no key.
        for (protectionClass, _) in matrix {
            try open.store.removeEntry(try ItemName("old \(protectionClass)"), in: "default", now: 3)
            open.store.settleDurably()
        }
        // What was made while locked is read after the next unlock.
        if [.locked, .lockedExpired, .beforeFirstUnlock].contains(state) {
            try open.keys.unlock()
            #expect(try open.text("new completeUnlessOpen") == "new")
        }
    }

    @Test(arguments: [TestState.locked, .beforeFirstUnlock], [ProtectionClass.none, .completeUnlessOpen])
    func `that is locked is not replaced by one that would not be`(state: TestState, other: ProtectionClass) throws {
        let vault = try Vault()
        let keys = try vault.open(.unlocked)
        do { try OpenStore(vault, keys).put("file", Array("old".utf8), .complete) }
        do {
            let open = try OpenStore(vault, try vault.open(state))
            #expect(code { try open.put("file", Array("new".utf8), other) } == .interactionNotAllowed)
        }
        #expect(try OpenStore(vault, keys).text("file") == "old")
    }

    @Test(
        arguments: [
            (.complete, .interactionNotAllowed), (.completeUnlessOpen, nil),
            (.completeUntilFirstUserAuthentication, nil), (.completeWhenUserInactive, nil), (ProtectionClass.none, nil),
        ] as [(ProtectionClass, ErrorCode?)]
    )
    func `that was written before a lock is committed after it, unless it is of class A`(
        protectionClass: ProtectionClass,
        expected: ErrorCode?
    ) throws {
        let open = try OpenStore(.unlocked)
        let name = try ItemName("file")
        let write = try open.store.prepareWrite(name, in: "default", as: protectionClass)
        let count = try write.perform(prefix: try SecretBytes("content"), rest: nil)
        open.keys.lock()
        open.store.openContents.revoke(in: open.keys.state)
        let found = code {
            try open.store.commit(write, at: name, in: "default", byteCount: count, kind: nil, created: nil, now: 0)
        }
        #expect(found == expected)
        #expect(try (open.find("file") == nil) == (expected != nil))
    }

    @Test func `that is locked is not replaced by a write that began before the lock`() throws {
        let open = try OpenStore(.unlocked)
        try open.put("file", Array("old".utf8), .complete)
        let name = try ItemName("file")
        let write = try open.store.prepareWrite(name, in: "default", as: .none)
        let count = try write.perform(prefix: try SecretBytes("new"), rest: nil)
        open.keys.lock()
        let found = code {
            try open.store.commit(write, at: name, in: "default", byteCount: count, kind: nil, created: nil, now: 0)
        }
        #expect(found == .interactionNotAllowed)
        try open.keys.unlock()
        #expect(try open.text("file") == "old")
    }
}

private let allButA = ProtectionClass.allCases.filter { $0 != .complete }

@Suite struct `A transfer during which the vault is locked` {
    /// Reads ten chunks into a pipe that holds one, and locks once the first has come.
    private func readAcrossLock(_ protectionClass: ProtectionClass) throws -> (received: [UInt8], code: ErrorCode?) {
        let open = try OpenStore(.unlocked)
        let content = pattern(10 * 65536)
        try open.put("file", content, protectionClass)
        let read = try open.store.prepareRead(try #require(try open.find("file")))
        let numbers = try makePipe()
        let pipe = (reading: numbers[0], writing: numbers[1])
        let reader = Background {
            let stream = try PeerStream(
                PeerDescriptor(owning: pipe.writing),
                for: O_WRONLY,
                cancellation: try Cancellation()
            )
            return code { try read.perform(0..<655_360, to: { try stream.write(all: $0) }) }
        }
        var poller = pollfd(fd: pipe.reading, events: Int16(POLLIN), revents: 0)
        try #require(poll(&poller, 1, -1) == 1)
        open.keys.lock()
        open.store.openContents.revoke(in: open.keys.state)
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = Foundation.read(pipe.reading, &buffer, buffer.count), count > 0 {
            received += buffer[..<count]
        }
        close(pipe.reading)
        let found = try reader.wait()
        #expect(content.starts(with: received), "nothing that is not authentic gets out")
        return (received, found)
    }

    @Test func `ends where it reads class A, with what it has`() throws {
        let (received, code) = try readAcrossLock(.complete)
        #expect(code == .interactionNotAllowed)
        #expect(received.count <= 3 * 65536)
        #expect(received.count % 65536 == 0)
    }

    @Test(arguments: allButA)
    func `goes on where it reads another class`(protectionClass: ProtectionClass) throws {
        let (received, code) = try readAcrossLock(protectionClass)
        #expect(code == nil)
        #expect(received.count == 10 * 65536)
    }

    /// Writes from a pipe, and locks after a chunk and a part.
    private func writeAcrossLock(_ protectionClass: ProtectionClass) throws -> (open: OpenStore, code: ErrorCode?) {
        let open = try OpenStore(.unlocked)
        let name = try ItemName("file")
        let write = try open.store.prepareWrite(name, in: "default", as: protectionClass)
        let numbers = try makePipe()
        let pipe = (reading: numbers[0], writing: numbers[1])
        let writer = Background {
            let stream: PeerStream? = try PeerStream(
                PeerDescriptor(owning: pipe.reading),
                for: O_RDONLY,
                cancellation: try Cancellation()
            )
            let result = Shared<Int64?>(nil)
            let found = code { result.value = try write.perform(prefix: try SecretBytes("prefix"), rest: stream) }
            return (found, result.value)
        }
        let content = pattern(300_000)
        // More than a pipe holds: when this returns, the writer has taken the first chunk.
        try #require(Foundation.write(pipe.writing, content, 150_000) == 150_000)
        open.keys.lock()
        open.store.openContents.revoke(in: open.keys.state)
        _ = content.withUnsafeBytes { Foundation.write(pipe.writing, $0.baseAddress.map { $0 + 150_000 }, 50_000) }
        close(pipe.writing)
        let (found, count) = try writer.wait()
        if let count {
            #expect(count == 200_006)
            try open.store.commit(write, at: name, in: "default", byteCount: count, kind: nil, created: nil, now: 0)
            open.store.settleDurably()
            open.store.openContents.finished(write)
            if protectionClass == .completeUnlessOpen { try open.keys.unlock() }
            #expect(try open.read("file") == Array("prefix".utf8) + content.prefix(200_000))
        }
        return (open, found)
    }

    @Test func `ends where it writes class A, and leaves nothing`() throws {
        signal(SIGPIPE, SIG_IGN)
        let (open, found) = try writeAcrossLock(.complete)
        #expect(found == .interactionNotAllowed)
        #expect(try open.vault.staged == [])
        #expect(try open.find("file") == nil)
    }

    @Test(arguments: allButA)
    func `goes on where it writes another class`(protectionClass: ProtectionClass) throws {
        let (_, found) = try writeAcrossLock(protectionClass)
        #expect(found == nil)
    }

    @Test func `has no key any more after it has finished`() throws {
        let open = try OpenStore()
        try open.put("file", "content")
        let read = try open.store.prepareRead(try #require(try open.find("file")))
        open.store.openContents.finished(read)
        #expect(code { _ = try read.collect(0..<7) } == .interactionNotAllowed)
    }

    @Test func `has an error that names the file and the reason`() throws {
        let open = try OpenStore(.unlocked)
        try open.put("dir/file", Array("content".utf8), .complete)
        let read = try open.store.prepareRead(try #require(try open.find("dir/file")))
        open.store.openContents.revoke(in: .locked)
        do {
            _ = try read.collect(0..<7)
            Issue.record("the key is gone")
        } catch {
            #expect(error.message == "can't read 'dir/file': the vault is locked")
            #expect(error.cocoaCode == 257)
        }
    }
}
