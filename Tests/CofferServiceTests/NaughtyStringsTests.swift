import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Any Unicode text is a valid attribute, is compared as bytes, and is returned unchanged.
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
                reference = try client.add(.genericPassword, attributes, secret, user: [AttributeName(text): text])
            }
            #expect(outcome == .done, "\(text.debugDescription)")
            seen[Array(text.utf8)] = reference
        }
        for text in NaughtyStrings.portions[portion] {
            let reference = try #require(seen[Array(text.utf8)])
            let queries = [
                KeychainQuery(.genericPassword, [.account: .text(text)]),
                KeychainQuery(.genericPassword, [.service: .text("front-\(text)-behind")]),
                KeychainQuery(.genericPassword, [.label: .text(text)]),
                KeychainQuery(.genericPassword, [.comment: .text(text)]),
                KeychainQuery(.genericPassword, user: [AttributeName(text): text]),
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
        for text in NaughtyStrings.portions[portion] {
            let found = try client.find(KeychainQuery(.genericPassword, [.account: .text(text)]))
            let item = try #require(found.page.items.first)
            let raw = Array(text.utf8)
            #expect(found.secrets == [raw])
            for attribute in [KeychainAttribute.account, .label, .comment] {
                #expect(bytes(item.attributes?[attribute]) == raw, "\(attribute): \(text.debugDescription)")
            }
            #expect(bytes(item.attributes?[.service]) == Array("front-".utf8) + raw + Array("-behind".utf8))
            #expect(item.user?.map { Array($0.key.text.utf8) } == [raw])
            #expect(item.user?.map { Array($0.value.utf8) } == [raw])
        }
    }

    @Test(arguments: NaughtyStrings.portions.indices)
    func `as texts of the other classes they come out as they went in`(portion: Int) throws {
        let (server, client) = try vault()
        defer { withExtendedLifetime(server) {} }
        for text in NaughtyStrings.portions[portion] {
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
        var names: Set<[UInt8]> = []
        for text in NaughtyStrings.portions[portion] {
            for path in [text, "secrets/\(text)"] {
                guard let name = try? ItemName(path) else {
                    let refused = try Outcome { _ = try ItemName(path) }
                    #expect(refused == .refused(.param))
                    continue
                }
                try client.put(path, Array(path.utf8))
                names.insert(Array(path.utf8))
                #expect(try client.get(path) == Array(path.utf8))
                #expect(try Array(client.show(name).name.utf8) == Array(path.utf8))
                let query = KeychainQuery(
                    .genericPassword,
                    [.service: .text(name.service), .account: .text(name.account)]
                )
                #expect(try client.find(query).secrets == [Array(path.utf8)])
            }
        }
        let listed = try client.list().items.map { Array($0.name.utf8) }
        #expect(Set(listed) == names)
        #expect(listed.count == names.count)
    }

    @Test(arguments: [
        ("\u{E9}", "e\u{301}"), ("\u{212B}", "A\u{30A}"), ("\u{AC00}", "\u{1100}\u{1161}"), ("\u{2126}", "\u{3A9}"),
        ("o\u{323}\u{302}", "\u{1ED9}"), ("\u{37E}", ";"), ("\u{2F800}", "\u{4E3D}"), ("\u{FB01}", "fi"),
        ("K", "\u{212A}x"), ("ß", "ss"), ("İ", "i"), ("ａ", "a"), ("²", "2"),
    ])
    func `what only looks alike is two items`(one: String, other: String) throws {
        let (server, client) = try vault()
        defer { withExtendedLifetime(server) {} }
        for text in [one, other] {
            let attributes: [KeychainAttribute: AttributeValue] = [.account: .text(text), .label: .text(text)]
            try client.add(.genericPassword, attributes, Array(text.utf8), user: [AttributeName(text): text])
        }
        for text in [one, other] {
            let queries = [
                KeychainQuery(.genericPassword, [.account: .text(text)]),
                KeychainQuery(.genericPassword, [.label: .text(text)]),
                KeychainQuery(.genericPassword, user: [AttributeName(text): text]),
            ]
            for query in queries { #expect(try client.find(query).secrets == [Array(text.utf8)]) }
        }
    }

    @Test func `a change of the code points alone is a change, and both may be attributes of one item`() throws {
        let (server, client) = try vault()
        defer { withExtendedLifetime(server) {} }
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        let user: [AttributeName: String] = [AttributeName(composed): "1", AttributeName(decomposed): "2"]
        let reference = try client.add(.genericPassword, [.account: .text(composed)], user: user)
        try client.update(
            KeychainQuery(reference: reference),
            KeychainChange(attributes: [.account: .text(decomposed)], removedUser: [AttributeName(composed)])
        )
        let former = try Outcome { _ = try client.find(KeychainQuery(.genericPassword, [.account: .text(composed)])) }
        #expect(former == .refused(.itemNotFound))
        let items = try client.find(KeychainQuery(.genericPassword, [.account: .text(decomposed)])).page.items
        #expect(items.map { bytes($0.attributes?[.account]) } == [Array(decomposed.utf8)])
        #expect(items.map(\.user) == [[AttributeName(decomposed): "2"]])
    }
}
