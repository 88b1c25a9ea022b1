import CofferClient
import CofferCore
import CofferMemory
import CofferService
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// The verbs of the keychain, as in SecItem: sections 4 and 5 of the semantics.
@Suite struct KeychainTests {
    private func secret(_ text: String) throws -> SecretBytes { try SecretBytes(text.utf8) }

    /// An unlocked vault, and a client of its keychain.
    private struct Keychain {
        let server: TestServer
        let client: BlockingClient

        init(passcode: String? = DaemonProcess.passcode, entitlements: [Entitlement] = []) throws {
            server = try TestServer { $0.entitlements = entitlements }
            client = try server.connect()
            try client.makeVault(passcode: passcode)
        }

        @discardableResult func add(
            _ itemClass: ItemClass = .genericPassword,
            attributes: [KeychainAttribute: AttributeValue],
            _ text: String = "secret",
            accessible: Accessibility? = nil,
            user: [AttributeName: String] = [:],
            history: Int? = nil
        ) throws -> ItemID {
            let params = KeychainAddParameters(
                itemClass,
                attributes,
                user: user,
                accessibility: accessible,
                historyCount: history
            )
            let content: SecretBytes? = try SecretBytes(text.utf8)
            return try client.call(.keychainAdd, params, payload: content, returning: KeychainAddResult.self)
                .value.reference
        }

        func find(
            _ query: KeychainQuery,
            limit: KeychainLimit = .all,
            returns: Set<KeychainReturn> = [.data, .attributes],
            order: KeychainOrder? = nil
        ) throws -> (page: KeychainPage, texts: [String]) {
            let params = KeychainFindParameters(query, limit: limit, order: order, returns: returns)
            let returned = try client.call(.keychainFind, params, returning: KeychainPage.self)
            let page = returned.value
            var rest = (returned.takePayload()?.exposeBytes() ?? [])[...]
            let texts = page.items.compactMap(\.byteCount).map { count in
                defer { rest = rest.dropFirst(count) }
                return String(decoding: rest.prefix(count), as: UTF8.self)
            }
            return (page, texts)
        }

        func update(_ query: KeychainQuery, _ change: KeychainChange, _ text: String? = nil) throws -> Int64 {
            var content: SecretBytes?
            if let text { content = try SecretBytes(text.utf8) }
            let params = KeychainUpdateParameters(query, change, isForAll: true)
            return try client.call(.keychainUpdate, params, payload: content, returning: KeychainUpdateResult.self)
                .value.count
        }

        func delete(_ query: KeychainQuery) throws -> Int64 {
            try client.call(
                .keychainDelete,
                KeychainDeleteParameters(query, isForAll: true),
                returning: CountResult.self
            ).value.count
        }
    }

    private func account(_ name: String, _ service: String = "s") -> [KeychainAttribute: AttributeValue] {
        [.account: .text(name), .service: .text(service)]
    }

    // MARK: Queries

    @Test func `a query with null removes nothing, and says where it is`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault()
        for name in ["a", "b"] { try client.put(name, [1]) }
        var raw = try RawConnection(server)
        for member in ["account", "service"] {
            for attributes in [JSONValue.object([member: .null]), ["label": "a", "account": .null]] {
                try raw.send(.keychainDelete, ["class": "genericPassword", "attributes": attributes, "all": true])
                #expect(try raw.refusal() == .param)
            }
        }
        for key in ["attributes", "user", "prefix", "contains", "reference", "expiringBefore", "all"] {
            var params: JSONObject = ["class": "genericPassword", "attributes": ["account": "a"]]
            params.set(key, .null)
            try raw.send(.keychainDelete, params)
            #expect(try raw.refusal() == .param, "\(key)")
        }
        try raw.send(.trashEmpty, ["entry": .null])
        #expect(try raw.refusal() == .param)
        try raw.send(.itemRemove, ["name": "a", "trash": .null])
        #expect(try raw.refusal() == .param)
        #expect(try client.list().items.count == 2)
    }

    // MARK: Adding and finding

    @Test func `an item is found by any of its attributes, exactly, and by nothing else`() throws {
        let keychain = try Keychain()
        var attributes = account("anna")
        attributes[.label] = .text("Étage")
        attributes[.comment] = .text("two\nlines")
        attributes[.creator] = .integer(-7)
        attributes[.isInvisible] = .bool(true)
        attributes[.generic] = .bytes([0, 255])
        try keychain.add(attributes: attributes, user: ["colour": "grün"])
        try keychain.add(attributes: account("bert"))
        for (attribute, value) in attributes {
            let found = try keychain.find(KeychainQuery(.genericPassword, [attribute: value]))
            #expect(found.page.items.contains { $0.attributes?[.account] == .text("anna") }, "\(attribute)")
            #expect(found.page.items.count == (attribute == .service ? 2 : 1))
        }
        #expect(try keychain.find(KeychainQuery(.genericPassword, user: ["colour": "grün"])).texts == ["secret"])
        let none = try Outcome { _ = try keychain.find(KeychainQuery(.genericPassword, [.account: .text("ANNA")])) }
        #expect(none == .refused(.itemNotFound))
        let shown = try #require(
            try keychain.find(KeychainQuery(.genericPassword, [.label: .text("Étage")])).page.items.first
        )
        for (attribute, value) in attributes { #expect(shown.attributes?[attribute] == value) }
        #expect(shown.attributes?[.accessible] == .text("WhenUnlocked"))
        #expect(shown.attributes?[.accessGroup] == .text("default"))
        #expect(shown.user == ["colour": "grün"])
    }

    @Test func `a part of a text finds, at its beginning or anywhere`() throws {
        let keychain = try Keychain()
        for name in ["anna", "hannah", "bert"] { try keychain.add(attributes: account(name), name) }
        let prefixed = try keychain.find(KeychainQuery(.genericPassword, prefix: [.account: "ann"]))
        #expect(prefixed.texts == ["anna"])
        let contained = try keychain.find(KeychainQuery(.genericPassword, contains: [.account: "ann"]))
        #expect(contained.texts == ["anna", "hannah"])
    }

    @Test(
        arguments: [
            (.genericPassword, [.account: .text("a"), .service: .text("b")]),
            (
                .internetPassword,
                [
                    .account: .text("a"), .server: .text("b"), .protocol: .text("https"), .port: .integer(443),
                    .path: .text("/"), .securityDomain: .text("d"), .authenticationType: .text("form"),
                ]
            ),
        ] as [(ItemClass, [KeychainAttribute: AttributeValue])]
    )
    func `the primary key is unique, and each part of it counts`(
        itemClass: ItemClass,
        attributes: [KeychainAttribute: AttributeValue]
    ) throws {
        let keychain = try Keychain()
        try keychain.add(itemClass, attributes: attributes)
        #expect(try Outcome { try keychain.add(itemClass, attributes: attributes) } == .refused(.duplicateItem))
        var labelled = attributes
        labelled[.label] = .text("another")
        #expect(try Outcome { try keychain.add(itemClass, attributes: labelled) } == .refused(.duplicateItem))
        for attribute in KeychainAttribute.primaryKey(of: itemClass) + [.synchronizable] {
            var other = attributes
            switch attribute.form {
            case .integer: other[attribute] = .integer(8443)
            case .bool: other[attribute] = .bool(true)
            default: other[attribute] = .text("other")
            }
            #expect(try Outcome { try keychain.add(itemClass, attributes: other) } == .done, "\(attribute)")
        }
        // A missing attribute is equivalent to "" or 0.
        try keychain.add(itemClass, attributes: [:])
        #expect(
            try Outcome { try keychain.add(itemClass, attributes: [.account: .text("")]) } == .refused(.duplicateItem)
        )
    }

    @Test func `dates sort, in both directions`() throws {
        let keychain = try Keychain()
        for name in ["one", "two", "three"] {
            try keychain.add(attributes: account(name), name)
            usleep(3000)
        }
        _ = try keychain.update(
            KeychainQuery(.genericPassword, [.account: .text("one")]),
            KeychainChange(),
            "one, later"
        )
        let query = KeychainQuery(.genericPassword)
        #expect(try keychain.find(query, order: .creationDate).texts == ["one, later", "two", "three"])
        #expect(try keychain.find(query, order: .creationDateDescending).texts == ["three", "two", "one, later"])
        #expect(try keychain.find(query, order: .modificationDate).texts == ["two", "three", "one, later"])
        #expect(
            try keychain.find(query, limit: .count(2), order: .modificationDateDescending).texts == [
                "one, later", "three",
            ]
        )
    }

    @Test func `a cursor goes through all of many items once`() throws {
        let keychain = try Keychain(passcode: nil)
        let text = String(repeating: "x", count: 20_000)
        for number in 0..<40 { try keychain.add(attributes: account("\(number)"), text) }
        var seen: [String] = []
        var cursor: String?
        var pages = 0
        repeat {
            let params = KeychainFindParameters(
                KeychainQuery(.genericPassword),
                limit: .all,
                cursor: cursor,
                returns: [.data, .attributes]
            )
            let page = try keychain.client.call(.keychainFind, params, returning: KeychainPage.self).value
            for item in page.items {
                if case .text(let name) = item.attributes?[.account] { seen.append(name) }
            }
            cursor = page.cursor
            pages += 1
        } while cursor != nil && pages < 100
        #expect(seen == (0..<40).map { "\($0)" })
        #expect(pages > 2, "256 KiB of payload are no more than twelve of them")
    }

    // MARK: Three answers

    @Test func `locked is not missing, and one locked item does not hide the others`() throws {
        let keychain = try Keychain(entitlements: .own())
        try keychain.add(attributes: account("a"), "when unlocked", accessible: .whenUnlocked)
        try keychain.add(attributes: account("b"), "after first", accessible: .afterFirstUnlock)
        try keychain.add(attributes: account("c"), "always", accessible: .always)
        _ = try keychain.client.lock(graceSeconds: 0)
        let all = try keychain.find(KeychainQuery(.genericPassword))
        #expect(all.texts == ["after first", "always"])
        #expect(all.page.items.map(\.isLocked) == [true, false, false])
        #expect(all.page.lockedCount == 1)
        let first = KeychainQuery(.genericPassword)
        #expect(try Outcome { _ = try keychain.find(first, limit: .count(1)) } == .locked, "the first match decides")
        let query = KeychainQuery(.genericPassword, [.account: .text("a")])
        #expect(try Outcome { _ = try keychain.find(query) } == .locked)
        #expect(try Outcome { _ = try keychain.find(query, limit: .count(1)) } == .locked)
        let attributes = try keychain.find(query, returns: [.attributes]).page.items
        #expect(attributes.map(\.isLocked) == [true])
        #expect(try Outcome { try keychain.add(attributes: account("a")) } == .refused(.duplicateItem))
        #expect(try Outcome { _ = try keychain.update(query, KeychainChange(), "new") } == .locked)
        let label = KeychainChange(attributes: [.label: .text("l")])
        #expect(
            try Outcome { _ = try keychain.update(KeychainQuery(.genericPassword), label) } == .locked,
            "all or none"
        )
        #expect(
            try keychain.find(KeychainQuery(.genericPassword), returns: [.attributes]).page.items.allSatisfy {
                $0.attributes?[.label] == nil
            }
        )
        let missing = KeychainQuery(.genericPassword, [.account: .text("z")])
        #expect(try Outcome { _ = try keychain.find(missing) } == .refused(.itemNotFound))
        let denied = KeychainQuery(.genericPassword, [.accessGroup: .text("other")])
        #expect(try Outcome { _ = try keychain.find(denied) } == .refused(.missingEntitlement))
        #expect(try keychain.delete(query) == 1, "deleting wants no key")
    }

    @Test func `an item that wants a passcode is refused without one`() throws {
        let keychain = try Keychain(passcode: nil)
        let outcome = try Outcome {
            try keychain.add(attributes: account("a"), accessible: .whenPasscodeSetThisDeviceOnly)
        }
        #expect(outcome == .refused(.authFailed))
    }

    // MARK: Changing

    @Test func `a persistent reference survives an update and a move of the primary key`() throws {
        let keychain = try Keychain()
        let reference = try keychain.add(attributes: account("a"), "one")
        let query = KeychainQuery(reference: reference)
        #expect(try keychain.update(query, KeychainChange(attributes: [.account: .text("b")]), "two") == 1)
        let found = try keychain.find(query)
        #expect(found.texts == ["two"])
        #expect(found.page.items.first?.attributes?[.account] == .text("b"))
        #expect(try keychain.find(KeychainQuery(.genericPassword, [.account: .text("b")])).texts == ["two"])
        #expect(
            try Outcome { _ = try keychain.find(KeychainQuery(.genericPassword, [.account: .text("a")])) }
                == .refused(.itemNotFound)
        )
        try keychain.add(attributes: account("c"))
        let clash = KeychainChange(attributes: [.account: .text("c")])
        #expect(try Outcome { _ = try keychain.update(query, clash) } == .refused(.duplicateItem))
        #expect(try keychain.find(query).texts == ["two"])
    }

    @Test func `earlier values are kept, shown newest first, and put back`() throws {
        let keychain = try Keychain()
        let query = KeychainQuery(reference: try keychain.add(attributes: account("a"), "v0", history: 3))
        for number in 1...5 { _ = try keychain.update(query, KeychainChange(), "v\(number)") }
        func history(_ number: Int64?, data: Bool) throws -> (values: [KeychainFormerValue], text: String) {
            let params = KeychainHistoryParameters(query, number: number, returns: data ? [.data] : [])
            let returned = try keychain.client.call(.keychainHistory, params, returning: KeychainHistory.self)
            let values = returned.value.values
            return (values, String(decoding: returned.takePayload()?.exposeBytes() ?? [], as: UTF8.self))
        }
        let values = try history(nil, data: false).values
        #expect(values.count == 3)
        #expect(values.map(\.number) == values.map(\.number).sorted(by: >))
        let texts = try values.map { try history(Int64($0.number), data: true).text }
        #expect(texts == ["v4", "v3", "v2"])
        let oldest = Int64(try #require(values.last).number)
        _ = try keychain.client.call(
            .keychainRestore,
            KeychainRestoreParameters(query, number: oldest),
            returning: Empty.self
        )
        #expect(try keychain.find(query).texts == ["v2"])
        #expect(try Outcome { _ = try history(99_999, data: true) } == .refused(.itemNotFound))
        _ = try keychain.client.lock(graceSeconds: 0)
        #expect(try Outcome { _ = try history(Int64(values[0].number), data: true) } == .locked)
        #expect(try keychain.delete(query) == 1)
    }

    @Test func `an expired item is readable, and marked`() throws {
        let keychain = try Keychain()
        var attributes = account("old")
        attributes[.expiryDate] = .date(1_000)
        try keychain.add(attributes: attributes, "old")
        try keychain.add(attributes: account("new"), "new")
        let found = try keychain.find(KeychainQuery(.genericPassword))
        #expect(found.page.items.map(\.isExpired) == [true, false])
        #expect(try keychain.find(KeychainQuery(.genericPassword, expiringBefore: 2_000)).texts == ["old"])
    }

    // MARK: Keys

    @Test func `a key that is generated inside signs, agrees, and is never given out`() throws {
        let keychain = try Keychain()
        func generate(_ type: KeyType) throws -> KeychainQuery {
            let params = KeychainAddParameters(.key, [.label: .text(type.rawValue)], generates: type)
            let added = try keychain.client.call(.keychainAdd, params, returning: KeychainAddResult.self)
            return KeychainQuery(reference: added.value.reference)
        }
        let signing = try generate(.ed25519)
        let message: SecretBytes? = try secret("message")
        let signature = try keychain.client.call(.keychainSign, signing, payload: message, returning: Empty.self)
            .takePayload()?.exposeBytes()
        #expect(signature?.count == 64)
        let again = try keychain.client.call(.keychainSign, signing, payload: message, returning: Empty.self)
            .takePayload()?.exposeBytes()
        #expect(signature == again, "Ed25519 is deterministic")
        #expect(try Outcome { _ = try keychain.find(signing, returns: [.data]) } == .refused(.missingEntitlement))
        let one = try generate(.x25519)
        let other = try generate(.x25519)
        func publicKey(_ query: KeychainQuery) throws -> [UInt8] {
            try keychain.client.call(.keychainPublicKey, query, returning: KeychainPublicKey.self).value.bytes
        }
        func agree(_ query: KeychainQuery, _ peer: [UInt8]) throws -> [UInt8]? {
            let params = KeychainAgreeParameters(query, peer: peer)
            return try keychain.client.call(.keychainAgree, params, returning: Empty.self).takePayload()?
                .exposeBytes()
        }
        let shared = try agree(one, try publicKey(other))
        #expect(shared?.count == 32)
        #expect(try agree(other, try publicKey(one)) == shared)
        #expect(try Outcome { _ = try agree(one, Array(repeating: 0, count: 32)) } == .refused(.param))
        #expect(try Outcome { _ = try agree(signing, try publicKey(one)) } == .refused(.param))
        _ = try keychain.client.lock(graceSeconds: 0)
        #expect(try Outcome { _ = try agree(one, shared ?? []) } == .locked)
    }

    // MARK: The one namespace

    @Test func `a generic password is the item of its name, in both ways to it`() throws {
        let keychain = try Keychain()
        try keychain.client.put("github.com/token", Array("t".utf8))
        let query = KeychainQuery(.genericPassword, [.service: .text("github.com"), .account: .text("token")])
        #expect(try keychain.find(query).texts == ["t"])
        try keychain.add(attributes: account("password", "example.org"), "p")
        #expect(try keychain.client.get("example.org/password") == Array("p".utf8))
        try keychain.client.put("example.org/file", pseudoRandomBytes(5000)) { $0.kind = .database }
        let clash = try Outcome { try keychain.add(attributes: account("file", "example.org")) }
        #expect(clash == .refused(.duplicateItem))
        try keychain.add(.internetPassword, attributes: [.server: .text("example.org")])
        let names = try keychain.client.list().items.map(\.name).sortedByBytes()
        #expect(names == ["example.org/file", "example.org/password", "github.com/token", "login:example.org"])
    }
}
