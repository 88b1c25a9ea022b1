import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Testing

/// What POSIX tells of files.
@Suite struct FileAttributeTests {
    private func file(_ path: String, _ stepper: Stepper) throws -> FileInfo {
        try stepper.fileInfo(try ItemName(path))
    }

    private func open(
        _ path: String,
        _ stepper: Stepper,
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
        return try stepper.call(params).value
    }

    private func write(_ bytes: [UInt8], _ handle: Int64, _ stepper: Stepper) throws {
        try stepper.call(FileWriteParameters(handle: handle, offset: 0), payload: try SecretBytes(bytes))
    }

    @Test func `a file has one number for its life, which no other file gets`() throws {
        let stepper = try Stepper(passcode: nil)
        let made = try open("d/a", stepper)
        let info = try #require(made.file)
        #expect(info.inode > 0 && info.name == "d/a" && info.linkCount == 1 && info.type == .file)
        #expect(try file("d/a", stepper).inode == info.inode)
        try stepper.call(FileCloseParameters(handle: made.handle))
        try stepper.moveFile(try ItemName("d/a"), to: try ItemName("e/b"))
        #expect(try file("e/b", stepper).inode == info.inode)
        try stepper.moveFile(try ItemName("e"), to: try ItemName("f"))
        #expect(try file("f/b", stepper).inode == info.inode)
        try stepper.protectFile(try ItemName("f/b"), as: .complete)
        let listed = try stepper.listFiles(recursive: true).entries
        #expect(listed.map(\.name).sortedByBytes() == ["f", "f/b"])
        for entry in listed { #expect(try file(entry.name, stepper) == entry) }
        #expect(Set(listed.map(\.inode)).count == 2)
        try stepper.put("f/b", [1, 2]) { $0.kind = .document }
        #expect(try file("f/b", stepper).inode != info.inode)
    }

    @Test func `mode, owner and times are kept as they were stated, and the usual ones shown otherwise`() throws {
        let stepper = try Stepper(passcode: nil)
        try stepper.put("plain", [1]) { $0.kind = .document }
        let plain = try file("plain", stepper)
        #expect(plain.mode == 0o644 && plain.uid == nil && plain.gid == nil)
        #expect(plain.modifiedNanoseconds / 1_000_000 == plain.modified)
        let made = try #require(try open("own", stepper, mode: 0o4750).file)
        #expect(made.mode == 0o4750 && made.uid == 1234 && made.gid == 5678)
        let directory = try stepper.call(FileMkdirParameters(name: try ItemName("d"), mode: 0o2700, uid: 7)).value
        #expect(directory.mode == 0o2700 && directory.uid == 7 && directory.gid == nil)
        #expect(try stepper.makeDirectory(try ItemName("usual")).mode == 0o755)

        let params = FileSetAttributesParameters(
            name: try ItemName("plain"),
            mode: 0,
            uid: 0,
            accessedNanoseconds: -5,
            modifiedNanoseconds: 1_234_567_890_123_456_789
        )
        let changed = try stepper.call(params).value
        #expect(changed.mode == 0 && changed.uid == 0 && changed.gid == nil)
        #expect(changed.accessedNanoseconds == -5 && changed.modifiedNanoseconds == 1_234_567_890_123_456_789)
        #expect(changed.modified == 1_234_567_890_123)
        #expect(changed.changedNanoseconds > plain.changedNanoseconds)
        // What is not stated stays, and a new content of the name keeps mode and owner.
        let second = try stepper.call(FileSetAttributesParameters(name: try ItemName("plain"), gid: 9)).value
        #expect(second.mode == 0 && second.gid == 9 && second.accessedNanoseconds == -5)
        #expect(second.modifiedNanoseconds == changed.modifiedNanoseconds)
        try stepper.put("plain", [1, 2]) { $0.kind = .document }
        let replaced = try file("plain", stepper)
        #expect(replaced.mode == 0 && replaced.uid == 0 && replaced.gid == 9)
        #expect(replaced.modifiedNanoseconds > changed.modifiedNanoseconds)
    }

    @Test func `what was written counts at once, and a time that was stated after it stays`() throws {
        let stepper = try Stepper(passcode: nil)
        let opened = try open("a", stepper)
        let before = try file("a", stepper)
        try write([1, 2, 3], opened.handle, stepper)
        let written = try stepper.call(FileStatParameters(handle: opened.handle)).value
        #expect(written.byteCount == 3 && written.modifiedNanoseconds > before.modifiedNanoseconds)
        #expect(try file("a", stepper) == written)
        let stated = FileSetAttributesParameters(handle: opened.handle, modifiedNanoseconds: 77)
        #expect(try stepper.call(stated).value.modifiedNanoseconds == 77)
        try stepper.call(FileCloseParameters(handle: opened.handle))
        #expect(try file("a", stepper).modifiedNanoseconds == 77)
        #expect(try file("a", stepper).byteCount == 3)
    }

    @Test func `a file that was removed while it is open has its attributes, and no link`() throws {
        let stepper = try Stepper(passcode: nil)
        let opened = try open("d/a", stepper, mode: 0o600)
        try write([1, 2, 3], opened.handle, stepper)
        try stepper.removeFile(try ItemName("d/a"))
        let orphan = try stepper.call(FileStatParameters(handle: opened.handle)).value
        #expect(orphan.linkCount == 0 && orphan.byteCount == 3 && orphan.mode == 0o600 && orphan.isOpenForWriting)
        #expect(orphan.inode == opened.file?.inode)
        let changed = try stepper.call(FileSetAttributesParameters(handle: opened.handle, mode: 0o640)).value
        #expect(changed.mode == 0o640 && changed.linkCount == 0)
        #expect(try stepper.call(FileStatParameters(handle: opened.handle)).value == changed)
        #expect(throws: CofferError.self) { try file("d/a", stepper) }
    }

    @Test func `a directory changes when an entry is made, renamed or removed in it`() throws {
        let stepper = try Stepper(passcode: nil)
        for name in ["d", "e"] { try stepper.makeDirectory(try ItemName(name)) }
        func changes(_ names: [String], _ body: () throws -> Void) throws {
            for name in ["d", "e"] {
                let past = FileSetAttributesParameters(name: try ItemName(name), modifiedNanoseconds: 5)
                try stepper.call(past)
            }
            try body()
            for name in ["d", "e"] {
                #expect(try (file(name, stepper).modifiedNanoseconds != 5) == names.contains(name), "\(name)")
            }
        }
        try changes(["d"]) { try stepper.put("d/a", [1]) { $0.kind = .document } }
        try changes(["d"]) { try stepper.call(FileCloseParameters(handle: try open("d/b", stepper).handle)) }
        try changes([]) { try stepper.call(FileCloseParameters(handle: try open("d/b", stepper).handle)) }
        try changes(["d"]) { try stepper.makeDirectory(try ItemName("d/x")) }
        try changes(["d", "e"]) { try stepper.moveFile(try ItemName("d/a"), to: try ItemName("e/a")) }
        try changes(["e"]) { try stepper.removeFile(try ItemName("e/a")) }
        try changes(["d"]) { try stepper.removeFile(try ItemName("d/x"), recursive: true) }
    }

    @Test(arguments: TestState.allCases.filter { $0 != .beforeFirstUnlock }, ProtectionClass.allCases)
    func `attributes are read and changed from the first unlock on`(
        state: TestState,
        protectionClass: ProtectionClass
    ) throws {
        let stepper = try Stepper(passcode: state == .noPasscode ? nil : DaemonProcess.passcode)
        try stepper.put("a", [1]) {
            $0.kind = .document
            $0.protectionClass = protectionClass
        }
        try stepper.reach(state)
        let inode = try file("a", stepper).inode
        let changed = try stepper.call(FileSetAttributesParameters(name: try ItemName("a"), mode: 0o400)).value
        #expect(changed.mode == 0o400 && changed.inode == inode)
    }

    @Test func `before the first unlock, attributes of what is sealed are locked, and those of the rest are not`()
        throws
    {
        let stepper = try Stepper()
        for (name, protectionClass) in [("c", ProtectionClass.completeUntilFirstUserAuthentication), ("n", .none)] {
            try stepper.put(name, [1]) {
                $0.kind = .document
                $0.protectionClass = protectionClass
            }
        }
        try stepper.reach(.beforeFirstUnlock)
        let open = FileSetAttributesParameters(name: try ItemName("n"), mode: 0o400)
        #expect(try stepper.call(open).value.mode == 0o400)
        let sealed = FileSetAttributesParameters(name: try ItemName("c"), mode: 0o400)
        #expect(throws: CofferError(.interactionNotAllowed, "")) { try stepper.call(sealed) }
        let opened = try self.open("new", stepper, class: .completeUnlessOpen, mode: 0o600)
        #expect(opened.file?.mode == 0o600)
        let byHandle = FileSetAttributesParameters(handle: opened.handle, mode: 0o640)
        #expect(try stepper.call(byHandle).value.mode == 0o640)
        try write([1], opened.handle, stepper)
        try stepper.call(FileCloseParameters(handle: opened.handle))
        try stepper.unlock()
        #expect(try file("new", stepper).mode == 0o640)
        #expect(try file("c", stepper).mode == 0o644)
    }

    @Test func `errors say for programs what a file system wants to know`() throws {
        let stepper = try Stepper(passcode: nil)
        try stepper.put("f", [1]) { $0.kind = .document }
        try stepper.put("d/e", [1]) { $0.kind = .document }
        func reason(_ body: () throws -> Void) -> ErrorReason? {
            do { try body() } catch let error as CofferError { return error.reason } catch { Issue.record(error) }
            return nil
        }
        #expect(reason { try stepper.removeFile(try ItemName("d")) } == .notEmpty)
        #expect(reason { _ = try open("f/x", stepper) } == .notDirectory)
        #expect(reason { _ = try open("d", stepper) } == .isDirectory)
        #expect(reason { try stepper.moveFile(try ItemName("d"), to: try ItemName("d/x")) } == .insideItself)
        #expect(reason { try stepper.call(FileStatParameters(handle: 77)) } == .badHandle)
        let opened = try open("f", stepper)
        #expect(reason { _ = try open("f", stepper) } == .writerElsewhere)
        try stepper.call(FileCloseParameters(handle: opened.handle))
        #expect(reason { try stepper.call(FileStatParameters(name: try ItemName("no"))) } == nil)
    }
}
