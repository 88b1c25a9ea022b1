import CofferClient
import CofferTestSupport
import Foundation
import Testing

/// The recipes of `proto-docs/PROGRAMS.md`, with the real programs.
@Suite struct ProgramsTests {
    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        try daemon.connect().makeVault()
    }

    private func run(_ line: String) throws -> CommandResult {
        try runCommand(
            "/usr/bin/setsid",
            ["--wait", "timeout", "120", "bash", "-e", "-c", line],
            environment: [
                "COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin",
                "HOME": daemon.directory.path,
            ],
            directory: daemon.directory.path
        )
    }

    @Test func `restic makes a repository and a backup`() throws {
        let made = try run(
            "echo hunter2 | coffer put backup/restic; mkdir documents; echo hi >documents/a\n"
                + Recipe.block(of: "restic")
        )
        #expect(made.status == 0 && made.text.contains("created restic repository"), "\(made)")
        let open = "RESTIC_REPOSITORY=~/restic restic snapshots --password-command"
        #expect(try run("\(open) 'coffer get backup/restic' | grep documents").status == 0)
        #expect(try run("\(open) 'echo wrong'").status != 0)
    }

    @Test func `rclone reads its configuration from memory`() throws {
        let listed = try run(
            "mkdir kept; touch kept/file; printf '[store]\\ntype = alias\\nremote = %s/kept\\n' $PWD | coffer put backup/rclone.conf\n"
                + Recipe.block(of: "rclone")
        )
        #expect(listed.text.hasSuffix("file\n"), "\(listed)")
    }

    @Test func `gpg encrypts with a passphrase from standard input`() throws {
        let made = try run("printf hunter2 | coffer put gpg/passphrase; echo hello >letter\n" + Recipe.block(of: "gpg"))
        #expect(made.status == 0, "\(made)")
        let open = "gpg --batch --pinentry-mode loopback --decrypt --passphrase"
        #expect(try run("\(open) hunter2 letter.gpg; gpgconf --kill all").text.hasSuffix("hello\n"))
        #expect(try run("\(open) hunter3 letter.gpg || echo wrong; gpgconf --kill all").text.hasSuffix("wrong\n"))
    }

    @Test func `gpg-agent is given the passphrase of a key, and signs without asking`() throws {
        let made = try run(
            """
            mkdir -m 700 .gnupg; echo allow-preset-passphrase >.gnupg/gpg-agent.conf; printf hunter2 >phrase; trap 'gpgconf --kill all' EXIT
            gpg --quiet --batch --pinentry-mode loopback --passphrase-file phrase --quick-generate-key me@here ed25519 sign 2>/dev/null
            coffer put gpg/passphrase phrase; rm phrase; gpgconf --kill all
            sign() { echo letter | gpg --batch --pinentry-mode error --clearsign 2>/dev/null | grep -c 'BEGIN PGP SIGNATURE' || true; }
            sign; keygrip=$(gpg --list-secret-keys --with-colons --with-keygrip 2>/dev/null | sed -n 's/^grp:*\\(.*\\):$/\\1/p' | head -1)
            \(try Recipe.block(2, of: "gpg").replacing("KEYGRIP", with: "$keygrip")); sign
            """
        )
        #expect(made.text.hasSuffix("0\n1\n"), "\(made)")
    }

    @Test func `psql reads its password from memory`() throws {
        // As far as a server asks for a password, and gets it.
        let server = """
            import socket, struct, sys
            listener = socket.create_server(("127.0.0.1", 0))
            open("port", "w").write(str(listener.getsockname()[1]))
            # A client asks for encryption first, possibly of two kinds.
            connection = listener.accept()[0]
            while True:
                size, = struct.unpack("!I", connection.recv(4, socket.MSG_WAITALL))
                version, = struct.unpack("!I", connection.recv(size - 4, socket.MSG_WAITALL)[:4])
                if version == 0x30000: break
                connection.sendall(b"N")
            connection.sendall(b"R" + struct.pack("!II", 8, 3))
            kind, size = struct.unpack("!cI", connection.recv(5, socket.MSG_WAITALL))
            open("password", "wb").write(connection.recv(size - 4, socket.MSG_WAITALL))
            """
        try daemon.directory.write(Array(server.utf8), to: "server.py")
        let recipe = try Recipe.block(of: "psql").replacing(
            "--host db.example.org",
            with: "--host 127.0.0.1 --port $port"
        )
        let tried = try run(
            """
            timeout 60 python3 server.py & for i in {1..200}; do [ -s port ] && break; sleep 0.05; done; port=$(cat port)
            echo "127.0.0.1:$port:app:nina:hunter2" | coffer put db/pgpass
            \(recipe) || true; wait; cat password
            """
        )
        #expect(tried.output.suffix(8) == Array("hunter2".utf8) + [0], "\(tried)")
        #expect(!tried.errors.contains("WARNING"), "psql accepts the file: \(tried.errors)")
    }
}
