import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import Foundation
import Testing

/// Everything that is stored is listed, and what is listed can be typed.
@Suite struct OneListTests {
    private static let listed = [
        "certificate:ca.example", "file", "key:deploy", "login:nina@github.com", "password:wifi", "site/token",
    ]

    private static func vault() throws -> DaemonProcess {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault()
        try client.put("site/token", [1])
        try client.put("file", pseudoRandomBytes(5000))
        let make = """
            printf secret | coffer keychain add --class internet-password --account nina --server github.com >/dev/null
            printf pass | coffer keychain add --label wifi --attribute ssid=HomeNet >/dev/null
            coffer keychain add --generate ed25519 --label deploy >/dev/null
            openssl req -x509 -newkey ed25519 -nodes -keyout /dev/null -subj /CN=ca.example -days 9 2>/dev/null |
                coffer keychain add --class certificate --label ca.example >/dev/null
            """
        let result = try run(daemon, make)
        #expect(result.status == 0, "\(result.errors)")
        return daemon
    }

    private static func run(_ daemon: DaemonProcess, _ script: String) throws -> CommandResult {
        try runCommand(
            "/usr/bin/setsid",
            ["--wait", "timeout", "60", "bash", "-e", "-o", "pipefail", "-c", script],
            environment: ["COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin"],
            directory: daemon.directory.path
        )
    }

    @Test func `the list has every class of the keychain, and as many items as the status counts`() throws {
        let daemon = try Self.vault()
        #expect(try daemon.coffer(["list"]).text.split(separator: "\n").map(String.init) == Self.listed)
        #expect(try daemon.coffer(["status"]).text.contains("5 items"))
        let json = try daemon.coffer(["list", "--json"]).text.split(separator: "\n")
        #expect(json.filter { $0.contains(#""class":"#) && $0.contains(#""reference":"#) }.count == 5)
        #expect(try daemon.coffer(["list", "--class", "key"]).text == "key:deploy\n")
        #expect(try daemon.coffer(["list", "--class", "identity"]).status == 64)
        #expect(try daemon.coffer(["list", "login:"]).text == "login:nina@github.com\n")
    }

    @Test(arguments: listed)
    func `what is listed is shown, explained and removed under its name`(name: String) throws {
        let daemon = try Self.vault()
        let shown = try daemon.coffer(["show", name])
        #expect(shown.status == 0, "\(shown.errors)")
        #expect(shown.text.hasPrefix("name:           \(name)\n"))
        #expect(shown.text.contains("who reads it:   you\n"))
        #expect(try daemon.coffer(["explain", name]).status == 0)
        #expect(try daemon.coffer(["protect", name, "AfterFirstUnlock"]).status == 0)
        #expect(try daemon.coffer(["remove", name]).status == 0)
        #expect(try daemon.coffer(["show", name]).status == 66)
        let left = Self.listed.filter { $0 != name }
        #expect(try daemon.coffer(["list"]).text.split(separator: "\n").map(String.init) == left)
    }

    @Test(arguments: [("login:nina@github.com", "secret"), ("password:wifi", "pass")])
    func `a password without a path is read and replaced under its name`(name: String, secret: String) throws {
        let daemon = try Self.vault()
        #expect(try daemon.coffer(["get", name]).text == secret)
        #expect(try daemon.coffer(["get", name, "--range", "1:2"]).text == secret.dropFirst().prefix(2))
        #expect(try daemon.coffer(["put", name], input: Array("changed".utf8)).status == 0)
        #expect(try daemon.coffer(["get", name]).text == "changed")
        let history = try daemon.coffer(["history", name, "--json"]).text
        #expect(history.contains(#""bytes":\#(secret.utf8.count)"#))
        #expect(try daemon.coffer(["list"]).text.split(separator: "\n").count == Self.listed.count)
    }

    @Test func `a field of a login is set, and a secret is generated for it`() throws {
        let daemon = try Self.vault()
        #expect(
            try daemon.coffer(["put", "login:nina@github.com", "--field", "pin"], input: Array("17".utf8)).status == 0
        )
        #expect(try daemon.coffer(["get", "login:nina@github.com"]).text == "secret\npin: 17")
        #expect(try daemon.coffer(["generate", "login:nina@github.com", "--replace"]).status == 0)
        #expect(try daemon.coffer(["get", "login:nina@github.com"]).text.utf8.count == 24)
        #expect(try daemon.coffer(["history", "login:nina@github.com"]).text.split(separator: "\n").count == 2)
        #expect(try daemon.coffer(["generate", "login:nobody@nowhere"]).status == 64)
    }

    @Test func `the history of an item of another group is listed and restored`() throws {
        let daemon = try Self.vault()
        for value in ["one", "two"] {
            let put = ["put", "token", "--group", "backup.service"]
            #expect(try daemon.coffer(put, input: Array(value.utf8)).status == 0)
        }
        let history = try daemon.coffer(["history", "token", "--group", "backup.service"])
        #expect(history.status == 0, "\(history.errors)")
        let restore = ["restore", "token", "--group", "backup.service"]
        #expect(try daemon.coffer(restore).status == 0)
        #expect(try daemon.coffer(["get", "token", "--group", "backup.service"]).text == "one")
    }

    @Test func `many items of a label do not hide the one that it names`() throws {
        let daemon = try Self.vault()
        let client = try daemon.connect()
        let label: [KeychainAttribute: AttributeValue] = [.label: .text("wifi")]
        for number in 0..<200 {
            let name: [KeychainAttribute: AttributeValue] = [.service: .text("s"), .account: .text("\(number)")]
            let params = KeychainAddParameters(.genericPassword, label.merging(name) { own, _ in own })
            _ = try client.addKeychainItem(params, secret: try SecretBytes([1]))
        }
        #expect(try daemon.coffer(["get", "password:wifi"]).text == "pass")
    }

    @Test func `a key that stays inside is not given, and a certificate is not replaced`() throws {
        let daemon = try Self.vault()
        #expect(try daemon.coffer(["put", "certificate:ca.example"], input: [1]).status == 64)
        let content = try daemon.coffer(["get", "certificate:ca.example"])
        #expect(content.output.first == 0x30, "a certificate is DER")
        try expectStaysInside(daemon)
    }

    private func expectStaysInside(_ daemon: DaemonProcess) throws {
        _ = try Self.run(daemon, "coffer keychain add --generate x25519 --label box --other isExtractable=false")
        let refused = try daemon.coffer(["get", "key:box"])
        #expect(refused.status == 77, "\(refused.errors)")
        #expect(refused.output.isEmpty)
    }

    @Test func `a put under the name of another kind makes nothing, and says so`() throws {
        let daemon = try Self.vault()
        for name in ["login:nobody@nowhere", "key:none", "reference:\(ItemID().hexadecimal)"] {
            let refused = try daemon.coffer(["put", name], input: [1])
            #expect(refused.status == 64)
            #expect(refused.errors.contains("no item gets the path '\(name)'"))
        }
        #expect(try daemon.coffer(["put", "login:nina@github.com", "--store", "file"], input: [1]).status != 0)
    }

    @Test func `two items of one name are told apart by their references`() throws {
        let daemon = try Self.vault()
        _ = try Self.run(daemon, "coffer keychain add --generate ed25519 --label deploy")
        let names = try daemon.coffer(["list", "--class", "key"]).text.split(separator: "\n").map(String.init)
        #expect(names.count == 2 && names.allSatisfy { $0.hasPrefix("reference:") })
        let refused = try daemon.coffer(["show", "key:deploy"])
        #expect(refused.status == 64)
        for name in names {
            #expect(refused.errors.contains(name))
            #expect(try daemon.coffer(["show", name]).text.contains("label:          deploy\n"))
        }
        #expect(try daemon.coffer(["remove", names[0]]).status == 0)
        #expect(try daemon.coffer(["list", "--class", "key"]).text == "key:deploy\n")
    }

    @Test func `a move renames a label or gives a password a path, and refuses another kind`() throws {
        let daemon = try Self.vault()
        #expect(try daemon.coffer(["move", "key:deploy", "key:release"]).status == 0)
        #expect(try daemon.coffer(["show", "key:release"]).status == 0)
        #expect(try daemon.coffer(["move", "password:wifi", "home/wifi"]).status == 0)
        #expect(try daemon.coffer(["get", "home/wifi"]).text == "pass")
        for (old, new) in [
            ("key:release", "a/path"), ("site/token", "key:x"), ("key:release", "certificate:ca.example"),
        ] {
            #expect(try daemon.coffer(["move", old, new]).status == 64)
        }
    }

    @Test func `search looks into names, labels, accounts, servers and own attributes, and ignores case`() throws {
        let daemon = try Self.vault()
        for (text, found) in [
            ("HOMENET", "password:wifi"), ("Nina", "login:nina@github.com"), ("TOKEN", "site/token"),
            ("dep", "key:deploy"),
        ] { #expect(try daemon.coffer(["search", text]).text == "\(found)\n") }
        #expect(try daemon.coffer(["find", "e"]).text.split(separator: "\n").count > 2)
        let none = try daemon.coffer(["search", "secret"])
        #expect(none.status == 66, "secrets are not searched")
        #expect(none.text.isEmpty)
    }

    @Test func `a login is found by its user name and by each of its addresses, as long as it has them`() throws {
        let daemon = try Self.vault()
        let found = try Self.run(
            daemon,
            """
            find() { { coffer find "$1" 2>/dev/null || true; } | tr '\\n' ' '; echo; }
            printf pw | coffer login add shop --username otto --url https://eve:needle@Shop.example/needle >/dev/null
            printf 'name,url,username,password\\nMail,"https://m.test,https://b.test:8443/x",anna,x\\n' >m.csv
            coffer import csv m.csv >/dev/null 2>&1
            printf 'pw\\nusername: uwe\\n' | coffer put piped >/dev/null
            printf 'protocol=https\\nhost=code.example\\npath=r.git\\nusername=gita\\npassword=x\\n' >ask
            ln -s "$(command -v coffer)" git-credential-coffer; ./git-credential-coffer store <ask
            for text in OTTO shop.example HTTPS://shop.example:443/login anna https://b.test:8443/y m.test uwe \\
                https://code.example:443 code.example/r.git needle; do find $text; done
            printf olga | coffer put shop --field username >/dev/null; find otto; find olga; find shop.example
            coffer restore shop; find otto; find olga
            coffer lock --now >/dev/null; find otto
            """
        )
        let names = [
            "shop", "shop", "shop", "Mail", "Mail", "Mail", "piped", "login:gita@code.example",
            "login:gita@code.example", "", "", "shop", "shop", "shop", "", "shop",
        ]
        #expect(found.text == names.map { ($0.isEmpty ? "" : "\($0) ") + "\n" }.joined(), "\(found)")
    }

    @Test func `show tells label, own attributes, expiry, comment, history, group and readers`() throws {
        let daemon = try Self.vault()
        let add = """
            printf one | coffer keychain add --service s --account a --label 'My label' --other comment='a note' \
                --attribute owner=anna --expires 2999-12-31 >/dev/null
            printf two | coffer put s/a >/dev/null
            coffer show s/a
            """
        let shown = try Self.run(daemon, add).text
        for line in [
            "label:          My label", "comment:        a note", "owner:          anna", "former values:  1",
            "group:          default", "expires:        2999-12-31", "readable:       while unlocked",
        ] { #expect(shown.contains("\(line)"), "\(shown)") }
        #expect(try daemon.coffer(["history", "s/a"]).text.hasPrefix("1  "))
        #expect(try daemon.coffer(["history", "s/a", "--json"]).text.contains(#""ago":1"#))
        #expect(try daemon.coffer(["history", "s/a", "--ago", "1"]).text == "one")
        #expect(try daemon.coffer(["restore", "s/a"]).status == 0)
        #expect(try daemon.coffer(["get", "s/a"]).text == "one")
        #expect(try daemon.coffer(["history", "s/a", "--ago", "1"]).text == "two")
        #expect(try daemon.coffer(["history", "s/a", "--ago", "2"]).text == "one")
        #expect(try daemon.coffer(["restore", "s/a", "--ago", "2"]).status == 0)
        for ago in ["0", "4"] { #expect(try daemon.coffer(["restore", "s/a", "--ago", ago]).status == 66) }
        #expect(try daemon.coffer(["history", "file"]).status == 64)
    }

    @Test func `keychain find without a query lists, and infers the class`() throws {
        let daemon = try Self.vault()
        let all = try daemon.coffer(["keychain", "find"])
        #expect(all.text.split(separator: "\n").count == 5)
        #expect(!all.text.contains("secret"))
        #expect(try daemon.coffer(["keychain", "find", "--server", "github.com"]).text == "secret")
        #expect(try daemon.coffer(["keychain", "find", "--all", "--label", "deploy"]).text.contains("key  deploy"))
        #expect(try daemon.coffer(["keychain", "find", "--all", "--label", "none"]).status == 66)
    }

    @Test func `before the first unlock a name of another kind is locked, and not missing`() throws {
        let daemon = try DaemonProcess()
        try daemon.directory.write(Array("pass code".utf8), to: "pass")
        let made = """
            coffer init --kdf interactive --no-recovery-key --passcode-fd 3 3<pass >/dev/null
            printf x | coffer keychain add --class internet-password --account a --server b >/dev/null
            """
        #expect(try Self.run(daemon, made).status == 0)
        try daemon.restart()
        #expect(try daemon.coffer(["show", "login:a@b"]).status == 75)
        #expect(try daemon.coffer(["get", "login:a@b"]).status == 75)
        #expect(try daemon.coffer(["get", "login:a@c"]).status == 66)
    }
}
