package import CofferCore

extension Repository {
    /// Forgets the files of some snapshots; a prune frees their space.
    ///
    /// What the vault signed about each of them remains, so that the chain stays whole.
    ///
    /// - Parameter snapshots: The snapshots.
    /// - Throws: `param` in a repository that is append-only.
    package func forget(_ snapshots: [Snapshot]) throws(CofferError) {
        try requireRemoval("forget snapshots")
        let lock = try storage.lock(.remove)
        defer { withExtendedLifetime(lock) {} }
        for snapshot in snapshots {
            let (name, bytes) = snapshot.remains
            if try storage.read(name, at: 0, bytes.count + 1) != bytes {
                try storage.remove(name)
                try storage.write(name, bytes)
            }
            try storage.remove(snapshot.name)
        }
    }

    func requireRemoval(_ what: String) throws(CofferError) {
        guard configuration.isAppendOnly else { return }
        throw CofferError(
            .param,
            "can't \(what): the repository \(quotedForDisplay(storage.place)) is append-only",
            hint: "begin a new repository with 'coffer backup init', and remove this one where it is kept when its "
                + "snapshots are not needed any more"
        )
    }
}
