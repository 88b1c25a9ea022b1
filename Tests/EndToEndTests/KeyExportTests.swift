import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Private keys leave the keychain in the formats of files, which `ssh-keygen` and `openssl` judge.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/ssh-keygen")))
struct KeyExportTests {
    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        try daemon.connect().makeVault()
    }

    private func shell(_ commands: String) throws -> String {
        let result = try runCommand("/bin/sh", ["-ec", "umask 077; \(commands)"], directory: daemon.directory.path)
        try #require(result.status == 0, "\(commands): \(result.errors)")
        return String(decoding: result.output, as: UTF8.self)
    }

    private func coffer(_ words: String...) throws -> [UInt8] {
        let result = try daemon.coffer(words)
        try #require(result.status == 0, "\(words): \(result.errors)")
        return result.output
    }

    /// Makes the file `key`, and adds it.
    private func add(_ commands: String) throws {
        _ = try shell(commands)
        _ = try coffer("keychain", "add", "\(daemon.directory.path)/key", "--class", "key", "--label", "it")
    }

    /// Has `ssh-keygen` read a key, and print its public half with the comment.
    private func published(_ key: [UInt8]) throws -> String {
        let name = UUID().uuidString
        try daemon.directory.write(key, to: name)
        return try shell("chmod 600 \(name); ssh-keygen -y -f \(name)")
    }

    private var stored: [UInt8] {
        get throws {
            try #require(daemon.connect().find(KeychainQuery(.key, [.label: .text("it")])).secrets.first)
        }
    }

    @Test(arguments: [
        "ssh-keygen -q -t ed25519 -N '' -C 'me at home' -f key",
        "ssh-keygen -q -t rsa -b 2048 -N '' -C me -f key",
        "ssh-keygen -q -t rsa -b 3072 -N '' -C '' -f key",
        "ssh-keygen -q -t ecdsa -b 256 -N '' -C Ärger -f key",
        "ssh-keygen -q -t ecdsa -b 384 -N '' -C me -f key",
        // The private number begins with zeros, which a number of SSH does not.
        """
        python3 -c "import sys; sys.stdout.buffer.write(bytes.fromhex('303102010104200000' + '7f' * 30 \
        + 'a00a06082a8648ce3d030107'))" | openssl pkey -inform DER -out key
        ssh-keygen -q -p -N '' -C me -f key
        """,
    ])
    func `of OpenSSH come back as OpenSSH, with their comment`(commands: String) throws {
        try add(commands)
        let expected = try shell("ssh-keygen -y -f key")
        let item = try coffer("get", "key:it")
        #expect(String(decoding: item, as: UTF8.self).hasPrefix("-----BEGIN OPENSSH PRIVATE KEY-----\n"))
        #expect(try published(item) == expected)
        #expect(try published(coffer("keychain", "find", "--class", "key", "--label", "it")) == expected)
        _ = try coffer("get", "key:it", "--output", "\(daemon.directory.path)/out")
        #expect(try shell("ssh-keygen -y -f out") == expected)
    }

    @Test(arguments: [
        "openssl genpkey -algorithm ED25519 -out key", "openssl genpkey -algorithm X25519 -out key",
        "openssl genrsa -out key 2048", "openssl ecparam -name secp384r1 -genkey -noout -out key",
    ])
    func `of other formats come back as they are stored`(commands: String) throws {
        try add(commands)
        let stored = try stored
        #expect(try coffer("get", "key:it") == stored)
        #expect(try coffer("keychain", "find", "--class", "key", "--label", "it") == stored)
        // PKCS#8 in PEM is what OpenSSL writes of the same key.
        let text = try shell("openssl pkcs8 -topk8 -nocrypt -in key")
        #expect(try coffer("get", "key:it", "--format", "pkcs8") == Array(text.utf8))
    }

    @Test func `in a format that is asked for are the same key`() throws {
        try add("ssh-keygen -q -t rsa -b 2048 -N '' -C me -f key")
        let stored = try stored
        #expect(try coffer("get", "key:it", "--format", "raw") == stored)
        #expect(try coffer("get", "key:it", "--range", "0:4") == Array(stored.prefix(4)))
        let pem = try coffer("keychain", "find", "--class", "key", "--label", "it", "--format", "pkcs8")
        try daemon.directory.write(pem, to: "pem")
        #expect(try shell("openssl pkey -in pem -check -noout").contains("valid"))

        _ = try shell("openssl genpkey -algorithm ED25519 -out other")
        _ = try coffer("keychain", "add", "\(daemon.directory.path)/other", "--class", "key", "--label", "other")
        let other = try coffer("get", "key:other", "--format", "openssh")
        #expect(try published(other).hasPrefix("ssh-ed25519 "))
    }

    @Test func `are not made of what is none, or has no such format`() throws {
        _ = try shell("openssl genpkey -algorithm X25519 -out key; echo secret >password")
        _ = try coffer("keychain", "add", "\(daemon.directory.path)/key", "--class", "key", "--label", "it")
        _ = try coffer("put", "password", "\(daemon.directory.path)/password")
        let refusals = [
            (["get", "key:it", "--format", "openssh"], "OpenSSH has no keys of x25519"),
            (["get", "password", "--format", "pkcs8"], "'password' is none"),
            (["keychain", "find", "--account", "password", "--format", "raw"], "the item that was found is none"),
            (["get", "key:it", "--format", "raw", "--range", "0:1"], "--format and --range can't be combined"),
            (["keychain", "find", "--all", "--format", "raw"], "--format is for the secret of one item"),
        ]
        for (words, reason) in refusals {
            let refused = try daemon.coffer(words)
            #expect(refused.status == 64 && refused.output.isEmpty, "\(words)")
            #expect(refused.errors.contains(reason), "\(words): \(refused.errors)")
        }
    }

    @Test func `that may not leave the vault are refused as before`() throws {
        _ = try coffer("keychain", "add", "--generate", "ed25519", "--label", "it")
        for words in [["get", "key:it"], ["keychain", "find", "--class", "key", "--label", "it"]] {
            let refused = try daemon.coffer(words)
            #expect(refused.status == 77 && refused.output.isEmpty, "\(words): \(refused.errors)")
        }
    }
}
