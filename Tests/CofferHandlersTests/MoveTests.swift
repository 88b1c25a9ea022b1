import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Testing

/// `item.move` renames an item of either store.
@Suite struct MoveTests {
    private let stepper: Stepper

    init() throws {
        stepper = try Stepper()
    }

    private func move(_ name: String, _ target: String, replace: Bool = false) throws -> ItemInfo {
        try stepper.move(try ItemName(name), to: try ItemName(target), replace: replace)
    }

    private func names() throws -> [String] { try stepper.list().items.map(\.name).sortedByBytes() }

    private func show(_ name: String) throws -> ItemInfo { try stepper.show(try ItemName(name)) }

    private func put(_ name: String, _ store: StoreName, _ content: [UInt8] = [1]) throws {
        try stepper.put(name, content) { $0.store = store }
    }

    @Test func `a secret keeps all that it is but its name, and its history`() throws {
        try stepper.put("old/name", [1]) {
            $0.kind = .token
            $0.accessibility = .whenUnlockedThisDeviceOnly
        }
        try stepper.put("old/name", [2])
        let before = try show("old/name")
        let moved = try move("old/name", "new/place/name")
        #expect(moved.name == "new/place/name")
        #expect(moved.protection == before.protection)
        #expect(moved.kind == .token)
        #expect([moved.created, moved.modified] == [before.created, before.modified])
        #expect(try names() == ["new/place/name"])
        #expect(try stepper.get("new/place/name") == [2])
        let query = KeychainQuery(.genericPassword, [.service: .text("new/place"), .account: .text("name")])
        let values = try stepper.keychainHistory(of: query)
        #expect(values.count == 1)
        let old = KeychainQuery(.genericPassword, [.service: .text("old"), .account: .text("name")])
        let outcome = try Outcome { _ = try stepper.find(old) }
        #expect(outcome == .refused(.itemNotFound))
    }

    @Test func `a file keeps all that it is but its name`() throws {
        let content = pseudoRandomBytes(100_000)
        try stepper.put("dir/old", content) {
            $0.kind = .image
            $0.protectionClass = .complete
        }
        let before = try show("dir/old")
        let moved = try move("dir/old", "elsewhere/new")
        #expect(moved.protection == .file(.complete))
        #expect(moved.kind == .image)
        #expect([moved.created, moved.modified, moved.byteCount] == [before.created, before.modified, 100_000])
        #expect(try names() == ["elsewhere/new"])
        #expect(try stepper.get("elsewhere/new", length: 1000) == Array(content.prefix(1000)))
        // The directory was created implicitly, and is removed the same way.
        #expect(try stepper.listFiles().entries.map(\.name) == ["elsewhere"])
    }

    @Test(arguments: [
        (StoreName.keychain, StoreName.keychain), (.keychain, .file), (.file, .keychain), (.file, .file),
    ])
    func `what is there is replaced where that is wanted only`(moved: StoreName, existing: StoreName) throws {
        try put("a", moved, [1])
        try put("b", existing, [2])
        let refused = try Outcome { _ = try move("a", "b") }
        #expect(refused == .refused(.duplicateItem))
        #expect(try names() == ["a", "b"])
        #expect(try stepper.get("b") == [2])
        let item = try move("a", "b", replace: true)
        #expect(item.protection.store == moved)
        #expect(try names() == ["b"])
        #expect(try stepper.get("b") == [1])
        let status = try stepper.status()
        #expect([status.keychainCount, status.fileCount] == (moved == .keychain ? [1, 0] : [0, 1]))
    }

    @Test func `an item is moved while locked, and replaces nothing that is`() throws {
        try put("secret", .keychain)
        try put("file", .file)
        try stepper.put("complete", [3]) {
            $0.protectionClass = .complete; $0.store = .file
        }
        try stepper.put("always", [4]) { $0.accessibility = .always }
        try stepper.reach(.locked)
        let moved = try move("secret", "moved")
        #expect(!moved.isReadable)
        let file = try move("complete", "elsewhere")
        #expect(!file.isReadable)
        for (name, target) in [("file", "moved"), ("always", "elsewhere"), ("always", "moved")] {
            let outcome = try Outcome { _ = try move(name, target, replace: true) }
            #expect(outcome == .locked, "\(name) to \(target)")
        }
        #expect(try names() == ["always", "elsewhere", "file", "moved"])
        _ = try move("always", "file", replace: true)
        try stepper.unlock()
        #expect(try stepper.get("moved") == [1])
        #expect(try stepper.get("elsewhere") == [3])
        #expect(try stepper.get("file") == [4])
    }

    @Test func `before the first unlock, a name that is taken is neither free nor moved over`() throws {
        try put("secret", .keychain)
        try put("file", .file)
        try stepper.put("always", [4]) { $0.accessibility = .always }
        try stepper.put("none", [5]) {
            $0.protectionClass = ProtectionClass.none
            $0.store = .file
        }
        try stepper.reach(.beforeFirstUnlock)
        for name in ["always", "none"] {
            for target in ["secret", "file"] {
                let taken = try Outcome { _ = try move(name, target) }
                #expect(taken == .refused(.duplicateItem), "\(name) to \(target)")
                let replacing = try Outcome { _ = try move(name, target, replace: true) }
                #expect(replacing == .locked, "\(name) over \(target)")
            }
        }
        #expect(try names() == ["always", "none"])
    }

    @Test func `a file that replaces a stricter one is as strict`() throws {
        try stepper.put("weak", [1]) {
            $0.protectionClass = ProtectionClass.none; $0.store = .file
        }
        try stepper.put("strict", [2]) {
            $0.protectionClass = .complete; $0.store = .file
        }
        let moved = try move("weak", "strict", replace: true)
        #expect(moved.protection == .file(.complete))
        #expect(try stepper.get("strict") == [1])
    }

    @Test func `what is no item, or no place for one, is refused`() throws {
        try put("dir/file", .file)
        try put("secret", .keychain)
        try stepper.makeDirectory(try ItemName("made"))
        for (name, target, code) in [
            ("nothing", "a", ErrorCode.itemNotFound), ("dir", "a", .param), ("made", "a", .param),
            ("secret", "made", .duplicateItem), ("dir/file", "made", .duplicateItem),
            ("dir/file", "dir", .duplicateItem),
            ("dir/file", "dir/file/below", .param),
        ] {
            for replace in [false, true] {
                let outcome = try Outcome { _ = try move(name, target, replace: replace) }
                #expect(outcome == .refused(code), "\(name) to \(target)")
            }
        }
        let hint: String?
        do {
            _ = try move("dir", "a")
            hint = nil
        } catch let error as CofferError {
            hint = error.hint
        }
        #expect(hint?.contains("coffer file move") == true)
        #expect(try names() == ["dir/file", "secret"])
    }

    @Test func `a name that is its own is no change, and another spelling of it is one`() throws {
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        try put(composed, .keychain)
        try put("file", .file)
        #expect(try move("file", "file").name == "file")
        let same = try move(composed, composed)
        #expect(same.name.utf8.elementsEqual(composed.utf8))
        let moved = try move(composed, decomposed)
        #expect(moved.name.utf8.elementsEqual(decomposed.utf8))
        #expect(try stepper.list(store: .keychain).items.count == 1)
    }

    @Test func `an access control that is about changes has its say`() throws {
        let attributes: JSONObject = ["service": "s", "account": "a"]
        let item: JSONObject = [
            "class": "genericPassword", "attributes": .object(attributes),
            "accessControl": .array([.string("devicePasscode"), .string("protectWrites")]),
        ]
        #expect(try stepper.perform(.keychainAdd, item, [1]).failure == nil)
        let outcome = try Outcome { _ = try move("s/a", "b") }
        #expect(outcome == .refused(.interactionRequired))
        #expect(try names() == ["s/a"])
    }
}
