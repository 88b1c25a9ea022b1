import CofferCore
import CofferKeychain
import CofferMemory
import CofferTestSupport
import Foundation
import Testing

@Suite struct `An identity in the store` {
    private static func vector(_ name: String) throws -> [UInt8] {
        try #require(
            FileManager.default.contents(atPath: "\(Project.root)/Tests/Vectors/keys/\(name)").map { Array($0) }
        )
    }

    /// A certificate in a group.
    private func certificate(_ store: KeychainStore, in group: String) throws -> KeychainItem {
        let pem = String(decoding: try Self.vector("ed25519-certificate.pem"), as: UTF8.self)
        let base64 = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
        let der = Array(try #require(Data(base64Encoded: base64)))
        return try item(store, ItemAttributes(.certificate, in: group), der)
    }

    /// The private key of it, in a group.
    @discardableResult private func key(_ store: KeychainStore, in group: String) throws -> KeychainItem {
        let attributes = ItemAttributes(
            .key,
            in: group,
            [.keyType: .text("ed25519"), .keyClass: .text("private")]
        )
        return try item(store, attributes, try Self.vector("ed25519.raw"))
    }

    private func item(
        _ store: KeychainStore,
        _ attributes: ItemAttributes,
        _ content: [UInt8]
    ) throws -> KeychainItem {
        var attributes = attributes
        let secret = try NewItem.secret(try SecretBytes(content), nil, for: &attributes)
        let id = try store.add(attributes, secret: secret, accessibility: .whenUnlocked, now: 1).id
        return try #require(try store.find(id))
    }

    @Test(arguments: [TestState.unlocked, .locked])
    func `takes no key of a group that is not looked in`(state: TestState) throws {
        let fixture = try Fixture()
        let found: ItemID
        do {
            let store = try fixture.open(.unlocked)
            found = try certificate(store, in: "one").id
            try key(store, in: "other")
        }
        let store = try fixture.open(state)
        let certificate = try #require(try store.find(found))
        #expect(try store.index.privateKey(of: certificate, in: ["one"]) == nil)
        let both = try #require(try store.index.privateKey(of: certificate, in: ["one", "other"]))
        #expect(both.attributes.group == "other")
    }

    @Test func `takes the key of the group that is looked in, where two have one`() throws {
        let fixture = try Fixture()
        let store = try fixture.open(.unlocked)
        let certificate = try certificate(store, in: "one")
        for group in ["other", "one"] { try key(store, in: group) }
        #expect(try store.index.privateKey(of: certificate, in: ["one"])?.attributes.group == "one")
        #expect(try store.index.privateKey(of: certificate, in: ["other"])?.attributes.group == "other")
        #expect(try store.index.privateKey(of: certificate, in: []) == nil)
    }

    @Test func `takes a key that has what is asked for, and no other`() throws {
        let fixture = try Fixture()
        let store = try fixture.open(.unlocked)
        let certificate = try certificate(store, in: "one")
        try key(store, in: "one")
        let right = try store.index.privateKey(of: certificate, in: ["one"], with: [.keyType: .text("ed25519")])
        #expect(right != nil)
        let wrong: [AttributeValues] = [
            [.keyType: .text("x25519")], [.keyClass: .text("public")], [.applicationLabel: .bytes([1])],
        ]
        for attributes in wrong {
            #expect(try store.index.privateKey(of: certificate, in: ["one"], with: attributes) == nil)
        }
    }
}
