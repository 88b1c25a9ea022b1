import CofferCrypto
import CofferMemory
import Testing

/// HMAC with SHA-256, PBKDF2 and HKDF, by the vectors of RFC 4231, RFC 7914 and RFC 5869.
@Suite struct HMACSHA256Tests {
    private func secret(_ text: String) throws -> SecretBytes { try SecretBytes(copying: Array(text.utf8).span.bytes) }

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test func `the code of RFC 4231 comes out`() throws {
        let message = Array("what do ya want for nothing?".utf8)
        let code = try HMACSHA256.code(of: message.span.bytes, under: try secret("Jefe"))
        let text = hexadecimal(code.exposeBytes())
        #expect(text == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    @Test(
        arguments: [
            ("passwd", "salt", 1, "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"),
            ("Password", "NaCl", 80_000, "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"),
        ]
    )
    func `the keys of RFC 7914 come out`(password: String, salt: String, iterations: Int, expected: String) throws {
        let key = try HMACSHA256.stretched(try secret(password), salt: Array(salt.utf8), iterations: iterations)
        let text = hexadecimal(key.exposeBytes())
        #expect(text == expected)
    }

    // RFC 5869, A.3 and A.1.
    @Test func `the first blocks of RFC 5869 come out`() throws {
        let secret = try SecretBytes([UInt8](repeating: 0x0B, count: 22))
        let derived = hexadecimal(try HMACSHA256.derived(from: secret).exposeBytes())
        #expect(derived == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d")
        let key = try SecretBytes(bytes("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5"))
        let expanded = hexadecimal(try HMACSHA256.expanded(key, info: Array(0xF0...0xF9)).exposeBytes())
        #expect(expanded == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf")
    }
}
