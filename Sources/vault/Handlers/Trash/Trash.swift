internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferSystem
internal import CofferPast
package import CofferVault
package import CofferWire

extension TrashHandlers {
    private var trashMoment: TrashMoment {
        TrashMoment(wall: wallClockMilliseconds(), boot: settings.clock.now, bootID: settings.clock.bootID)
    }

    // MARK: Into the trash

    /// Moves an item to the trash.
    func discard(_ name: ItemName, in group: String, _ call: Call) throws -> Step {
        try handlers.file.settled(name, in: group, call) { [self] in
            let result = try discardNow(name, in: group, call)
            sweepTrash()
            return .done(Reply(result))
        }
    }

    private func discardNow(_ name: ItemName, in group: String, _ call: Call) throws -> ItemRemoveResult {
        let (catalog, moment) = (try catalog, trashMoment)
        let secret: KeychainItem?
        do { secret = try vault.require(name, in: group).item.secret } catch let error as CofferError
            where error.code == .interactionNotAllowed
        {
            try handlers.item.checkSealedFile(name, in: group)
            secret = nil
        }
        return try catalog.change(isRemoval: true) { changes in
            guard let secret else {
                let (entry, inode) = try catalog.files.discard(
                    name,
                    in: group,
                    bound: settings.trash.byteCount,
                    at: moment
                )
                changes.note(ItemChange(.removed, file: name, in: group, inode: inode))
                return ItemRemoveResult(number: entry)
            }
            let entry = try catalog.keychain.discard(secret, with: call.caller.context, at: moment)
            changes.note(ItemChange(.removed, secret))
            return ItemRemoveResult(number: entry)
        }
    }

    // MARK: In the trash

    package func trashList(_ params: TrashListParameters, _ call: Call) throws -> Step {
        let group = try call.group(params.group)
        call.isFor("can't list the trash")
        let past = try catalog.past
        let time = try past.time(at: trashMoment)
        let entries = try past.entries(of: group, after: params.after, limit: Limits.trashPageEntries)
        var damaged: [Int64] = []
        var items: [TrashedItem] = []
        for entry in entries {
            let left = (entry.remaining(of: settings.trash.lifetime, at: time) + 999) / 1000
            do { items.append(TrashedItem(entry, try entry.label, secondsLeft: left)) } catch let error as CofferError
                where error.code == .decode
            {
                damaged.append(entry.number)
            }
        }
        let isFull = entries.count == Limits.trashPageEntries
        let page = items.firstPage { 512 + ($0.name?.utf8.count ?? 0) * 6 }
        let isCut = page.count < items.count
        return .done(
            Reply(
                TrashPage(
                    items: page,
                    next: isCut ? page.last?.number : isFull ? entries.last?.number : nil,
                    damaged: isCut ? damaged.filter { $0 <= page.last?.number ?? .min } : damaged
                )
            )
        )
    }

    package func trashRestore(_ params: TrashRestoreParameters, _ call: Call) throws -> Step {
        let group = try call.group(params.group)
        call.isFor("can't restore entry \(params.number) of the trash")
        let entry = try trashed(params.number, in: group)
        guard let label = try entry.label else {
            throw CofferError.locked("entry \(params.number) of the trash", in: try keys.state, for: .read)
        }
        try params.target?.checkIsPath()
        let (catalog, moment) = (try catalog, trashMoment)
        let info = try catalog.change { changes in
            let item = try catalog.restore(entry, label, as: params.target, at: moment)
            changes.note(item.restored)
            return ItemInfo(item, catalog.files, in: try keys.state)
        }
        if let date = info.expiryDate { catalog.keychain.noteExpiry(date) }
        var reply = Reply(info)
        reply.items = [AuditedItem(name: info.name, group: group)]
        return .done(reply)
    }

    package func trashEmpty(_ params: TrashEmptyParameters, _ call: Call) throws -> Step {
        let group = try call.group(params.group)
        call.isFor("can't empty the trash")
        let catalog = try catalog
        guard let number = params.number else {
            let count = try catalog.past.count(of: group)
            // Whatever their number: their key is gone with this, and their rows are removed afterwards.
            if count > 0 { try catalog.change(isRemoval: true) { _ in try catalog.past.empty(group) } }
            sweepTrash()
            return .done(Reply(CountResult(count: Int64(count))))
        }
        let entry = try trashed(number, in: group)
        try catalog.change(isRemoval: true) { _ in try catalog.destroy(number) }
        var reply = Reply(CountResult(count: 1))
        if let label = try? entry.label { reply.items = [AuditedItem(name: label.name, group: group)] }
        return .done(reply)
    }

    private func trashed(_ number: Int64, in group: String) throws -> TrashEntry {
        if let entry = try catalog.past.entry(number, of: group) { return entry }
        throw CofferError(
            .itemNotFound,
            "there is no entry \(number) in the trash",
            hint: "'coffer trash list' shows what is in it"
        )
    }

    // MARK: Out of the trash

    /// Has what has been in the trash for long enough destroyed, and what was emptied removed.
    ///
    /// - Parameter countsTime: Whether the time in the trash is stored in any case, which takes a commit.
    package func sweepTrash(countsTime: Bool = false) {
        guard let past = openCatalog?.past, (try? past.hasEntries()) == true else { return }
        let policy = settings.trash
        let hasDoomed = try? past.hasDoomed(
            lifetime: policy.lifetime,
            bound: policy.byteCount,
            time: past.time(at: trashMoment)
        )
        guard countsTime || hasDoomed ?? true else { return }
        shared.chores.append(
            Chore(tenant: 0) { [self] call in try perform(TrashSweep(settings.trash, trashMoment), call) }
        )
    }
}

/// The removal of what does not stay in the trash.
private final class TrashSweep: SlicedWork {
    private let policy: TrashPolicy
    private let moment: TrashMoment
    private(set) var changedCount = 0
    var doneCount: Int { changedCount }

    init(_ policy: TrashPolicy, _ moment: TrashMoment) {
        self.policy = policy
        self.moment = moment
    }

    func slice(_ catalog: Catalog, until isEnough: () -> Bool) throws -> Reply? {
        try catalog.change(isRemoval: true) { _ in
            let time = try catalog.past.advance(to: moment)
            repeat {
                let doomed = try catalog.past.nextDoomed(
                    lifetime: policy.lifetime,
                    bound: policy.byteCount,
                    time: time
                )
                guard let doomed else {
                    try catalog.past.forgetEmptied()
                    return Reply(Empty())
                }
                try catalog.destroy(doomed)
                changedCount += 1
            } while !isEnough()
            return nil
        }
    }
}

extension TrashedItem {
    fileprivate init(_ entry: TrashEntry, _ label: TrashLabel?, secondsLeft: Int64) {
        var accessibility: Accessibility?
        var protectionClass: ProtectionClass?
        switch label?.protection {
        case .keychain(let value)?: accessibility = value
        case .file(let value)?: protectionClass = value
        case nil: break
        }
        self.init(
            number: entry.number,
            name: label?.name,
            store: label?.protection.store,
            itemClass: label?.itemClass,
            accessibility: accessibility,
            protectionClass: protectionClass,
            kind: label?.kind,
            byteCount: label?.byteCount,
            removed: label?.removed,
            secondsLeft: secondsLeft
        )
    }
}

extension StoredItem {
    /// The event for it when it is back.
    fileprivate var restored: ItemChange {
        switch self {
        case .keychain(let item): ItemChange(.added, item)
        case .file(let file): ItemChange(.added, file)
        }
    }
}
