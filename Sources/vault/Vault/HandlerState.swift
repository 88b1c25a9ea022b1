package import CofferCore
internal import CofferFiles

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
        vault.openCatalog?.files.openContents.revoke(in: .noVault)
        backup.take()?.end()
        filesInUse.forgetClosed()
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
