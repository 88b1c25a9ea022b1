package import CofferBackup
package import CofferClient
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// A state directory that is restored from a snapshot, beside the daemon that will use it.
///
/// The snapshot goes to a directory in it first. Then its files are moved to their places, the keybag last: until then, the
/// daemon finds no vault. After an interruption, the same command continues.
package struct RestoredState {
    /// The directory in the state directory that the snapshot goes to.
    private static let stagingName = "restoring"
    /// Says that all of the snapshot is in that directory.
    private static let mark = "complete"

    private let path: String
    private let directory: Directory

    /// Opens the state directory of the user's daemon.
    ///
    /// - Parameter path: The directory; `nil` for the one that the daemon of this user has by default.
    /// - Throws: `param` if no daemon uses it.
    package init(_ path: String?) throws(CofferError) {
        guard let path = path ?? Self.defaultPath else {
            throw CofferError(.param, "$HOME is not set", hint: "name the daemon's state directory by --state")
        }
        self.path = path
        do throws(SystemError) {
            directory = try Directory(makingPath: path)
            try directory.requireOwn()
        } catch {
            throw error.cofferError("can't use the state directory \(quotedForDisplay(path))")
        }
    }

    private static var defaultPath: String? {
        if geteuid() == 0 { return "/var/lib/coffer" }
        if let base = environment("XDG_STATE_HOME"), !base.isEmpty { return base + "/coffer" }
        return environment("HOME").map { $0 + "/.local/state/coffer" }
    }

    /// Whether an interrupted restore has all of its snapshot, so that only the moves are left.
    package var isStaged: Bool { directory.contains("\(Self.stagingName)/\(Self.mark)") }

    /// Refuses a directory that no daemon holds: it would be restored to no purpose.
    package func requireDaemon() throws(CofferError) {
        let isFree: Bool
        do throws(SystemError) { isFree = try Directory(makingPath: path).lock() } catch {
            throw error.cofferError("can't use \(quotedForDisplay(path))")
        }
        guard isFree else { return }
        throw CofferError(
            .param,
            "no cofferd uses \(quotedForDisplay(path))",
            hint: "name the daemon's state directory by --state"
        )
    }

    /// Restores a snapshot into the staging directory.
    ///
    /// - Returns: What can't be restored; the vault opens without it.
    package func stage(
        _ snapshot: Snapshot,
        of repository: Repository,
        progress: (RepositoryProgress) -> Void
    ) throws(CofferError) -> [String] {
        let outcome = try repository.restore(snapshot, into: "\(path)/\(Self.stagingName)", progress: progress)
        guard ["keybag", "vault.sqlite"].allSatisfy({ directory.contains("\(Self.stagingName)/\($0)") }) else {
            throw CofferError(
                .decode,
                "the snapshot can't be restored: its keybag or its catalog can't be read",
                hint: outcome.findings.first?.message ?? "'coffer backup check --read-data' says what is damaged"
            )
        }
        do throws(SystemError) {
            try directory.subdirectory(Self.stagingName).replace(Self.mark, with: RawSpan())
        } catch {
            throw error.cofferError("can't restore to \(quotedForDisplay(path))")
        }
        return outcome.findings.map(\.message)
    }

    /// Moves what is staged to its places.
    package func place() throws(CofferError) {
        do throws(SystemError) {
            let staging = try directory.subdirectory(Self.stagingName)
            if staging.contains("blobs") {
                // An empty one, which a daemon has made.
                _ = unsafe rmdir("\(path)/blobs/staging")
                _ = unsafe rmdir("\(path)/blobs")
                try staging.rename("blobs", to: "blobs", in: directory)
            }
            for name in ["anchor", "vault.sqlite"] where staging.contains(name) {
                try staging.rename(name, to: name, in: directory)
            }
            try directory.synchronize()
            if staging.contains("keybag") { try staging.rename("keybag", to: "keybag", in: directory) }
            try directory.synchronize()
            try directory.removeTree(Self.stagingName)
        } catch {
            throw error.cofferError("can't move what was restored to \(quotedForDisplay(path))")
        }
    }
}
