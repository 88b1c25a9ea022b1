internal import CofferCore
internal import CofferFiles
internal import CofferKeys
internal import CofferSystem

/// A vault: its keys and its catalog, or the reason why they are not there.
///
/// A state directory that can't be used does not stop the daemon: each request is told why, and the next one tries again, so
/// that mending it is enough.
final class Vault {
    private struct Open {
        let keys: VaultKeys
        let catalog: Catalog
    }

    private let configuration: Configuration
    private var directory: Directory?
    private var open: Open?
    /// How far a new vault is that is not there before it is whole.
    private var making = Making.none

    private enum Making {
        case none
        case underWay
        /// It is still to be taken back.
        case failed
    }

    init(_ configuration: Configuration) { self.configuration = configuration }

    /// Opens what can be opened.
    ///
    /// - Returns: The state; `noVault` where there is none.
    /// - Throws: Why the vault can't be used.
    func state() throws(CofferError) -> VaultState {
        if let open { return open.keys.state }
        return try take(try opening(), in: try stateDirectory())
    }

    private func take(_ opening: VaultKeys.Opening, in directory: Directory) throws(CofferError) -> VaultState {
        switch opening {
        case .noVault:
            try checkForOrphanedCatalog(in: directory)
            return .noVault
        case .deviceKeyMissing:
            return .deviceKeyMissing
        case .vault(let keys) where keys.hasErasureDue:
            // The tenth wrong passcode was proven wrong, and the daemon ended before it could do what that asks for.
            try Erasure.perform(in: directory)
            return .noVault
        case .vault(let keys):
            let catalog = try Catalog(in: directory, keys: keys)
            open = Open(keys: keys, catalog: catalog)
            for fault in catalog.faults { configuration.tellFault(fault) }
            return keys.state
        }
    }

    /// Where the vault's device key is looked for.
    func deviceKeySource() throws(CofferError) -> DeviceKeySource {
        try DeviceKeySource(in: try stateDirectory(), credentialsPath: configuration.credentialsPath)
    }

    /// Which vault it is, be it open or not; `nil` where there is none.
    var id: ItemID? {
        get throws(CofferError) {
            if let open { return open.keys.vaultID }
            switch try opening() {
            case .noVault: return nil
            case .deviceKeyMissing(let vault): return vault.vaultID
            case .vault(let keys): return keys.vaultID
            }
        }
    }

    /// The vault, if its device key is not on this machine.
    var moved: MovedVault? {
        get throws(CofferError) {
            if open != nil { return nil }
            guard case .deviceKeyMissing(let vault) = try opening() else { return nil }
            return vault
        }
    }

    private func opening() throws(CofferError) -> VaultKeys.Opening {
        making == .underWay ? .noVault : try found()
    }

    private func found() throws(CofferError) -> VaultKeys.Opening {
        try VaultKeys.open(in: try stateDirectory(), deviceKeySource(), at: configuration.clock.now)
    }

    /// The keys of the vault that the gate has found to be there.
    var keys: VaultKeys {
        get throws(CofferError) { try opened().keys }
    }

    /// The keys of the vault, if it is open.
    var openKeys: VaultKeys? { open?.keys }

    /// The catalog of the vault that the gate has found to be there.
    var catalog: Catalog {
        get throws(CofferError) { try opened().catalog }
    }

    /// The catalog, if it is open.
    var openCatalog: Catalog? { open?.catalog }

    /// Lets go of everything: keys are wiped, those of open files included, and the catalog's log is written back.
    func close() {
        open?.catalog.files.revokeOpenKeys(in: .noVault)
        open = nil
        directory = nil
    }

    /// Erases the vault: when this returns, nothing opens it any more.
    ///
    /// What is left of its contents is removed by ``Erasure/removeRemains(in:)``.
    func erase() throws(CofferError) {
        let directory = try stateDirectory()
        open?.catalog.files.revokeOpenKeys(in: .noVault)
        open = nil
        try Erasure.perform(in: directory)
    }

    private func opened() throws(CofferError) -> Open {
        _ = try state()
        guard let open else { throw CofferError(.notAvailable, "there is no vault yet") }
        return open
    }

    /// The state directory, made if it is not there, and held against a second daemon.
    func stateDirectory() throws(CofferError) -> Directory {
        if let directory {
            if open == nil { try finishInterrupted(in: directory) }
            return directory
        }
        do {
            let directory = try Directory(makingPath: configuration.statePath, fileSystem: configuration.fileSystem)
            try directory.requireOwn()
            guard try directory.lock() else {
                throw CofferError(
                    .notAvailable,
                    "another cofferd is using this vault",
                    hint: "stop it, or use another state directory"
                )
            }
            try Erasure.finishInterrupted(in: directory)
            self.directory = directory
            return directory
        } catch {
            throw .init(mapping: error, "can't use the state directory")
        }
    }

    /// An erasure that failed half-way goes on with the next request that needs the directory.
    private func finishInterrupted(in directory: Directory) throws(CofferError) {
        switch making {
        case .underWay: return
        case .failed: try Erasure.takeBack(in: directory)
        case .none: try Erasure.finishInterrupted(in: directory)
        }
        making = .none
    }

    // MARK: Making one

    /// Begins to make a vault, with an empty catalog for the keybag that comes next: a keybag without one would be a vault
    /// that was lost.
    ///
    /// Until ``endMaking()`` returns there is no vault, and what fails or is cut off leaves none: its recovery key would be known
    /// to no one.
    func beginMaking() throws(CofferError) {
        let directory = try stateDirectory()
        try Erasure.beginMaking(in: directory)
        try Catalog.prepare(in: directory)
        making = .underWay
    }

    /// Opens the vault whose keybag has been stored; when this returns, it stays.
    func endMaking() throws(CofferError) -> VaultKeys {
        let directory = try stateDirectory()
        _ = try take(try found(), in: directory)
        guard let open else { throw CofferError(.internal, "the keybag of the new vault is missing") }
        try Erasure.endMaking(in: directory)
        making = .none
        return open.keys
    }

    /// Takes back what was made, now or with the next request that needs the directory.
    func takeBackMaking() {
        open = nil
        making = .failed
        _ = try? stateDirectory()
    }

    /// A catalog without its keybag can't be opened by anyone; but it must not be taken for nothing, either.
    private func checkForOrphanedCatalog(in directory: Directory) throws(CofferError) {
        guard try Catalog.isBound(in: directory) else { return }
        throw CofferError(
            .notAvailable,
            "the keybag is missing, and nothing in the catalog beside it can be opened without it",
            hint: "restore the file 'keybag' from a backup, or move the state directory away to begin anew"
        )
    }
}
