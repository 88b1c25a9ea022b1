import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Keys as `ssh-keygen` and `openssl` write them, which both programs made here, go into the keychain.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/ssh-keygen")))
struct KeyImportTests {
    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        try daemon.connect().makeVault()
    }

    /// Makes the file `key`, and adds it.
    private func add(_ commands: String, phrase: String? = nil) throws -> (info: KeychainItemInfo, secret: [UInt8]) {
        let label = UUID().uuidString
        let directory = "\(daemon.directory.path)/\(label)"
        let made = try runCommand(
            "/bin/sh",
            ["-ec", "mkdir \(label); cd \(label); umask 077; \(commands)"],
            directory: daemon.directory.path
        )
        try #require(made.status == 0, "\(made.errors)")
        var words = ["keychain", "add", "\(directory)/key", "--class", "key", "--label", label]
        if phrase != nil { words += ["--passphrase-fd", "0"] }
        let added = try daemon.coffer(words, input: Array("\(phrase ?? "")\n".utf8))
        try #require(added.status == 0, "\(commands): \(added.errors)")
        let query = KeychainQuery(.key, [.label: .text(label)])
        let found = try daemon.connect().find(query)
        return (try #require(found.page.items.first), try #require(found.secrets.first))
    }

    private func run(_ commands: String, input: [UInt8]) throws -> [UInt8] {
        let name = UUID().uuidString
        try daemon.directory.write(input, to: name)
        let result = try runCommand("/bin/sh", ["-ec", "\(commands) <\(name)"], directory: daemon.directory.path)
        try #require(result.status == 0, "\(commands): \(result.errors)")
        return result.output
    }

    @Test(
        arguments: [
            ("ssh-keygen -q -t rsa -b 2048 -N '' -C it -f key", nil, "rsa", 2048),
            ("ssh-keygen -q -t rsa -b 3072 -N secret -a 1 -C it -f key", "secret", "rsa", 3072),
            ("ssh-keygen -q -t ecdsa -b 256 -N '' -C it -f key", nil, "ecdsa", 256),
            ("ssh-keygen -q -t ecdsa -b 384 -N 'a b' -a 2 -C it -f key", "a b", "ecdsa", 384),
            ("ssh-keygen -q -t ed25519 -N secret -C it -f key", "secret", "ed25519", 256),
            ("ssh-keygen -q -t ecdsa -b 256 -N x -Z aes128-cbc -a 1 -C it -f key", "x", "ecdsa", 256),
            ("ssh-keygen -q -t ecdsa -b 256 -N x -Z 3des-cbc -a 1 -C it -f key", "x", "ecdsa", 256),
            ("ssh-keygen -q -t ed25519 -N x -Z aes128-gcm@openssh.com -a 1 -C it -f key", "x", "ed25519", 256),
            ("ssh-keygen -q -t rsa -b 2048 -N x -Z aes256-gcm@openssh.com -a 1 -C it -f key", "x", "rsa", 2048),
            (
                "ssh-keygen -q -t ecdsa -b 384 -N x -Z chacha20-poly1305@openssh.com -a 1 -C it -f key", "x", "ecdsa",
                384
            ),
        ] as [(String, String?, String, Int64)]
    )
    func `of OpenSSH are stored with type, size and comment`(
        commands: String,
        phrase: String?,
        type: String,
        bits: Int64
    ) throws {
        let key = try add(commands, phrase: phrase)
        #expect(key.info.attributes?[.keyType] == .text(type))
        #expect(key.info.attributes?[.keyClass] == .text("private"))
        #expect(key.info.attributes?[.keySizeInBits] == .integer(bits))
        guard case .text(let folder) = key.info.attributes?[.label] else { return #expect(Bool(false)) }
        let published = try run("cut -d' ' -f1,2 \(folder)/key.pub; cat >/dev/null", input: [])
        let line = String(decoding: published, as: UTF8.self).trimmingCharacters(in: .newlines)
        #expect(key.info.user == ["format": "openssh", "comment": "it", "publicKey": line])
        guard type != "ed25519" else { return }
        // OpenSSL writes the same bytes, finds nothing wrong, and ssh-keygen has the same public key.
        let checked = try run("openssl pkey -inform DER -check -noout", input: key.secret)
        #expect(String(decoding: checked, as: UTF8.self).contains("valid"))
        let again = try run("openssl pkcs8 -topk8 -nocrypt -inform DER -outform DER", input: key.secret)
        #expect(again == key.secret)
        try daemon.directory.write(
            run("openssl pkey -inform DER -pubout", input: key.secret),
            to: "\(folder)/public.pem"
        )
        #expect(try run("ssh-keygen -i -m PKCS8 -f \(folder)/public.pem; cat >/dev/null", input: []) == published)
    }

    @Test(
        arguments: [
            ("openssl genrsa -out key 2048", nil, "rsa", 2048),
            ("openssl genrsa -traditional -out key 4096", nil, "rsa", 4096),
            ("openssl genrsa -traditional -aes128 -passout pass:phrase -out key 2048", "phrase", "rsa", 2048),
            ("openssl genrsa -aes256 -passout pass:phrase -out key 2048", "phrase", "rsa", 2048),
            ("openssl ecparam -name prime256v1 -genkey -out key", nil, "ecdsa", 256),
            ("openssl ecparam -name secp384r1 -genkey -noout -out key", nil, "ecdsa", 384),
            ("openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -outform DER -out key", nil, "ecdsa", 384),
            ("openssl genpkey -algorithm ED25519 -aes256 -pass pass:phrase -out key", "phrase", "ed25519", 256),
            ("ssh-keygen -q -t rsa -b 2048 -m PEM -N phrase -f key", "phrase", "rsa", 2048),
            ("ssh-keygen -q -t ecdsa -b 256 -m PKCS8 -N phrase -f key", "phrase", "ecdsa", 256),
        ] as [(String, String?, String, Int64)]
    )
    func `in the forms of OpenSSL are stored in one form, and join their certificate`(
        commands: String,
        phrase: String?,
        type: String,
        bits: Int64
    ) throws {
        let key = try add(commands, phrase: phrase)
        #expect(key.info.attributes?[.keyType] == .text(type))
        #expect(key.info.attributes?[.keySizeInBits] == .integer(bits))
        #expect(key.info.user ?? [:] == [:])
        guard type != "ed25519" else { return }
        #expect(try run("openssl pkcs8 -topk8 -nocrypt -inform DER -outform DER", input: key.secret) == key.secret)
        let file = UUID().uuidString
        try daemon.directory.write(key.secret, to: file)
        let certificate = try run(
            "openssl req -x509 -key \(file) -keyform DER -subj /CN=\(file) -outform DER; cat >/dev/null",
            input: []
        )
        let added = try daemon.coffer(
            ["keychain", "add", "--class", "certificate", "--label", file],
            input: certificate
        )
        #expect(added.status == 0, "\(added.errors)")
        let hash = try #require(key.info.attributes?[.applicationLabel])
        let found = try daemon.connect().find(KeychainQuery(.identity, [.publicKeyHash: hash]), returns: [.attributes])
        #expect(found.page.items.count == 1)
    }

    @Test(arguments: [
        ("ssh-keygen -q -t rsa -b 1024 -N '' -f key", "", "RSA of 1024 bits"),
        ("ssh-keygen -q -t ecdsa -b 521 -N '' -f key", "", "P-256 or P-384"),
        ("ssh-keygen -q -t ecdsa -b 256 -N right -a 1 -f key", "wrong", "the passphrase is wrong"),
        ("openssl genrsa -aes256 -passout pass:right -out key 2048", "wrong", "the passphrase is wrong"),
        ("openssl ecparam -name prime256v1 -genkey | openssl ec -no_public -out key", "", "public half is missing"),
        ("openssl ecparam -name secp256k1 -genkey -noout -out key", "", "P-256 or P-384"),
    ])
    func `that are of no use are refused with the reason, and not stored`(
        commands: String,
        phrase: String,
        words: String
    ) throws {
        let folder = UUID().uuidString
        let made = try runCommand(
            "/bin/sh",
            ["-ec", "mkdir \(folder); cd \(folder); umask 077; \(commands)"],
            directory: daemon.directory.path
        )
        try #require(made.status == 0, "\(made.errors)")
        let refused = try daemon.coffer(
            [
                "keychain", "add", "\(daemon.directory.path)/\(folder)/key", "--class", "key", "--label", folder,
                "--passphrase-fd", "0",
            ],
            input: Array(phrase.utf8)
        )
        #expect(refused.status != 0)
        #expect(refused.errors.contains(words), "\(refused.errors)")
        let none = try Outcome { _ = try daemon.connect().find(KeychainQuery(.key, [.label: .text(folder)])) }
        #expect(none == .refused(.itemNotFound))
    }
}
