import CofferClient
import CofferSecretFormats
import CofferCore
import CofferMemory
import CofferRouting
import CofferTestSupport
import Foundation
import Testing

/// A byte order mark before what is read as text.
@Suite struct ByteOrderMarkTests {
    private static let mark = "\u{FEFF}"

    private func secret(_ text: String) throws -> Secret { try Secret(exposed: text) }

    @Test(
        arguments: [
            ("{\"a\": \"1\", \"b\": 2}", "a", "1"), ("hunter2\na: 1\n", "password", "hunter2"),
            ("hunter2\na: 1\n", "a", "1"),
            ("one line", "password", "one line"), ("a: 1\nb: 2\n", "a", "1"), ("A='1'\nB=2\n", "A", "1"),
            ("# c\nA=1\n", "A", "1"), ("\na: 1\n", "password", ""),
        ]
    )
    func `is no part of a field, and stays before a secret whose field is set`(
        text: String,
        field: String,
        value: String
    ) throws {
        let plain = try #require(SecretFields(try secret(text)))
        let marked = try #require(SecretFields(try secret(Self.mark + text)))
        #expect(marked.form == plain.form && marked.names == plain.names)
        #expect(try marked.value(of: field)?.exposeText() == value)
        let (one, other) = (
            try plain.setting(field, to: try secret("new")), try marked.setting(field, to: try secret("new"))
        )
        #expect(other.exposeText() == Self.mark + (one.exposeText() ?? ""))
        let added = try marked.setting("z", to: try secret("9")).exposeText()
        #expect(added == Self.mark + (try plain.setting("z", to: try secret("9")).exposeText() ?? ""))
    }

    @Test func `stays before an object that had no member`() throws {
        let fields = try #require(SecretFields(try secret(Self.mark + "{}")))
        #expect(try fields.setting("a", to: try secret("b")).exposeText() == Self.mark + #"{"a": "b"}"#)
    }

    @Test func `is no part of the first variable of a file`() throws {
        let text = try secret(Self.mark + "A=1\nB=2\n")
        let variables = try text.withBytes { (bytes) throws(CofferError) in
            try EnvironmentFile.variables(in: bytes, of: "vars")
        }
        #expect(variables.map(\.name) == ["A", "B"] && variables.first?.line == 1)
    }

    @Test func `stays in a template, which is copied, and a place may follow it`() throws {
        let template = try Template(try secret(Self.mark + #"{{ coffer "a/b" }}!"#), named: "t")
        #expect(try template.text(with: [try secret("x")]).exposeText() == Self.mark + "x!")
    }

    @Test(arguments: ["ed25519.pem", "x25519.pem", "openssh.pem", "openssh-ecdsa.pem", "ed25519-encrypted.pem"])
    func `is no part of a key`(name: String) throws {
        let path = "\(Project.root)/Tests/Vectors/keys/\(name)"
        let text = Array(try #require(FileManager.default.contents(atPath: path)))
        func read(_ text: [UInt8]) throws -> String {
            do {
                let key = try KeyInput(
                    from: SecretBytes(copying: text.span.bytes),
                    passphrase: { () throws(CofferError) in throw CofferError(.param, "it is encrypted") }
                )
                return "\(key.takeBytes().exposeBytes())"
            } catch let error as CofferError {
                return error.message
            }
        }
        let (plain, marked) = (try read(text), try read(Array(Self.mark.utf8) + text))
        #expect(plain == marked && (plain.hasPrefix("[") || plain == "it is encrypted"))
    }

    @Test func `is no part of an address of one-time codes, a recipient or a configuration file`() throws {
        let address = "otpauth://totp/a?secret=JBSWY3DPEHPK3PXP"
        #expect(try OneTimeKey(uri: try secret(Self.mark + address)).code(at: 0).isEqual(to: try secret("282760")))
        #expect(try OneTimeKey.address(in: try secret(Self.mark + address + "\n"))?.exposeText() == address)
        #expect(OneTimeKey.isAddress(try secret(Self.mark + address)))
        let recipient = Recipient(publicKey: Array(repeating: 7, count: 32))
        #expect(try Recipient(Self.mark + recipient.text()) == recipient)
        let file = try ConfigurationFile(Array((Self.mark + "[Daemon]\nGrace=1\n").utf8), path: "c")
        #expect(file.sections.map(\.name) == ["Daemon"] && file.sections.first?.line == 1)
    }

    @Test func `does not hide from the routing what a text is`() {
        func bytes(_ text: String) -> [UInt8] { Array((Self.mark + text).utf8) }
        func isStructured(_ text: [UInt8]) -> Bool { looksStructured(text.span.bytes) }
        func isSecret(_ text: [UInt8]) -> Bool { looksSecret(text.span.bytes) }
        func signature(_ text: [UInt8]) -> ContentSignature? { ContentSignature(of: text.span.bytes, isWhole: true) }
        #expect(isStructured(bytes("{\"a\": 1}")))
        #expect(isStructured(bytes("a: 1\nb: 2\n")))
        #expect(isSecret(bytes("machine a login b password c\n")))
        let pem = "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n"
        #expect(signature(bytes(pem)) == .pemKey)
    }
}
