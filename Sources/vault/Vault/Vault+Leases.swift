package import CofferRights
internal import CofferCore
internal import CofferSystem
internal import CofferWire

// Which leases a client has, and what they cover.

extension Vault {
    /// Whether a lease matches a client.
    func hasLease(_ client: ClientIdentity) -> Bool {
        !leases(for: client).isEmpty || !sealedLeases(for: client).isEmpty
    }

    /// The valid leases of a client whose items have no name before the first unlock.
    private func sealedLeases(for client: ClientIdentity) -> [SealedLease] {
        guard let catalog = openCatalog, let live = try? liveSealedLeases(in: catalog) else { return [] }
        return live.filter { isFor($0.client, client) }
    }

    private func isFor(_ pattern: ClientPattern, _ client: ClientIdentity) -> Bool {
        pattern.fits(client) && (!client.isContained || pattern.isUnit)
    }

    /// The valid leases of a client, in the order in which they were granted.
    ///
    /// There are none while the vault is not open: no item can be read then.
    private func leases(for client: ClientIdentity) -> [Lease] {
        guard let catalog = openCatalog, let live = try? liveLeases(in: catalog) else { return [] }
        return live.filter { isFor($0.terms.client, client) }
    }

    /// What the leases of a client cover of a request; an item of its own with that name takes precedence.
    func leaseCover(of method: Method, _ params: JSONObject, from caller: Caller) -> Cover {
        guard caller.rights.verbs.isEmpty || method.isLeasable else { return .nothing }
        if (try? openCatalog?.leases.isEmpty) == true { return .nothing }
        let leases = leases(for: caller.identity)
        let sealed = sealedLeases(for: caller.identity)
        if leases.isEmpty && sealed.isEmpty { return .nothing }
        guard method.isLeasable, let name = params["name"]?.stringValue else {
            return .somethingElse
        }
        let group = params["group"]?.stringValue
        let lease = leases.first { lease in
            lease.terms.name.path.utf8.elementsEqual(name.utf8)
                && group?.utf8.elementsEqual(lease.terms.group.utf8) ?? true && !isGone(lease.terms)
        }
        guard let lease = lease ?? self.lease(among: sealed, for: name, in: group),
            !hasItem(lease.terms.name, in: group, caller)
        else { return .somethingElse }
        return .item(.lease(lease))
    }

    /// The first lease for a name, which it is told by its tag.
    private func lease(among sealed: [SealedLease], for name: String, in group: String?) -> Lease? {
        guard let name = try? ItemName(name), let store = openCatalog?.leases else { return nil }
        let found = sealed.first { lease in
            group?.utf8.elementsEqual(lease.group.utf8) ?? true && lease.nameTag == store.tag(of: name, in: lease.group)
        }
        return found?.lease(for: name)
    }

    /// Whether another item, or none, has the name now; a damaged item still has it.
    private func isGone(_ terms: LeaseTerms) -> Bool {
        do { return try stored(terms.name, in: terms.group)?.info.created != terms.itemCreated } catch { return false }
    }

    /// Whether a client can read an item of its own by a name.
    func hasItem(_ name: ItemName, in group: String?, _ caller: Caller) -> Bool {
        guard caller.rights.verbs.contains(.read), let group = try? caller.group(group) else { return false }
        do { return try stored(name, in: group) != nil } catch { return true }
    }

    // MARK: Expiry

    /// The leases that have not expired; expired ones are removed.
    package func liveLeases(in catalog: Catalog) throws -> [Lease] {
        let clock = settings.clock
        let now = clock.now
        return keep(try catalog.leases.all, in: catalog) { $0.lives(at: now, of: clock.bootID) }
    }

    /// The valid leases whose item still exists; the others are removed.
    package func usefulLeases(in catalog: Catalog) throws -> [Lease] {
        keep(try liveLeases(in: catalog), in: catalog) { !isGone($0.terms) }
    }

    /// The leases of items without a name before the first unlock that have not expired; expired ones are removed.
    package func liveSealedLeases(in catalog: Catalog) throws -> [SealedLease] {
        let clock = settings.clock
        let now = clock.now
        let all = try catalog.leases.sealed
        let live = all.filter { $0.lives(at: now, of: clock.bootID) }
        if live.count < all.count { remove(all.map(\.number), besides: live.map(\.number), in: catalog) }
        return live
    }

    private func keep(_ all: [Lease], in catalog: Catalog, where isGood: (Lease) -> Bool) -> [Lease] {
        let good = all.filter(isGood)
        if good.count < all.count { remove(all.map(\.number), besides: good.map(\.number), in: catalog) }
        return good
    }

    private func remove(_ all: [Int64], besides good: [Int64], in catalog: Catalog) {
        // If the removal fails, the lease is invalid all the same.
        try? catalog.change { _ in
            for number in all where !good.contains(number) { try catalog.leases.remove(number) }
        }
    }
}
