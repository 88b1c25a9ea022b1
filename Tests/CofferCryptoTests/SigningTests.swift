import CofferCore
import CofferCrypto
import CofferMemory
import Testing

/// RFC 8032, 7.1: seed, public key, message, signature.
private let vectors = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        """
        e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155
        5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b
        """
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        """
        92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da
        085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00
        """
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        """
        6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac
        18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a
        """
    ),
]

private func pair(_ seed: [UInt8]) throws -> SigningKey {
    guard let pair = try SigningKey(seed: SecretBytes(seed)) else { throw SymmetricKey.NotAKey() }
    return pair
}

@Suite struct Signing {
    @Test(arguments: vectors)
    func `gives what the RFC gives`(seed: String, publicKey: String, message: String, signature: String) throws {
        let key = try pair(bytes(seed))
        let ofKey = key.publicKey
        #expect(ofKey == bytes(publicKey))
        let found = key.signature(of: bytes(message).span.bytes)
        #expect(found == bytes(signature))
        let isValid = SigningKey.isValid(found, of: bytes(message).span.bytes, by: ofKey)
        #expect(isValid)
    }

    @Test func `refuses a changed message, signature and key, at every bit`() throws {
        let key = try pair(Array(1...32))
        let publicKey = key.publicKey
        let message = Array("a message of some bytes".utf8)
        let signature = key.signature(of: message.span.bytes)
        func changed(_ bytes: [UInt8], at bit: Int) -> [UInt8] {
            var bytes = bytes
            bytes[bit / 8] ^= 1 << (bit % 8)
            return bytes
        }
        for bit in 0..<(signature.count * 8) {
            let isValid = SigningKey.isValid(changed(signature, at: bit), of: message.span.bytes, by: publicKey)
            #expect(!isValid, "bit \(bit) of the signature")
        }
        for bit in 0..<(message.count * 8) {
            let isValid = SigningKey.isValid(signature, of: changed(message, at: bit).span.bytes, by: publicKey)
            #expect(!isValid, "bit \(bit) of the message")
        }
        for bit in 0..<(publicKey.count * 8) {
            let isValid = SigningKey.isValid(signature, of: message.span.bytes, by: changed(publicKey, at: bit))
            #expect(!isValid, "bit \(bit) of the public key")
        }
    }

    @Test func `takes a seed of 32 bytes only`() throws {
        for count in [0, 1, 31, 33, 64] {
            let seed = try SecretBytes(zeros: count)
            let isMade: Bool
            switch try SigningKey(seed: seed) {
            case .none: isMade = false
            case .some: isMade = true
            }
            #expect(!isMade, "\(count) bytes")
        }
    }

    @Test func `finds nothing valid where a length is wrong`() throws {
        let key = try pair(Array(1...32))
        let publicKey = key.publicKey
        let signature = key.signature(of: [1, 2, 3].span.bytes)
        for wrong in [[], Array(signature.dropLast()), signature + [0]] {
            let isValid = SigningKey.isValid(wrong, of: [1, 2, 3].span.bytes, by: publicKey)
            #expect(!isValid, "a signature of \(wrong.count) bytes")
        }
        for wrong in [[], Array(publicKey.dropLast()), publicKey + [0]] {
            let isValid = SigningKey.isValid(signature, of: [1, 2, 3].span.bytes, by: wrong)
            #expect(!isValid, "a key of \(wrong.count) bytes")
        }
    }

    @Test func `signs long messages and the same message the same way`() throws {
        let key = try pair(Array(1...32))
        let publicKey = key.publicKey
        let message = [UInt8](repeating: 7, count: 256 << 10)
        let first = key.signature(of: message.span.bytes)
        let second = key.signature(of: message.span.bytes)
        #expect(first == second)
        let isValid = SigningKey.isValid(first, of: message.span.bytes, by: publicKey)
        #expect(isValid)
    }
}

@Suite struct `Agreeing on a secret` {
    // RFC 7748, 6.1.
    private let alice = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"
    private let bob = "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"

    @Test func `gives both sides what the RFC gives`() throws {
        let one = try SymmetricKey.known(bytes(alice))
        let other = try SymmetricKey.known(bytes(bob))
        let expected = bytes("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
        let found = try KeyAgreement.sharedSecret(of: one, with: KeyAgreement.publicKey(of: other))
        let foundByOther = try KeyAgreement.sharedSecret(of: other, with: KeyAgreement.publicKey(of: one))
        let isExpected = found.exposeBytes() == expected && foundByOther.exposeBytes() == expected
        #expect(isExpected)
        #expect(KeyAgreement.sharedSecretBytes == 32)
    }

    // RFC 7748, 5.2.
    @Test(
        arguments: [
            (
                "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4",
                "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c",
                "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
            ),
            (
                "4b66e9d4d1b4673c5ad22691957d6af5c11b6421e0ea01d42ca4169e7918ba0d",
                "e5210f12786811d3f4b7959d0538ae2c31dbe7106fc03c3efc4cd549c715a493",
                "95cbde9476e8907d7aade45cb4b873f88b595a68799fa152e6f8f7647aac7957"
            ),
        ]
    )
    func `takes any scalar and any point`(scalar: String, point: String, result: String) throws {
        let key = try SymmetricKey.known(bytes(scalar))
        let found = try KeyAgreement.sharedSecret(of: key, with: bytes(point)).exposeBytes()
        #expect(found == bytes(result))
    }

    @Test(
        arguments: [
            "", "00", "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c",
            "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c00",
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        ]
    )
    func `refuses a peer of a wrong length or of low order`(point: String) throws {
        let key = try SymmetricKey.known(bytes(alice))
        #expect(throws: CryptoError.unusableKey) { _ = try KeyAgreement.sharedSecret(of: key, with: bytes(point)) }
    }

    @Test func `has a public key for each type, and the hash of it that everybody has`() throws {
        let signing = try SymmetricKey.known(bytes(vectors[0].0))
        let ofSigning = try KeyType.ed25519.publicKey(of: signing)
        #expect(ofSigning == bytes(vectors[0].1))
        let agreeing = try SymmetricKey.known(bytes(alice))
        let ofAgreeing = try KeyType.x25519.publicKey(of: agreeing)
        #expect(ofAgreeing == bytes("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"))
        // FIPS 180-2, B.1, and nothing.
        let ofText = publicKeyHash(of: Array("abc".utf8))
        #expect(ofText == bytes("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
        let ofNothing = publicKeyHash(of: [])
        #expect(ofNothing == bytes("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
    }
}
