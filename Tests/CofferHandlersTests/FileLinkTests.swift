import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Testing

/// Links, extended attributes and ranges of zeros.
@Suite struct FileLinkTests {
    private let stepper: Stepper

    init() throws { stepper = try Stepper() }

    private func put(_ path: String, _ bytes: [UInt8], _ protectionClass: ProtectionClass? = nil) throws {
        try stepper.put(path, bytes) {
            $0.kind = .document
            $0.protectionClass = protectionClass
        }
    }

    private func file(_ path: String) throws -> FileInfo { try stepper.fileInfo(try ItemName(path)) }

    private func reason(_ body: () throws -> Void) -> ErrorReason? {
        do { try body() } catch let error as CofferError { return error.reason } catch { Issue.record(error) }
        return nil
    }

    private func code(_ body: () throws -> Void) -> ErrorCode? {
        do { try body() } catch let error as CofferError { return error.code } catch { Issue.record(error) }
        return nil
    }

    private func link(_ path: String, _ target: String) throws -> FileInfo {
        try stepper.call(FileLinkParameters(name: try ItemName(path), target: try ItemName(target))).value
    }

    private func symlink(_ path: String, _ target: String) throws -> FileInfo {
        try stepper.call(FileSymlinkParameters(name: try ItemName(path), target: target)).value
    }

    private func rename(_ path: String, _ target: String, exchanges: Bool = false, keeps: Bool = false) throws {
        let params = FileRenameParameters(
            name: try ItemName(path),
            target: try ItemName(target),
            exchanges: exchanges,
            keepsDirectories: keeps
        )
        try stepper.call(params)
    }

    @Test func `a secret does not get the name of a symbolic link, which is named, and may get one below it`() throws {
        try stepper.put("secret", [1])
        _ = try symlink("s", "nowhere")
        func message(_ body: () throws -> Void) -> String {
            do { try body() } catch let error as CofferError where error.code == .duplicateItem {
                return error.message
            } catch { Issue.record(error) }
            return ""
        }
        let attributes: [KeychainAttribute: AttributeValue] = [.service: .text(""), .account: .text("s")]
        let refusals = [
            message { try stepper.put("s", [1]) { $0.store = .keychain } },
            message { try stepper.move(try ItemName("secret"), to: try ItemName("s"), replace: true) },
            message {
                let secret: SecretBytes? = try SecretBytes("x".utf8)
                _ = try stepper.addKeychainItem(KeychainAddParameters(.genericPassword, attributes), secret: secret)
            },
        ]
        for refusal in refusals { #expect(refusal.contains("there is a symbolic link 's' already"), "\(refusal)") }
        try stepper.put("s/below", [1]) { $0.store = .keychain }
        #expect(try stepper.list(prefix: "s/").items.map(\.name) == ["s/below"])
    }

    @Test func `links are listed and described, and opening a symbolic one is refused`() throws {
        try put("d/f", [1, 2, 3])
        let second = try link("d/f", "d/g")
        let made = try symlink("d/s", "../nowhere")
        #expect(second.linkCount == 2 && second.byteCount == 3 && second.type == .file)
        #expect(made.type == .symbolicLink && made.target == "../nowhere" && made.byteCount == 10)
        let listed = try stepper.listFiles(in: try ItemName("d")).entries
        #expect(listed.map(\.name).sortedByBytes() == ["d/f", "d/g", "d/s"])
        for entry in listed { #expect(try file(entry.name) == entry) }
        #expect(try file("d/f").inode == second.inode)
        #expect(reason { _ = try stepper.handle(FileOpenParameters(name: try ItemName("d/s"))) } == .isSymbolicLink)
        #expect(reason { _ = try link("d", "e") } == .notPermitted)
        #expect(reason { _ = try symlink("l", String(repeating: "a", count: 4096)) } == .nameTooLong)
        #expect(code { _ = try symlink("l", "a\0b") } == .param)
        let mode = FileSetAttributesParameters(name: try ItemName("d/s"), mode: 0)
        #expect(reason { try stepper.call(mode) } == .notSupported)
        #expect(try stepper.list().items.map(\.name).sortedByBytes() == ["d/f", "d/g"])
        #expect(try stepper.get("d/g") == [1, 2, 3])
    }

    @Test func `a name is in one store at a time, also that of a link`() throws {
        try stepper.put("secret", [1])
        try put("f", [1])
        #expect(code { _ = try symlink("secret", "a") } == .duplicateItem)
        #expect(code { _ = try link("f", "secret") } == .duplicateItem)
        _ = try symlink("s", "f")
        #expect(code { try stepper.put("s", [1]) } == .duplicateItem)
        #expect(code { try rename("f", "secret", exchanges: true) } == .duplicateItem)
    }

    @Test func `an item that is put under one name, or removed by it, leaves the other`() throws {
        try put("a", [1, 2])
        _ = try link("a", "b")
        try put("a", [3])
        #expect(try stepper.get("b") == [1, 2])
        try stepper.remove(try ItemName("b"))
        #expect(code { _ = try stepper.get("b") } == .itemNotFound)
        #expect(try stepper.get("a") == [3])
    }

    @Test(arguments: ProtectionClass.allCases)
    func `a locked file gets and loses names, and its content stays locked`(protectionClass: ProtectionClass) throws {
        try put("a", [1, 2], protectionClass)
        try stepper.reach(.locked)
        #expect(try link("a", "b").linkCount == 2)
        try rename("a", "c")
        try stepper.removeFile(try ItemName("b"))
        let isOpen = protectionClass.permits(.read, in: .locked)
        #expect(code { _ = try stepper.get("c") } == (isOpen ? nil : .interactionNotAllowed))
        try stepper.unlock()
        #expect(try stepper.get("c") == [1, 2])
    }

    @Test func `both entries of an exchange are told of, with their numbers`() throws {
        try put("a", [1])
        try stepper.makeDirectory(try ItemName("d"))
        let (a, d) = (try file("a").inode, try file("d").inode)
        try rename("a", "d", exchanges: true)
        #expect(try file("d").inode == a && file("a").inode == d && file("a").isDirectory)
        #expect(code { try rename("a", "no", exchanges: true) } == .itemNotFound)
    }

    @Test func `a directory that was made implicitly stays empty if the client wants it`() throws {
        for name in ["one/a", "two/a", "three/a", "four/a"] { try put(name, [1]) }
        try stepper.call(FileRemoveParameters(name: try ItemName("one/a"), keepsDirectories: true))
        try rename("two/a", "a", keeps: true)
        try stepper.removeFile(try ItemName("three/a"))
        try rename("four/a", "b")
        #expect(try file("one").childCount == 0 && file("two").childCount == 0)
        #expect(code { _ = try file("three") } == .itemNotFound)
        #expect(code { _ = try file("four") } == .itemNotFound)
    }

    // MARK: Extended attributes

    private func set(
        _ attribute: String,
        _ value: [UInt8],
        of path: String = "f",
        creates: Bool = false,
        replaces: Bool = false
    ) throws {
        let params = FileSetExtendedAttributeParameters(
            name: try ItemName(path),
            attribute: attribute,
            creates: creates,
            replaces: replaces
        )
        try stepper.call(params, payload: try SecretBytes(value))
    }

    private func get(_ attribute: String, of path: String = "f") throws -> [UInt8] {
        let params = FileGetExtendedAttributeParameters(name: try ItemName(path), attribute: attribute)
        return try stepper.call(params).payload.exposeBytes()
    }

    private func attributes(of path: String = "f") throws -> [String] {
        let params = FileListExtendedAttributesParameters(name: try ItemName(path))
        return try stepper.call(params).value.attributes.map { "\($0.name) \($0.byteCount)" }
    }

    @Test func `extended attributes are set, read, listed and removed, also while locked`() throws {
        try put("f", [1], .complete)
        try stepper.reach(.locked)
        try set("user.b", [1, 0, 255])
        try set("user.a", [], creates: true)
        try set("user.b", [7], replaces: true)
        #expect(try attributes() == ["user.a 0", "user.b 1"])
        #expect(try get("user.b") == [7] && get("user.a") == [])
        #expect(reason { try set("user.a", [1], creates: true) } == .attributeExists)
        #expect(reason { try set("user.c", [1], replaces: true) } == .noAttribute)
        #expect(reason { _ = try get("user.c") } == .noAttribute)
        for name in ["security.selinux", "user.", "system.posix_acl_access"] {
            #expect(reason { try set(name, [1]) } == .notSupported)
        }
        let params = FileRemoveExtendedAttributeParameters(name: try ItemName("f"), attribute: "user.b")
        try stepper.call(params)
        #expect(reason { try stepper.call(params) } == .noAttribute)
        #expect(try attributes() == ["user.a 0"])
        try rename("f", "g")
        #expect(try attributes(of: "g") == ["user.a 0"])
        try stepper.unlock()
        #expect(try stepper.get("g") == [1])
    }

    @Test func `the bounds of extended attributes are those that are said`() throws {
        try put("f", [1])
        let most = [UInt8](repeating: 7, count: Limits.extendedAttributeBytes)
        try set("user.a", most)
        #expect(try get("user.a") == most)
        #expect(code { try set("user.b", most + [1]) } == .dataTooLarge)
        #expect(reason { try set("user.b", most) } == .attributesFull)
        try set("user.b", [UInt8](repeating: 7, count: most.count - 12))
        #expect(reason { try set("user.c", []) } == .attributesFull)
        let long = "user." + String(repeating: "n", count: 250)
        try put("g", [1])
        try set(long, [1], of: "g")
        #expect(reason { try set(long + "n", [1], of: "g") } == .nameTooLong)
        try put("h", [1])
        for number in 0..<Limits.extendedAttributes { try set("user.\(number)", [], of: "h") }
        #expect(reason { try set("user.more", [], of: "h") } == .attributesFull)
        #expect(try attributes(of: "h").count == Limits.extendedAttributes)
    }

    // MARK: Ranges

    private func content(_ handle: Int64, _ count: Int64) throws -> [UInt8] {
        var all: [UInt8] = []
        while Int64(all.count) < count {
            let length = min(count - Int64(all.count), Int64(Limits.framePayloadBytes))
            let params = FileReadParameters(handle: handle, offset: Int64(all.count), length: length)
            let part = try stepper.call(params).payload.exposeBytes()
            if part.isEmpty { break }
            all += part
        }
        return all
    }

    private func punch(_ handle: Int64, _ range: Range<Int64>) throws {
        var offset = range.lowerBound
        repeat {
            let params = FilePunchParameters(handle: handle, offset: offset, length: range.upperBound - offset)
            let done = try stepper.call(params).value.byteCount
            try #require(done > 0 || range.isEmpty)
            offset += done
        } while offset < range.upperBound
    }

    @Test(arguments: [[4096, 200_000], [262_144, 300_000], [0, 300_000]])
    func `a range of zeros reads as zeros, and the rest as before`(sizes: [Int]) throws {
        // With small chunks, with large ones, and over a content that was put in one piece.
        let count = sizes[1]
        var expected = [UInt8](repeating: 1, count: count)
        for index in stride(from: 0, to: count, by: 3) { expected[index] = UInt8(index % 255) }
        if sizes[0] == 0 { try put("f", expected) }
        let open = FileOpenParameters(name: try ItemName("f"), access: .readWrite, creates: true)
        let handle = try stepper.call(open).value.handle
        if sizes[0] > 0 {
            for start in stride(from: 0, to: count, by: sizes[0]) {
                let part = expected[start..<min(count, start + sizes[0])]
                let params = FileWriteParameters(handle: handle, offset: Int64(start))
                try stepper.call(params, payload: try SecretBytes(Array(part)))
            }
        }
        let ranges: [(Int64, Int64)] = [
            (5, 9), (4000, 70_000), (65_536, 131_072), (131_072, 131_073), (190_000, 350_000), (7, 7),
        ]
        for (start, end) in ranges {
            let range = start..<end
            try punch(handle, range)
            let inside = range.clamped(to: 0..<Int64(count))
            for index in inside { expected[Int(index)] = 0 }
            #expect(try content(handle, Int64(count)) == expected, "\(range)")
        }
        try stepper.call(FileCloseParameters(handle: handle))
        #expect(try file("f").byteCount == Int64(count))
        let again = try stepper.call(open).value.handle
        #expect(try content(again, Int64(count)) == expected)
        try stepper.call(FileCloseParameters(handle: again))
    }

    @Test func `allocating can keep the size, and a vast range of nothing is zeros at once`() throws {
        let open = FileOpenParameters(name: try ItemName("f"), access: .readWrite, creates: true)
        let handle = try stepper.call(open).value.handle
        let keeping = FileAllocateParameters(handle: handle, offset: 0, length: 100_000, keepsSize: true)
        #expect(try stepper.call(keeping).value.byteCount == 0)
        let growing = FileAllocateParameters(handle: handle, offset: 0, length: 100_000)
        #expect(try stepper.call(growing).value.byteCount == 100_000)
        let beyond = FilePunchParameters(handle: handle, offset: 100_000, length: Limits.fileBytes - 100_000)
        #expect(try stepper.call(beyond).value.byteCount == Limits.fileBytes - 100_000)
        #expect(try file("f").byteCount == 100_000)
    }

    @Test func `the space of the disk is told`() throws {
        try put("f", [1])
        let space = try stepper.call(FileSpaceParameters()).value
        #expect(space.totalByteCount > space.freeByteCount)
        #expect(space.freeByteCount >= space.availableByteCount)
        #expect(space.availableByteCount > 0)
        #expect(space.fileCount == 1)
    }
}
