package import CofferCore
package import CofferKeys
package import CofferRouting
package import CofferSystem

/// A vault: its keys and its catalog, or the reason why they are not available.
///
/// A state directory that can't be used does not stop the daemon. Each request reports the reason and the next one
/// tries again, so that no restart is needed after a repair.
package final class Vault {
    private struct Open {
        let keys: VaultKeys
        let catalog: Catalog
    }

    package let settings: VaultSettings
    /// The configured routing.
    package var routing: RoutingPolicy
    /// The entitlements.
    package var access: AccessPolicy
    /// The error in the configuration file; the last valid one is in use.
    package var configurationTrouble: String?
    /// The error in the entitlements; the last valid ones are in use.
    package var entitlementTrouble: String?
    /// The errors in the configuration and the entitlements; `nil` if there are none.
    package var trouble: String? {
        let troubles = [configurationTrouble, entitlementTrouble].compactMap { $0 }
        return troubles.isEmpty ? nil : troubles.joined(separator: "; ")
    }
    private var directory: Directory?
    private var open: Open?
    /// The progress of a new vault, which does not exist before it is complete.
    private var making = Making.none

    private enum Making {
        case none
        case underWay
        /// It has to be removed.
        case failed
    }

    package init(_ settings: VaultSettings, access: AccessPolicy, routing: RoutingPolicy) {
        self.settings = settings
        self.access = access
        self.routing = routing
    }

    /// Opens the vault, if it is not open yet.
    ///
    /// - Returns: The state; `noVault` if there is none.
    /// - Throws: Why the vault can't be used.
    package func state() throws(CofferError) -> VaultState {
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
            // The daemon ended after the tenth wrong passcode was recorded, and before the erasure.
            try Erasure.perform(in: directory)
            return .noVault
        case .vault(let keys):
            let catalog = try Catalog(in: directory, keys: keys, clock: settings.clock)
            open = Open(keys: keys, catalog: catalog)
            for fault in catalog.faults { settings.reportFault(fault) }
            return keys.state
        }
    }

    /// The places of the vault's device key.
    package func deviceKeySource() throws(CofferError) -> DeviceKeySource {
        try DeviceKeySource(in: try stateDirectory(), credentialsPath: settings.credentialsPath)
    }

    /// The id of the vault, open or not; `nil` if there is none.
    package var id: ItemID? {
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
    package var moved: MovedVault? {
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
        try VaultKeys.open(in: try stateDirectory(), deviceKeySource(), at: settings.clock.now)
    }

    /// The keys of the vault, whose existence the gate has checked.
    package var keys: VaultKeys {
        get throws(CofferError) { try opened().keys }
    }

    /// The keys of the vault, if it is open.
    package var openKeys: VaultKeys? { open?.keys }

    /// The catalog of the vault, whose existence the gate has checked.
    package var catalog: Catalog {
        get throws(CofferError) { try opened().catalog }
    }

    /// The catalog, if it is open.
    package var openCatalog: Catalog? { open?.catalog }

    /// Closes the vault: all keys are wiped, and the log is checkpointed.
    func close() {
        open = nil
        directory = nil
    }

    func erase(in directory: Directory) throws(CofferError) {
        open = nil
        try Erasure.perform(in: directory)
    }

    private func opened() throws(CofferError) -> Open {
        _ = try state()
        guard let open else { throw CofferError(.notAvailable, "there is no vault yet") }
        return open
    }

    /// The state directory, which is created if it is missing, and locked against a second daemon.
    package func stateDirectory() throws(CofferError) -> Directory {
        if let directory {
            if open == nil { try finishInterrupted(in: directory) }
            return directory
        }
        do {
            let directory = try Directory(makingPath: settings.statePath, fileSystem: settings.fileSystem)
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

    /// Resumes an erasure that failed, with the next request that needs the directory.
    private func finishInterrupted(in directory: Directory) throws(CofferError) {
        switch making {
        case .underWay: return
        case .failed: try Erasure.takeBack(in: directory)
        case .none: try Erasure.finishInterrupted(in: directory)
        }
        making = .none
    }

    // MARK: Making a vault

    /// Begins to make a vault, with an empty catalog before its keybag: a keybag without a catalog would be a lost
    /// vault.
    ///
    /// Until ``endMaking()`` returns there is no vault. A failure or a crash before that leaves none, since its
    /// recovery key was never delivered.
    package func beginMaking() throws(CofferError) {
        let directory = try stateDirectory()
        try Erasure.beginMaking(in: directory)
        try Catalog.prepare(in: directory)
        making = .underWay
    }

    /// Opens the vault whose keybag was stored; when this returns, it stays.
    package func endMaking() throws(CofferError) -> VaultKeys {
        let directory = try stateDirectory()
        _ = try take(try found(), in: directory)
        guard let open else { throw CofferError(.internal, "the keybag of the new vault is missing") }
        try Erasure.endMaking(in: directory)
        making = .none
        return open.keys
    }

    /// Removes an incomplete vault, now or with the next request that needs the directory.
    package func takeBackMaking() {
        open = nil
        making = .failed
        _ = try? stateDirectory()
    }

    /// Refuses a catalog whose keybag is missing: it can't be opened, but it must not be taken for no vault.
    private func checkForOrphanedCatalog(in directory: Directory) throws(CofferError) {
        guard try Catalog.isBound(in: directory) else { return }
        throw CofferError(
            .notAvailable,
            "the keybag is missing, and nothing in the catalog beside it can be opened without it",
            hint: "put back a copy of the file 'keybag', or move the state directory away to begin anew"
        )
    }
}

/// The settings of a vault, fixed at the start of the daemon.
package struct VaultSettings {
    /// The path of the state directory.
    package var statePath: String
    /// The directory of the service manager's credentials; `nil` if there is none.
    package var credentialsPath: String?
    /// The clock for deadlines.
    package var clock: BootClock
    /// The seam for failing operations on disk.
    package var fileSystem: FileSystem
    /// What the trash keeps, and for how long.
    package var trash = TrashPolicy()
    /// Identifies a process.
    package var identify: @Sendable (PeerIdentity, borrowing HeldProcess) throws -> ClientIdentity
    /// Reports a fault that was found when the vault was opened.
    package var reportFault: @Sendable (VaultFault) -> Void

    package init(
        statePath: String,
        credentialsPath: String?,
        clock: BootClock,
        fileSystem: FileSystem,
        identify: @escaping @Sendable (PeerIdentity, borrowing HeldProcess) throws -> ClientIdentity = {
            try ClientIdentity($0, $1)
        },
        reportFault: @escaping @Sendable (VaultFault) -> Void = { _ in }
    ) {
        self.statePath = statePath
        self.credentialsPath = credentialsPath
        self.clock = clock
        self.fileSystem = fileSystem
        self.identify = identify
        self.reportFault = reportFault
    }

    /// The identity of a process.
    ///
    /// - Parameter gone: The error if it has ended meanwhile: the kernel may have given its number to another process.
    package func identity(
        of process: borrowing HeldProcess,
        _ peer: PeerIdentity,
        gone: CofferError
    ) throws -> ClientIdentity {
        let outcome = Result { try identify(peer, process) }
        guard try process.isRunning else { throw gone }
        return try outcome.get()
    }
}
