import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Any Unicode text is a valid attribute, is compared as bytes after NFC, and is returned unchanged.
@Suite struct NaughtyStringsTests {
    private func vault() throws -> (server: TestServer, client: BlockingClient) {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault(passcode: nil)
        return (server, client)
    }

    /// The bytes of a text; `nil` for another type.
    private func bytes(_ value: AttributeValue?) -> [UInt8]? {
        if case .text(let text) = value { Array(text.utf8) } else { nil }
    }

    @Test func `there are enough of them, of every kind`() {
        #expect(NaughtyStrings.all.count > 800)
        #expect(NaughtyStrings.all.contains { $0.utf8.count >= 600 })
        #expect(NaughtyStrings.all.contains { $0.unicodeScalars.contains("\0") })
        #expect(NaughtyStrings.all.contains { $0.composed != Array($0.utf8) })
    }

    @Test(arguments: NaughtyStrings.portions.indices)
    func `as attributes they come out as they went in, and find their item`(portion: Int) throws {
        let (server, client) = try vault()
        defer { withExtendedLifetime(server) {} }
        var seen: [[UInt8]: ItemID] = [:]
        for text in NaughtyStrings.portions[portion] {
            let attributes: [KeychainAttribute: AttributeValue] = [
                .account: .text(text), .service: .text("front-\(text)-behind"), .label: .text(text),
                .comment: .text(text),
            ]
            let secret = Array(text.utf8)
            var reference: ItemID?
            let outcome = try Outcome {
                reference = try client.add(.genericPassword, attributes, secret, user: [text: text])
            }
            guard seen[text.composed] == nil else {
                #expect(outcome == .refused(.duplicateItem), "\(text.debugDescription)")
                continue
            }
            #expect(outcome == .done, "\(text.debugDescription)")
            seen[text.composed] = reference
        }
        for text in NaughtyStrings.portions[portion] {
            let reference = try #require(seen[text.composed])
            let queries = [
                KeychainQuery(.genericPassword, [.account: .text(text)]),
                KeychainQuery(.genericPassword, [.service: .text("front-\(text)-behind")]),
                KeychainQuery(.genericPassword, [.label: .text(text)]),
                KeychainQuery(.genericPassword, [.comment: .text(text)]),
                KeychainQuery(.genericPassword, user: [text: text]),
            ]
            for query in queries {
                let found = try client.find(query).page.items.map(\.reference)
                #expect(found == [reference], "\(text.debugDescription)")
            }
            let partial = [
                KeychainQuery(.genericPassword, prefix: [.account: text]),
                KeychainQuery(.genericPassword, prefix: [.service: "front-\(text)"]),
                KeychainQuery(.genericPassword, contains: [.service: "-\(text)-"]),
                KeychainQuery(.genericPassword, contains: [.label: text]),
            ]
            for query in partial {
                let found = try client.find(query).page.items.map(\.reference)
                #expect(found.contains(reference), "\(text.debugDescription)")
            }
        }
        // Of texts that are equal to the keychain, the first one is stored.
        var checked: Set<[UInt8]> = []
        for text in NaughtyStrings.portions[portion] where checked.insert(text.composed).inserted {
            let found = try client.find(KeychainQuery(.genericPassword, [.account: .text(text)]))
            let item = try #require(found.page.items.first)
            let raw = Array(text.utf8)
            #expect(found.secrets == [raw])
            for attribute in [KeychainAttribute.account, .label, .comment] {
                #expect(bytes(item.attributes?[attribute]) == raw, "\(attribute): \(text.debugDescription)")
            }
            #expect(bytes(item.attributes?[.service]) == Array("front-".utf8) + raw + Array("-behind".utf8))
            #expect(item.user?.map { Array($0.key.utf8) } == [raw])
            #expect(item.user?.map { Array($0.value.utf8) } == [raw])
        }
    }

    @Test(arguments: NaughtyStrings.portions.indices)
    func `as texts of the other classes they come out as they went in`(portion: Int) throws {
        let (server, client) = try vault()
        defer { withExtendedLifetime(server) {} }
        var seen: Set<[UInt8]> = []
        for text in NaughtyStrings.portions[portion] where seen.insert(text.composed).inserted {
            let raw = Array(text.utf8)
            let attributes: [KeychainAttribute: AttributeValue] = [
                .account: .text(text), .server: .text(text), .path: .text(text), .protocol: .text(text),
                .securityDomain: .text(text),
            ]
            try client.add(.internetPassword, attributes, raw)
            let key: [KeychainAttribute: AttributeValue] = [
                .keyClass: .text("symmetric"), .label: .text(text), .applicationTag: .bytes(raw),
            ]
            try client.add(.key, key, raw)
            let password = try client.find(KeychainQuery(.internetPassword, [.server: .text(text)]))
            let shown = try #require(password.page.items.first)
            for attribute in attributes.keys { #expect(bytes(shown.attributes?[attribute]) == raw) }
            #expect(password.page.items.count == 1)
            let keys = try client.find(KeychainQuery(.key, [.applicationTag: .bytes(raw)]))
            #expect(keys.page.items.map { bytes($0.attributes?[.label]) } == [raw])
            #expect(keys.secrets == [raw])
        }
    }

    @Test(arguments: NaughtyStrings.portions.indices)
    func `as names of the one namespace they come out as they went in, where they are names`(portion: Int) throws {
        let (server, client) = try vault()
        defer { withExtendedLifetime(server) {} }
        var names: [[UInt8]: [UInt8]] = [:]
        for text in NaughtyStrings.portions[portion] {
            for path in [text, "secrets/\(text)"] {
                guard let name = try? ItemName(path) else {
                    let refused = try Outcome { _ = try ItemName(path) }
                    #expect(refused == .refused(.param))
                    continue
                }
                try client.put(path, Array(path.utf8))
                // Names that are equal after NFC are the same secret, which keeps its first name.
                names[path.composed] = names[path.composed] ?? Array(path.utf8)
                #expect(try client.get(path) == Array(path.utf8))
                #expect(try Array(client.show(name).name.utf8) == names[path.composed])
                let query = KeychainQuery(
                    .genericPassword,
                    [.service: .text(name.service), .account: .text(name.account)]
                )
                #expect(try client.find(query).secrets == [Array(path.utf8)])
            }
        }
        let listed = try client.list().items.map { Array($0.name.utf8) }
        #expect(Set(listed) == Set(names.values))
        #expect(listed.count == names.count)
    }

    @Test(
        arguments: [
            ("\u{E9}", "e\u{301}"), ("\u{212B}", "A\u{30A}"), ("\u{AC00}", "\u{1100}\u{1161}"), ("\u{2126}", "\u{3A9}"),
            ("o\u{323}\u{302}", "\u{1ED9}"), ("a\u{315}\u{300}\u{5AE}b", "\u{E0}\u{5AE}\u{315}b"),
            ("\u{37E}", ";"), ("\u{2F800}", "\u{4E3D}"),
        ]
    )
    func `what is the same after NFC collides, is found, and keeps its bytes`(one: String, other: String) throws {
        let (server, client) = try vault()
        defer { withExtendedLifetime(server) {} }
        #expect(one.composed == other.composed)
        let reference = try client.add(.genericPassword, [.account: .text(one), .label: .text(one)], user: [one: one])
        let clash = try Outcome { try client.add(.genericPassword, [.account: .text(other)]) }
        #expect(clash == .refused(.duplicateItem))
        let queries = [
            KeychainQuery(.genericPassword, [.account: .text(other)]),
            KeychainQuery(.genericPassword, [.label: .text(other)]),
            KeychainQuery(.genericPassword, user: [other: other]),
            KeychainQuery(.genericPassword, prefix: [.account: other]),
            KeychainQuery(.genericPassword, contains: [.label: other]),
        ]
        for query in queries {
            let items = try client.find(query).page.items
            #expect(items.map(\.reference) == [reference])
            #expect(bytes(items.first?.attributes?[.account]) == Array(one.utf8))
        }
        // A change of the code points alone is a change of the same item.
        try client.update(
            KeychainQuery(reference: reference),
            KeychainChange(attributes: [.account: .text(other), .label: .text(other)])
        )
        let changed = try client.find(KeychainQuery(.genericPassword, [.account: .text(one)])).page.items
        #expect(changed.map(\.reference) == [reference])
        #expect(bytes(changed.first?.attributes?[.account]) == Array(other.utf8))
        #expect(bytes(changed.first?.attributes?[.label]) == Array(other.utf8))
        let name = KeychainChange(user: [other: other])
        try client.update(KeychainQuery(reference: reference), name)
        let user = try client.find(KeychainQuery(reference: reference)).page.items.first?.user
        #expect(user?.count == 1)
        #expect(user?.first.map { Array($0.value.utf8) } == Array(other.utf8))
    }

    @Test(arguments: [("\u{FB01}", "fi"), ("K", "\u{212A}x"), ("ß", "ss"), ("İ", "i"), ("ａ", "a"), ("²", "2")])
    func `what is alike in another way only is two items`(one: String, other: String) throws {
        let (server, client) = try vault()
        defer { withExtendedLifetime(server) {} }
        for text in [one, other] { try client.add(.genericPassword, [.account: .text(text)], Array(text.utf8)) }
        for text in [one, other] {
            let found = try client.find(KeychainQuery(.genericPassword, [.account: .text(text)])).secrets
            #expect(found == [Array(text.utf8)])
        }
    }

    @Test(arguments: [false, true])
    func `a name is in one store at a time, in whichever code points it is written`(isFileFirst: Bool) throws {
        let (server, client) = try vault()
        defer { withExtendedLifetime(server) {} }
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        func putFile(_ name: String) throws { try client.put(name, Array("file".utf8)) { $0.kind = .database } }
        func putSecret(_ name: String) throws { try client.put(name, Array("secret".utf8)) { $0.kind = .password } }
        if isFileFirst {
            try putFile(composed)
            try putSecret(decomposed)
        } else {
            try putSecret(composed)
            try putFile(decomposed)
        }
        // Each of them can be read by its listed name, and is neither hidden nor replaced by the other.
        let items = try client.list().items
        #expect(
            items.count == (isFileFirst ? 2 : 1),
            "a file takes the place of a secret, and a secret that of its own name"
        )
        for item in items {
            let isFile = item.protection.store == .file
            let content = try client.get(item.name)
            #expect(content == Array((isFile ? "file" : "secret").utf8), "\(isFile)")
        }
        guard isFileFirst else { return }
        // A change or a removal of one does not affect the other.
        try putFile(composed)
        #expect(try client.get(decomposed) == Array("secret".utf8))
        try client.remove(try ItemName(composed))
        #expect(try client.get(decomposed) == Array("secret".utf8))
    }
}
