internal import CofferAccess
internal import CofferCore
internal import CofferKeychain
internal import CofferKeys
internal import CofferSystem
internal import CofferWire

// Rights to read one item that end by themselves.

extension Server {
    // MARK: Having one

    /// What a client may do: its own rights, or none at all where a lease lets it in.
    func rights(of client: ClientIdentity) throws(CofferError) -> AccessRights {
        try accessPolicy.rights(of: client, hasLease: !leases(for: client).isEmpty)
    }

    /// The leases that are for a client and have not ended, in the order of their granting.
    ///
    /// None where the vault is not open: where nothing can be read, nobody need be let in.
    private func leases(for client: ClientIdentity) -> [Lease] {
        guard let catalog = vault.openCatalog, let live = try? liveLeases(in: catalog) else { return [] }
        return live.filter { lease in
            lease.terms.client.fits(client) && (!client.isContained || lease.terms.client.isUnit)
        }
    }

    /// What leases give a client for a request: its own item of that name comes first.
    func leaseCover(of request: PendingRequest, from caller: Caller) -> LeaseCover {
        guard caller.rights.verbs.isEmpty || request.method.isLeasable else { return .nothing }
        let leases = leases(for: caller.identity)
        if leases.isEmpty { return .nothing }
        guard request.method.isLeasable, let name = request.params["name"]?.stringValue else {
            return .somethingElse
        }
        let lease = leases.first { $0.terms.name.path.utf8.elementsEqual(name.utf8) && !isGone($0.terms) }
        guard let lease, !hasItem(lease.terms.name, caller) else { return .somethingElse }
        return .item(lease)
    }

    /// Whether the very item that was meant does not have its name any more; one that is damaged has.
    private func isGone(_ terms: LeaseTerms) -> Bool {
        do { return try stored(terms.name, in: terms.group)?.info.created != terms.itemCreated } catch { return false }
    }

    private func hasItem(_ name: ItemName, _ caller: Caller) -> Bool {
        guard caller.rights.verbs.contains(.read), let group = caller.groups.first else { return false }
        do { return try stored(name, in: group) != nil } catch { return true }
    }

    /// Answers what a lease allows, and nothing but its own terms do.
    func answer(_ request: PendingRequest, under lease: Lease, from caller: Caller) throws(CofferError) -> Answer {
        let terms = lease.terms
        if request.method == .itemShow {
            try request.attachments.refuseLeftovers(of: request.method)
            var reply = try showItem(ItemShowParameters(params: request.params), in: terms.group)
            // The lease may wait to be committed.
            reply.isCommitted = false
            return .now(reply)
        }
        let params = try ItemGetParameters(params: request.params)
        let state = try vault.keys.state
        // What opens a file later on would find that out when the use is on the disk.
        guard try require(terms.name, in: terms.group).info.protection.isReadable(in: state) else {
            throw .locked(terms.name.quoted, in: state, for: .read)
        }
        do {
            let catalog = try vault.catalog
            // One change: a use that comes to nothing is none, and one that counts is on the disk before anything is given.
            return try catalog.change { _ in
                try catalog.leases.countUse(of: lease)
                return try getItem(
                    params,
                    request.attachments,
                    in: terms.group,
                    caller.context,
                    under: terms,
                    after: catalog.pendingCommit
                )
            }
        } catch {
            throw .init(mapping: error, "can't read \(terms.name.quoted)")
        }
    }

    // MARK: Granting

    /// Grants a lease.
    func grantLease(_ params: LeaseGrantParameters, from caller: Caller) throws(CofferError) -> LeaseGrantResult {
        let group = try caller.group(nil)
        let item = try require(params.name, in: group).info
        let clock = configuration.clock
        guard let bootID = clock.bootID else {
            throw CofferError(
                .notAvailable,
                "can't grant a lease: this machine does not say which boot it is in, and a lease ends with the boot",
                hint: "let the daemon read /proc/sys/kernel/random/boot_id"
            )
        }
        let terms = LeaseTerms(
            group: group,
            name: params.name,
            itemCreated: item.created,
            client: params.client,
            bootID: bootID,
            end: clock.now + UInt64(params.seconds) * 1_000_000_000,
            granted: wallClockMilliseconds(),
            reason: params.reason ?? ""
        )
        do {
            let catalog = try vault.catalog
            return try catalog.change { _ in
                let isFull = try liveLeases(in: catalog).count >= Limits.leases
                if try isFull && usefulLeases(in: catalog).count >= Limits.leases {
                    throw CofferError(
                        .notAvailable,
                        "there are \(Limits.leases) leases, which is the most",
                        hint: "'coffer lease list' shows them, and 'coffer lease revoke' ends one"
                    )
                }
                return LeaseGrantResult(number: try catalog.leases.add(terms, uses: params.uses.map { Int($0) }))
            }
        } catch {
            throw .init(mapping: error, "can't grant a lease")
        }
    }

    /// One page of the leases of the groups that the caller holds.
    func listLeases(_ params: LeaseListParameters, from caller: Caller) throws(CofferError) -> LeasePage {
        do {
            let catalog = try vault.catalog
            let after = params.after ?? 0
            let wanted = try usefulLeases(in: catalog).filter { $0.number > after && caller.holds($0.terms.group) }
            var page: [LeaseInfo] = []
            var byteCount = 0
            for lease in wanted {
                let info = LeaseInfo(lease, at: configuration.clock.now)
                byteCount += info.greatestJSONByteCount
                if byteCount > Limits.pageJSONBytes && !page.isEmpty { break }
                page.append(info)
            }
            return LeasePage(
                leases: page,
                next: page.count < wanted.count ? page.last?.number : nil,
                damaged: params.after == nil ? try catalog.leases.damaged : []
            )
        } catch {
            throw .init(mapping: error, "can't list the leases")
        }
    }

    /// Ends a lease of a group that the caller holds; of a damaged one nobody knows whose it was.
    func revokeLease(_ params: LeaseRevokeParameters, from caller: Caller) throws(CofferError) -> Empty {
        do {
            let catalog = try vault.catalog
            let isOwn = try liveLeases(in: catalog).contains {
                $0.number == params.number && caller.holds($0.terms.group)
            }
            guard try isOwn || catalog.leases.damaged.contains(params.number) else {
                throw CofferError(
                    .itemNotFound,
                    "there is no lease \(params.number)",
                    hint: "it has ended, or never was: 'coffer lease list' shows those that there are"
                )
            }
            try catalog.change { _ in try catalog.leases.remove(params.number) }
        } catch {
            throw .init(mapping: error, "can't revoke lease \(params.number)")
        }
        return Empty()
    }

    // MARK: Ending

    /// The leases whose time has not come; the others are removed.
    private func liveLeases(in catalog: Catalog) throws -> [Lease] {
        let clock = configuration.clock
        let now = clock.now
        return keep(try catalog.leases.all, in: catalog) { $0.lives(at: now, of: clock.bootID) }
    }

    /// The live leases whose item is still there; the others are removed.
    private func usefulLeases(in catalog: Catalog) throws -> [Lease] {
        keep(try liveLeases(in: catalog), in: catalog) { !isGone($0.terms) }
    }

    private func keep(_ all: [Lease], in catalog: Catalog, where isGood: (Lease) -> Bool) -> [Lease] {
        let good = all.filter(isGood)
        if good.count < all.count {
            // One that can't be removed has ended all the same.
            try? catalog.change { _ in
                for lease in all where !isGood(lease) { try catalog.leases.remove(lease.number) }
            }
        }
        return good
    }
}

extension LeaseInfo {
    fileprivate init(_ lease: Lease, at now: UInt64) {
        self.init(
            number: lease.number,
            name: lease.terms.name.path,
            client: lease.terms.client,
            seconds: Int64((lease.terms.end - now + 999_999_999) / 1_000_000_000),
            uses: lease.usesLeft.map(Int64.init),
            reason: lease.terms.reason.isEmpty ? nil : lease.terms.reason,
            granted: lease.terms.granted
        )
    }

    /// The most bytes that the lease's JSON can have: a byte of a text may become six.
    fileprivate var greatestJSONByteCount: Int {
        512 + (name.utf8.count + client.description.utf8.count + (reason ?? "").utf8.count) * 6
    }
}
