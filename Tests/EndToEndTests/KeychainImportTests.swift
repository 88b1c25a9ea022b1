import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// What other programs have written goes in, and what they read comes out: by the command line.
@Suite struct KeychainImportTests {
    private static let vectors = "\(Project.root)/Tests/Vectors/keys"

    private func vault() throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        return daemon
    }

    private func vector(_ name: String) throws -> [UInt8] {
        try #require(FileManager.default.contents(atPath: "\(Self.vectors)/\(name)").map { Array($0) })
    }

    /// Runs `coffer keychain` and expects it to end well.
    @discardableResult private func keychain(
        _ daemon: DaemonProcess,
        _ arguments: [String],
        input: [UInt8] = []
    ) throws -> CommandResult {
        let result = try daemon.coffer(["keychain"] + arguments, input: input)
        #expect(result.status == 0, "\(arguments): \(result.errors)")
        return result
    }

    @Test(
        arguments: [
            ("ed25519.pem", "ed25519", "private", "ed25519.raw"), ("x25519.pem", "x25519", "private", "x25519.raw"),
            ("ed25519-public.pem", "ed25519", "public", "ed25519-public.raw"),
        ]
    )
    func `a key as openssl genpkey writes it is added as it is`(
        name: String,
        type: String,
        keyClass: String,
        raw: String
    ) throws {
        let daemon = try vault()
        try keychain(daemon, ["add", "\(Self.vectors)/\(name)", "--class", "key", "--label", "k"])
        let query = KeychainQuery(.key, [.keyType: .text(type), .keyClass: .text(keyClass)])
        let found = try daemon.connect().find(query)
        #expect(found.secrets == [try vector(raw)])
        let again = try daemon.coffer(["keychain", "add", "--class", "key"], input: try vector(name))
        #expect(again.status == 73, "from standard input it is the same key")
    }

    @Test func `a key of OpenSSH signs`() throws {
        let daemon = try vault()
        try keychain(daemon, ["add", "\(Self.vectors)/openssh.pem", "--class", "key", "--label", "k"])
        let signature = try keychain(daemon, ["sign", "--label", "k"], input: Array("m".utf8)).output
        #expect(signature.count == 64)
    }

    @Test(arguments: ["ed25519-encrypted.pem", "openssh-encrypted.pem", "ed25519-certificate.pem"])
    func `a key that is of no use is refused, and nothing of it is said or stored`(name: String) throws {
        let daemon = try vault()
        let refused = try daemon.coffer(["keychain", "add", "\(Self.vectors)/\(name)", "--class", "key"])
        #expect(refused.status == 64)
        #expect(refused.errors.contains("error: ") && refused.errors.contains("hint: "))
        let none = try Outcome { _ = try daemon.connect().find(KeychainQuery(.key)) }
        #expect(none == .refused(.itemNotFound))
    }

    @Test func `options that contradict the key are refused, and bytes of any form are a symmetric key`() throws {
        let daemon = try vault()
        let key = "\(Self.vectors)/ed25519.pem"
        for options in [["--key-type", "x25519"], ["--key-class", "public"]] {
            let refused = try daemon.coffer(["keychain", "add", key, "--class", "key"] + options)
            #expect(refused.status == 64)
        }
        try keychain(daemon, ["add", key, "--class", "key", "--key-class", "symmetric"])
        let found = try daemon.connect().find(KeychainQuery(.key))
        #expect(found.secrets == [try vector("ed25519.pem")])
    }

    @Test func `a certificate and its key are an identity, from their files on`() throws {
        let daemon = try vault()
        let missing = try daemon.coffer(["keychain", "find", "--class", "identity", "--all"])
        #expect(missing.status == 66)
        try keychain(
            daemon,
            ["add", "\(Self.vectors)/ed25519-certificate.pem", "--class", "certificate", "--label", "c"]
        )
        try keychain(daemon, ["add", "\(Self.vectors)/ed25519.pem", "--class", "key", "--label", "k"])
        let list = try keychain(daemon, ["find", "--class", "identity", "--all", "--attributes"])
        #expect(list.text.contains("  identity  c\n"))
        #expect(list.text.contains("  key type: ed25519\n"))
        let ofCertificate = try keychain(daemon, ["public-key", "--class", "certificate", "--label", "c"]).text
        let ofKey = try keychain(daemon, ["public-key", "--label", "k"]).text
        #expect(ofCertificate == ofKey)
        #expect(ofKey == Base64.encode(try vector("ed25519-public.raw")) + "\n")
        let signature = try keychain(daemon, ["sign", "--label", "k"], input: Array("message".utf8)).output
        try daemon.directory.write(Array("message".utf8), to: "message")
        try daemon.directory.write(signature, to: "signature")
        if FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl") {
            let verified = try runCommand(
                "/bin/sh",
                [
                    "-c",
                    """
                    openssl x509 -in \(Self.vectors)/ed25519-certificate.pem -noout -pubkey >public.pem &&
                    openssl pkeyutl -verify -pubin -inkey public.pem -rawin -in message -sigfile signature
                    """,
                ],
                directory: daemon.directory.path
            )
            #expect(verified.status == 0, "\(verified.errors)")
        }
        try keychain(daemon, ["delete", "--class", "key", "--label", "k"])
        let gone = try daemon.coffer(["keychain", "find", "--class", "identity", "--all"])
        #expect(gone.status == 66)
    }

    // MARK: Expiry

    @Test func `the one namespace lists what expires, and marks what has expired`() throws {
        let daemon = try vault()
        let dates = [("soon", "10d"), ("late", "2999-12-31"), ("past", "2001-01-01")]
        for (name, date) in dates {
            try keychain(daemon, ["add", "--service", "s", "--account", name, "--expires", date], input: [1])
        }
        try daemon.connect().put("s/never", [1])
        try daemon.connect().put("s/file", pseudoRandomBytes(5000)) { $0.kind = .database }
        let names = try daemon.coffer(["list", "--expiring", "30d"])
        #expect(names.text == "s/past\ns/soon\n", "\(names.errors)")
        let before = try daemon.coffer(["list", "--expiring", "2002-01-01", "s/p"])
        #expect(before.text == "s/past\n")
        let long = try daemon.coffer(["list", "--long"]).text.split(separator: "\n")
        #expect(long.filter { $0.hasSuffix("  expired") }.count == 1)
        #expect(long.contains { $0.hasSuffix("s/past  expired") })
        let json = try daemon.coffer(["list", "--json", "--expiring", "30d"]).text.split(separator: "\n")
        #expect(json.filter { $0.contains(#""isExpired":true"#) }.count == 1)
        #expect(json.allSatisfy { $0.contains(#""expiryDate":"#) })
        let none = try daemon.coffer(["list", "--expiring", "2000-01-01"])
        #expect(none.status == 0)
        #expect(none.text == "")
        let wrong = try daemon.coffer(["list", "--expiring", "soon"])
        #expect(wrong.status == 64)
        let shown = try onTerminal(daemon, "coffer list s/p")
        #expect(shown.shown == "s/past  expired\r\n")
        // It is reported, locked or not.
        _ = try daemon.connect().lock(graceSeconds: 0)
        #expect(try daemon.coffer(["list", "--expiring", "30d"]).text == "s/past\ns/soon\n")
    }

    // MARK: Warnings

    @Test(arguments: Accessibility.allCases)
    func `a deprecated accessibility is warned of, by both verbs and in JSON, and no other one is`(
        accessibility: Accessibility
    ) throws {
        let daemon = try vault()
        let isDeprecated = accessibility == .always || accessibility == .alwaysThisDeviceOnly
        func check(_ arguments: [String], input: [UInt8] = [1]) throws {
            let result = try keychain(daemon, arguments, input: input)
            #expect(result.errors.contains("warning: this protection is deprecated") == isDeprecated)
            if arguments.contains("--json") { #expect(result.text.contains(#""warnings":[]"#) == !isDeprecated) }
        }
        try check(["add", "--account", "a", "--accessible", accessibility.rawValue])
        try check(["add", "--account", "b", "--accessible", accessibility.rawValue, "--json"])
        try check(["update", "--account", "a", "--accessible", accessibility.rawValue])
        try check(["update", "--account", "b", "--accessible", accessibility.rawValue, "--json"])
        let silent = try keychain(daemon, ["update", "--account", "a", "--set", "label=l"])
        #expect(silent.errors == "", "it is what it was")
    }
}
