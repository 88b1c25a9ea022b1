internal import CofferRights
internal import CofferFileContent
internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferSystem
package import CofferVault
package import CofferWire
internal import Glibc

extension ItemHandlers {
    // MARK: Reading

    /// Reads an item, or a part of it.
    package func itemGet(_ params: ItemGetParameters, _ call: Call) throws -> Step {
        let group = try call.group(params.group)
        let name = params.name
        call.isFor("can't read \(name.quoted)")
        let descriptor = try call.attachments.takeDescriptor()
        let catalog = try catalog
        let key = GenericPasswordKey(params.name, in: group)
        if let opened = try catalog.keychain.open(key, with: call.caller.context) {
            let (accessibility, expiryDate) = (opened.item.accessibility, opened.item.expiryDate)
            return try .content(
                Self.part(of: opened.takeSecret(), params),
                .keychain(accessibility),
                expiryDate: expiryDate
            )
        }
        guard let file = try catalog.files.find(params.name, in: group) else {
            return try getQualified(params, in: group, call)
        }
        let output = Held(descriptor)
        if catalog.files.openFiles.hasChunks(file) {
            return try afterUse(call) { try handlers.file.getInParts(file, params, to: output, call) }
        }
        let range = try params.range(in: file.byteCount)
        let read = try catalog.files.prepareRead(file)
        call.atEnd { self.openCatalog?.files.openContents.finished(read) }
        return try afterUse(call) {
            guard let descriptor = output.take() else { return try self.deliver(read, range, params.name) }
            return try self.stream(read, range, to: descriptor, params.wantsProgress, call)
        }
    }

    /// Reads a keychain item whose name is no path.
    private func getQualified(_ params: ItemGetParameters, in group: String, _ call: Call) throws -> Step {
        guard let item = try vault.qualified(params.name, in: group) else { throw CofferError.notFound(params.name) }
        guard item.isExtractable else { throw CofferError.staysInside(item) }
        let secret = try catalog.keychain.secret(of: item, with: call.caller.context)
        return try .content(Self.part(of: secret, params), .keychain(item.accessibility), expiryDate: item.expiryDate)
    }

    /// Continues after the commit that counts the use of a rule: before that, not a byte is sent.
    private func afterUse(_ call: Call, _ next: @escaping Step.Next) throws -> Step {
        call.countsUse ? .committed(next) : try next()
    }

    /// The requested part of a secret.
    private static func part(of secret: consuming SecretBytes, _ params: ItemGetParameters) throws -> SecretBytes {
        let range = try params.range(in: Int64(secret.count))
        if range.count == secret.count { return secret }
        return try secret.withBytes { bytes in
            try SecretBytes(copying: bytes.extracting(Int(range.lowerBound)..<Int(range.upperBound)))
        }
    }

    /// Writes the content to a descriptor.
    private func stream(
        _ read: ContentRead,
        _ range: Range<Int64>,
        to descriptor: consuming PeerDescriptor,
        _ wantsProgress: Bool,
        _ call: Call
    ) throws -> Step {
        let cancellation = try call.makeCancellation()
        read.endOnLock(cancellation)
        let report = call.progressReport(wantsProgress, total: Int64(range.count))
        return .work(with: descriptor) { (descriptor) throws(CofferError) in
            let output = try PeerStream(descriptor, for: O_WRONLY, cancellation: cancellation)
            try read.perform(range, to: output, progress: report)
        } then: { _ in
            .done(Reply(ItemGetResult(store: .file, byteCount: Int64(range.count), delivery: .descriptor)))
        }
    }

    /// Sends the content with the reply.
    private func deliver(_ read: ContentRead, _ range: Range<Int64>, _ name: ItemName) throws -> Step {
        try range.checkFits(name)
        // A switch of threads costs more than opening a chunk.
        if let cached = try read.collectIfCached(range) { return reply(with: cached, of: read) }
        return .work(with: ()) { (_) throws(CofferError) in
            try read.collect(range)
        } then: { content in
            self.reply(with: content, of: read)
        }
    }

    private func reply(with content: consuming SecretBytes, of read: ContentRead) -> Step {
        // Its class may have changed since the read began.
        .content(content, .file(openCatalog?.files.openContents.protectionClass(of: read) ?? read.protectionClass))
    }

    package func itemShow(_ params: ItemShowParameters, _ call: Call) throws -> Step {
        let located = try vault.require(params.name, in: try call.group(params.group))
        let (catalog, state) = (try catalog, try keys.state)
        switch located.item {
        case .keychain(let item):
            return .done(Reply(ItemInfo(item, in: state, details: try ItemDetails(item, catalog.keychain))))
        case .file(let file): return .done(Reply(ItemInfo(file, catalog.files, in: state, isWhole: true)))
        }
    }

    package func itemList(_ params: ItemListParameters, _ call: Call) throws -> Step {
        call.isFor("can't list the items")
        if params.wantsCompletions { return try itemCompletions(params, call) }
        let keys = try keys
        if params.isForExport { try handlers.context.requirePasscode(call, "can't list the items for an export") }
        if params.isOfAllGroups && params.group != nil {
            throw CofferError(.param, "parameters 'group' and 'allGroups' were both given", hint: "give one of them")
        }
        let groups: AccessGroups = params.isOfAllGroups ? call.caller.rights.reach : [try call.group(params.group)]
        let files = try catalog.files
        let describe = { (item: StoredItem, name: String) in ItemInfo(item, named: name, files, in: keys.state) }
        let listing = try ItemListing(params, in: groups, describe: describe) {
            Reply(ItemPage(items: $0, next: $1, damagedCount: $2.damagedCount, sealedCount: $2.sealedCount))
        }
        return try perform(listing, call)
    }

    private func itemCompletions(_ params: ItemListParameters, _ call: Call) throws -> Step {
        try params.checkForCompletions()
        let (group, prefix) = (try call.group(params.group), params.prefix ?? "")
        let kept = try catalog.changes.names
        if let names = kept.list { return .done(Reply(completions: names.completions(of: prefix, in: group))) }
        return try perform(Completions(of: prefix, in: group, kept), call)
    }

    // MARK: Changing

    package func itemRemove(_ params: ItemRemoveParameters, _ call: Call) throws -> Step {
        call.isFor("can't remove \(params.name.quoted)")
        let group = try call.group(params.group)
        if params.keepsInTrash && settings.trash.isOn {
            return try handlers.trash.discard(params.name, in: group, call)
        }
        let item: StoredItem
        do { item = try vault.require(params.name, in: group).item } catch let error as CofferError
            where error.code == .interactionNotAllowed
        {
            try removeSealed(params.name, in: group)
            return .done(Reply(ItemRemoveResult()))
        }
        try catalog.change(isRemoval: true) { changes in
            try remove(item, call)
            changes.note(item.change(.removed))
        }
        return .done(Reply(ItemRemoveResult()))
    }

    /// Removes an item whose metadata can be opened after the first unlock only: a file, because a secret may have an
    /// access control that protects it against this.
    private func removeSealed(_ name: ItemName, in group: String) throws {
        try checkSealedFile(name, in: group)
        try catalog.change(isRemoval: true) { changes in
            let inode = try catalog.files.removeEntry(name, in: group, now: wallClockMilliseconds())
            changes.note(ItemChange(.removed, file: name, in: group, inode: inode))
        }
    }

    /// Refuses the name of a secret, or of nothing, whose metadata can be opened after the first unlock only.
    func checkSealedFile(_ name: ItemName, in group: String) throws {
        let isSecret = try catalog.keychain.contains(GenericPasswordKey(name, in: group))
        guard try !isSecret && catalog.files.protectionClass(of: name, in: group) != nil else {
            throw CofferError.locked(name.quoted, in: try keys.state, for: .write)
        }
    }

    /// Refuses to replace an item unless its key is available: replacing all of it is creating it.
    func checkReplacing(_ item: StoredItem?) throws(CofferError) {
        let state = try keys.state
        if let item, !item.protection.permits(.create, in: state) {
            throw .locked(quotedForDisplay(item.path), in: state, for: .write)
        }
    }

    /// Removes an item of either store, within the open transaction.
    func remove(_ item: StoredItem, _ call: Call) throws {
        switch item {
        case .keychain(let item): try catalog.keychain.remove(item, with: call.caller.context)
        case .file(let file): try catalog.files.remove(file, now: wallClockMilliseconds())
        }
    }
}
