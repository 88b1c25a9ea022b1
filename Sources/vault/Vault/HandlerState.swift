package import CofferCore
internal import CofferFiles
package import CofferKeychain
package import CofferKeys

/// The state that the handlers of a vault share: it is kept between requests, and is part of no catalog.
package final class HandlerState {
    package let vault: Vault
    /// Carries out in the daemon what follows from a change of the keys.
    package weak var observer: (any VaultObserver)?
    package var claims = Claims()
    package var filesInUse = FilesInUse()
    package var authentications = Authentications()
    /// Work that belongs to no request.
    package var chores: [Chore] = []
    /// The expiry dates of items; `nil` while no client is to be notified of them.
    package var expiryWatch: ExpiryWatch?
    /// The backup under way, or being prepared.
    var backup: BackupSession?
    /// The number of locks, which detects a lock that came during an unlock.
    package var lockCount = 0

    package init(of vault: Vault) { self.vault = vault }

    /// Closes the vault, and ends what belongs to it.
    package func close() {
        drop()
        chores = []
        expiryWatch = nil
        vault.close()
    }

    /// Erases the vault; when this returns, no credential opens it any more.
    ///
    /// ``Erasure/removeRemains(in:)`` removes its contents later.
    package func erase() throws(CofferError) {
        let directory = try vault.stateDirectory()
        drop()
        try vault.erase(in: directory)
    }

    private func drop() {
        vault.openCatalog?.files.revokeOpenKeys(in: .noVault)
        backup.take()?.end()
        filesInUse.forgetClosed()
    }
}

/// The contexts that have an authentication, or had one.
package struct Authentications {
    /// They are not kept alive: their connections may have ended.
    private struct Entry { weak var context: AuthenticationContext? }

    private var entries: [Entry] = []
    /// How often all contexts were ended, which detects that during an authentication.
    package private(set) var endCount = 0

    /// Notes a context that was authenticated.
    package mutating func note(_ context: AuthenticationContext) {
        entries.removeAll { $0.context == nil || $0.context === context }
        entries.append(Entry(context: context))
    }

    /// Ends all contexts, including attempts in progress.
    ///
    /// With very many connections, of which few are authenticated, only those few cost time.
    package mutating func endAll() {
        endCount += 1
        for entry in entries { entry.context?.end() }
        entries = []
    }
}

/// Work that belongs to no request, such as syncing the files of a closed connection.
package struct Chore {
    /// The tenant, for the round robin; 0 for none.
    package let tenant: Int
    package let begin: (Call) throws -> Step

    package init(tenant: Int, begin: @escaping (Call) throws -> Step) {
        self.tenant = tenant
        self.begin = begin
    }
}

// MARK: - Handlers

/// The handlers of a family of methods: a value that owns nothing, and shares ``HandlerState`` with the other families.
package protocol HandlerFamily {
    var shared: HandlerState { get }
}

extension HandlerFamily {
    package var vault: Vault { shared.vault }
    package var observer: (any VaultObserver)? { shared.observer }
    package var settings: VaultSettings { vault.settings }

    /// The keys of the vault, whose existence the gate has checked.
    package var keys: VaultKeys {
        get throws(CofferError) { try vault.keys }
    }

    /// The keys of the vault, if it is open.
    package var openKeys: VaultKeys? { vault.openKeys }

    /// The catalog of the vault, whose existence the gate has checked.
    package var catalog: Catalog {
        get throws(CofferError) { try vault.catalog }
    }

    /// The catalog, if it is open.
    package var openCatalog: Catalog? { vault.openCatalog }
}
