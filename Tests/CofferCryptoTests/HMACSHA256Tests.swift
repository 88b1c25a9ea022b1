import CofferCrypto
import CofferMemory
import Testing

/// HMAC with SHA-256 and PBKDF2, by the vectors of RFC 4231 and RFC 7914.
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
}
