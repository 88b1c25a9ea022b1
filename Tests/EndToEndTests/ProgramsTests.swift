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

    /// The first block below a heading.
    private func recipe(_ heading: String) throws -> String {
        let page = try String(contentsOfFile: "\(Project.root)/proto-docs/PROGRAMS.md", encoding: .utf8)
        let section = try #require(page.components(separatedBy: "\n## \(heading)\n").dropFirst().first)
        return try #require(section.components(separatedBy: "\n```\n").dropFirst().first)
    }

    @Test func `restic makes a repository and a backup`() throws {
        let made = try run(
            "echo hunter2 | coffer put backup/restic; mkdir documents; echo hi >documents/a\n" + recipe("restic")
        )
        #expect(made.status == 0 && made.text.contains("created restic repository"), "\(made)")
        let open = "RESTIC_REPOSITORY=~/restic restic snapshots --password-command"
        #expect(try run("\(open) 'coffer get backup/restic' | grep documents").status == 0)
        #expect(try run("\(open) 'echo wrong'").status != 0)
    }

    @Test func `rclone reads its configuration from memory`() throws {
        let listed = try run(
            "mkdir kept; touch kept/file; printf '[store]\\ntype = alias\\nremote = %s/kept\\n' $PWD | coffer put backup/rclone.conf\n"
                + recipe("rclone")
        )
        #expect(listed.text.hasSuffix("file\n"), "\(listed)")
    }

    @Test func `gpg encrypts with a passphrase from standard input`() throws {
        let made = try run("printf hunter2 | coffer put gpg/passphrase; echo hello >letter\n" + recipe("gpg"))
        #expect(made.status == 0, "\(made)")
        let open = "gpg --batch --pinentry-mode loopback --decrypt --passphrase"
        #expect(try run("\(open) hunter2 letter.gpg; gpgconf --kill all").text.hasSuffix("hello\n"))
        #expect(try run("\(open) hunter3 letter.gpg || echo wrong; gpgconf --kill all").text.hasSuffix("wrong\n"))
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
        let recipe = try recipe("psql").replacing("--host db.example.org", with: "--host 127.0.0.1 --port $port")
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
