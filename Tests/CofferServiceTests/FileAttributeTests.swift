import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Testing

/// What POSIX tells of files, through the socket.
@Suite struct FileAttributeTests {
    private static let states: [VaultState] = [.noPasscode, .unlocked, .locking, .locked, .lockedExpired]

    private func file(_ path: String, _ client: BlockingClient) throws -> FileInfo {
        try client.fileInfo(try ItemName(path))
    }

    private func open(
        _ path: String,
        _ client: BlockingClient,
        class protectionClass: ProtectionClass? = nil,
        mode: Int64? = nil
    ) throws -> FileOpenResult {
        let params = FileOpenParameters(
            name: try ItemName(path),
            access: .readWrite,
            creates: true,
            protectionClass: protectionClass,
            mode: mode,
            uid: mode == nil ? nil : 1234,
            gid: mode == nil ? nil : 5678
        )
        return try client.call(params).value
    }

    private func write(_ bytes: [UInt8], _ handle: Int64, _ client: BlockingClient) throws {
        try client.call(FileWriteParameters(handle: handle, offset: 0), payload: Secret(copying: bytes.span.bytes))
    }

    @Test func `a file has one number for its life, which no other file gets`() throws {
        let server = try TimedServer(passcode: nil)
        let client = server.client
        let made = try open("d/a", client)
        let info = try #require(made.file)
        #expect(info.inode > 0 && info.name == "d/a" && info.linkCount == 1 && info.type == .file)
        #expect(try file("d/a", client).inode == info.inode)
        try client.call(FileCloseParameters(handle: made.handle))
        try client.moveFile(try ItemName("d/a"), to: try ItemName("e/b"))
        #expect(try file("e/b", client).inode == info.inode)
        try client.moveFile(try ItemName("e"), to: try ItemName("f"))
        #expect(try file("f/b", client).inode == info.inode)
        try client.protectFile(try ItemName("f/b"), as: .complete)
        let listed = try client.listFiles(recursive: true).entries
        #expect(listed.map(\.name).sortedByBytes() == ["f", "f/b"])
        for entry in listed { #expect(try file(entry.name, client) == entry) }
        #expect(Set(listed.map(\.inode)).count == 2)
        try client.put("f/b", [1, 2]) { $0.kind = .document }
        #expect(try file("f/b", client).inode != info.inode)
    }

    @Test func `mode, owner and times are kept as they were stated, and the usual ones shown otherwise`() throws {
        let server = try TimedServer(passcode: nil)
        let client = server.client
        try client.put("plain", [1]) { $0.kind = .document }
        let plain = try file("plain", client)
        #expect(plain.mode == 0o644 && plain.uid == nil && plain.gid == nil)
        #expect(plain.modifiedNanoseconds / 1_000_000 == plain.modified)
        let made = try #require(try open("own", client, mode: 0o4750).file)
        #expect(made.mode == 0o4750 && made.uid == 1234 && made.gid == 5678)
        let directory = try client.call(FileMkdirParameters(name: try ItemName("d"), mode: 0o2700, uid: 7)).value
        #expect(directory.mode == 0o2700 && directory.uid == 7 && directory.gid == nil)
        #expect(try client.makeDirectory(try ItemName("usual")).mode == 0o755)

        let params = FileSetAttributesParameters(
            name: try ItemName("plain"),
            mode: 0,
            uid: 0,
            accessedNanoseconds: -5,
            modifiedNanoseconds: 1_234_567_890_123_456_789
        )
        let changed = try client.call(params).value
        #expect(changed.mode == 0 && changed.uid == 0 && changed.gid == nil)
        #expect(changed.accessedNanoseconds == -5 && changed.modifiedNanoseconds == 1_234_567_890_123_456_789)
        #expect(changed.modified == 1_234_567_890_123)
        #expect(changed.changedNanoseconds > plain.changedNanoseconds)
        // What is not stated stays, and a new content of the name keeps mode and owner.
        let second = try client.call(FileSetAttributesParameters(name: try ItemName("plain"), gid: 9)).value
        #expect(second.mode == 0 && second.gid == 9 && second.accessedNanoseconds == -5)
        #expect(second.modifiedNanoseconds == changed.modifiedNanoseconds)
        try client.put("plain", [1, 2]) { $0.kind = .document }
        let replaced = try file("plain", client)
        #expect(replaced.mode == 0 && replaced.uid == 0 && replaced.gid == 9)
        #expect(replaced.modifiedNanoseconds > changed.modifiedNanoseconds)
    }

    @Test func `what was written counts at once, and a time that was stated after it stays`() throws {
        let server = try TimedServer(passcode: nil)
        let client = server.client
        let opened = try open("a", client)
        let before = try file("a", client)
        try write([1, 2, 3], opened.handle, client)
        let written = try client.call(FileStatParameters(handle: opened.handle)).value
        #expect(written.byteCount == 3 && written.modifiedNanoseconds > before.modifiedNanoseconds)
        #expect(try file("a", client) == written)
        let stated = FileSetAttributesParameters(handle: opened.handle, modifiedNanoseconds: 77)
        #expect(try client.call(stated).value.modifiedNanoseconds == 77)
        try client.call(FileCloseParameters(handle: opened.handle))
        #expect(try file("a", client).modifiedNanoseconds == 77)
        #expect(try file("a", client).byteCount == 3)
    }

    @Test func `a file that was removed while it is open has its attributes, and no link`() throws {
        let server = try TimedServer(passcode: nil)
        let client = server.client
        let opened = try open("d/a", client, mode: 0o600)
        try write([1, 2, 3], opened.handle, client)
        try client.removeFile(try ItemName("d/a"))
        let orphan = try client.call(FileStatParameters(handle: opened.handle)).value
        #expect(orphan.linkCount == 0 && orphan.byteCount == 3 && orphan.mode == 0o600 && orphan.isOpenForWriting)
        #expect(orphan.inode == opened.file?.inode)
        let changed = try client.call(FileSetAttributesParameters(handle: opened.handle, mode: 0o640)).value
        #expect(changed.mode == 0o640 && changed.linkCount == 0)
        #expect(try client.call(FileStatParameters(handle: opened.handle)).value == changed)
        #expect(throws: CofferError.self) { try file("d/a", client) }
    }

    @Test func `a directory changes when an entry is made, renamed or removed in it`() throws {
        let server = try TimedServer(passcode: nil)
        let client = server.client
        for name in ["d", "e"] { try client.makeDirectory(try ItemName(name)) }
        func changes(_ names: [String], _ body: () throws -> Void) throws {
            for name in ["d", "e"] {
                let past = FileSetAttributesParameters(name: try ItemName(name), modifiedNanoseconds: 5)
                try client.call(past)
            }
            try body()
            for name in ["d", "e"] {
                #expect(try (file(name, client).modifiedNanoseconds != 5) == names.contains(name), "\(name)")
            }
        }
        try changes(["d"]) { try client.put("d/a", [1]) { $0.kind = .document } }
        try changes(["d"]) { try client.call(FileCloseParameters(handle: try open("d/b", client).handle)) }
        try changes([]) { try client.call(FileCloseParameters(handle: try open("d/b", client).handle)) }
        try changes(["d"]) { try client.makeDirectory(try ItemName("d/x")) }
        try changes(["d", "e"]) { try client.moveFile(try ItemName("d/a"), to: try ItemName("e/a")) }
        try changes(["e"]) { try client.removeFile(try ItemName("e/a")) }
        try changes(["d"]) { try client.removeFile(try ItemName("d/x"), recursive: true) }
    }

    @Test(arguments: states, ProtectionClass.allCases)
    func `attributes are read and changed from the first unlock on`(
        state: VaultState,
        protectionClass: ProtectionClass
    ) throws {
        let server = try TimedServer(passcode: state == .noPasscode ? nil : DaemonProcess.passcode)
        let client = server.client
        try client.put("a", [1]) {
            $0.kind = .document
            $0.protectionClass = protectionClass
        }
        switch state {
        case .locking: _ = try client.lock(graceSeconds: 10)
        case .locked: _ = try client.lock(graceSeconds: 0)
        case .lockedExpired:
            _ = try client.lock(graceSeconds: 0)
            server.clock.advance(by: Double(Limits.defaultInactiveSeconds + 1))
        default: break
        }
        let inode = try file("a", client).inode
        let changed = try client.call(FileSetAttributesParameters(name: try ItemName("a"), mode: 0o400)).value
        #expect(changed.mode == 0o400 && changed.inode == inode)
    }

    @Test func `before the first unlock, attributes of what is sealed are locked, and those of the rest are not`()
        throws
    {
        let server = try TimedServer(passcode: DaemonProcess.passcode)
        let client = server.client
        for (name, protectionClass) in [("c", ProtectionClass.completeUntilFirstUserAuthentication), ("n", .none)] {
            try client.put(name, [1]) {
                $0.kind = .document
                $0.protectionClass = protectionClass
            }
        }
        _ = try client.lock(graceSeconds: 0)
        server.clock.advance(by: Double(Limits.defaultForgetSeconds + 1))
        let open = FileSetAttributesParameters(name: try ItemName("n"), mode: 0o400)
        #expect(try client.call(open).value.mode == 0o400)
        let sealed = FileSetAttributesParameters(name: try ItemName("c"), mode: 0o400)
        #expect(throws: CofferError(.interactionNotAllowed, "")) { try client.call(sealed) }
        let opened = try self.open("new", client, class: .completeUnlessOpen, mode: 0o600)
        #expect(opened.file?.mode == 0o600)
        let byHandle = FileSetAttributesParameters(handle: opened.handle, mode: 0o640)
        #expect(try client.call(byHandle).value.mode == 0o640)
        try write([1], opened.handle, client)
        try client.call(FileCloseParameters(handle: opened.handle))
        try client.unlock(DaemonProcess.passcode)
        #expect(try file("new", client).mode == 0o640)
        #expect(try file("c", client).mode == 0o644)
    }

    @Test func `errors say for programs what a file system wants to know`() throws {
        let server = try TimedServer(passcode: nil)
        let client = server.client
        try client.put("f", [1]) { $0.kind = .document }
        try client.put("d/e", [1]) { $0.kind = .document }
        func reason(_ body: () throws -> Void) -> ErrorReason? {
            do { try body() } catch let error as CofferError { return error.reason } catch { Issue.record(error) }
            return nil
        }
        #expect(reason { try client.removeFile(try ItemName("d")) } == .notEmpty)
        #expect(reason { _ = try open("f/x", client) } == .notDirectory)
        #expect(reason { _ = try open("d", client) } == .isDirectory)
        #expect(reason { try client.moveFile(try ItemName("d"), to: try ItemName("d/x")) } == .insideItself)
        #expect(reason { try client.call(FileStatParameters(handle: 77)) } == .badHandle)
        let opened = try open("f", client)
        #expect(reason { _ = try open("f", client) } == .writerElsewhere)
        try client.call(FileCloseParameters(handle: opened.handle))
        #expect(reason { try client.call(FileStatParameters(name: try ItemName("no"))) } == nil)
    }
}
