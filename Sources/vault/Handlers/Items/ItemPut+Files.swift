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
    /// The extended attributes that it gets besides.
    let attributes: ExtendedAttributes
    let context: AuthenticationContext
}

extension ItemHandlers {
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
        call.atEnd { self.openCatalog?.files.openContents.finished(write) }
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
        let replaced = try vault.present(target.name, in: target.group)
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
            if let item = try secret(toReplace: target) {
                try moveToFiles(item, target.name, as: write.protectionClass, target.decision, target.context)
            }
            let inode = try catalog.files.commit(
                write,
                at: target.name,
                in: target.group,
                byteCount: byteCount,
                kind: target.kind,
                created: nil,
                decision: target.decision,
                extended: target.attributes,
                keepCount: target.keepCount,
                now: now
            )
            catalog.noteExpiry(of: target.attributes)
            let kind = replaced == nil ? ItemChange.Kind.added : .changed
            changes.note(ItemChange(kind, file: target.name, in: target.group, inode: inode))
        }
    }

    /// The keychain item that a file is going to replace; `nil` if there is none.
    ///
    /// - Throws: If its key is not available, or it has an access control, which files don't have.
    func secret(toReplace target: FileTarget) throws -> KeychainItem? {
        let key = GenericPasswordKey(target.name, in: target.group)
        guard let item = try catalog.keychain.find(key) else { return nil }
        try checkReplacing(.keychain(item))
        try item.checkCanBeFile()
        return item
    }
}

extension RoutingFacts.Size {
    /// The number of bytes, if it is known.
    fileprivate var count: Int64? {
        if case .exactly(let count) = self { count } else { nil }
    }
}
