import CofferTestSupport
import Foundation

/// A daemon with a vault, a directory, and the exported files of other programs as `$V`.
struct ExchangeScene {
    let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        let folder = daemon.directory.appending("bin")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for name in ["git-credential-coffer", "docker-credential-coffer"] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder)/\(name)",
                withDestinationPath: "\(Project.binaries)/coffer"
            )
        }
    }

    /// Runs a line of a shell in the directory, without a terminal.
    func run(_ line: String) throws -> CommandResult {
        try runCommand(
            "/usr/bin/setsid",
            ["--wait", "timeout", "120", "bash", "-c", line],
            environment: [
                "COFFER_SOCKET": daemon.socketPath, "HOME": daemon.directory.path, "GNUPGHOME": gnupg,
                "V": "\(Project.root)/Tests/Vectors/import",
                "PATH": "\(daemon.directory.appending("bin")):\(Project.binaries):/usr/bin:/bin",
            ],
            directory: daemon.directory.path
        )
    }

    // The sockets of its agent need a short path.
    private var gnupg: String { daemon.directory.appending("g") }

    /// Makes a key of gpg without a passphrase, for `nina@example.com`.
    func makeGPGKey() throws {
        _ = try run(
            """
            mkdir -m 700 $GNUPGHOME
            gpg --quiet --batch --passphrase '' --quick-generate-key nina@example.com future-default default never
            """
        )
    }
}
