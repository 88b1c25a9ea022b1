import CofferClient
import CofferCore
import CofferTestSupport
import Foundation
import Testing

/// `generate`, `login add` and `otp`.
@Suite struct PasswordsTests {
    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        try daemon.connect().makeVault()
    }

    private func run(_ line: String) throws -> CommandResult {
        try runCommand(
            "/usr/bin/setsid",
            ["--wait", "timeout", "60", "bash", "-c", line],
            environment: [
                "COFFER_SOCKET": daemon.socketPath,
                "PATH": "\(daemon.directory.appending("bin")):\(Project.binaries):/usr/bin:/bin",
            ],
            directory: daemon.directory.path
        )
    }

    @discardableResult
    private func expect(_ line: String, _ status: Int32 = 0, _ texts: String...) throws -> CommandResult {
        let result = try run(line)
        #expect(result.status == status, "\(line): \(result.text)\(result.errors)")
        for text in texts {
            #expect((result.text + result.errors).contains(text), "\(line): \(result.text)\(result.errors)")
        }
        return result
    }

    // MARK: generate

    @Test func `a generated password is stored, and not printed`() throws {
        let made = try expect("coffer generate site/token", 0, "stored 'site/token'\n", "142 bits of entropy")
        let secret = try run("coffer get site/token").text
        #expect(secret.wholeMatch(of: /[A-Za-z0-9]{24}/) != nil)
        #expect(!(made.text + made.errors).contains(secret))
        #expect(try run("coffer show site/token").text.contains("password"))
    }

    @Test(
        arguments: [
            ("--length 12 --symbols", #"[A-Za-z0-9!@$%^&*()_+.,?\/~-]{12}"#, 75), ("--alphabet 01", "[01]{24}", 24),
            ("--words 6", "[a-z-]{23,}", 77), ("--length 1", "[A-Za-z0-9]", 5),
        ]
    )
    func `a recipe decides what a password is made of`(options: String, form: String, bits: Int) throws {
        let made = try expect("coffer generate a --print \(options)", 0, "\(bits) bits of entropy")
        #expect(made.text.dropLast().wholeMatch(of: try Regex(form)) != nil, "\(made.text)")
        #expect(try run("coffer get a").text + "\n" == made.text)
    }

    @Test(
        arguments: [
            "--words 3 --length 9", "--alphabet aa", "--alphabet 'a b'", "--alphabet é1", "--length 0",
            "--length 1025", "--symbols --alphabet abc", "--print --json",
        ]
    )
    func `a recipe that makes no sense is 64, and stores nothing`(options: String) throws {
        try expect("coffer generate a \(options)", 64)
        try expect("coffer get a", 66)
    }

    @Test func `a password is replaced on demand only, and the former one is kept`() throws {
        try expect("printf old | coffer put a/b")
        try expect("coffer generate a/b", 73, "--replace")
        #expect(try run("coffer get a/b").text == "old")
        let made = try expect("coffer generate a/b --replace --json")
        #expect(made.text == #"{"name":"a/b","replaced":true,"entropyBits":142}"# + "\n")
        #expect(try run("coffer keychain history --service a --account b").text.split(separator: "\n").count == 1)
        try expect("coffer lock --now; coffer generate a/b --replace", 75)
    }

    @Test(arguments: [("y", 0), ("n", 73)] as [(String, Int32)])
    func `on a terminal, a question comes before a password is replaced`(answer: String, status: Int32) throws {
        try expect("printf old | coffer put a/b")
        let asked = try onTerminal(
            daemon,
            "coffer generate a/b",
            [("'a/b' exists already. Replace it? [y/N] ", .line(answer))]
        )
        #expect(asked.status == status, "\(asked.shown)")
        #expect((try run("coffer get a/b").text == "old") == (status != 0))
    }

    @Test func `a field is generated, and the others stay`() throws {
        try expect(#"printf '{"user": "me"}' | coffer put a/b"#)
        try expect("coffer generate a/b --field token --length 9", 0, "stored the field 'token' of 'a/b'")
        #expect(try run("coffer get a/b").text.wholeMatch(of: /{"user": "me", "token": "[A-Za-z0-9]{9}"}/) != nil)
        try expect("coffer generate a/b --field token", 73)
        try expect("coffer generate a/b --field token --replace", 0, "replaced the field")
    }

    // MARK: login add

    @Test func `a login has a password, a user name and an address as fields`() throws {
        try expect(
            "echo s3cret | coffer login add site/nina --username nina --url https://site/a",
            0,
            "stored 'site/nina'"
        )
        #expect(try run("coffer get site/nina").text == "s3cret\nusername: nina\nurl: https://site/a\n")
        #expect(try run("coffer get site/nina --field url").text == "https://site/a")
        try expect("echo x | coffer login add site/nina --username nina", 73)
        try expect(
            "coffer login add site/nina --username nina --generate --words 4 --replace --json",
            0,
            #""entropyBits":51"#
        )
        #expect(try run("coffer get site/nina --field password").text.contains("-"))
    }

    @Test func `a password of a login is typed twice, and not shown`() throws {
        let made = try onTerminal(
            daemon,
            "coffer login add site/nina --username nina",
            [("Password for 'site/nina': ", "s3cret"), ("Repeat password: ", "s3cret")]
        )
        #expect(made.status == 0 && !made.shown.contains("s3cret"), "\(made.shown)")
        #expect(try run("coffer get site/nina --field password").text == "s3cret")
    }

    @Test(arguments: ["user: me", "# x", "[x]", "", "two\nlines"])
    func `a password that a login can't hold is 64, and is not repeated`(password: String) throws {
        try daemon.directory.write(Array(password.utf8), to: "password")
        let refused = try expect("coffer login add a/b --username nina <password", 64)
        #expect(password.isEmpty || !refused.errors.contains("'\(password)'"))
        try expect("coffer get a/b", 66)
    }

    // MARK: otp

    private static let key = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    private static let address = "otpauth://totp/Site:nina?secret=\(key)&digits=8&issuer=Site"

    @Test(
        arguments: [
            (address, "94287082"), ("pass\notp: \(address)\n", "94287082"),
            ("pass\n\(address)\nuser: me\n", "94287082"),
            (#"{"totp": "\#(address)"}"#, "94287082"), ("OTPAUTH://TOTP/x?Secret=\(key.lowercased())%3D", "287082"),
            ("\(address)&period=60", "84755224"),
            ("otpauth://totp/x?secret=GEZD-GNBV%20GY3T QOJQGEZDGNBVGY3TQOJQ", "287082"),
            ("p\ntotp: gezd gnbv gy3t qojq gezd gnbv gy3t qojq\n", "287082"),
        ]
    )
    func `a code comes from the secret, a line of it, or a field`(secret: String, code: String) throws {
        try daemon.directory.write(Array(secret.utf8), to: "secret")
        try expect("coffer put a/b secret --store keychain")
        #expect(try run("coffer otp a/b --at 59").text == code + "\n")
        #expect(try run("coffer otp code a/b --at 59").text == code + "\n")
        // No secret is inside JSON.
        let refused = try run("coffer otp code a/b --at 59 --json")
        #expect(refused.status == 64 && !refused.errors.contains(code))
    }

    @Test(
        arguments: [
            "otpauth://hotp/x?secret=\(key)", "otpauth://totp/x", "otpauth://totp/x?secret=1", "https://x",
            "otpauth://totp/x?secret=\(key)&digits=9", "otpauth://totp/x?secret=\(key)&period=0",
            "otpauth://totp/x?secret=\(key)&algorithm=MD5", "otpauth://totp/x?secret=\(key)&secret=\(key)",
            "otpauth://totp/x?secret=\(key)&encoder=other", "otpauth://totp/x?secret=\(key)&offset=3",
            "otpauth://totp/x?secret=\(key)&digits=6&encoder=steam",
        ]
    )
    func `an address that makes no codes is 64, is not stored, and not shown`(address: String) throws {
        try daemon.directory.write(Array(address.utf8), to: "address")
        let refused = try expect("coffer otp add a/b <address", 64)
        #expect(!refused.errors.contains(Self.key))
        try expect("coffer get a/b", 66)
    }

    @Test func `a key becomes a secret or the field otp, and is replaced on demand only`() throws {
        try expect("coffer otp add a/b --uri-fd 3 3<<<'\(Self.address)'", 0, "stored 'a/b'")
        #expect(try run("coffer get a/b").text == Self.address)
        try expect(
            "printf pass | coffer put c; echo '\(Self.address)' | coffer otp add c",
            0,
            "stored the field 'otp' of 'c'"
        )
        #expect(try run("coffer get c").text == "pass\notp: \(Self.address)")
        for name in ["a/b", "c"] {
            try expect("echo '\(Self.address)&period=60' | coffer otp add \(name)", 73)
            try expect("echo '\(Self.address)&period=60' | coffer otp add \(name) --replace", 0, "replaced")
            #expect(try run("coffer otp \(name) --at 59").text == "84755224\n")
        }
        try expect("printf x | coffer put d; coffer otp d", 66, "'coffer otp add d' stores one")
    }

    @Test(arguments: [
        "otpauth://hotp/x?secret=\(key)&counter=0", "pw\notp: otpauth://hotp/x?counter=0&secret=\(key)\n",
    ])
    func `each counted code of RFC 4226 is printed once`(secret: String) throws {
        try daemon.directory.write(Array(secret.utf8), to: "secret")
        try expect("coffer put a/b secret --store keychain")
        for code in ["755224", "287082", "359152"] { #expect(try run("coffer otp a/b").text == "\(code)\n") }
        #expect(try run("coffer get a/b").text == secret.replacing("counter=0", with: "counter=3"))
        try expect("coffer otp a/b --at 59", 64)
    }

    @Test func `a counted code is printed only once its next counter is stored`() throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: directory.appending("e"), withIntermediateDirectories: true)
        let daemon = try DaemonProcess(in: directory, ["--entitlements", directory.appending("e")])
        try daemon.connect().makeVault(passcode: nil)
        for (name, secret) in [("line", "%"), ("field", #"{"otp": "%"}"#)] {
            let content = secret.replacing("%", with: "otpauth://hotp/x?secret=\(Self.key)&counter=0")
            #expect(try daemon.coffer(["put", name], input: Array(content.utf8)).status == 0)
        }
        // Who may read only can store no counter.
        let reading = "[Client]\nUID=\(geteuid())\nGroups=default\nVerbs=read\n"
        try directory.write(Array(reading.utf8), to: "e/reading.conf")
        try daemon.restart()
        for name in ["line", "field"] {
            let refused = try daemon.coffer(["otp", name])
            #expect(refused.status == 77 && refused.text == "", "\(name): \(refused.text)\(refused.errors)")
        }
        try FileManager.default.removeItem(atPath: directory.appending("e/reading.conf"))
        try daemon.restart()
        for name in ["line", "field"] { #expect(try daemon.coffer(["otp", name]).text == "755224\n") }
        // The counter outlives a kill of the daemon.
        try daemon.restart()
        for name in ["line", "field"] { #expect(try daemon.coffer(["otp", name]).text == "287082\n") }
    }

    @Test func `a counted code that could not be printed is not printed later`() throws {
        try expect("echo 'otpauth://hotp/x?secret=\(Self.key)&counter=0' | coffer otp add a/b")
        try expect("coffer otp a/b >/dev/full", 74)
        #expect(try run("coffer otp a/b").text == "287082\n")
    }

    @Test func `a terminal is told how long a code is valid`() throws {
        try expect("echo '\(Self.address)' | coffer otp add a/b")
        let shown = try onTerminal(daemon, "coffer otp a/b --at 50")
        #expect(shown.shown == "94287082\r\nvalid for 10 s\r\n")
    }

    // zbarimg and a picture would need fifteen packages: a program in its place records how it is called.
    @Test func `a QR code is read by zbarimg`() throws {
        let missing = try run("PATH=\(Project.binaries) coffer otp add a/b --qr code.png")
        #expect(missing.status == 69 && missing.errors.contains("zbar-tools"), "\(missing.errors)")
        let script = "#!/bin/sh\necho \"$@\" >>calls\necho '\(Self.address)'\n"
        try FileManager.default.createDirectory(
            atPath: daemon.directory.appending("bin"),
            withIntermediateDirectories: true
        )
        try daemon.directory.write(Array(script.utf8), to: "bin/zbarimg")
        try daemon.directory.write([], to: "-code.png")
        try expect("chmod +x bin/zbarimg; coffer otp add a/b --qr=-code.png")
        #expect(
            try run("coffer otp a/b --at 59; cat calls").text
                == "94287082\n--quiet --raw -Sdisable -Sqrcode.enable ./-code.png\n"
        )
        try expect("printf '#!/bin/sh\nexit 4\n' >bin/zbarimg; coffer otp add c --qr=-code.png", 64, "no QR code")
    }
}
