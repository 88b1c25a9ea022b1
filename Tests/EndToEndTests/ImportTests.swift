import CofferTestSupport
import Foundation
import Testing

/// `import`, with the files in Tests/Vectors/import and a real daemon.
@Suite struct ImportTests {
    private let scene: ExchangeScene

    init() throws { scene = try ExchangeScene() }

    @discardableResult
    private func expect(_ line: String, _ status: Int32 = 0, _ texts: String...) throws -> CommandResult {
        let result = try scene.run(line)
        #expect(result.status == status, "\(line): \(result.text)\(result.errors)")
        for text in texts {
            #expect((result.text + result.errors).contains(text), "\(line): \(result.text)\(result.errors)")
        }
        return result
    }

    // MARK: What comes of it

    @Test func `a login is found by get, field, otp, show and list at once`() throws {
        try expect(
            "coffer import bitwarden $V/bitwarden.json",
            0,
            "stored 4, replaced 0, skipped 0, left out 1 of 5 items",
            "what was left out is in it alone"
        )
        try expect("coffer get Work/Servers/GitHub --field username", 0, "nina")
        try expect("coffer get Work/Servers/GitHub --field password", 0, "correct \"horse\"")
        try expect("coffer get Work/Servers/GitHub --field 'Security question pet'", 0, "Rex")
        let code = try expect("coffer otp Work/Servers/GitHub --at 0")
        #expect(code.text == "282760\n")
        try expect("coffer show Work/Servers/GitHub", 0, "favorite", "2023-01-02T03:04:05.000Z")
        #expect(try scene.run("coffer list").text == "Mail\nVisa\nWi-Fi - guest\nWork/Servers/GitHub\n")
        #expect(try scene.run("coffer get 'Wi-Fi - guest'").text == "the code is 1234\nask Otto: he knows\n")
    }

    @Test(arguments: ["INT", "TERM", "HUP"])
    func `an import that a signal ends has stored nothing`(signal: String) throws {
        let ended = try scene.run(
            """
            (echo name,username,password; seq --format 'many-%g,u,p' 10000) >many.csv
            # The threads of tests block signals, and so would all that they start.
            env --default-signal coffer import csv many.csv & import=$!
            until coffer list | grep --quiet '^many-'; do sleep 0.01; done
            kill -\(signal) $import
            wait $import
            """
        )
        #expect(ended.status > 128, "\(ended.text)\(ended.errors)")
        #expect(try scene.run("coffer list --limit 1").text == "")
        try expect("rm many.csv")
    }

    @Test func `what lines can't hold becomes JSON, and no field is another one's`() throws {
        try expect("coffer import bitwarden $V/bitwarden.json")
        try expect("coffer get Mail --field username", 0, "nina@example.com")
        #expect(try scene.run("coffer get Mail --field notes").text == "a: b\nusername: not this one")
    }

    @Test func `git and docker get what was imported for them`() throws {
        try expect("coffer import git-credentials $V/git-credentials --into ignored", 0, "stored 2")
        let git = try expect("printf 'protocol=https\\nhost=github.com\\n\\n' | git-credential-coffer get")
        #expect(git.text.contains("username=nina\npassword=pw:git\n"))
        try expect("coffer import docker $V/docker-config.json", 0, "stored 2")
        let docker = try expect("printf registry.example.com:5000 | docker-credential-coffer get")
        #expect(docker.text.contains("\"Username\":\"otto\",\"Secret\":\"pw-registry\""))
        try expect("coffer import git-credentials $V/git-credentials", 0, "skipped 2 of 2")
        try expect("coffer import csv $V/firefox.csv", 0, "shred -u")
        try expect("coffer get github.com/nina --field password", 0, "pw-firefox")
    }

    @Test func `attached files come below the name, also large ones`() throws {
        try expect("coffer import keepass-xml $V/keepass.xml", 0, "stored 3")
        #expect(try scene.run("coffer get 'Mail & News/hello.txt'").text == "hello attachment\n")
        try expect("coffer get 'Mail & News' --field PIN", 0, "4711")
        let large = "head -c 300000 /dev/zero | base64 --wrap=0 | head -c 300000"
        try expect(
            "{ printf 'name,password,note\\nbig,,'; \(large); echo; } >large.csv; coffer import csv large.csv",
            0,
            "stored 1"
        )
        #expect(try scene.run("coffer get big | wc -c").text == "300000\n")
        try expect("coffer import csv large.csv", 0, "skipped 1 of 1")
    }

    @Test func `a file that is encrypted under a password is opened with it alone`() throws {
        let file = "$V/bitwarden-encrypted.json"
        try expect("coffer import bitwarden \(file) --file-password-fd 3 3<<<'correct horse'", 0, "stored 1")
        try expect("coffer get Work/Servers/GitHub --field username", 0, "nina")
        try expect(
            "coffer import bitwarden \(file) --file-password-fd 3 3<<<wrong",
            77,
            "the password of the file is wrong"
        )
        try expect("coffer import bitwarden \(file) </dev/null", 64, "--file-password-fd")
        try expect(
            "sed 's/\"kdfType\": 0/\"kdfType\": 1/' \(file) >a.json; coffer import bitwarden a.json --file-password-fd 3 3<<<x",
            64,
            "PBKDF2"
        )
    }

    // MARK: pass and archives

    @Test func `a tree of pass comes with its content, and the files of others are counted`() throws {
        try scene.makeGPGKey()
        try expect(
            """
            export PASSWORD_STORE_DIR=$PWD/store; pass init nina@example.com >/dev/null
            printf 'pw-pass\\nusername: nina\\nurl: https://x.example\\notpauth://totp/x?secret=JBSWY3DPEHPK3PXP\\n' | pass insert -m web/x >/dev/null
            printf 'single\\n' | pass insert -m single >/dev/null; echo note >store/readme
            coffer import pass --dry-run; coffer import pass
            """,
            0,
            "stored 2",
            "it is not of gpg"
        )
        try expect("coffer get web/x --field username", 0, "nina")
        try expect("coffer otp web/x --at 0", 0, "282760")
        #expect(try scene.run("coffer get single").text == "single")
        try expect("coffer import pass store", 0, "skipped 2, left out 1 of 3")
    }

    @Test func `an archive of 1Password is unpacked into memory, and one that leads out of it is refused`() throws {
        try expect(
            """
            mkdir -p files; cp $V/1pux.json export.data; printf hello >files/doc1__hello.txt; echo {} >export.attributes
            bsdtar -cf a.1pux --format zip export.attributes export.data files; coffer import 1pux a.1pux
            """,
            0,
            "stored 2"
        )
        try expect("coffer get GitHub --field PIN", 0, "4711")
        #expect(try scene.run("coffer get GitHub/hello.txt").text == "hello")
        try expect(
            """
            bsdtar -cf b.1pux --format zip -s '|files/|../../|' export.data files/doc1__hello.txt
            coffer import 1pux b.1pux
            """,
            64,
            "which is outside of it"
        )
        try expect("coffer import 1pux $V/bitwarden.json", 64, "it looks like the format bitwarden")
    }

    @Test func `an archive of 1Password that unpacks to more than an import takes is refused`() throws {
        let bound = 64 << 20
        try expect(
            """
            truncate --size \(2 * bound) export.data; bsdtar -cf bomb.1pux --format zip export.data
            test $(stat -c %s bomb.1pux) -lt 1000000 && coffer import 1pux bomb.1pux
            """,
            64,
            "'export.data' has more than \(bound) bytes once it is unpacked; nothing was stored"
        )
        // An attached file that is one costs itself alone.
        try expect(
            """
            cp $V/1pux.json export.data; mkdir files; truncate --size \(2 * bound) files/doc1__hello.txt
            bsdtar -cf attached.1pux --format zip export.data files; coffer import 1pux attached.1pux
            """,
            0,
            "the attached file 'hello.txt' is left out: ",
            "'files/doc1__hello.txt' has more than \(bound) bytes once it is unpacked",
            "stored 1, replaced 0, skipped 0, left out 1 of 2 items"
        )
        #expect(try scene.run("coffer list").text == "GitHub\n")
    }

    @Test func `a compressed file of KeePass is stored whole, and one that can't be inflated is named`() throws {
        func left(_ name: String, _ reason: String) -> String {
            "'\(name)': the attached file 'file' is left out: \(reason)"
        }
        // The last four bytes say how long it is: that of 'liar' is 2, and 'plain' and 'cut' have a large one.
        try expect(
            #"""
            binary() { printf '<Binary ID="%s" Compressed="True">%s</Binary>\n' $1 "$(base64 --wrap=0)"; }
            entry() {
                printf '<Entry><String><Key>Title</Key><Value>%s</Value></String>' $1
                printf '<String><Key>Password</Key><Value>pw</Value></String>'
                printf '<Binary><Key>file</Key><Value Ref="%s"/></Binary></Entry>\n' $1
            }
            seq 100000 >whole; head -c 70000000 /dev/zero | gzip >zeros
            {
                echo '<KeePassFile><Meta><Binaries>'
                gzip -c whole | binary whole; binary bomb <zeros
                { head -c -4 zeros; printf '\2\0\0\0'; } | binary liar
                printf 'this is no gzip\0\0\20\0' | binary plain
                { gzip -c whole | head -c 1000; printf '\0\0\0\1'; } | binary cut
                echo '</Binaries></Meta><Root><Group>'
                for name in bomb liar plain cut whole; do entry $name; done
                echo '</Group></Root></KeePassFile>'
            } >compressed.xml
            coffer import keepass-xml compressed.xml
            """#,
            0,
            "stored 6, replaced 0, skipped 0, left out 4 of 10 items",
            left("bomb", "the attached file has more than 67108864 bytes"),
            left("liar", "the attached file has more than 2 bytes once it is unpacked"),
            left("plain", "it is not what gzip makes"),
            left("cut", "can't inflate the attached file: gzip says: ")
        )
        try expect("coffer get whole/file | cmp - whole")
        #expect(try scene.run("coffer list").text == "bomb\ncut\nliar\nplain\nwhole\nwhole/file\n")
    }

    // MARK: All or nothing

    @Test func `a dry run stores nothing, and shows no secret`() throws {
        let shown = try expect(
            "coffer import bitwarden $V/bitwarden.json --dry-run",
            0,
            "Work/Servers/GitHub",
            "this was a dry run"
        )
        for secret in ["horse", "pw-mail", "4111", "Rex", "JBSW"] {
            #expect(!(shown.text + shown.errors).contains(secret))
        }
        #expect(try scene.run("coffer list").text == "")
    }

    @Test func `a database of KeePass opens with its passphrase and its key file, and not with others`() throws {
        let made = try scene.run(
            """
            printf 'pp\\npp\\n' | keepassxc-cli db-create -q -p v.kdbx
            printf 'pp\\npw-kdbx\\n' | keepassxc-cli add -q -u nina -p v.kdbx one
            printf content >file; printf 'pp\\n' | keepassxc-cli attachment-import -q v.kdbx one file.txt file
            printf 'pp\\npp\\n' | keepassxc-cli db-create -q -p -k key.keyx k.kdbx
            printf 'pp\\npw-key\\n' | keepassxc-cli add -q -u nina -p -k key.keyx k.kdbx one
            """
        )
        #expect(made.status == 0, "\(made.errors)")
        func line(_ file: String, _ passphrase: String, _ more: String = "") -> String {
            "coffer import keepass \(file) --into \(file) \(more) --file-password-fd 3 3<<<\(passphrase)"
        }
        try expect(line("v.kdbx", "wrong"), 77, "the passphrase does not open")
        try expect(line("k.kdbx", "pp"), 77, "name it by --key-file")
        #expect(try scene.run("coffer list").text == "")
        try expect(line("v.kdbx", "pp"), 0, "stored 2")
        #expect(try scene.run("coffer get v.kdbx/one --field password").text == "pw-kdbx")
        #expect(try scene.run("coffer get v.kdbx/one/file.txt").text == "content")
        try expect(line("k.kdbx", "wrong", "--key-file key.keyx"), 77, "the passphrase and the key file do not open")
        try expect(line("k.kdbx", "pp", "--key-file key.keyx"), 0, "stored 1")
        #expect(try scene.run("coffer get k.kdbx/one --field password").text == "pw-key")
    }

    @Test func `nothing comes twice, and another content is replaced or skipped on demand only`() throws {
        try expect("coffer import bitwarden $V/bitwarden.json")
        try expect(
            "coffer import bitwarden $V/bitwarden.json",
            0,
            "stored 0, replaced 0, skipped 4, left out 1 of 5 items"
        )
        try expect("printf mine | coffer put Mail; coffer remove Visa")
        try expect(
            "coffer import bitwarden $V/bitwarden.json",
            73,
            "1 item exists with another content: 'Mail'",
            "--replace"
        )
        try expect("coffer get Visa", 66)
        try expect("coffer import bitwarden $V/bitwarden.json --skip", 0, "stored 1, replaced 0, skipped 3")
        #expect(try scene.run("coffer get Mail").text == "mine")
        try expect(
            "coffer import bitwarden $V/bitwarden.json --replace --json",
            0,
            #"{"stored":0,"replaced":1,"skipped":3,"leftOut":1}"#
        )
        #expect(try scene.run("coffer history Mail --ago 1").text == "mine")
        try expect("coffer import bitwarden $V/bitwarden.json --into old", 0, "stored 4")
    }

    @Test func `if one item can't be stored, those before it are taken back`() throws {
        // A directory has files only, so that the second login can't become a secret in it.
        try expect("coffer file mkdir z; printf 'former' | coffer put a")
        try expect(
            """
            printf 'name,password,grouping\\na,new,\\nb,x,\\nc,y,z\\nd,v,\\n' >a.csv
            coffer import csv a.csv --replace
            """,
            64,
            "can't store 'z/c' of line 4",
            "nothing was stored"
        )
        #expect(try scene.run("coffer get a").text == "former")
        try expect("coffer get b", 66)
        try expect("coffer get d", 66)
    }

    @Test func `a locked vault takes nothing, and says so`() throws {
        try expect(
            "coffer lock --now; coffer import bitwarden $V/bitwarden.json",
            75,
            "nothing was stored",
            "coffer unlock"
        )
    }

    @Test func `a file that is too large, missing or of another format stores nothing`() throws {
        try expect("truncate -s 1G huge; coffer import csv huge", 64, "has more than 67108864 bytes")
        try expect("yes | head -c 70000000 | coffer import csv -", 64, "has more than 67108864 bytes")
        try expect("coffer import csv missing", 74, "no such file")
        try expect("coffer import csv .", 64, "is a directory")
        try expect(
            "coffer import netrc $V/bitwarden.json",
            64,
            "it looks like the format bitwarden",
            "coffer import bitwarden"
        )
        try expect("coffer import word $V/bitwarden.json", 64)
        try expect("coffer import csv </dev/null", 64, "needs a file")
        #expect(try scene.run("coffer list").text == "")
    }
}
