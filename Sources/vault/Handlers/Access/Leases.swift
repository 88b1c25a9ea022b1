internal import CofferRights
internal import CofferCore
internal import CofferKeys
internal import CofferSystem
package import CofferVault
package import CofferWire

// Leases: rights to read one item that expire.

extension AccessHandlers {
    // MARK: Using

    /// Answers a request that a lease permits.
    ///
    /// The use is counted, and the count committed, before any data is sent.
    func answer(to method: Method, _ params: JSONObject, under lease: Lease, _ call: Call) throws -> Step {
        if method == .itemShow { return try handlers.item.itemShow(ItemShowParameters(params: params), call) }
        let params = try ItemGetParameters(params: params)
        let state = try keys.state
        // A file is opened only after the commit, when the use has been counted: refuse a locked item before.
        guard try vault.require(params.name, in: lease.terms.group).info.protection.isReadable(in: state) else {
            throw CofferError.locked(params.name.quoted, in: state, for: .read)
        }
        let catalog = try catalog
        // One change, so that a read that fails does not count as a use.
        return try catalog.change { _ in
            try catalog.leases.countUse(of: lease)
            return try handlers.item.itemGet(params, call)
        }
    }

    // MARK: Granting

    package func leaseGrant(_ params: LeaseGrantParameters, _ call: Call) throws -> Step {
        try call.caller.requireHeld([.read], toLetIn: params.client)
        let group = try call.group(params.group)
        let item = try vault.require(params.name, in: group).info
        let clock = settings.clock
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
        call.isFor("can't grant a lease")
        let catalog = try catalog
        let number = try catalog.change { _ in
            let sealedCount = try vault.liveSealedLeases(in: catalog).count
            let isFull = try vault.liveLeases(in: catalog).count + sealedCount >= Limits.leases
            if try isFull && vault.usefulLeases(in: catalog).count + sealedCount >= Limits.leases {
                throw CofferError(
                    .notAvailable,
                    "there are \(Limits.leases) leases, which is the most",
                    hint: "'coffer lease list' shows them, and 'coffer lease revoke' ends one",
                    retry: .later
                )
            }
            return try catalog.leases.add(
                terms,
                uses: params.uses.map { Int($0) },
                isNamedInEveryState: item.protection.isNamedInEveryState
            )
        }
        return .done(Reply(LeaseGrantResult(number: number)))
    }

    package func leaseList(_ params: LeaseListParameters, _ call: Call) throws -> Step {
        call.isFor("can't list the leases")
        let catalog = try catalog
        let groups = call.caller.rights.reach
        let now = settings.clock.now
        let page = try vault.usefulLeases(in: catalog).filter { groups.contains($0.terms.group) }
            .map { LeaseInfo($0, at: now) }
            .page(after: params.after, \.number) { $0.greatestJSONByteCount }
        let result = LeasePage(
            leases: page.entries,
            next: page.next,
            damaged: params.after == nil ? try catalog.leases.damaged : [],
            sealedCount: params.after == nil
                ? try vault.liveSealedLeases(in: catalog).count { groups.contains($0.group) } : 0
        )
        return .done(Reply(result))
    }

    /// Revokes a lease of a group that the caller holds, or a damaged lease, whose group is unknown.
    package func leaseRevoke(_ params: LeaseRevokeParameters, _ call: Call) throws -> Step {
        call.isFor("can't revoke lease \(params.number)")
        let catalog = try catalog
        let isOwn = try vault.liveLeases(in: catalog).contains {
            $0.number == params.number && call.caller.rights.reach.contains($0.terms.group)
        }
        let isSealed = try vault.liveSealedLeases(in: catalog).contains {
            $0.number == params.number && call.caller.rights.reach.contains($0.group)
        }
        guard try isOwn || isSealed || catalog.leases.damaged.contains(params.number) else {
            throw CofferError(
                .itemNotFound,
                "there is no lease \(params.number)",
                hint: "it has ended, or never was: 'coffer lease list' shows those that there are"
            )
        }
        try catalog.change { _ in try catalog.leases.remove(params.number) }
        return .done
    }
}

extension LeaseInfo {
    fileprivate init(_ lease: Lease, at now: UInt64) {
        self.init(
            number: lease.number,
            name: lease.terms.name.path,
            group: lease.terms.group,
            client: lease.terms.client,
            seconds: Int64((lease.terms.end - now + 999_999_999) / 1_000_000_000),
            uses: lease.usesLeft.map(Int64.init),
            reason: lease.terms.reason.isEmpty ? nil : lease.terms.reason,
            granted: lease.terms.granted
        )
    }

    /// The maximum size of its JSON: escaping makes up to six bytes of one.
    fileprivate var greatestJSONByteCount: Int {
        512 + (name.utf8.count + group.utf8.count + client.description.utf8.count + (reason ?? "").utf8.count) * 6
    }
}
