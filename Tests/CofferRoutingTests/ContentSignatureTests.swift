import CofferCore
import CofferRouting
import Testing

/// What content shows itself to be: by what its format prescribes, and by nothing that merely mentions it.
@Suite struct ContentSignatureTests {
    private static func signature(_ bytes: [UInt8], isWhole: Bool = true) -> ContentSignature? {
        ContentSignature(of: bytes.span.bytes, isWhole: isWhole)
    }

    private static let base64 = String(repeating: "MC4CAQAwBQYDK2VwBCIEIDfk0G1vTGOeH6rV\n", count: 3)

    private static func pem(_ label: String) -> String { "-----BEGIN \(label)-----\n\(base64)-----END \(label)-----\n" }

    @Test(
        arguments: [
            "PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY",
            "OPENSSH PRIVATE KEY", "PUBLIC KEY", "RSA PUBLIC KEY", "PGP PRIVATE KEY BLOCK",
        ]
    )
    func `a key in PEM is a key`(label: String) {
        #expect(Self.signature(Array(Self.pem(label).utf8)) == .pemKey)
        #expect(Self.signature(Array(("\n " + Self.pem(label) + "\n\n").utf8)) == .pemKey)
    }

    @Test func `certificates in PEM are a certificate, and with a key a key`() {
        let certificate = Self.pem("CERTIFICATE")
        #expect(Self.signature(Array(certificate.utf8)) == .pemCertificate)
        #expect(Self.signature(Array((certificate + certificate).utf8)) == .pemCertificate)
        #expect(Self.signature(Array((certificate + Self.pem("PRIVATE KEY")).utf8)) == .pemKey)
        let explained = "Certificate:\n    Data:\n        Version: 3 (0x2)\n" + certificate
        #expect(Self.signature(Array(explained.utf8)) == .pemCertificate)
    }

    @Test func `DER of exactly its own length is a certificate`() {
        var bytes: [UInt8] = [0x30, 0x82, 0x01, 0x00, 0x30, 0x82, 0x00, 0x80, 0xA0, 0x03, 0x02, 0x01, 0x02]
        bytes += [UInt8](repeating: 7, count: 260 - bytes.count)
        #expect(Self.signature(bytes) == .derCertificate)
        #expect(Self.signature(bytes + [0]) == nil)
        #expect(Self.signature(bytes.dropLast()) == nil)
    }

    @Test(
        arguments: [
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMq anna@home\n", "ssh-rsa AAAAB3NzaC1yc2E= x",
            "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n", "AGE-SECRET-KEY-1QQQQ\n",
            "# created: 2026-01-01T00:00:00Z\n# public key: age1xyz\nAGE-SECRET-KEY-1QQQQ\n",
        ]
    )
    func `keys on a line are keys`(text: String) { #expect(Self.signature(Array(text.utf8)) == .keyLine) }

    @Test(
        arguments: [
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dBjftJeZ4CVP", true), ("eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.", true),
            ("eyJhbGciOiJSU0EifQ.a.b.c.d\n", true), ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0", false),
            ("eyJhbGciOiJIUzI1NiJ9.eyJ zdWIiOiIxIn0.x", false), ("abc.def.ghi", false),
        ] as [(String, Bool)]
    )
    func `a JSON Web Token is a token, and other dots are none`(text: String, isToken: Bool) {
        #expect(Self.signature(Array(text.utf8)) == (isToken ? .jsonWebToken : nil))
    }

    @Test(
        arguments: [
            (Array("SQLite format 3\0".utf8), .sqlite), ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], .image),
            ([0xFF, 0xD8, 0xFF, 0xE0], .image), (Array("GIF89a".utf8), .image), (Array("RIFF....WEBP".utf8), .image),
            ([0x49, 0x49, 0x2A, 0x00], .image), ([0, 0, 0, 0x18] + Array("ftypheic".utf8), .image),
            ([0, 0, 0, 0x18] + Array("ftypavif".utf8), .image), ([0x50, 0x4B, 0x03, 0x04], .archive),
            ([0x1F, 0x8B, 0x08, 0x00], .archive), (Array("BZh91AY&SY".utf8), .archive),
            ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], .archive), ([0x28, 0xB5, 0x2F, 0xFD], .archive),
            (Array("!<arch>\n".utf8), .archive), (Array("070701".utf8), .archive),
            ([UInt8](repeating: 0, count: 257) + Array("ustar".utf8), .archive), (Array("%PDF-".utf8), .document),
            ([0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1], .document),
            (Array("GIF87a".utf8), .image), ([0x4D, 0x4D, 0x00, 0x2A], .image),
            (Array("BM....\0\0\0\0.....\0\0\0".utf8), .image),
            ([0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A], .image),
            (Array("....ftypheix".utf8), .image), (Array("....ftyphevc".utf8), .image),
            (Array("....ftypmif1".utf8), .image), (Array("....ftypmsf1".utf8), .image),
            (Array("....ftypavis".utf8), .image), ([0x50, 0x4B, 0x05, 0x06], .archive),
            ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], .archive), ([0x52, 0x61, 0x72, 0x21, 0x1A, 0x07], .archive),
        ] as [([UInt8], ContentSignature)]
    )
    func `a format is recognised by its whole prescribed beginning`(bytes: [UInt8], expected: ContentSignature) {
        #expect(Self.signature(bytes + [1, 2, 3], isWhole: false) == expected)
        #expect(Self.signature(bytes + [1, 2, 3]) == expected)
        #expect(Self.signature([0x20] + bytes) != expected)
        #expect(Self.signature(bytes.dropLast(3)) != expected)
    }

    @Test(
        arguments: [
            "", " \n", "hunter2", "a b c", "-----BEGIN PRIVATE KEY-----",
            "-----BEGIN NEW CERTIFICATE REQUEST-----\nx\n-----",
            "Dear all,\n" + pem("PRIVATE KEY"), pem("PRIVATE KEY") + "is what a key looks like", "ssh-ed25519",
            "ssh-ed25519 AAAA\nssh-rsa AAAA\nand notes", "BM is a company", "II*", "PK", "{\"a\":1}", "A=1\nB=2\n",
        ]
    )
    func `what merely mentions or resembles something is nothing`(text: String) {
        #expect(Self.signature(Array(text.utf8)) == nil)
    }

    @Test func `what has more to it is no key, certificate or token`() {
        for text in [Self.pem("PRIVATE KEY"), Self.pem("CERTIFICATE"), "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0."] {
            #expect(Self.signature(Array(text.utf8), isWhole: false) == nil)
        }
    }

    @Test func `random bytes are hardly ever anything`() {
        var generator = SystemRandomNumberGenerator()
        var count = 0
        for _ in 0..<20_000 {
            let bytes = (0..<32).map { _ in UInt8.random(in: 0...255, using: &generator) }
            if Self.signature(bytes) != nil { count += 1 }
        }
        // By chance one in a million.
        #expect(count <= 1)
    }

    @Test(arguments: ContentSignature.allCases)
    func `it decides only if no kind is stated`(signature: ContentSignature) throws {
        let found = try Routing.route(RoutingFacts(size: .exactly(2000), signature: signature, isPresentedAsFile: true))
        #expect(found.rule == Rule(for: RoutingFacts(kind: signature.kind, size: .exactly(2000))))
        #expect(found.signature == signature)
        #expect(found.reason.hasSuffix("; by its content it is \(signature.words)"))
        for kind in ItemKind.allCases {
            let stated = try Routing.route(RoutingFacts(kind: kind, size: .exactly(2000), signature: signature))
            #expect(stated == (try Routing.route(RoutingFacts(kind: kind, size: .exactly(2000)))))
        }
        let declared = RoutingFacts(size: .exactly(2000), isDeclaredStructured: true, signature: signature)
        #expect(try Routing.route(declared).rule == .r3)
    }

    @Test func `what looks like a key and is too large for one is a file, and not refused`() throws {
        let verdict = try Routing.route(RoutingFacts(size: .exactly(32_769), signature: .pemKey))
        #expect(verdict.rule == .r8)
        #expect(verdict.signature == nil)
        let image = try Routing.route(RoutingFacts(size: .moreThan(32_769), signature: .image))
        #expect(image.rule == .r4)
    }
}
