internal import CofferFileContent
internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferMemory
internal import CofferRouting
internal import CofferSystem
internal import CofferVault
internal import CofferKeys

// A put in the file store.

/// The target of a put in the file store, and what it replaces.
struct FileTarget {
    let name: ItemName
    let group: String
    let kind: ItemKind?
    let decision: String
    /// The protection of the item that was stored when the put began.
    let replacing: Protection?
    /// How many versions it keeps from now on.
    let keepCount: Int?
}

extension Vault {
    func putInFileStore(
        _ target: FileTarget,
        _ intake: consuming PutContent,
        _ protectionClass: ProtectionClass,
        _ wantsProgress: Bool,
        _ call: Call,
        _ reply: @escaping () -> Reply
    ) throws -> Step {
        let vaultID = try keys.vaultID
        _ = try secret(toReplace: target)
        let write = try catalog.files.prepareWrite(target.name, in: target.group, as: protectionClass)
        call.atEnd { self.openCatalog?.files.finished(write) }
        write.endOnLock(try call.makeCancellation())
        let report = call.progressReport(wantsProgress, total: intake.size.count)
        return .work(with: intake) { (intake) throws(CofferError) in
            try write.perform(prefix: intake.prefix, rest: intake.rest, progress: report)
        } then: { byteCount in
            do {
                try call.checkSender()
                guard try self.keys.vaultID == vaultID else { throw CofferError.vaultIsGone }
                try self.commit(write, byteCount, target)
                return .done(reply())
            } catch {
                self.openCatalog?.files.discard(write)
                throw error
            }
        }
    }

    private func commit(_ write: ContentWrite, _ byteCount: Int64, _ target: FileTarget) throws {
        // The content was sealed under the class that was right when the transfer began. If another client has stored
        // an item with another protection meanwhile, that item stays.
        let replaced = try present(target.name, in: target.group)
        guard replaced?.protection == target.replacing else {
            throw CofferError(
                .duplicateItem,
                "can't store \(target.name.quoted): another client has changed it meanwhile",
                hint: "repeat the command, if it still is to be replaced"
            )
        }
        let catalog = try catalog
        let now = wallClockMilliseconds()
        try catalog.change { changes in
            let item = try secret(toReplace: target)
            let inode = try catalog.files.commit(
                write,
                at: target.name,
                in: target.group,
                byteCount: byteCount,
                kind: target.kind,
                created: item?.created,
                decision: target.decision,
                keptItem: try item.map { try catalog.keychain.setAside($0, now: now) },
                keepCount: target.keepCount,
                now: now
            )
            let kind = replaced == nil ? ItemChange.Kind.added : .changed
            changes.note(ItemChange(kind, file: target.name, in: target.group, inode: inode))
        }
    }

    /// Refuses to make a secret of a file that has versions, which the keychain can't keep.
    func checkNoVersions(at spot: FileSpot) throws {
        guard let entry = try catalog.files.entry(spot.name, in: spot.group),
            try !catalog.files.formerFiles(of: entry).versions.isEmpty
        else { return }
        throw CofferError(
            .param,
            "can't store \(spot.name.quoted) in the keychain: it is a file with versions, which would be lost",
            hint: "leave out --store and --accessible; 'coffer file versions \(spot.name.path)' lists the versions"
        )
    }

    /// The keychain item that a file is going to replace; `nil` if there is none.
    ///
    /// - Throws: If its key is not available, or it has an access control, which files don't have.
    private func secret(toReplace target: FileTarget) throws -> KeychainItem? {
        let key = GenericPasswordKey(target.name, in: target.group)
        guard let item = try catalog.keychain.find(key) else { return nil }
        try checkReplacing(.keychain(item))
        guard item.attributes.accessControl == nil else {
            throw CofferError(
                .param,
                "can't store \(quotedForDisplay(item.key.path)) as a file: the item has an access control, and files have none",
                hint: "remove it first, or choose another name"
            )
        }
        return item
    }
}

extension RoutingFacts.Size {
    /// The number of bytes, if it is known.
    fileprivate var count: Int64? {
        if case .exactly(let count) = self { count } else { nil }
    }
}
