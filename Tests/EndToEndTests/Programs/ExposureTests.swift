import CofferTestSupport
import Foundation
import Testing

/// Where secrets would be seen by other processes: in arguments and variables.
@Suite struct ExposureTests {
    private let scene: CredentialScene
    private let secret = randomText(24)

    init() throws {
        scene = try CredentialScene()
        try scene.write(secret + "\n", to: "needle")
    }

    /// Runs lines of bash, and returns each program that was started in them with the secret, as the kernel was told.
    ///
    /// What `/proc/PID/cmdline` and `environ` show is what `execve` was given.
    private func exposed(in script: String) throws -> (programs: [String], output: CommandResult) {
        try scene.write("set -e\n" + script, to: "script")
        let output = try scene.run(
            "strace --follow-forks --trace=execve --no-abbrev --string-limit=100000 --quiet=all --output=trace bash script"
        )
        let trace = try String(contentsOfFile: scene.daemon.directory.appending("trace"), encoding: .utf8)
        try #require(trace.contains("execve("), "\(output)")
        return (trace.split(separator: "\n").filter { $0.contains(secret) }.map(String.init), output)
    }

    @Test func `no program that gets a secret by a file, standard input or a helper is started with it`() throws {
        let (programs, output) = try exposed(
            in: #"""
                coffer put app/password <needle; echo '{{ coffer "app/password" }}' >template
                coffer run --file P=app/password -- sh -c 'cmp "$P" needle && echo file'
                coffer run --stdin app/password -- cmp - needle && echo input
                coffer run --mask --file P=app/password -- sh -c 'cat "$P"'
                coffer inject template --output filled; cmp filled needle && echo filled
                git config --global credential.helper coffer
                { printf 'protocol=https\nhost=git.example\nusername=nina\npassword='; cat needle; } | git credential approve
                printf 'protocol=https\nhost=git.example\n' | git credential fill | sed -n s/password=//p | cmp - needle && echo git
                { printf 'protocol=https\nhost=git.example\nusername=nina\npassword='; cat needle; } | git credential reject
                { printf '{"ServerURL":"r.example","Username":"nina","Secret":"'; tr -d '\n' <needle; echo '"}'; } | docker-credential-coffer store
                printf r.example | docker-credential-coffer get | grep -cf needle
                { printf '{"v":1,"kind":"login","registry":{"index-url":"https://c.example"},"token":"'; tr -d '\n' <needle; echo '"}'; } |
                    cargo-credential-coffer --cargo-plugin | tail -1
                echo '{"v":1,"kind":"get","registry":{"index-url":"https://c.example"}}' | cargo-credential-coffer --cargo-plugin | grep -cf needle
                coffer edit app/password --help >/dev/null
                """#
        )
        let expected = """
            stored 'app/password' in the keychain; it can be read while unlocked
            file
            input
            ********
            filled
            git
            1
            {"Ok":{"kind":"login"}}
            1

            """
        #expect(output.text == expected, "\(output)")
        #expect(programs.isEmpty, "\(programs)")
    }

    @Test func `no program that uses the SSH agent is started with a passphrase or a key`() throws {
        let (programs, output) = try exposed(
            in: """
                ssh-keygen -q -t ed25519 -C it -f key -N '' && { echo; cat needle; cat needle; } >phrases
                openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048 | openssl pkcs8 -topk8 -passout file:needle -out rsa
                coffer ssh-agent import rsa --passphrase-fd 3 3<needle >/dev/null; coffer ssh-agent import key >/dev/null
                grep -v -e ---- key | head -2 | tail -1 >part
                coffer ssh-agent --listen $PWD/agent >listening & agent=$!; trap 'kill $agent' EXIT
                until [ -s listening ]; do sleep 0.05; done
                export SSH_AUTH_SOCK=$PWD/agent; mv key gone; ssh-add -L | wc -l; ssh-add -q gone
                ssh-keygen -q -Y sign -n file -f key.pub key.pub 2>/dev/null && echo signed
                """
        )
        #expect(output.text == "2\nsigned\n", "\(output)")
        #expect(programs.isEmpty, "\(programs)")
        let trace = try String(contentsOfFile: scene.daemon.directory.appending("trace"), encoding: .utf8)
        let part = try String(contentsOfFile: scene.daemon.directory.appending("part"), encoding: .utf8)
        #expect(part.count > 60 && !trace.contains(part.trimmingCharacters(in: .newlines)))
    }

    @Test func `a variable is in the environment of the program that gets it, and of no other`() throws {
        let (programs, output) = try exposed(
            in:
                "coffer put app/password <needle >/dev/null; coffer run --env P=app/password -- /usr/bin/env | grep -cf needle; true"
        )
        #expect(output.text == "1\n", "\(output)")
        #expect(programs.count == 1 && programs[0].contains(#"execve("/usr/bin/env", ["/usr/bin/env"]"#), "\(programs)")
    }
}
