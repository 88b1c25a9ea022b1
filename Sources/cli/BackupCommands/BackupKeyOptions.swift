package import ArgumentParser
package import CofferBackup
package import CofferClient
internal import CofferCommandSupport
internal import CofferMemory
internal import CofferTerminal
internal import CofferWire
internal import Glibc

/// What opens a backup: its passphrase, or the recovery key that was printed when it was set up.
package struct BackupKeyOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Read the passphrase of the backup from this descriptor.", valueName: "number"))
    package var passphraseFd: Int32?

    @Flag(help: "Give the recovery key of the backup in place of its passphrase.")
    package var recoveryKey = false

    @Option(help: ArgumentHelp("Read the recovery key of the backup from this descriptor.", valueName: "number"))
    package var recoveryKeyFd: Int32?

    package init() {}

    package func validate() throws {
        let recoveryKeys: KeyValuePairs = ["--recovery-key": recoveryKey, "--recovery-key-fd": recoveryKeyFd != nil]
        try exclude(["--passphrase-fd": passphraseFd != nil], recoveryKeys)
    }

    private var needsRecoveryKey: Bool { recoveryKey || recoveryKeyFd != nil }

    /// Reads what is given by a descriptor; `nil` if the verb has to prompt.
    package func readGiven() throws(CofferError) -> Secret? {
        if let recoveryKeyFd { return try SecretInput.recoveryKey(from: recoveryKeyFd) }
        return try SecretInput.passcode(from: passphraseFd, "the passphrase")
    }

    /// A recovery key of a repository's vault.
    ///
    /// - Parameters:
    ///   - given: What ``readGiven()`` has returned.
    ///   - configuration: The configuration of the repository.
    /// - Throws: `authFailed` if the passphrase is wrong.
    package func key(_ given: Secret?, of configuration: RepositoryConfiguration) throws(CofferError) -> OpeningKey {
        guard needsRecoveryKey else {
            let typed: Secret
            if let given {
                typed = given
            } else {
                typed = Secret(try SecretInput.ask("Passphrase of the backup: ", limit: Limits.passcodeBytes))
            }
            return try OpeningKey(configuration.backupKey(passphrase: typed.copiedBytes()), of: configuration)
        }
        let typed: Secret
        if let given { typed = given } else { typed = try SecretInput.askRecoveryKey() }
        return try OpeningKey(try BackupKey(typed.copiedBytes()), of: configuration)
    }
}

/// A recovery key that opens a snapshot.
package struct OpeningKey {
    package let secret: Secret
    /// Whether the configuration of the repository was written with it.
    ///
    /// Otherwise it can be any other recovery key of the vault, and the vault in the snapshot has to verify the snapshot.
    package let isOfConfiguration: Bool

    init(_ key: consuming BackupKey, of configuration: RepositoryConfiguration) throws(CofferError) {
        do throws(CofferError) {
            try configuration.verify(with: key)
            isOfConfiguration = true
        } catch {
            guard error.code == .decode else { throw error }
            isOfConfiguration = false
        }
        secret = Secret(try key.text())
    }

    /// Says that a snapshot was verified in another way.
    package func warn() {
        if isOfConfiguration { return }
        Output.warn([
            "the recovery key is not the one that the repository was made with; it opens the vault in the snapshot, and "
                + "that vault has signed the snapshot"
        ])
    }
}

extension Secret {
    /// A copy in locked memory.
    func copiedBytes() throws(CofferError) -> SecretBytes {
        do { return try withBytes { (bytes) throws(SecretMemoryError) in try SecretBytes(copying: bytes) } } catch {
            throw .noSecretMemory
        }
    }
}

extension SnapshotReference {
    /// The snapshot that the vault remembers.
    init(_ reference: BackupReference) { self.init(number: reference.number, digest: reference.digest) }
}

/// The place of a repository, which does not depend on the working directory.
package func absolutePlace(_ place: String) -> String {
    guard !place.hasPrefix("/"), !place.contains("://"), let path = unsafe getcwd(nil, 0) else { return place }
    defer { unsafe free(path) }
    return unsafe String(cString: path) + "/" + place
}
