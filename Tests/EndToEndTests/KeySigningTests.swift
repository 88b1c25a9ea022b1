import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Keys of RSA and ECDSA sign inside the daemon, and OpenSSL verifies what they signed.
@Suite struct KeySigningTests {
    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        try daemon.connect().makeVault()
    }

    private func shell(_ commands: String) throws -> CommandResult {
        try runCommand("/bin/sh", ["-ec", commands], directory: daemon.directory.path)
    }

    /// Makes the key `key.pem` with OpenSSL, and adds it.
    private func add(_ options: String, _ more: String = "true") throws {
        let made = try shell("umask 077; openssl genpkey \(options) -out key.pem 2>/dev/null; \(more)")
        try #require(made.status == 0, "\(made.errors)")
        let added = try daemon.coffer(
            ["keychain", "add", "\(daemon.directory.path)/key.pem", "--class", "key", "--label", "k"]
        )
        try #require(added.status == 0, "\(added.errors)")
    }

    private func sign(_ message: [UInt8], _ options: [String]) throws -> CommandResult {
        try daemon.coffer(["keychain", "sign", "--label", "k"] + options, input: message)
    }

    @Test(
        arguments: [
            ("-algorithm RSA -pkeyopt rsa_keygen_bits:2048", nil, "sha256"),
            ("-algorithm RSA -pkeyopt rsa_keygen_bits:2048", "sha384", "sha384"),
            ("-algorithm RSA -pkeyopt rsa_keygen_bits:3072", "sha512", "sha512"),
            ("-algorithm EC -pkeyopt ec_paramgen_curve:P-256", nil, "sha256"),
            ("-algorithm EC -pkeyopt ec_paramgen_curve:P-256", "sha256", "sha256"),
            ("-algorithm EC -pkeyopt ec_paramgen_curve:P-384", nil, "sha384"),
        ] as [(String, String?, String)]
    )
    func `OpenSSL verifies the signature, of any message`(options: String, digest: String?, hash: String) throws {
        try add(options)
        for message in [[], Array("what is signed".utf8), [UInt8](repeating: 0xA5, count: 100_000)] as [[UInt8]] {
            let signed = try sign(message, digest.map { ["--digest", $0] } ?? [])
            try #require(signed.status == 0, "\(signed.errors)")
            try daemon.directory.write(signed.output, to: "signature")
            try daemon.directory.write(message, to: "message")
            try daemon.directory.write(message + [1], to: "other")
            let verify = "openssl pkey -in key.pem -pubout -out public.pem; openssl dgst -\(hash) -verify public.pem"
            let verified = try shell("\(verify) -signature signature message")
            #expect(verified.text == "Verified OK\n", "\(verified.errors)")
            #expect(try shell("\(verify) -signature signature other").status != 0)
        }
    }

    @Test(
        arguments: [
            (
                "-algorithm RSA -pkeyopt rsa_keygen_bits:2048", "rsa",
                "openssl rsa -in key.pem -RSAPublicKey_out -outform DER -out public 2>/dev/null"
            ),
            (
                "-algorithm EC -pkeyopt ec_paramgen_curve:P-256", "ecdsa",
                "openssl pkey -in key.pem -pubout -outform DER | tail -c 65 >public"
            ),
            (
                "-algorithm EC -pkeyopt ec_paramgen_curve:P-384", "ecdsa",
                "openssl pkey -in key.pem -pubout -outform DER | tail -c 97 >public"
            ),
        ]
    )
    func `the public key is RSAPublicKey in DER, or an uncompressed point`(
        options: String,
        type: String,
        writePublic: String
    ) throws {
        try add(options, writePublic)
        let key = try daemon.connect().publicKey(of: KeychainQuery(.key, [.label: .text("k")]))
        #expect(key.keyType == type)
        #expect(key.bytes == daemon.directory.contents("public"))
        #expect(key.bytes.first == (type == "rsa" ? 0x30 : 0x04), "a SEQUENCE, or the mark of such a point")
    }

    @Test func `the hash is one that the type of the key has`() throws {
        try add("-algorithm EC -pkeyopt ec_paramgen_curve:P-256")
        let refused = try sign([1], ["--digest", "sha512"])
        #expect(refused.status == 64)
        #expect(refused.errors.contains("hint: give 'sha256', or omit 'digest'"), "\(refused.errors)")
        let made = try daemon.coffer(["keychain", "add", "--generate", "ed25519", "--label", "e"])
        try #require(made.status == 0)
        let other = try daemon.coffer(["keychain", "sign", "--label", "e", "--digest", "sha512"], input: [1])
        #expect(other.status == 64)
        #expect(other.errors.contains("hint: omit 'digest'"), "\(other.errors)")
    }

    @Test func `a private number beside the public point of another signs nothing`() throws {
        // The point is the last 65 bytes of the DER.
        let swap = """
            openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -outform DER -out other.der
            openssl pkey -in key.pem -outform DER -out key.der
            head -c -65 key.der >mixed.der; tail -c 65 other.der >>mixed.der
            cp mixed.der key.pem
            """
        try add("-algorithm EC -pkeyopt ec_paramgen_curve:P-256", swap)
        let refused = try sign(Array("message".utf8), [])
        #expect(refused.status == 65)
        #expect(refused.output.isEmpty)
        #expect(refused.errors.contains("the private key does not belong to its public key"), "\(refused.errors)")
    }

    @Test func `a public half signs nothing, and neither does a locked key`() throws {
        try add("-algorithm RSA -pkeyopt rsa_keygen_bits:2048")
        let half = try shell("openssl pkey -in key.pem -pubout -out half.pem")
        try #require(half.status == 0)
        let added = try daemon.coffer(
            ["keychain", "add", "\(daemon.directory.path)/half.pem", "--class", "key", "--label", "half"]
        )
        try #require(added.status == 0, "\(added.errors)")
        #expect(try daemon.coffer(["keychain", "sign", "--label", "half"], input: [1]).status == 64)
        try #require(try daemon.coffer(["lock", "--now"]).status == 0)
        #expect(try sign([1], []).status == 75)
    }
}
