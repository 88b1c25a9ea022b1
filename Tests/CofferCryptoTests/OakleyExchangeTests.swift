import CofferCrypto
import CofferMemory
import Testing

// The numbers are of Python: a private key is the SHA-256 of "ours 0" to "ours 3", or of "ours 179 0" to "ours 179 3",
// one after the other, a peer's of "peer 0" and so on, or of "peer 91 0" and so on; a public key and a shared secret are
// of `pow(base, key, prime)`, and the key of the cipher is of `hmac.new(hmac.new(bytes(32), shared, "sha256").digest(),
// b"\x01", "sha256").digest()[:16]`. A ciphertext is of `openssl enc -aes-128-cbc -K KEY -iv VECTOR`.

private let ours = """
    b53ae5b3a393422514554d19739fbceb56594559850c960aae5cf9760d618081
    70fbc49ee8d48dc665f38de66e2c35729cbd3e8167c42f356a399749de90c279
    a0954215e5b0556ff13136f95d427cbccfa46881d1c493a4398aabddccdcb13c
    2762eafa2804d42993c75a9acf5c7051b81e6f92e86dce05c559e533955d3e53
    """
private let oursPublic = """
    d1a12b2816ff4a53ec2c1d64a461b711e080b609d5125f83b8b892ee8649e7fb
    118dc13e5e388d53506f3be10fb2283df4c4d8768d860bfd92c3d9e84f713769
    6cbbc01f95c9cac43e29ded647ef852f30e73d93408ac1180a25a008312976b8
    e9476c9509e0b1e4fe48ea550e98d8c35b950644fe6125a5a0ffb702d03eedb8
    """
/// The private key of a public key that begins with a zero.
private let short = """
    2fdce8f5af0818bb68607e58f15e0f9f769f7096b400d6f00d2293a3ccf8c8c3
    b5827e2a688cac7b4b728500a48458a85d8d598e859ae0185537a304ca73caa7
    841310f6b85fb4c8adfcaa9c4d05ea77a4c2c58aa5e8efbfc05179b5d02c9a1e
    0c364b2bae37b04e4a284adae86378c4994a848921fef3a29500e15c043c4a1d
    """
private let shortPublic = """
    00deaea0c4726464099f5c67d1c0f5fb04abc186af1f8b2b3094c2ee2600f312
    a7949f0a186ca41781d7436609a8e02e4f8d0193d17b5487482d612b71e6b9c3
    f356ce690c23c1be601c7555cdb7334256c7a1e60fca1caaeacb914c29db575b
    964ccf45f679760591b2e9db574b0458d3723e1b113ef8a05a13e2b374023e44
    """
private let peer = """
    7156dfbf3f958eb317048811893cde681f461d9bfa22427892a7369b97443e59
    c62307890168441919aa024634ba367ee6b037fe10899afbe3ea9ff15a39ec96
    4c75efb46fce7df7c7cd1d5e9f1fff39975775042bd4fdc478a8abbc9f3e3fd4
    0df404ce64bbd71bd11b1cd32decbb37298ef240b644fca5e6013bac9ceb3cf6
    """
private let peerVector = "2ffc1d06387ef8bb7a34312b6c6c3f69"
/// The secret that this peer shares with ours begins with a zero.
private let peerOfShortSecret = """
    2305eb3d098fdb961471cc75fe52054be62b5b901d7e2887e36c61ac51a38337
    69d8c82ca371ffc376a378e9e12467d51708b8a4a538b8851d82b479c1da7b31
    4843f94f338e76a645dea8eb9a06520ff99946c6fc9600c0043565e24c0f930d
    eb442ffabd4545f6baa44d82c397333abb4cfea09da5a70a94c474b497642fbc
    """

/// RFC 2409, 6.2.
private let prime = """
    ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74
    020bbea63b139b22514a08798e3404ddef9519b3cd3a431b302b0a6df25f1437
    4fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7ed
    ee386bfb5a899fa5ae9f24117c4b1fe649286651ece65381ffffffffffffffff
    """

private func prime(endingIn last: UInt8) -> [UInt8] { Array(bytes(prime).dropLast()) + [last] }

private func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

private let refusedKeys: [(String, [UInt8])] = [
    ("nothing", []), ("0", [0]), ("1", [1]), ("0 in many bytes", zeros(200)), ("1 in 128 bytes", zeros(127) + [1]),
    ("the prime less 1", prime(endingIn: 0xFE)), ("the prime", bytes(prime)),
    ("the prime and 1", Array(bytes(prime).prefix(119)) + [0x82] + zeros(8)),
    ("the largest number of 128 bytes", [UInt8](repeating: 0xFF, count: 128)), ("2 to the 1024", [1] + zeros(128)),
    ("a number of 129 bytes", [UInt8](repeating: 2, count: 129)),
]

private let messages = ["", "a secret", "sixteen bytes it", "more than sixteen bytes"]

/// Peer, initialization vector, and the ciphertexts of the messages.
private let ciphertexts: [(String, String, [String])] = [
    (
        peer, peerVector,
        [
            "07193b4164a6aeb85796f948b929325c", "d4d2bb4fa899b3ed83dfac6c6c45743a",
            "1eb2e1620b70c95fbaded179b4bc308daadcd9c08ad2b969b12de81efe80151c",
            "39a2988d412c37c728074df6d10ba2a443f79019c436677afccd3809e7c735b7",
        ]
    ),
    (
        peerOfShortSecret, "5b5329237f0a023c1f21bf40d2085d7b",
        [
            "589a3589ea9f1a6113e9de7a5a6ab9d0", "3ea67cd4bec3363cdd5bd5f6559a197b",
            "f5f13e0ad80cb1f36b7258d4587a62bba9564e5f27c2ea48be4c7d3190554b68",
            "ea49b9c9ff7d22e62bb588ba662848acfb3045a89284a98e3d528c47d3d75327",
        ]
    ),
]

private func side(_ privateKey: String) throws -> OakleyExchange {
    guard let exchange = try OakleyExchange(privateKey: SecretBytes(bytes(privateKey))) else {
        throw SymmetricKey.NotAKey()
    }
    return exchange
}

private func randomSide() throws -> OakleyExchange {
    guard let exchange = try OakleyExchange() else { throw SymmetricKey.NotAKey() }
    return exchange
}

/// The message; no bytes where there is none.
private func opened(_ ciphertext: [UInt8], _ vector: [UInt8], by cipher: borrowing SessionCipher) throws -> [UInt8] {
    guard let message = try cipher.decrypt(ciphertext.span.bytes, vector: vector.span.bytes) else { return [] }
    return message.exposeBytes()
}

@Suite struct OakleyExchangeTests {
    @Test(arguments: [(ours, oursPublic), (short, shortPublic)])
    func `a public key is the power that Python calculates, in 128 bytes`(key: String, expected: String) throws {
        let exchange = try side(key)
        let found = exchange.publicKey
        #expect(found == bytes(expected))
        #expect(OakleyExchange.keyBytes == 128)
    }

    @Test(arguments: ciphertexts)
    func `what openssl encrypts under the key that Python derives is decrypted`(
        peer: String,
        vector: String,
        ciphertexts: [String]
    ) throws {
        let exchange = try side(ours)
        let cipher = try exchange.cipher(with: bytes(peer).span.bytes)
        for (message, ciphertext) in zip(messages, ciphertexts) {
            let found = try opened(bytes(ciphertext), bytes(vector), by: cipher)
            #expect(found == Array(message.utf8))
        }
    }

    @Test func `both sides of an exchange open what the other one encrypts`() throws {
        let one = try randomSide()
        let other = try randomSide()
        let (key, otherKey) = (one.publicKey, other.publicKey)
        #expect(key != otherKey)
        let cipher = try one.cipher(with: otherKey.span.bytes)
        let otherCipher = try other.cipher(with: key.span.bytes)
        for count in [0, 1, 15, 16, 17, 31, 32, 4096, 100_000] {
            let message = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            let sealed = try cipher.encrypt(message.span.bytes)
            let found = try opened(sealed.ciphertext, sealed.vector, by: otherCipher)
            #expect(found == message)
            let answer = try otherCipher.encrypt(message.span.bytes)
            let foundAnswer = try opened(answer.ciphertext, answer.vector, by: cipher)
            #expect(foundAnswer == message)
        }
    }

    @Test func `a peer's key may have zeros in front, or lack those it has`() throws {
        let exchange = try side(ours)
        let cipher = try exchange.cipher(with: bytes(shortPublic).span.bytes)
        let message: [UInt8] = [1, 2, 3]
        let sealed = try cipher.encrypt(message.span.bytes)
        for key in [Array(bytes(shortPublic).dropFirst()), [0] + bytes(shortPublic), [0, 0, 0] + bytes(shortPublic)] {
            let same = try exchange.cipher(with: key.span.bytes)
            let found = try opened(sealed.ciphertext, sealed.vector, by: same)
            #expect(found == message, "\(key.count) bytes")
        }
    }

    @Test(arguments: refusedKeys)
    func `a peer's key that is no number from 2 to the prime less 2 is refused`(name: String, key: [UInt8]) throws {
        let exchange = try side(ours)
        #expect(throws: CryptoError.unusableKey) { _ = try exchange.cipher(with: key.span.bytes) }
    }

    @Test(arguments: [[2], prime(endingIn: 0xFD)])
    func `the least and the largest key of a peer are taken`(key: [UInt8]) throws {
        let exchange = try side(ours)
        let cipher = try exchange.cipher(with: key.span.bytes)
        let sealed = try cipher.encrypt(RawSpan())
        #expect(sealed.ciphertext.count == 16)
    }

    @Test(arguments: [0, 1, 127, 129, 256])
    func `a private key of another size makes no pair`(count: Int) throws {
        let isMade: Bool
        switch try OakleyExchange(privateKey: SecretBytes([UInt8](repeating: 7, count: count))) {
        case .none: isMade = false
        case .some: isMade = true
        }
        #expect(!isMade)
    }
}

@Suite struct SessionCipherTests {
    @Test func `each message has a vector of its own, and 1 to 16 bytes of padding`() throws {
        let exchange = try side(ours)
        let cipher = try exchange.cipher(with: bytes(peer).span.bytes)
        var vectors: Set<[UInt8]> = []
        for count in 0...33 {
            let message = [UInt8](repeating: 7, count: count)
            let sealed = try cipher.encrypt(message.span.bytes)
            #expect(sealed.ciphertext.count == (count / 16 + 1) * 16)
            #expect(sealed.vector.count == SessionCipher.vectorBytes)
            vectors.insert(sealed.vector)
        }
        #expect(vectors.count == 34)
    }

    @Test func `an empty message is none`() throws {
        let exchange = try side(ours)
        let cipher = try exchange.cipher(with: bytes(peer).span.bytes)
        let sealed = try cipher.encrypt(RawSpan())
        let isNone: Bool
        switch try cipher.decrypt(sealed.ciphertext.span.bytes, vector: sealed.vector.span.bytes) {
        case .none: isNone = true
        case .some: isNone = false
        }
        #expect(isNone)
    }

    /// The last block is encrypted with `-nopad`: alone, and after the block `sixteen bytes it`.
    @Test(
        arguments: [
            ("a last byte of 0", "28b28cf20c27a1ad6b86ebba727c4b8f", "59494d60c25fa47834cd05bddd10dd5a"),
            ("16 times 17", "181d66f68510bfee97dda00e21feedff", "cfe18a0eb72bab1873de70c2e93dc37e"),
            ("16 times 255", "16982cf38a4bee533a015f11509caa19", "4b0198ceba3f35a51561adf5fe3e3cd9"),
            ("1 and 2", "99b5a866866b679c332a36f20eaf2ee4", "c1b5450586cdd569a839268772213892"),
            ("15, and 16 times 16", "1c3214fe2536318ba3ebbbc7807f0e55", "8f11d9855dd60e985fb32e7bd442424c"),
            ("3, 4 and 3", "6393a115ab2fab5f5155b56fc85f0d28", "768e89b89d4c36895f7df738f40b8848"),
            ("text", "1eb2e1620b70c95fbaded179b4bc308d", "09d01e6e36423d852e5ff6e3097b3bf3"),
        ]
    )
    func `a wrong padding is refused`(name: String, alone: String, last: String) throws {
        let exchange = try side(ours)
        let cipher = try exchange.cipher(with: bytes(peer).span.bytes)
        for ciphertext in [bytes(alone), bytes("1eb2e1620b70c95fbaded179b4bc308d" + last)] {
            #expect(throws: CryptoError.unauthentic) {
                _ = try cipher.decrypt(ciphertext.span.bytes, vector: bytes(peerVector).span.bytes)
            }
        }
    }

    @Test(arguments: [0, 1, 15, 17, 31, 33])
    func `a ciphertext that is not in whole blocks is refused like a wrong padding`(count: Int) throws {
        let exchange = try side(ours)
        let cipher = try exchange.cipher(with: bytes(peer).span.bytes)
        let ciphertext = Array(bytes(ciphertexts[0].2[3] + "00").prefix(count))
        #expect(throws: CryptoError.unauthentic) {
            _ = try cipher.decrypt(ciphertext.span.bytes, vector: bytes(peerVector).span.bytes)
        }
    }

    @Test(arguments: [0, 1, 15, 17, 32])
    func `a vector of another size is refused like a wrong padding`(count: Int) throws {
        let exchange = try side(ours)
        let cipher = try exchange.cipher(with: bytes(peer).span.bytes)
        let vector = [UInt8](repeating: 0, count: count)
        #expect(throws: CryptoError.unauthentic) {
            _ = try cipher.decrypt(bytes(ciphertexts[0].2[1]).span.bytes, vector: vector.span.bytes)
        }
    }
}
