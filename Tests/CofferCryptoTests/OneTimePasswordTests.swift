import CofferCrypto
import CofferMemory
import Testing

/// The codes of RFC 4226, appendix D, and RFC 6238, appendix B.
@Suite struct OneTimePasswordTests {
    private static func code(
        _ key: String,
        _ counter: UInt64,
        _ algorithm: OneTimePassword.Algorithm,
        _ digits: Int
    ) throws -> String {
        let bytes = Array(key.utf8)
        let key = try SecretBytes(copying: bytes.span.bytes)
        let code = try OneTimePassword.code(counter: counter, key: key, algorithm, digits: digits)
        return String(decoding: code.exposeBytes(), as: UTF8.self)
    }

    private static let digits = "1234567890"

    @Test(
        arguments: zip(
            UInt64(0)...9,
            [
                "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489",
            ]
        )
    )
    func `the codes of a counter are those of RFC 4226`(counter: UInt64, expected: String) throws {
        #expect(try Self.code(Self.digits + Self.digits, counter, .sha1, 6) == expected)
    }

    @Test(
        arguments: [
            (59, "94287082", "46119246", "90693936"), (1_111_111_109, "07081804", "68084774", "25091201"),
            (1_111_111_111, "14050471", "67062674", "99943326"), (1_234_567_890, "89005924", "91819424", "93441116"),
            (2_000_000_000, "69279037", "90698825", "38618901"), (20_000_000_000, "65353130", "77737706", "47863826"),
        ] as [(UInt64, String, String, String)]
    )
    func `the codes of a time are those of RFC 6238`(
        time: UInt64,
        sha1: String,
        sha256: String,
        sha512: String
    ) throws {
        let long = String(repeating: Self.digits, count: 7)
        #expect(try Self.code(String(long.prefix(20)), time / 30, .sha1, 8) == sha1)
        #expect(try Self.code(String(long.prefix(32)), time / 30, .sha256, 8) == sha256)
        #expect(try Self.code(String(long.prefix(64)), time / 30, .sha512, 8) == sha512)
    }

    // By hashlib of Python, with HMAC written out, from the numbers before they are cut to six digits: those of the first
    // three counters are 1284755224, 1094287082 and 137359152 in RFC 4226, appendix D.
    @Test(arguments: [(0, "GG5F5"), (1, "PV9M4"), (2, "B26KJ"), (37_037_036, "PY4YB")] as [(UInt64, String)])
    func `the codes of Steam are the same number in its own characters`(counter: UInt64, expected: String) throws {
        let bytes = Array((Self.digits + Self.digits).utf8)
        let key = try SecretBytes(copying: bytes.span.bytes)
        let code = try OneTimePassword.steamCode(counter: counter, key: key)
        #expect(String(decoding: code.exposeBytes(), as: UTF8.self) == expected)
    }

    @Test func `a key longer than a block is hashed first`() throws {
        // By hmac and hashlib of Python.
        #expect(try Self.code(String(repeating: "a", count: 80), 1, .sha1, 8) == "69806180")
        #expect(try Self.code(String(repeating: "a", count: 64), 1, .sha1, 8) == "13242271")
    }

    @Test func `every character and word of a random text is one of the choices, and all of them come up`() throws {
        let alphabet = Array("abcxyz".utf8)
        let text = try RandomText.characters(10_000, from: alphabet).exposeBytes()
        #expect(text.count == 10_000 && Set(text) == Set(alphabet))
        // Uniform: each of the six within five standard deviations.
        for character in alphabet { #expect(abs(text.count { $0 == character } - 1667) < 187) }
        let words = try RandomText.words(1000, from: "one two three", separator: 45).exposeBytes()
        let found = String(decoding: words, as: UTF8.self).split(separator: "-", omittingEmptySubsequences: false)
        #expect(found.count == 1000 && Set(found) == ["one", "two", "three"])
    }
}
