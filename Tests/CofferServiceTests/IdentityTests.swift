import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// An identity is a certificate with the private key of the same public key, and exists while both exist.
///
/// The certificate is from `openssl req -x509 -new -key ed25519.pem`, and its key from `openssl genpkey
/// -algorithm ed25519`.
@Suite struct IdentityTests {
    private static func vector(_ name: String) throws -> [UInt8] {
        try #require(
            FileManager.default.contents(atPath: "\(Project.root)/Tests/Vectors/keys/\(name)").map { Array($0) }
        )
    }

    /// A vault with a certificate and its private key.
    private struct Parts {
        let server: TestServer
        let client: BlockingClient
        let certificate: ItemID
        let key: ItemID

        init(key accessible: Accessibility = .whenUnlocked, certificate: Accessibility = .always) throws {
            server = try TestServer()
            client = try server.connect()
            try client.makeVault()
            let pem = String(decoding: try vector("ed25519-certificate.pem"), as: UTF8.self)
            let base64 = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
            let der = Array(try #require(Data(base64Encoded: base64)))
            self.certificate = try client.add(
                .certificate,
                [.label: .text("the certificate")],
                der,
                accessible: certificate
            )
            key = try client.add(.key, Self.attributes("ed25519"), try vector("ed25519.raw"), accessible: accessible)
        }

        static func attributes(_ type: String, _ keyClass: String = "private") -> [KeychainAttribute: AttributeValue] {
            [.label: .text("the key"), .keyType: .text(type), .keyClass: .text(keyClass)]
        }

        /// The references of the found identities.
        func identities(_ attributes: [KeychainAttribute: AttributeValue] = [:]) throws -> [ItemID] {
            do {
                return try client.find(KeychainQuery(.identity, attributes), returns: [.attributes]).page.items
                    .map(\.reference)
            } catch let error as CofferError where error.code == .itemNotFound {
                return []
            }
        }

        var isFound: Bool { get throws { try !identities().isEmpty } }
    }

    @Test func `is found with the attributes of both, while both are there`() throws {
        let parts = try Parts()
        let found = try parts.client.find(KeychainQuery(.identity), returns: [.attributes]).page
        let identity = try #require(found.items.first)
        #expect(found.items.count == 1)
        #expect(identity.itemClass == .identity)
        let attributes = try #require(identity.attributes)
        let key = try #require(
            try parts.client.find(KeychainQuery(reference: parts.key), returns: [.attributes]).page.items.first?
                .attributes
        )
        #expect(attributes[.publicKeyHash] == key[.applicationLabel], "they have one public key")
        #expect(attributes[.serialNumber] != nil)
        #expect(attributes[.keyType] == .text("ed25519"))
        #expect(attributes[.keyClass] == .text("private"))
        #expect(attributes[.canSign] == .bool(true))
        #expect(attributes[.label] == .text("the certificate"), "where both have one, it is the certificate's")
    }

    @Test func `has a reference by which it is found again`() throws {
        let parts = try Parts()
        let reference = try #require(try parts.identities().first)
        let query = KeychainQuery(reference: reference, itemClass: .identity)
        let again = try parts.client.find(query, returns: [.attributes]).page.items
        #expect(again.map(\.reference) == [reference])
        #expect(again.map(\.itemClass) == [.identity])
    }

    @Test func `goes when the key is deleted, and comes back with it`() throws {
        let parts = try Parts()
        #expect(try parts.isFound)
        #expect(try parts.client.deleteKeychainItems(KeychainQuery(reference: parts.key)) == 1)
        #expect(try !parts.isFound)
        try parts.client.add(.key, Parts.attributes("ed25519"), try Self.vector("ed25519.raw"))
        #expect(try parts.isFound)
    }

    @Test func `goes when the certificate is deleted`() throws {
        let parts = try Parts()
        #expect(try parts.client.deleteKeychainItems(KeychainQuery(reference: parts.certificate)) == 1)
        #expect(try !parts.isFound)
    }

    @Test func `is none with another key, with the public half, or with the same bytes of another kind`() throws {
        let parts = try Parts()
        #expect(try parts.client.deleteKeychainItems(KeychainQuery(reference: parts.key)) == 1)
        let params = KeychainAddParameters(.key, generates: .ed25519)
        _ = try parts.client.addKeychainItem(params, secret: nil)
        try parts.client.add(.key, Parts.attributes("ed25519", "public"), try Self.vector("ed25519-public.raw"))
        try parts.client.add(.key, Parts.attributes("x25519"), try Self.vector("ed25519.raw"))
        try parts.client.add(.key, [.keyClass: .text("symmetric")], try Self.vector("ed25519.raw"))
        #expect(try !parts.isFound)
    }

    @Test func `is not made by a key that only says that it is of the public key`() throws {
        let parts = try Parts()
        let key = try #require(
            try parts.client.find(KeychainQuery(reference: parts.key), returns: [.attributes]).page.items.first
        )
        let hash = try #require(key.attributes?[.applicationLabel])
        #expect(try parts.client.deleteKeychainItems(KeychainQuery(reference: parts.key)) == 1)
        var attributes = Parts.attributes("ed25519")
        attributes[.applicationLabel] = hash
        let added = try Outcome { try parts.client.add(.key, attributes, pseudoRandomBytes(32)) }
        #expect(added == .refused(.param), "the hash is the certificate's, and the key is not")
        let other = try parts.client.add(.key, Parts.attributes("ed25519"), pseudoRandomBytes(32))
        let change = KeychainChange(attributes: [.applicationLabel: hash])
        let changed = try Outcome { try parts.client.update(KeychainQuery(reference: other), change) }
        #expect(changed == .refused(.param))
        #expect(try !parts.isFound)
    }

    @Test func `is none where the key is told apart from the certificate by being synchronised, and asked for so`()
        throws
    {
        let parts = try Parts()
        #expect(try parts.identities([.synchronizable: .bool(false)]).count == 1)
        #expect(try parts.identities([.synchronizable: .bool(true)]).isEmpty)
    }

    @Test func `is found by the attributes of either half, and by no wrong value`() throws {
        let parts = try Parts()
        let attributes = try #require(
            try parts.client.find(KeychainQuery(.identity), returns: [.attributes]).page.items.first?.attributes
        )
        for attribute in [KeychainAttribute.serialNumber, .issuer, .publicKeyHash, .keyType, .keyClass, .canSign] {
            let value = try #require(attributes[attribute])
            #expect(try parts.identities([attribute: value]).count == 1, "\(attribute)")
        }
        #expect(try parts.identities([.keyType: .text("x25519")]).isEmpty)
        #expect(try parts.identities([.serialNumber: .bytes([1])]).isEmpty)
    }

    @Test func `is shown in every state; its data is locked with either half`() throws {
        let parts = try Parts(key: .whenUnlocked, certificate: .always)
        _ = try parts.client.lock(graceSeconds: 0)
        #expect(try parts.isFound)
        let shown = try parts.client.find(KeychainQuery(.identity), returns: [.attributes]).page.items
        #expect(shown.map(\.isLocked) == [true], "the key is")
        let signed = try Outcome {
            _ = try parts.client.sign(Array("m".utf8), with: KeychainQuery(reference: parts.key))
        }
        #expect(signed == .locked)
    }

    @Test func `signs what its certificate's public key verifies`() throws {
        let parts = try Parts()
        let message = Array("a message".utf8)
        let signature = try parts.client.sign(message, with: KeychainQuery(reference: parts.key))
        let key = try parts.client.publicKey(of: KeychainQuery(reference: parts.certificate))
        #expect(key.keyType == "ed25519")
        let published = try Self.vector("ed25519-public.raw")
        #expect(key.bytes == published)
        let own = try parts.client.publicKey(of: KeychainQuery(reference: parts.key))
        #expect(own.bytes == key.bytes)
        #expect(signature.count == 64)
        let files = try TemporaryDirectory()
        try files.write(message, to: "message")
        try files.write(signature, to: "signature")
        try files.write(Self.vector("ed25519-public.pem"), to: "public.pem")
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl") else { return }
        let verified = try runCommand(
            "/usr/bin/openssl",
            [
                "pkeyutl", "-verify", "-pubin", "-inkey", "public.pem", "-rawin", "-in", "message", "-sigfile",
                "signature",
            ],
            directory: files.path
        )
        #expect(verified.status == 0, "\(verified.text)\(verified.errors)")
    }

    @Test func `can't be added, changed or deleted: it is not stored`() throws {
        let parts = try Parts()
        let deleted = try Outcome { _ = try parts.client.deleteKeychainItems(KeychainQuery(.identity)) }
        #expect(deleted == .refused(.param))
        let change = KeychainChange(attributes: [.label: .text("x")])
        let changed = try Outcome { try parts.client.update(KeychainQuery(.identity), change) }
        #expect(changed == .refused(.param))
        let added = try Outcome { try parts.client.add(.identity, [:]) }
        #expect(added == .refused(.param))
        #expect(try parts.isFound)
    }
}
