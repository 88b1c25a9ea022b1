import CofferTestSupport
import Foundation
import Testing

/// `export`, and the way back.
@Suite struct ExportTests {
    private let scene: ExchangeScene

    init() throws { scene = try ExchangeScene() }

    /// An export with the passcode, as `$E` in a line.
    private static let export =
        "out() { coffer export \"$@\" --passcode-fd 3 3<<<'\(DaemonProcess.passcode)'; }; E=out\n"

    @discardableResult
    private func expect(_ line: String, _ status: Int32 = 0, _ texts: String...) throws -> CommandResult {
        let result = try scene.run(Self.export + line)
        #expect(result.status == status, "\(line): \(result.text)\(result.errors)")
        for text in texts {
            #expect((result.text + result.errors).contains(text), "\(line): \(result.text)\(result.errors)")
        }
        return result
    }

    /// Everything that is stored, by name.
    private func contents() throws -> String {
        try scene.run("coffer list | while read -r name; do echo \"== $name\"; coffer get \"$name\" | base64; done")
            .text
    }

    @Test(arguments: ["bitwarden", "cxf"])
    func `what is exported and imported again is the same, byte for byte`(format: String) throws {
        try expect("coffer import bitwarden $V/bitwarden.json; coffer import csv $V/chrome.csv --into web")
        try expect(
            "coffer generate a/generated; printf 'A=1\\nB=2\\n' | coffer put settings.env; printf '{\"a\": 1}' | coffer put j"
        )
        let before = try contents()
        try expect(
            "$E --all --format \(format) --yes --output all.json",
            0,
            "exported 10 items",
            "in plaintext"
        )
        #expect(try scene.run("stat -c %a all.json").text == "600\n")
        try expect("coffer remove --yes '**'; test -z \"$(coffer list)\"")
        try expect("coffer import \(format) all.json", 0, "stored 10")
        #expect(try contents() == before)
    }

    @Test func `a tree of pass is one that pass reads, and comes back the same`() throws {
        try scene.makeGPGKey()
        try expect("coffer import bitwarden $V/bitwarden.json; printf single | coffer put s/single")
        let before = try contents()
        try expect(
            "$E --all --format pass --recipient nina@example.com --output store",
            0,
            "exported 5 items"
        )
        try expect("PASSWORD_STORE_DIR=$PWD/store pass show s/single", 0, "single\n")
        try expect("PASSWORD_STORE_DIR=$PWD/store pass show Work/Servers/GitHub", 0, "username: nina")
        try expect("$E s --format pass --recipient nina@example.com --output store", 73)
        try expect("coffer remove --yes '**'; coffer import pass store", 0, "stored 5")
        #expect(try contents() == before)
        try expect(
            "coffer export s/single --format pass --recipient nobody@example.com --output other",
            74,
            "can't encrypt 's/single': gpg says"
        )
        try expect("ls other*", 2)
    }

    private static let pass = "$E d --format pass --recipient nina@example.com --output store"

    @Test(arguments: [("store", 73), ("store.part", 74)] as [(String, Int32)])
    func `a link in the place of a tree of pass stays, and nothing is written behind it`(
        link: String,
        status: Int32
    ) throws {
        try expect("printf x | coffer put d/a; mkdir other; echo mine >other/mine; ln -s other \(link)")
        try expect(Self.pass, status, "'\(link)'")
        #expect(try scene.run("find other store* | sort; cat other/mine").text == "other\nother/mine\n\(link)\nmine\n")
    }

    // The program in the place of gpg puts a link in the tree, as another user would while it is written.
    @Test(
        arguments: [
            ("d/b", "other", "'store.part/d/b/y.gpg': too many levels of symbolic links"),
            ("d/b/y.gpg", "other/new", "'store.part/d/b/y.gpg': it exists already"),
            ("d/b/y.gpg", "other/mine", "'store.part/d/b/y.gpg': it exists already"),
        ]
    )
    func `a link in a tree of pass ends the export, and nothing is written behind it, or left`(
        place: String,
        target: String,
        words: String
    ) throws {
        try expect("for name in d/a/x d/b/y; do printf secret | coffer put $name; done")
        try expect("mkdir other; echo mine >other/mine")
        try expect(
            """
            cat >bin/gpg <<'END'
            #!/bin/sh
            mkdir -p $(dirname store.part/\(place))
            [ -L store.part/\(place) ] || ln -s $PWD/\(target) store.part/\(place)
            cat
            END
            chmod +x bin/gpg
            """
        )
        let refused = try scene.run(Self.export + Self.pass)
        #expect(refused.status != 0 && refused.errors.contains("can't write \(words)"), "\(refused.errors)")
        #expect(try scene.run("find other | sort; cat other/mine").text == "other\nother/mine\nmine\n")
        #expect(try scene.run("ls -d store*").text == "")
    }

    @Test func `age encrypts for its recipient, and no plaintext is written`() throws {
        try expect("printf 'hunter2' | coffer put web/x; age-keygen -o key 2>/dev/null")
        try expect(
            "$E web --format age --recipient $(age-keygen -y key) --output web.age",
            0,
            "exported 1 item"
        )
        let opened = try expect("age --decrypt -i key web.age")
        #expect(opened.text.contains("\"password\": \"hunter2\""))
        try expect("grep -c hunter2 web.age", 1)
        try expect("$E web --format age --recipient nonsense --output other.age", 74, "age has refused")
        try expect("test -e other.age", 1)
    }

    @Test func `dotenv and CSV are what other programs read`() throws {
        try expect("printf 'p w\"$x' | coffer put app/API-KEY; printf '=1+1' | coffer put app/formula")
        try expect("$E app --format dotenv --yes --output .env")
        #expect(try scene.run("set -a; . ./.env; printf %s \"$API_KEY\"").text == "p w\"$x")
        try expect("coffer import dotenv .env --into back", 0, "stored 2")
        #expect(try scene.run("coffer get back/API_KEY").text == "p w\"$x")
        let csv = try expect("$E app --format csv --yes --output -", 0, "looks like a formula", "'app/formula'")
        #expect(csv.text.contains("app,,login,API-KEY,,,0,,,\"p w\"\"$x\",\r\n"))
        #expect(csv.text.contains("\"=1+1\""))
        try expect(
            "printf x | coffer put other/API_KEY; $E app other --format dotenv --yes --output e",
            64,
            "API_KEY"
        )
    }

    @Test func `plaintext has to be confirmed, and what selects nothing is 66`() throws {
        try expect("printf x | coffer put a")
        try expect("coffer export a --format csv --output f </dev/null", 64, "--yes")
        try expect("test -e f", 1)
        try expect("coffer export b --format csv --yes --output f", 66)
        try expect("coffer export --format csv --yes --output f", 64, "--all")
        try expect("coffer export a --format age --yes --output f", 64, "--recipient")
        try expect("coffer export 'z*' --format csv --yes --output f", 66)
    }

    @Test func `what can't leave is named, and what is locked is 75`() throws {
        try expect(
            """
            printf a | coffer put here; printf b | coffer put device --accessible WhenUnlockedThisDeviceOnly
            head -c 5000 /dev/urandom | coffer put file; printf '\\377' | coffer put binary
            printf c | coffer put always --accessible AfterFirstUnlock
            """
        )
        try expect(
            "$E --all --format csv --yes --output f",
            0,
            "'device' is not exported: it stays on this device",
            "'file' is not exported: it is a file",
            "'binary' is not exported: it is no text",
            "exported 2 items"
        )
        try expect(
            "coffer lock --now; $E --all --format csv --yes --output h",
            75,
            "'here' is not exported: it is locked"
        )
        #expect(try scene.run("grep -c always h").text == "1\n")
    }

    @Test(arguments: ["--all", "'d/*'", "'**'", "d", "d/a e"])
    func `more items than names want the passcode, and are counted before they are written`(names: String) throws {
        try expect(
            "for name in d/a d/b e; do printf x | coffer put $name; done; head -c 5000 /dev/urandom | coffer put d/f"
        )
        let line = "coffer export \(names) --format csv --yes --output f"
        if names == "d/a e" {
            try expect(line, 0, "the secrets of 2 items will be written in plaintext to 'f'\n")
            return
        }
        try expect(line, 77, "it wants the passcode, even while the vault is unlocked", "--passcode-fd")
        try expect("test -e f", 1)
        let count = names == "--all" || names == "'**'" ? 3 : 2
        let announced = "the secrets of \(count) items will be written in plaintext to 'f', and 1 is not exported"
        try expect("$E \(names) --format csv --yes --output f", 0, announced, "exported \(count) items")
        try expect("coffer audit --json | grep 'for an export' | grep -vc refusal", 0, "1\n")
        try expect("\(line) --passcode-fd 3 3<<<wrong", 77, "wrong passcode")
    }
}
