internal import CofferFileContent
internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferRouting
internal import CofferSystem
internal import CofferVault
internal import CofferWire

// An item takes its attributes and its former values along to the other store. Each value is sealed anew there, the oldest
// first.

/// The contents of a file that become values of a keychain item, the oldest first.
struct MovedContents {
    /// A content, and when it was stored, in milliseconds since 1970.
    var all: [(secret: Held<SecretBytes>, since: Int64)] = []
    /// How many former values the item keeps; `nil` for as many as a new one.
    var keepCount: Int?
}

extension ItemHandlers {
    // MARK: Asked for in words

    /// Moves an item to the other store.
    func changeStore(
        of located: Vault.Located,
        to store: StoreName,
        _ wishes: RoutingWishes,
        _ params: ItemProtectParameters,
        _ call: Call
    ) throws -> Step {
        let info = located.info
        let verdict = try Routing.route(
            RoutingFacts(formerKind: info.kind, size: .exactly(info.byteCount)),
            wishes: wishes,
            bounds: vault.routing.bounds
        )
        let warnings = verdict.protection.warnings(convertedFrom: verdict.convertedFrom)
        func finish(_ move: (Catalog) throws -> ItemChange) throws -> Step {
            let catalog = try catalog
            let moved = try catalog.change { changes in
                let change = try move(catalog)
                changes.note(change)
                return try vault.require(params.name, in: info.group).info
            }
            return .done(Reply(ProtectionChange(item: moved, warnings: warnings)))
        }
        switch (located.item, verdict.protection) {
        case (.keychain(let item), .file(let protectionClass)):
            guard item.attributes.name != nil else { throw CofferError.noFile(item) }
            try item.checkCanBeFile()
            return try finish { _ in
                let context = call.caller.context
                let inode = try moveToFiles(item, params.name, as: protectionClass, verdict.decision, context)
                return ItemChange(.changed, file: params.name, in: info.group, inode: inode)
            }
        case (.file(let file), .keychain(let accessibility)):
            return try contents(toMove: file, isReplaced: false, call) { contents in
                try finish { catalog in
                    let key = GenericPasswordKey(params.name, in: info.group)
                    let (decision, context) = (verdict.decision, call.caller.context)
                    _ = try self.moveToKeychain(contents, of: file, as: key, accessibility, decision, context)
                    guard let item = try catalog.keychain.find(key) else { throw CofferError.notFound(params.name) }
                    return ItemChange(.changed, item)
                }
            }
        case (.keychain, .keychain), (.file, .file):
            throw CofferError(.param, "\(params.name.quoted) is in the \(store.words) already")
        }
    }

    // MARK: To the file store

    /// Makes a file of a keychain item, within the open transaction: its former values become versions.
    ///
    /// - Returns: The number of the file.
    /// - Throws: `interactionNotAllowed` if a key that is needed is not in memory; `param`, `dataTooLarge` if a file can't
    ///   have its attributes.
    @discardableResult
    func moveToFiles(
        _ item: KeychainItem,
        _ name: ItemName,
        as protectionClass: ProtectionClass,
        _ decision: String,
        _ context: AuthenticationContext
    ) throws -> Int64 {
        let (files, keychain, group) = (try catalog.files, try catalog.keychain, item.attributes.group)
        let attributes = try KeychainChange(attributes: item.allValues, user: item.attributes.user).extendedAttributes()
        func add(_ secret: borrowing SecretBytes, since: Int64) throws -> Int64 {
            let write = try files.prepareWrite(name, in: group, as: protectionClass)
            defer { files.openContents.finished(write) }
            do {
                let byteCount = try write.perform(prefix: secret, rest: nil)
                return try files.commit(
                    write,
                    at: name,
                    in: group,
                    byteCount: byteCount,
                    kind: item.kind,
                    created: item.created,
                    decision: decision,
                    extended: attributes,
                    keepCount: item.attributes.historyLimit,
                    now: since
                )
            } catch {
                files.discard(write)
                throw error
            }
        }
        var since = item.created
        let former = try keychain.histories.values(of: item)
        guard former.damaged.isEmpty else {
            throw CofferError.damaged(
                "a former value of \(item.attributes.quoted)",
                found: "it can't become a version of a file"
            )
        }
        for value in former.values.reversed() {
            _ = try add(try keychain.histories.secret(value.number, of: item, with: context), since: since)
            since = value.replaced
        }
        let inode = try add(try keychain.secret(of: item, with: context), since: since)
        try keychain.remove(item)
        return inode
    }

    // MARK: To the keychain

    /// Reads the contents of a file that go along to the keychain.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - isReplaced: Whether its content is about to be replaced: then it goes along only if the file keeps versions.
    ///   - next: Continues with the contents.
    /// - Throws: `dataTooLarge` if one of them has more bytes than a secret may have; `interactionNotAllowed`; `decode`.
    func contents(
        toMove file: FileItem,
        isReplaced: Bool,
        _ call: Call,
        then next: @escaping (MovedContents) throws -> Step
    ) throws -> Step {
        let files = try catalog.files
        let entry = try files.requireEntry(try ItemName(file.path), in: file.group)
        let former = try files.versions.formerFiles(of: entry)
        guard former.damaged.isEmpty else {
            throw CofferError.damaged("a version of \(entry.quoted)", found: "it can't go along to the keychain")
        }
        var moved = MovedContents(keepCount: former.keepCount == 0 ? nil : min(former.keepCount, Limits.historyValues))
        var (items, since): ([(item: FileItem, since: Int64)], Int64) = ([], file.created)
        for version in former.versions.reversed() {
            items.append((try files.versions.version(version.number, of: entry), since))
            since = version.replaced
        }
        if !isReplaced || former.keepCount > 0 || !items.isEmpty { items.append((file, since)) }
        func collect(_ rest: ArraySlice<(item: FileItem, since: Int64)>) throws -> Step {
            guard let first = rest.first else { return try next(moved) }
            return try handlers.file.open(first.item, for: .read, files, call) { [self] open in
                handlers.file.close(open, files, atEndOf: call)
                guard open.byteCount <= Limits.secretBytes else { throw CofferError.noSecret(file, of: open.byteCount) }
                return try handlers.file.read(0..<open.byteCount, of: open, files, call) { content in
                    moved.all.append((Held(content), first.since))
                    return try collect(rest.dropFirst())
                }
            }
        }
        return try collect(items[...])
    }

    /// Makes a keychain item of the contents of a file, within the open transaction, and removes the file.
    ///
    /// - Returns: The attributes of the file, for an item that is stored under the key next.
    /// - Throws: `notAvailable` if a program has the file open for writing; `param` if the file has an extended attribute
    ///   that an item can't have; `dataTooLarge`; `interactionNotAllowed`.
    func moveToKeychain(
        _ contents: MovedContents,
        of file: FileItem,
        as key: GenericPasswordKey,
        _ accessibility: Accessibility,
        _ decision: String,
        _ context: AuthenticationContext
    ) throws -> KeychainChange {
        let catalog = try catalog
        if !contents.all.isEmpty { try catalog.files.versions.checkUnwritten(file) }
        var change = try KeychainChange(file.metadata.extended, of: quotedForDisplay(file.path))
        change.historyCount = contents.keepCount
        for content in contents.all {
            guard let secret = content.secret.take() else { throw CofferError.takenTwice }
            try catalog.keychain.put(
                key,
                secret: secret,
                accessibility: accessibility,
                kind: file.kind,
                created: file.created,
                decision: decision,
                change: change,
                now: content.since,
                with: context
            )
        }
        try catalog.files.remove(file, now: wallClockMilliseconds())
        return change
    }
}

extension KeychainItem {
    /// Refuses what a file can't have.
    func checkCanBeFile() throws(CofferError) {
        guard attributes.accessControl != nil else { return }
        throw CofferError(
            .param,
            "can't store \(quotedForDisplay(key.path)) as a file: the item has an access control, and files have none",
            hint: "remove it first, or choose another name"
        )
    }
}

extension CofferError {
    fileprivate static func noSecret(_ file: FileItem, of byteCount: Int64) -> CofferError {
        CofferError(
            .dataTooLarge,
            "can't move \(quotedForDisplay(file.path)) to the keychain: a content of it has \(byteCount) bytes, and the limit is "
                + "\(Limits.secretBytes) (32 KiB)",
            hint: "leave it a file; 'coffer file versions NAME --remove all' destroys former contents",
            operation: .create
        )
    }
}
