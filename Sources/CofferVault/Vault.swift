package import CofferCore
internal import CofferFiles
package import CofferKeys
package import CofferRouting
package import CofferSystem
package import CofferWire

/// A vault: its keys and its catalog, or the reason why they are not there.
///
/// A state directory that can't be used does not stop the daemon: each request is told why, and the next one tries again, so
/// that mending it is enough.
package final class Vault {
    private struct Open {
        let keys: VaultKeys
        let catalog: Catalog
    }

    /// What it is told, once.
    let settings: VaultSettings
    /// What the matrix decides by.
    package var routing: RoutingPolicy
    /// Who may do what.
    package var access: AccessPolicy
    /// What is wrong with the configuration file, of which the last good state is used.
    package var configurationTrouble: String?
    /// What is wrong with the entitlements, of which the last good ones are used.
    package var entitlementTrouble: String?
    /// Who does what follows a change of the keys.
    package weak var observer: (any VaultObserver)?
    /// What is wrong with what was written for the daemon; `nil` if nothing is.
    var trouble: String? {
        let troubles = [configurationTrouble, entitlementTrouble].compactMap { $0 }
        return troubles.isEmpty ? nil : troubles.joined(separator: "; ")
    }
    /// Counts locks, so that an unlock that was overtaken by one is noticed.
    package var lockCount = 0
    /// Counts how often all that was shown was ended, so that what is being tried meanwhile is not shown afterwards.
    package var contextEndCount = 0
    /// The time that the request which is carried out may take.
    package var quantum = Quantum.unshared
    /// Who has what one at a time may have.
    package var claims = Claims()
    /// What was given back outside of a request that has it.
    package var freedClaims: [Claim] = []
    /// How many handles of ended connections are still being synced.
    package var orphanCount = 0
    /// What is to be done for no request.
    package var chores: [Chore] = []
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

    package init(_ settings: VaultSettings, access: AccessPolicy, routing: RoutingPolicy) {
        self.settings = settings
        self.access = access
        self.routing = routing
    }

    /// Opens what can be opened.
    ///
    /// - Returns: The state; `noVault` where there is none.
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
            // The tenth wrong passcode was proven wrong, and the daemon ended before it could do what that asks for.
            try Erasure.perform(in: directory)
            return .noVault
        case .vault(let keys):
            let catalog = try Catalog(in: directory, keys: keys)
            open = Open(keys: keys, catalog: catalog)
            for fault in catalog.faults { settings.tellFault(fault) }
            return keys.state
        }
    }

    /// Where the vault's device key is looked for.
    func deviceKeySource() throws(CofferError) -> DeviceKeySource {
        try DeviceKeySource(in: try stateDirectory(), credentialsPath: settings.credentialsPath)
    }

    /// Which vault it is, be it open or not; `nil` where there is none.
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
        try VaultKeys.open(in: try stateDirectory(), deviceKeySource(), at: settings.clock.now)
    }

    /// The keys of the vault that the gate has found to be there.
    package var keys: VaultKeys {
        get throws(CofferError) { try opened().keys }
    }

    /// The keys of the vault, if it is open.
    package var openKeys: VaultKeys? { open?.keys }

    /// The catalog of the vault that the gate has found to be there.
    package var catalog: Catalog {
        get throws(CofferError) { try opened().catalog }
    }

    /// The catalog, if it is open.
    package var openCatalog: Catalog? { open?.catalog }

    /// Lets go of everything: keys are wiped, those of open files included, and the catalog's log is written back.
    package func close() {
        open?.catalog.files.revokeOpenKeys(in: .noVault)
        chores = []
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

/// What a vault is told when the daemon comes up.
package struct VaultSettings {
    /// Where it is.
    package var statePath: String
    /// Where a service manager passes credentials; `nil` if there is none.
    package var credentialsPath: String?
    /// What deadlines are counted by.
    package var clock: BootClock
    /// The seam for failing operations on disk.
    package var fileSystem: FileSystem
    /// Tells who a process is.
    package var identify: @Sendable (PeerIdentity, borrowing HeldProcess) throws -> ClientIdentity
    /// Is told of each fault that was found when the vault was opened.
    package var tellFault: @Sendable (VaultFault) -> Void

    package init(
        statePath: String,
        credentialsPath: String?,
        clock: BootClock,
        fileSystem: FileSystem,
        identify: @escaping @Sendable (PeerIdentity, borrowing HeldProcess) throws -> ClientIdentity,
        tellFault: @escaping @Sendable (VaultFault) -> Void
    ) {
        self.statePath = statePath
        self.credentialsPath = credentialsPath
        self.clock = clock
        self.fileSystem = fileSystem
        self.identify = identify
        self.tellFault = tellFault
    }
}

/// What the daemon around a vault does when its keys change.
package protocol VaultObserver: AnyObject {
    /// When the grace of a lock ends, in nanoseconds of boot time; `nil` while none runs.
    var graceEnd: UInt64? { get }
    /// Keys came or went, by a request or by an erasure.
    ///
    /// - Parameter caller: Who has shown what opens them; `nil` for nobody.
    func keysDidChange(by caller: Caller?)
    /// A client asks for a lock.
    ///
    /// - Parameter graceSeconds: Its grace; the one that is configured if none is given.
    func lock(graceSeconds: Int?)
    /// What was shown of persons is good for nothing more.
    func endContexts()
    /// The keys that answers on their way rest on are gone.
    func withholdPayloads(in state: VaultState)
    /// Somebody has shown a wrong credential.
    func attemptDidFail(_ attempts: FailedAttempts)
    /// A client has chosen what it wants to be told.
    func subscriptionsDidChange()
    /// A client takes requests back.
    func cancelRequest(_ id: RequestID, besides call: Call)
    /// How many files the connections of a tenant have open, and those of all.
    func openFileCounts(of tenant: Int) -> (held: Int, used: Int)
    /// What a service manager would be answered that asks for a credential.
    func answer(to address: CredentialAddress, of client: ClientIdentity) -> CredentialAnswer
    /// What was changed so far is to be on the disk now, and answered.
    func commit()
}

/// Something that is done for no request, such as syncing what a connection has left open.
package struct Chore {
    /// For whom, among those who take turns; 0 for nobody.
    package let tenant: Int
    /// Begins it.
    package let begin: (Call) throws -> Step
}
