import CofferClient
import CofferSecretFormats
import CofferCore
import CofferCrypto
import CofferMemory
import CofferTestSupport
import Foundation
import Testing

/// An item that is sealed to another vault opens there, and nothing else does.
@Suite struct ParcelTests {
    private static func said() throws -> ParcelDescription {
        ParcelDescription(
            name: try ItemName("github.com/token"),
            kind: .token,
            created: 1_795_295_158_066,
            modified: 1_795_295_160_000,
            attributes: [.comment: .text("of the build machine"), .expiryDate: .date(1_893_456_000_000)],
            user: ["colour": "green"]
        )
    }

    /// A private key that is no secret.
    private static func privateKey(_ seed: UInt8 = 7) throws -> SymmetricKey {
        guard let key = SymmetricKey(try SecretBytes([UInt8](repeating: seed, count: SymmetricKey.byteCount))) else {
            throw CofferError(.internal, "a key has 32 bytes")
        }
        return key
    }

    private static func recipient(_ seed: UInt8 = 7) throws -> Recipient {
        Recipient(publicKey: KeyAgreement.publicKey(of: try privateKey(seed)))
    }

    private static func shared(_ parcel: Parcel, _ seed: UInt8 = 7) throws -> Secret {
        Secret(try KeyAgreement.sharedSecret(of: try privateKey(seed), with: parcel.ephemeralKey))
    }

    private static func secret(_ bytes: [UInt8]) throws -> Secret { Secret(try SecretBytes(bytes)) }

    @Test(arguments: [0, 1, 500, Limits.parcelContentBytes])
    func `what was sealed is what is opened`(count: Int) throws {
        let content = pseudoRandomBytes(count)
        let sealed = try Parcel(Self.secret(content), try Self.said(), to: Self.recipient()).bytes
        #expect(sealed.count <= Parcel.greatestByteCount)
        let parcel = try Parcel(sealed, "it")
        #expect(try parcel.recipient == Self.recipient())
        #expect(parcel.bytes == sealed)
        let opened = try parcel.open(sharing: Self.shared(parcel), "it")
        #expect(try opened.description == Self.said())
        #expect(opened.content.exposeBytes() == content)
    }

    @Test func `one byte too many is refused, and nothing is sealed to a key of low order`() throws {
        let large = try Self.secret([UInt8](repeating: 1, count: Limits.parcelContentBytes + 1))
        #expect(throws: CofferError(.dataTooLarge, "")) { try Parcel(large, try Self.said(), to: try Self.recipient()) }
        let none = Recipient(publicKey: [UInt8](repeating: 0, count: 32))
        #expect(throws: CofferError(.param, "")) { try Parcel(try Self.secret([1]), try Self.said(), to: none) }
    }

    @Test func `another key does not open it`() throws {
        let parcel = try Parcel(Self.secret([1, 2, 3]), try Self.said(), to: Self.recipient())
        #expect(throws: CofferError(.decode, "")) { try parcel.open(sharing: try Self.shared(parcel, 8), "it") }
    }

    @Test func `a flipped bit anywhere, a missing byte and one more are refused by name`() throws {
        let sealed = try Parcel(Self.secret([1, 2, 3]), try Self.said(), to: Self.recipient()).bytes
        func opens(_ bytes: [UInt8]) throws -> String? {
            do {
                let parcel = try Parcel(bytes, "'it'")
                _ = try parcel.open(sharing: try Self.shared(parcel), "'it'")
                return nil
            } catch let error as CofferError {
                #expect(error.code == .decode)
                return error.message
            }
        }
        #expect(try opens(sealed) == nil)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1 << UInt8(index % 8)
            #expect(try opens(changed)?.contains("'it'") == true, "byte \(index)")
        }
        for count in 0..<sealed.count { #expect(try opens(Array(sealed.prefix(count))) != nil, "\(count) bytes") }
        #expect(try opens(sealed + [0]) != nil)
        #expect(try opens(Array("not at all".utf8)) == "'it' is no parcel of Coffer")
    }

    @Test func `a recipient is read as it was printed, and a mistyped one is refused`() throws {
        let recipient = try Self.recipient()
        let text = try recipient.text()
        #expect(try Recipient("# of the build machine\n\n  \(text)  \n") == recipient)
        var wrong = Array(text)
        for index in wrong.indices.dropFirst("coffer-recipient-1:".count) where wrong[index] != "=" {
            let former = wrong[index]
            wrong[index] = former == "A" ? "B" : "A"
            #expect(throws: CofferError(.param, "")) { try Recipient(String(wrong)) }
            wrong[index] = former
        }
        for other in ["", "age1qqqq", text + "\n" + text, String(text.dropLast())] {
            #expect(throws: CofferError(.param, "")) { try Recipient(other) }
        }
    }

    @Test func `a parcel of this format that was frozen is opened, and so is every later one`() throws {
        let path = "\(Project.root)/Tests/Vectors/parcels/v1"
        if ProcessInfo.processInfo.environment["COFFER_WRITE_PARCEL"] != nil {
            let sealed = try Parcel(Self.secret(Array("a frozen secret".utf8)), try Self.said(), to: Self.recipient())
                .bytes
            return try Data(sealed).write(to: URL(filePath: path))
        }
        let parcel = try Parcel(Array(try Data(contentsOf: URL(filePath: path))), "the frozen one")
        #expect(try parcel.recipient == Self.recipient())
        let opened = try parcel.open(sharing: Self.shared(parcel), "the frozen one")
        #expect(try opened.description == Self.said())
        #expect(opened.content.exposeText() == "a frozen secret")
    }
}
