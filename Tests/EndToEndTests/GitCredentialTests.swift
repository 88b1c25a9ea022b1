import CofferClient
import CofferTestSupport
import Foundation
import Testing

/// `git-credential-coffer`, as git runs it.
@Suite struct GitCredentialTests {
    private let scene: CredentialScene

    init() throws {
        // git asks nobody but the helper: what the vault does not have is an error.
        scene = try CredentialScene(
            preamble: """
                ask() { printf "$2" | git -c credential.helper=coffer -c credential.useHttpPath=${BY_PATH-false} credential "$1"; }
                tell() { printf "$2" | git-credential-coffer "$1"; }

                """
        )
    }

    private func run(_ line: String) throws -> CommandResult {
        try scene.run(line, ["GIT_TERMINAL_PROMPT": "0"])
    }

    @Test func `what git approves is filled in again, and what it rejects is not`() throws {
        let all = try run(
            """
            ask approve 'protocol=https\\nhost=example.com:8443\\nusername=nina\\npassword=a=b c\\n'
            ask fill 'protocol=https\\nhost=example.com:8443\\n'; coffer list
            ask reject 'protocol=https\\nhost=example.com:8443\\nusername=nina\\npassword=a=b c\\n'
            ask fill 'protocol=https\\nhost=example.com:8443\\n'; echo "$?"; coffer list
            """
        )
        let filled = "protocol=https\nhost=example.com:8443\nusername=nina\npassword=a=b c\n"
        #expect(all.text == filled + "login:nina@example.com\n128\n", "\(all.errors)")
    }

    @Test(
        arguments: [
            "protocol=http\\nhost=example.com\\n", "protocol=https\\nhost=other.example.com\\n",
            "protocol=https\\nhost=example.com:444\\n", "protocol=https\\nhost=example.com\\nusername=eve\\n",
            "protocol=https\\nhost=example.com\\npath=b.git\\n", "protocol=https\\nhost=\\n", "host=example.com\\n", "",
        ]
    )
    func `another protocol, host, port, user or path gets nothing, and erases nothing`(request: String) throws {
        let all = try run(
            """
            tell store 'protocol=https\\nhost=example.com\\npath=a.git\\nusername=nina\\npassword=pass\\n'
            tell get '\(request)'; echo "$?"; tell erase '\(request)'; echo "$?"
            tell get 'protocol=https\\nhost=example.com\\n'
            """
        )
        #expect(all.text == "0\n0\nusername=nina\npassword=pass\n" && all.errors.isEmpty, "\(all)")
    }

    @Test(
        arguments: ["example.com", "EXAMPLE.com", "example.com:443", "Example.com:443"],
        ["protocol=https\\nhost=example.com\\n", "protocol=HTTPS\\nhost=eXample.com:443\\n"]
    )
    func `the case of a host and the port of https say nothing`(stored: String, request: String) throws {
        let all = try run(
            """
            tell store 'protocol=https\\nhost=\(stored)\\nusername=nina\\npassword=one\\n'
            tell get '\(request)'
            tell store '\(request)username=nina\\npassword=two\\n'; coffer list | wc -l; tell get '\(request)'
            tell get 'protocol=http\\nhost=\(stored)\\n'; tell get 'protocol=https\\nhost=example.com:80\\n'
            tell erase '\(request)'; coffer list | wc -l
            """
        )
        #expect(all.text == "username=nina\npassword=one\n1\nusername=nina\npassword=two\n0\n", "\(all)")
    }

    @Test func `a login is found by each of its addresses, however they are spelled`() throws {
        let all = try run(
            """
            printf 'pw\\nusername: nina\\nurl: https://other.example\\nurl 2: HTTPS://Git.example:443/x\\n' | coffer put git.example >&2
            for host in git.example GIT.example git.example:443; do tell get "protocol=https\\nhost=$host\\n"; done
            tell get 'protocol=https\\nhost=git.example\\npath=y\\n'; tell get 'protocol=http\\nhost=git.example\\n'
            """
        )
        #expect(all.text == String(repeating: "username=nina\npassword=pw\n", count: 3), "\(all)")
    }

    @Test func `with the path in use, each path has a password of its own`() throws {
        let all = try run(
            """
            export BY_PATH=true; at='protocol=https\\nhost=example.com\\npath='
            ask approve "${at}a.git\\nusername=nina\\npassword=one\\n"; ask approve "${at}b.git\\nusername=nina\\npassword=two\\n"
            ask fill "${at}a.git\\n"; ask fill "${at}b.git\\n"; ask fill "${at}c.git\\n" 2>/dev/null; echo "$?"
            """
        )
        let passwords = all.text.split(separator: "\n").filter { $0.hasPrefix("pass") }
        #expect(passwords == ["password=one", "password=two"] && all.text.hasSuffix("128\n"), "\(all)")
    }

    @Test func `users are told apart, also one whose name is empty, and so is his password`() throws {
        let all = try run(
            """
            at='protocol=https\\nhost=example.com\\nusername='
            for user in u1 u2 ''; do tell store "$at$user\\npassword=${user:+of-}$user\\n"; done
            for user in u1 u2 ''; do tell get "$at$user\\n"; done
            tell erase "${at}u1\\n"; tell get "${at}u1\\n"; tell get "${at}u2\\n"
            tell erase 'protocol=https\\nhost=example.com\\n'; tell get 'protocol=https\\nhost=example.com\\n'
            """
        )
        let users = ["u1", "u2"].map { "username=\($0)\npassword=of-\($0)\n" }
        #expect(all.text == users[0] + users[1] + "username=\npassword=\n" + users[1] && all.errors.isEmpty, "\(all)")
    }

    @Test func `a new password replaces the former one, and a stale one erases nothing`() throws {
        let all = try run(
            """
            at='protocol=https\\nhost=example.com\\nusername=nina\\n'
            tell store "${at}password=one\\n"; tell store "${at}password=two\\n"; tell store "${at}password=two\\n"
            tell erase "${at}password=one\\n"; tell get "$at"; coffer keychain history --server example.com | wc -l
            tell store "${at}password=\\n"; tell get "$at"; coffer list
            """
        )
        let expected = "username=nina\npassword=two\n1\nusername=nina\npassword=\nlogin:nina@example.com\n"
        #expect(all.text == expected, "\(all)")
    }

    @Test func `the expiry and the token that renews are kept, and what has expired is not given`() throws {
        let all = try run(
            """
            at='protocol=https\\nhost=example.com\\nusername=nina\\n'; more='wwwauth[]=Basic\\ncapability[]=authtype\\nstate[]=x\\nnew=1\\n'
            tell store "${at}${more}password=one\\npassword_expiry_utc=9999999999\\noauth_refresh_token=again\\n"; tell get "$at$more"
            coffer keychain find --server example.com; echo ---
            tell store "${at}password=one\\npassword_expiry_utc=1000000000\\noauth_refresh_token=again\\n"; tell get "$at"; echo ---
            tell store "${at}password=one\\npassword_expiry_utc=1000000000\\n"; tell get "$at"; echo ---
            tell store "${at}password=one\\n"; tell get "$at"
            """
        )
        let expected = """
            username=nina
            password_expiry_utc=9999999999
            password=one
            oauth_refresh_token=again
            one
            oauth_refresh_token: again
            ---
            username=nina
            oauth_refresh_token=again
            ---
            ---
            username=nina
            password=one

            """
        #expect(all.text == expected && all.errors.isEmpty, "\(all)")
    }

    @Test func `a credential of another kind, which git 2.46 has, is neither stored nor erases a password`() throws {
        let all = try run(
            """
            at='protocol=https\\nhost=example.com\\n'; tell store "${at}username=nina\\npassword=one\\n"
            other='capability[]=authtype\\ncapability[]=state\\nauthtype=Bearer\\ncredential=token\\nephemeral=1\\nstate[]=x:y\\n'
            for operation in store erase capability; do tell $operation "$at$other"; echo $?; done
            tell get "${at}capability[]=authtype\\nwwwauth[]=Bearer realm=x\\nwwwauth[]=Basic realm=x\\n"; coffer list
            """
        )
        #expect(all.text == "0\n0\n0\nusername=nina\npassword=one\nlogin:nina@example.com\n", "\(all)")
    }

    @Test func `logins and internet passwords that a person has stored are found, and kept`() throws {
        let all = try run(
            """
            printf one | coffer login add git.example.com/nina --username nina --url https://git.example.com/login >/dev/null
            printf two | coffer login add example.org --username nina >/dev/null; printf no | coffer put example.org/token >/dev/null
            printf three | coffer keychain add --class internet-password --server example.net --protocol https --account nina >/dev/null
            for host in git.example.com example.org example.net; do ask fill "protocol=https\\nhost=$host\\n" | grep =n; tell get "protocol=https\\nhost=$host\\n"; done
            tell get 'protocol=http\\nhost=git.example.com\\n'; tell get 'protocol=http\\nhost=example.org\\n'
            tell get 'protocol=https\\nhost=git.example.com\\nusername=eve\\n'
            ask approve 'protocol=https\\nhost=git.example.com\\nusername=nina\\npassword=one\\n'
            ask reject 'protocol=https\\nhost=git.example.com\\nusername=nina\\npassword=one\\n'; coffer list
            """
        )
        let logins = ["one", "two", "three"].map { "username=nina\nusername=nina\npassword=\($0)\n" }
        let names = "example.org\nexample.org/token\ngit.example.com/nina\nlogin:nina@example.net\n"
        #expect(all.text == logins.joined() + names, "\(all)")
        #expect(all.errors.contains("the login 'git.example.com/nina' was refused, and is kept"))
    }

    @Test func `while it is locked, git is told to quit; a person at a terminal unlocks`() throws {
        let request = "protocol=https\\nhost=example.com\\n"
        let locked = try run(
            """
            tell store '\(request)username=nina\\npassword=pass\\n'; coffer lock --now >/dev/null
            tell get '\(request)'; echo "$?"; ask fill '\(request)'; echo "$?"; tell store '\(request)username=x\\npassword=y\\n'; echo "$?"
            tell get 'protocol=https\\nhost=other.example.com\\n'; echo "$?"
            """
        )
        #expect(locked.text == "quit=1\n75\n128\n75\n0\n", "\(locked)")
        #expect(locked.errors.contains("told us to quit") && locked.errors.contains("run 'coffer unlock'"))
        // git allows no prompt.
        let refused = try scene.runOnTerminal("export GIT_TERMINAL_PROMPT=0; tell get '\(request)'", [])
        #expect(refused.shown.contains("quit=1") && !refused.shown.contains("Passcode"), "\(refused)")
        let unlocked = try scene.runOnTerminal(
            "ask fill '\(request)' | cat",
            [("Passcode, for git: ", "wrong"), ("Passcode, for git: ", .line(DaemonProcess.passcode))]
        )
        #expect(unlocked.shown.contains("password=pass") && unlocked.shown.contains("error: "), "\(unlocked)")
    }

    @Test func `before the first unlock it is locked, too`() throws {
        let request = "protocol=https\\nhost=example.com\\n"
        _ = try run("tell store '\(request)username=nina\\npassword=pass\\n'")
        try scene.daemon.restart()
        let sealed = try run("tell get '\(request)'; echo $?; tell erase '\(request)'; echo $?")
        #expect(sealed.text == "quit=1\n75\n75\n", "\(sealed)")
    }

    @Test func `before the first unlock a login of the server's name is locked, another one not found`() throws {
        _ = try run("for name in example.com/nina example.org; do echo x | coffer login add $name --username u; done")
        try scene.daemon.restart()
        let sealed = try run(
            """
            for host in example.com example.org none.example; do
                tell get "protocol=https\\nhost=$host\\n"; echo $?
            done
            """
        )
        #expect(sealed.text == "quit=1\n75\nquit=1\n75\n0\n", "\(sealed)")
    }

    @Test func `without a daemon, a vault or a right it is an error, and git goes on`() throws {
        let request = "protocol=https\\nhost=example.com\\n"
        let gone = try run(
            "COFFER_SOCKET=$HOME/none ask fill '\(request)'; printf '\(request)' | git-credential-coffer --socket none get; echo $?"
        )
        #expect(gone.text == "69\n" && gone.errors.contains("terminal prompts disabled"), "\(gone)")
        let empty = try DaemonProcess()
        let none = try run("printf '\(request)' | git-credential-coffer --socket '\(empty.socketPath)' get; echo $?")
        #expect(none.text == "69\n" && none.errors.contains("coffer init"), "\(none)")
    }

    @Test func `what is not allowed is 77, and git goes on`() throws {
        let request = "protocol=https\\nhost=example.com\\n"
        _ = try run("tell store '\(request)username=nina\\npassword=pass\\n'")
        try scene.entitle(to: "write")
        let unread = try run("tell get '\(request)'; echo $?; ask fill '\(request)'; echo $?")
        #expect(unread.text == "77\n128\n" && unread.errors.contains("the right 'read'"), "\(unread)")
        #expect(unread.errors.contains("terminal prompts disabled") && !unread.errors.contains("quit"))
    }

    @Test func `a group keeps credentials apart`() throws {
        let all = try run(
            """
            at='protocol=https\\nhost=example.com\\n'
            printf "${at}username=nina\\npassword=work\\n" | git-credential-coffer --group work store
            tell get "$at"; printf "$at" | git -c credential.helper='coffer --group work' credential fill; coffer list --group work
            """
        )
        #expect(all.text.hasSuffix("username=nina\npassword=work\nlogin:nina@example.com\n"), "\(all)")
    }

    @Test func `a login is found in each group that the client holds, and in no other one`() throws {
        let rights = "[Client]\nUID=\(geteuid())\nGroups=default shared\nVerbs=read write lock admin\n"
        let stored = try run(
            "for group in shared work; do echo x | coffer login add $group.example --username u --group $group; done"
        )
        try scene.write(rights, to: "e/10.conf")
        kill(scene.daemon.processID, SIGHUP)
        try #require(try settles { try run("coffer list --group work").status == 77 }, "\(stored)")
        let found = try run("for host in shared work; do tell get \"protocol=https\\nhost=$host.example\\n\"; done")
        #expect(found.text == "username=u\npassword=x\n", "\(found)")
    }

    @Test func `lines of ten megabytes are ignored or refused, and bytes that are no request as well`() throws {
        let all = try run(
            """
            at='protocol=https\\nhost=example.com\\n'; tell store "${at}username=nina\\npassword=pass\\n"
            long() { printf "$at$1"; head -c 10000000 /dev/zero | tr '\\0' x; printf '\\nusername=nina\\npassword=pass\\n'; }
            long 'wwwauth[]=' | git-credential-coffer get; echo $?
            for key in password= host= username= oauth_refresh_token= ''; do
                for operation in get store erase; do long "$key" | git-credential-coffer $operation; echo $?; done
            done
            head -c 10000000 /dev/urandom | git-credential-coffer store; echo "$?"
            printf "${at}username=\\xff\\n" | git-credential-coffer get; echo $?; printf "${at}password=a\\0b\\n" | git-credential-coffer store; echo $?
            tell future ''; echo $?; git-credential-coffer; echo $?; tell get "$at"
            """
        )
        let given = "username=nina\npassword=pass\n"
        let statuses = String(repeating: "64\n", count: 15)
        // Random bytes are no request, or begin with an empty line: then they are an empty one.
        let expected = ["64", "0"].map { given + "0\n" + statuses + "\($0)\n64\n64\n0\n64\n" + given }
        #expect(expected.contains(all.text), "\(all)")
        #expect(all.errors.contains("makes a line of more than 32768 bytes"))
    }

    @Test func `every value comes back as git gave it`() throws {
        for password in [
            "pass: word", "{\"password\": \"x\"}", "#x", " a ", "A=b", "é€\u{1F600}",
            String(repeating: "x", count: 30_000),
        ] {
            try scene.write(password, to: "password")
            let all = try run(
                """
                request() { printf 'protocol=https\\nhost=example.com\\nusername=n@b:c/d\\noauth_refresh_token=k: v\\npassword='; cat password; echo; }
                request | git-credential-coffer store; tell get 'protocol=https\\nhost=example.com\\n'
                """
            )
            #expect(all.text == "username=n@b:c/d\npassword=\(password)\noauth_refresh_token=k: v\n", "\(all)")
        }
    }
}
