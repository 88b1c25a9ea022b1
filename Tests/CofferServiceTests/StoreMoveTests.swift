import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Testing

/// What an item has in the one store, it has in the other one.
@Suite struct StoreMoveTests {
    private let server: TestServer
    private let client: BlockingClient
    private let name: ItemName
    private let query = KeychainQuery(.genericPassword, [.account: .text("item")])
    private let large = pseudoRandomBytes(Limits.secretBytes + 1)

    init() throws {
        server = try TestServer(graceSeconds: 0)
        client = try server.connect()
        try client.makeVault()
        name = try ItemName("item")
    }

    private func put(
        _ content: [UInt8],
        attributes: [KeychainAttribute: AttributeValue] = [:],
        user: [AttributeName: String] = [:],
        keep: Int? = nil,
        _ describe: (inout PlacementOptions) -> Void = { _ in }
    ) throws -> Placement {
        var wishes = PlacementOptions()
        describe(&wishes)
        let params = ItemPutParameters(
            name: name,
            wishes: wishes,
            attributes: attributes,
            user: user,
            keepCount: keep
        )
        return try client.call(params, payload: try SecretBytes(content)).value
    }

    private func move(to store: StoreName, _ accessibility: Accessibility? = nil) throws -> ProtectionChange {
        try client.call(ItemProtectParameters(name: name, accessibility: accessibility, store: store)).value
    }

    private var shown: ItemInfo { get throws { try client.call(ItemShowParameters(name: name)).value } }

    /// The versions of the file, the latest first.
    private func versions() throws -> [(content: [UInt8], replaced: Int64)] {
        try client.call(FileVersionsParameters(name: name)).value.versions.map {
            (try client.content(of: "item", version: $0.number), $0.replaced)
        }
    }

    /// The former values of the item, the latest first.
    private func formerValues() throws -> [(content: [UInt8], replaced: Int64)] {
        try client.keychainHistory(of: query).map {
            (try client.formerValue($0.number, of: query)?.exposeBytes() ?? [], $0.replaced)
        }
    }

    private func expectSoundVault() throws { #expect(try client.checkVault(cursor: nil).findings == []) }

    @Test(arguments: [Accessibility.whenUnlocked, .afterFirstUnlock, .always, .whenUnlockedDeposit])
    func `an item that outgrows the keychain takes all that it has along, and back`(
        accessibility: Accessibility
    ) throws {
        _ = try put([1], attributes: [.label: .text("ü"), .expiryDate: .date(9)], user: ["team": "ops"], keep: 7) {
            $0.accessibility = accessibility
            $0.kind = .token
        }
        _ = try put([2])
        _ = try put([3], attributes: [.isNegative: .bool(true), .creator: .integer(-5), .generic: .bytes([0, 255])])
        let (before, former) = (try shown, try formerValues())
        #expect(former.map(\.content) == [[2], [1]])

        let grown = try put(large)
        #expect(grown.protection == .file(try #require(ProtectionClass(matching: accessibility))))
        let file = try shown
        #expect(file.attributes == before.attributes?.filter { $0.key.isOfFile })
        #expect(file.user == ["team": "ops"])
        #expect(file.created == before.created)
        #expect((file.kind, file.expiryDate, file.isExpired) == (.token, 9, true))
        #expect(try versions().map(\.content) == [[3], [2], [1]])
        #expect(try versions().dropFirst().map(\.replaced) == former.map(\.replaced))
        #expect(try client.call(FileVersionsParameters(name: name)).value.keepCount == 7)
        #expect(try client.get("item") == large)

        let other = try ItemName("folder/other")
        _ = try client.move(name, to: other)
        _ = try client.move(other, to: name)
        _ = try client.protect(name, as: .file(.complete))
        _ = try client.protect(name, as: file.protection)
        _ = try put([4])
        #expect(try shown.protection == file.protection, "it never moves back by itself")
        _ = try client.call(FileRemoveVersionsParameters(name: name, number: try latestVersion()))
        let back = try move(to: .keychain)
        #expect(back.item.protection == .keychain(accessibility))
        let item = try shown
        #expect(item.attributes == before.attributes?.merging(item.attributes ?? [:]) { old, new in new })
        #expect(item.user == before.user)
        #expect((item.created, item.kind) == (before.created, .token))
        #expect(try formerValues().map(\.content) == [[3], [2], [1]])
        #expect(try client.get("item") == [4])
        #expect(try client.call(ItemListParameters()).value.items.map(\.name) == ["item"])
        try expectSoundVault()
    }

    private func latestVersion() throws -> Int64? {
        try client.call(FileVersionsParameters(name: name)).value.versions.first?.number
    }

    @Test func `a move in words changes no content, and converts the protection`() throws {
        _ = try put([1])
        _ = try put([2])
        let file = try move(to: .file)
        #expect(file.item.protection == .file(.complete))
        #expect(try client.get("item") == [2])
        #expect(try versions().map(\.content) == [[1]])
        let item = try move(to: .keychain, .whenUnlockedThisDeviceOnly)
        #expect(item.item.protection == .keychain(.whenUnlockedThisDeviceOnly))
        #expect(try client.get("item") == [2])
        #expect(try formerValues().map(\.content) == [[1]])
        #expect(throws: CofferError(.param, "")) { try move(to: .file) }
        #expect(try client.get("item") == [2])
        try expectSoundVault()
    }

    @Test func `a put that only the keychain can hold brings the versions along, or leaves all as it was`() throws {
        _ = try put([1]) { $0.store = .file }
        _ = try put([2], keep: 3)
        _ = try put([3])
        let moved = try put([4]) { $0.accessibility = .afterFirstUnlockThisDeviceOnly }
        #expect(moved.protection == .keychain(.afterFirstUnlockThisDeviceOnly))
        #expect(try formerValues().map(\.content) == [[3], [2], [1]])

        try client.call(ItemRemoveParameters(name: name))
        _ = try put(large, keep: 3)
        _ = try put([5])
        #expect(throws: CofferError(.dataTooLarge, "")) {
            try put([6]) { $0.accessibility = .afterFirstUnlockThisDeviceOnly }
        }
        #expect(try client.get("item") == [5])
        #expect(try versions().map(\.content) == [large])
    }

    @Test func `a file is listed as an item with its attributes is`() throws {
        func listed(_ text: String? = nil) throws -> [String] {
            try client.call(ItemListParameters(text: text)).value.items.map(\.name)
        }
        _ = try put(large, attributes: [.comment: .text("Riverside")], user: ["team": "Ops"])
        for text in [nil, "item", "riverS", "ops"] { #expect(try listed(text) == ["item"]) }
        #expect(try listed("team") == [])
        _ = try put(large, attributes: [.isInvisible: .bool(true)])
        #expect(try listed() == [])
        #expect(try shown.attributes == [.comment: .text("Riverside"), .isInvisible: .bool(true)])
    }

    @Test func `an export leaves no file out, though a listing does`() throws {
        let server = try TestServer()
        let other = try server.connect()
        try other.makeVault(passcode: nil)
        try other.put("hidden", large)
        let params = FileSetExtendedAttributeParameters(
            name: try ItemName("hidden"),
            attribute: "user.coffer.isInvisible"
        )
        _ = try other.call(params, payload: try SecretBytes(Array("1".utf8)))
        #expect(try other.call(ItemListParameters()).value.items.isEmpty)
        let exported = try other.call(ItemListParameters(isForExport: true)).value.items.map(\.name)
        #expect(exported == ["hidden"])
    }

    @Test func `of a file with more attributes than a secret may have, as many are shown, and none are lost`() throws {
        _ = try put([1]) { $0.store = .file }
        for number in 0...Limits.userAttributes {
            let params = FileSetExtendedAttributeParameters(name: name, attribute: "user.n\(100 + number)")
            _ = try client.call(params, payload: try SecretBytes([65]))
        }
        #expect(try shown.user?.count == Limits.userAttributes)
        let names = try client.call(FileListExtendedAttributesParameters(name: name)).value.attributes.map(\.name)
        #expect(names.count == Limits.userAttributes + 1)
        #expect(throws: CofferError(.dataTooLarge, "")) { try move(to: .keychain) }
        #expect(try client.get("item") == [1])
    }

    @Test func `the content of a file that keeps no versions is replaced, however large it is`() throws {
        _ = try put(large, attributes: [.comment: .text("c")])
        _ = try put([1]) { $0.store = .keychain }
        #expect(try formerValues().isEmpty)
        #expect(try shown.attributes?[.comment] == .text("c"))
    }

    @Test func `what a secret can't have, or a file, keeps the item where it is`() throws {
        _ = try put([1]) { $0.store = .file }
        try client.call(
            FileSetExtendedAttributeParameters(name: name, attribute: "user.raw"),
            payload: try SecretBytes([255])
        )
        #expect(throws: CofferError(.param, "")) { try move(to: .keychain) }
        #expect(throws: CofferError(.param, "")) { try put([2]) { $0.store = .keychain } }
        #expect(try client.get("item") == [1])
        try client.call(FileRemoveExtendedAttributeParameters(name: name, attribute: "user.raw"))
        _ = try move(to: .keychain)
        let reserved: [AttributeName: String] = ["coffer.label": "x"]
        _ = try put([2], user: reserved)
        #expect(throws: CofferError(.param, "")) { try put(large) }
        #expect(throws: CofferError(.param, "")) { try move(to: .file) }
        #expect(try client.get("item") == [2])
        #expect(try formerValues().map(\.content) == [[1]])
    }

    @Test func `a file that a program writes does not move, so that nothing written is lost`() throws {
        _ = try put([1]) { $0.store = .file }
        let file = try client.openFile(name, for: .write)
        try file.put([2], at: 0)
        #expect(try Outcome { _ = try move(to: .keychain) } == .refused(.notAvailable))
        try file.put([3], at: 1)
        try file.close()
        _ = try move(to: .keychain)
        #expect(try client.get("item") == [2, 3])
    }

    @Test func `what is locked does not move`() throws {
        _ = try put([1])
        _ = try client.lock(graceSeconds: 0)
        for store in [StoreName.file, .keychain] {
            let outcome = try Outcome { _ = try move(to: store, store == .keychain ? .afterFirstUnlock : nil) }
            #expect(outcome == .locked)
        }
        #expect(try Outcome { _ = try put(large) } == .locked)
        try client.unlock()
        #expect(try client.get("item") == [1])
    }
}

extension KeychainAttribute {
    /// Whether a file has it, and not its name, its group or its dates instead.
    fileprivate var isOfFile: Bool {
        let others: Set<KeychainAttribute> = [
            .service, .account, .accessGroup, .accessible, .synchronizable, .creationDate, .modificationDate,
        ]
        return !others.contains(self)
    }
}
