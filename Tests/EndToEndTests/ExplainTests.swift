import CofferTestSupport
import Foundation
import Testing

/// `coffer explain` and what `put` finds by itself, with contents that other programs have made.
@Suite struct ExplainTests {
    private func vault() throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        return daemon
    }

    private static let programs: [(what: String, script: String, store: String, rule: String, words: String)] = [
        ("key", "openssl genpkey -algorithm ed25519", "keychain", "R1", "a key in PEM"),
        ("rsa", "openssl genrsa 2048 2>/dev/null", "keychain", "R1", "a key in PEM"),
        (
            "certificate",
            "openssl req -x509 -newkey rsa:2048 -nodes -keyout /dev/null -subj /CN=a -days 1 2>/dev/null", "keychain",
            "R1", "a certificate in PEM"
        ),
        (
            "der",
            "openssl req -x509 -newkey rsa:2048 -nodes -keyout /dev/null -subj /CN=a -days 1 -outform DER 2>/dev/null",
            "keychain", "R1", "a certificate in DER"
        ),
        ("tar", "tar -c /etc/hostname 2>/dev/null", "file store", "R4", "an archive"),
        ("gzip", "head -c 3000 /dev/urandom | gzip", "file store", "R4", "an archive"),
        (
            "database",
            "python3 -c \"import sqlite3, sys; c = sqlite3.connect(':memory:'); c.execute('create table t(a)'); "
                + "sys.stdout.buffer.write(c.serialize())\"", "file store", "R4", "a SQLite database"
        ),
        (
            "token",
            "printf '%s.%s.%s' eyJhbGciOiJIUzI1NiJ9 $(head -c 1500 /dev/zero | base64 -w0 | tr -d =) c2ln", "keychain",
            "R1", "a JSON Web Token"
        ),
    ]

    @Test(arguments: programs.indices)
    func `a file that a program has made is recognised by its content`(index: Int) throws {
        let made = Self.programs[index]
        let daemon = try vault()
        let content = try runCommand("/bin/bash", ["-c", made.script])
        try #require(content.status == 0 && !content.output.isEmpty, "\(content.errors)")
        try daemon.directory.write(content.output, to: "content")
        for target in ["content", "-"] {
            let explained = try daemon.coffer(["explain", target], input: content.output)
            #expect(explained.status == 0, "\(explained.errors)")
            #expect(explained.text.contains("would go to the \(made.store)"), "\(explained.text)")
            #expect(explained.text.contains("\n\(made.rule): "))
            #expect(explained.text.contains("; by its content it is \(made.words)\n"))
        }
        let stored = try daemon.put([made.what], input: content.output)
        #expect(stored.text.contains("(\(made.rule))"), "\(stored.text)")
        #expect(try daemon.put(["file", "content"]).text.contains("(\(made.rule))"))
        #expect(try daemon.coffer(["get", made.what, "--output", "back"]).status == 0)
        #expect(daemon.directory.contents("back") == content.output)
        // What the caller says is never overruled.
        let said = try daemon.put(["said", "--kind", "cache"], input: content.output)
        #expect(said.text.contains("file store") && said.text.contains("(R4)"))
    }

    @Test func `a stored item says where it is, why, when it can be read, and what can be done now`() throws {
        let daemon = try vault()
        _ = try daemon.coffer(["put", "github.com/token", "--kind", "token"], input: Array("s3cr3t".utf8))
        let open = try daemon.coffer(["explain", "github.com/token"])
        #expect(open.status == 0)
        #expect(open.text.hasPrefix("'github.com/token' is in the keychain, readable while unlocked\n"))
        #expect(open.text.contains("\nreadable: while the vault is unlocked"))
        #expect(open.text.hasSuffix("\nnow, the vault is unlocked: get works, put works, remove works\n"))
        let asked = try daemon.coffer(["explain", "github.com/token", "--state", "locked"])
        #expect(asked.text.contains("\nwhile the vault is locked: get is locked, put is locked, remove works\n"))
        _ = try daemon.coffer(["lock", "--now"])
        let closed = try daemon.coffer(["explain", "github.com/token"])
        #expect(closed.status == 0)
        #expect(closed.text.contains("\nnow, the vault is locked: get is locked, put is locked, remove works\n"))
        #expect(closed.text.hasSuffix("what is locked works after 'coffer unlock'\n"))
        #expect(try daemon.coffer(["get", "github.com/token"]).status == 75)
    }

    @Test func `another client is asked about without its rights`() throws {
        let daemon = try vault()
        _ = try daemon.coffer(["put", "a", "--accessible", "AfterFirstUnlock"], input: [1])
        let unit = try daemon.coffer(["explain", "--state", "locked", "--as", "unit:backup.service", "a"])
        #expect(unit.status == 0, "\(unit.errors)")
        #expect(unit.text.contains("as unit backup.service, while the vault is locked: get "))
        let stranger = try daemon.coffer(["explain", "--as", "uid:4242", "a"])
        #expect(stranger.text.contains("get is not allowed, put is not allowed, remove is not allowed"))
        #expect(try daemon.coffer(["explain", "--as", "backup", "a"]).status == 64)
        #expect(try daemon.coffer(["explain", "--state", "open", "a"]).status == 64)
        let json = try daemon.coffer(["explain", "--state", "beforeFirstUnlock", "--json", "a"])
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output)) as? [String: Any])
        let access = try #require(object["access"] as? [String: Any])
        #expect(access["read"] as? String == "interactionNotAllowed")
        #expect((object["stored"] as? [String: Any])?["name"] as? String == "a")
    }

    @Test func `facts by hand are enough, and nothing at all is not`() throws {
        let daemon = try vault()
        let facts = try daemon.coffer(["explain", "--kind", "document", "--size", "1"])
        #expect(facts.text.hasPrefix("it would go to the file store, readable while unlocked\nR4: "))
        #expect(facts.text.hasSuffix("now, the vault is unlocked: put works\n"))
        #expect(try daemon.coffer(["explain"]).status == 64)
        #expect(try daemon.coffer(["explain", "neither/item/nor/file"]).status == 66)
        #expect(try daemon.coffer(["explain", "--kind", "key", "--size", "32769"]).status == 64)
        #expect(try daemon.coffer(["list"]).text.isEmpty)
    }
}
