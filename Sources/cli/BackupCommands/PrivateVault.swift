package import CofferBackup
package import CofferClient
internal import CofferMemory
internal import CofferProcesses
internal import CofferCommandSupport
internal import CofferSystem
internal import Glibc

/// A snapshot as a vault of its own, opened by a daemon that no other user reaches, for as long as the value lives.
///
/// Everything on the disk is sealed, in a directory that only the user can open.
package final class PrivateVault {
    private static let configurationName = "cofferd.conf"

    /// A connection to it; the vault is unlocked.
    let client: BlockingClient
    /// What could not be restored.
    let findings: [String]
    private let daemon: Daemon
    private let scratch: ScratchDirectory

    private final class Daemon {
        private let process: RunningTool

        init(_ process: consuming RunningTool) { self.process = process }
    }

    /// Restores a snapshot and opens it.
    ///
    /// - Parameters:
    ///   - key: A recovery key of the vault.
    ///   - selected: Whether a file is restored, by its path in the state directory.
    ///   - progress: Called after each file.
    package init(
        _ snapshot: Snapshot,
        of repository: Repository,
        _ key: OpeningKey,
        where selected: (String) -> Bool = { _ in true },
        progress: (RepositoryProgress) -> Void = { _ in }
    ) throws(CofferError) {
        do throws(SystemError) {
            try ScratchDirectory.removeAbandoned { $0.contains(Self.configurationName) }
            scratch = try ScratchDirectory()
            // Says that it is in use.
            _ = try scratch.directory.lock()
            // Without the user's configuration and entitlements.
            try scratch.directory.replace(Self.configurationName, with: RawSpan())
            _ = try scratch.directory.subdirectory("entitlements")
        } catch {
            throw error.cofferError("can't make a directory for the snapshot")
        }
        let path: String
        do throws(SystemError) { path = try scratch.directory.resolvedPath() } catch {
            throw error.cofferError("can't make a directory for the snapshot")
        }
        findings = try repository.restore(snapshot, into: "\(path)/state", where: selected, progress: progress)
            .findings.map(\.message)
        let arguments = [
            "--state", "\(path)/state", "--socket", "\(path)/socket", "--config", "\(path)/\(Self.configurationName)",
            "--entitlements", "\(path)/entitlements", "--no-journal",
            // If this process is killed, neither the keys nor the copy outlive it.
            "--scratch", path,
        ]
        do throws(SystemError) {
            daemon = Daemon(try RunningTool(InstalledProgram.path(of: "cofferd"), arguments))
        } catch {
            throw CofferError(
                .notAvailable,
                "can't start cofferd: \(error.reason)",
                hint: "is it installed beside coffer, or in $PATH?"
            )
        }
        client = try Self.connect(to: "\(path)/socket")
        try Self.open(client, key.secret)
        if !key.isOfConfiguration { try Self.verify(snapshot, client) }
    }

    /// Has the vault verify that it has signed the snapshot.
    private static func verify(_ snapshot: Snapshot, _ client: BlockingClient) throws(CofferError) {
        let params = BackupRegisterParameters(repository: "-", newestNumber: snapshot.reference.number)
        do throws(CofferError) {
            _ = try client.call(params, payload: unsafe Secret(copying: snapshot.proof.span.bytes))
        } catch {
            guard error.code == .param else { throw error }
            throw CofferError(
                .decode,
                "the vault in snapshot \(snapshot.reference.number) has not signed it: the repository was exchanged",
                hint: "restore nothing from here"
            )
        }
    }

    /// Whether a file of the state directory is needed to open the vault in it.
    package static func opens(_ path: String) -> Bool { ["keybag", "anchor", "vault.sqlite"].contains(path) }

    private static func connect(to path: String) throws(CofferError) -> BlockingClient {
        for _ in 0..<Limits.snapshotStartAttempts {
            if let client = try? BlockingClient(socketPath: path) { return client }
            usleep(Limits.startPauseMicroseconds)
        }
        throw CofferError(.notAvailable, "the daemon for the snapshot did not come up")
    }

    /// Opens it by the recovery key, under a passcode that is forgotten with this process.
    private static func open(_ client: BlockingClient, _ key: Secret) throws(CofferError) {
        let passcode: Secret
        do { passcode = Secret(try SecretBytes(random: 32)) } catch { throw .noSecretMemory }
        let params = PasscodeChangeParameters(credential: .recoveryKey, kdf: .interactive)
        try client.call(params, payload: try Secret(given: key, new: passcode))
        // For the items that ask for a passcode.
        let seconds = Int64(Limits.contextSeconds)
        try client.call(ContextAuthenticateParameters(factor: .passcode, reuseSeconds: seconds), payload: passcode)
    }
}
