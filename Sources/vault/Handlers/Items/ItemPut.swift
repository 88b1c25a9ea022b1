internal import CofferFileContent
internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferRouting
internal import CofferSystem
package import CofferVault
package import CofferWire
internal import Glibc

extension ItemHandlers {
    package func itemPut(_ params: ItemPutParameters, _ call: Call) throws -> Step {
        let group = try call.group(params.wishes.group)
        guard try catalog.files.versions.mayKeepVersions else { return try put(params, in: group, call) }
        // What is replaced becomes a version, with all that was written to it.
        return try handlers.file.settled(params.name, in: group, call) { [self] in try put(params, in: group, call) }
    }

    private func put(_ params: ItemPutParameters, in group: String, _ call: Call) throws -> Step {
        let vaultID = try keys.vaultID
        let name = params.name
        call.isFor("can't store \(name.quoted)")
        let payload = try call.attachments.takePayload().orEmpty()
        guard let descriptor = try call.attachments.takeDescriptor() else {
            return try store(PutContent(prefix: payload, rest: nil), params, in: group, call)
        }
        let stream = try PeerStream(descriptor, for: O_RDONLY, cancellation: try call.makeCancellation())
        return .work(with: PutContent(prefix: payload, rest: stream)) { (intake) throws(CofferError) in
            try intake.filled(to: Limits.secretBytes + 1)
        } then: { intake in
            try call.checkSender()
            // A transfer takes time: meanwhile the vault may have been erased and a new one made.
            guard try self.keys.vaultID == vaultID else { throw CofferError.vaultIsGone }
            return try self.store(intake, params, in: group, call)
        }
    }

    private func store(
        _ intake: consuming PutContent,
        _ params: ItemPutParameters,
        in group: String,
        _ call: Call
    ) throws -> Step {
        let spot = try catalog.files.spot(of: params.name, in: group)
        let before = try vault.present(params.name, in: group, at: spot)
        if params.isIfAbsent && before != nil { throw CofferError.existsAlready(params.name) }
        try params.checkAttributes()
        let replaced = before?.located?.qualifiedItem
        if before == nil { try params.name.checkIsPath() }
        let size = intake.size
        let verdict = try intake.prefix.withBytes { content in
            try route(
                params.name,
                in: group,
                at: spot,
                over: before,
                params.wishes,
                content,
                size: size,
                for: call.caller.identity,
                entitled: call.caller.rights.protection
            )
        }
        if let before, before.protection.store != verdict.store { try checkLeaving(before, params.name) }
        switch verdict.protection {
        case .keychain(let accessibility):
            let context = call.caller.context
            if let replaced {
                try replaceSecret(of: replaced, by: intake.prefix, params, accessibility, context)
                return .done(Reply(Placement(verdict, replacing: before?.protection)))
            }
            let reply = Placement(verdict, replacing: before?.protection)
            let decision = verdict.decision
            guard let file = before?.located?.item.file else {
                try putInKeychain(params, intake.prefix, accessibility, decision, at: spot, over: before, context)
                return .done(Reply(reply))
            }
            let held = Held(intake.prefix)
            return try contents(toMove: file, isReplaced: true, call) { [self] contents in
                guard let secret = held.take() else { throw CofferError.takenTwice }
                try putInKeychain(params, secret, accessibility, decision, at: spot, over: before, context, contents)
                return .done(Reply(reply))
            }
        case .file(let protectionClass):
            if let replaced { throw CofferError.noFile(replaced) }
            guard params.accessControl == nil else { throw CofferError.noAccessControl(params.name) }
            let target = FileTarget(
                name: params.name,
                group: group,
                kind: params.wishes.kind ?? before?.kind,
                decision: verdict.decision,
                replacing: before?.protection,
                keepCount: params.keepCount,
                attributes: try params.change.extendedAttributes(),
                context: call.caller.context
            )
            return try putInFileStore(target, intake, protectionClass, params.wantsProgress, call) {
                Reply(Placement(verdict, replacing: before?.protection))
            }
        }
    }

    /// Routes an item.
    ///
    /// - Parameters:
    ///   - name: Its name, if it has one.
    ///   - group: The group that it goes to.
    ///   - spot: Where the name is in the file store.
    ///   - existing: The item that is stored under the name.
    ///   - wishes: The wishes of the caller.
    ///   - content: Its first bytes.
    ///   - size: Its size.
    ///   - client: The client that stores it.
    ///   - entitled: The protection that the client's entitlement prescribes.
    func route(
        _ name: ItemName?,
        in group: String,
        at spot: FileSpot?,
        over existing: Vault.Present?,
        _ wishes: PlacementOptions,
        _ content: RawSpan,
        size: RoutingFacts.Size,
        for client: ClientIdentity,
        entitled: Protection?
    ) throws -> Verdict {
        try Routing.route(
            RoutingFacts(
                content,
                size: size,
                wishes,
                formerKind: existing?.kind,
                isInDirectory: spot?.isInMadeDirectory ?? false
            ),
            wishes: RoutingWishes(
                store: wishes.store,
                protectionClass: wishes.protectionClass,
                accessibility: wishes.accessibility,
                leastClass: wishes.leastClass,
                existing: existing?.protection,
                directory: spot?.defaultClass,
                entitled: entitled,
                configured: vault.routing.protection(of: name, from: client),
                group: try catalog.defaultClass(of: group, keys)
            ),
            bounds: vault.routing.bounds
        )
    }

    /// Refuses to move an item to the other store if it can't be read: its values go along.
    private func checkLeaving(_ item: Vault.Present, _ name: ItemName) throws {
        let state = try keys.state
        if item.protection == .keychain(.whenUnlockedDeposit), !item.protection.isReadable(in: state) {
            throw CofferError.depositStays(name, in: state)
        }
        if item.isSealed { throw CofferError.locked(name.quoted, in: state, for: .write) }
    }

    /// Replaces the secret of a keychain item whose name is no path.
    private func replaceSecret(
        of item: KeychainItem,
        by secret: consuming SecretBytes,
        _ params: ItemPutParameters,
        _ accessibility: Accessibility,
        _ context: AuthenticationContext
    ) throws {
        try NewItem.checkReplaceable(item)
        let catalog = try catalog
        let secret: SecretBytes? = consume secret
        try catalog.change { changes in
            try catalog.keychain.update(
                item,
                to: item.attributes.changed(by: params.change, group: nil),
                secret: secret,
                accessibility: accessibility,
                now: wallClockMilliseconds(),
                with: context
            )
            changes.note(ItemChange(.changed, item))
        }
    }

    /// - Parameters:
    ///   - before: What was found under the name, which is in one store at a time.
    ///   - contents: Of a file that is replaced, what becomes former values.
    private func putInKeychain(
        _ params: ItemPutParameters,
        _ secret: borrowing SecretBytes,
        _ accessibility: Accessibility,
        _ decision: String,
        at spot: FileSpot,
        over before: Vault.Present?,
        _ context: AuthenticationContext,
        _ contents: MovedContents = MovedContents()
    ) throws {
        let key = GenericPasswordKey(params.name, in: spot.group)
        let (catalog, replaced) = (try catalog, before?.located?.item)
        try catalog.change { changes in
            if before == nil { try catalog.checkNoDirectory(at: spot) }
            let file = replaced?.file
            try checkReplacing(file.map(StoredItem.file))
            var change = params.change
            if let file {
                let moved = try moveToKeychain(contents, of: file, as: key, accessibility, decision, context)
                change = change.completed(by: moved)
            }
            let id = try catalog.keychain.put(
                key,
                over: before == nil ? .nothing : replaced?.secret.map { .item($0) } ?? .unknown,
                secret: secret,
                accessibility: accessibility,
                kind: params.wishes.kind ?? file?.kind,
                created: file?.created,
                decision: decision,
                change: change,
                now: wallClockMilliseconds(),
                with: context
            )
            changes.note(ItemChange(before == nil ? .added : .changed, id, ItemAttributes(key)))
        }
    }
}

extension Vault.Located {
    /// The keychain item, if its name is no path.
    fileprivate var qualifiedItem: KeychainItem? {
        if case .keychain(let item) = item, item.attributes.name == nil { item } else { nil }
    }
}

extension ItemPutParameters {
    /// The attributes as a change of an item.
    fileprivate var change: KeychainChange {
        KeychainChange(attributes: attributes, user: user, historyCount: keepCount, accessControl: accessControl)
    }

    /// Refuses attributes that are parts of the name, or that a put can't set.
    fileprivate func checkAttributes() throws(CofferError) {
        try NewItem.check(attributes, of: .genericPassword)
        for attribute in [KeychainAttribute.service, .account, .accessGroup, .synchronizable]
        where attributes[attribute] != nil {
            throw CofferError(
                .param,
                "parameter 'attributes': '\(attribute.rawValue)' is not for a put",
                hint: "the name, and 'group', say which item it is"
            )
        }
    }
}
