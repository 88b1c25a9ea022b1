internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferRouting
internal import CofferSystem
package import CofferVault
package import CofferWire

extension ItemHandlers {
    /// Renames an item: one row of the catalog, which needs the store key only.
    package func itemMove(_ params: ItemMoveParameters, _ call: Call) throws -> Step {
        let group = try call.group(params.group)
        call.isFor("can't move \(params.name.quoted)")
        let located = try requireItem(params.name, in: group)
        let info = try catalog.change { changes in
            if params.name == params.target { return located.info }
            if let qualified = QualifiedName(params.target) {
                try rename(located.item, to: params.target, qualified, in: group, call)
            } else {
                try move(located.item, params, in: group, call)
            }
            let moved = try vault.require(params.target, in: group)
            changes.note(moved.item.renamed(from: params.name))
            return moved.info
        }
        return .done(Reply(info))
    }

    /// Gives a keychain item the attributes of a name that is no path.
    private func rename(
        _ item: StoredItem,
        to name: ItemName,
        _ target: QualifiedName,
        in group: String,
        _ call: Call
    ) throws {
        guard case .keychain(let item) = item, item.attributes.itemClass == target.itemClass,
            item.attributes.name == nil
        else {
            return try name.checkIsPath()
        }
        let catalog = try catalog
        if try catalog.keychain.find(target, in: group) != nil {
            throw CofferError(
                .duplicateItem,
                "there is an item of the new name already",
                hint: "choose another name, or remove that item",
                operation: .create
            )
        }
        var attributes = item.attributes
        attributes.values.merge(AttributeValues(target.attributes))
        try catalog.keychain.update(
            item,
            to: attributes,
            secret: nil,
            accessibility: item.accessibility,
            now: item.modified,
            with: call.caller.context
        )
    }

    private func move(_ item: StoredItem, _ params: ItemMoveParameters, in group: String, _ call: Call) throws {
        let catalog = try catalog
        let target = params.target
        if case .keychain = item { try catalog.checkNoDirectory(target, in: group) }
        if let present = try vault.present(target, in: group) {
            let existing = try replaceable(present, target, params.replaces)
            // A file takes the place of a file itself.
            if existing.protection.store == .keychain || item.protection.store == .keychain {
                try remove(existing, call)
            }
        }
        switch item {
        case .keychain(let item):
            guard item.attributes.itemClass == .genericPassword else {
                throw CofferError(
                    .param,
                    "can't move \(params.name.quoted): a \(item.attributes.itemClass.word) has no path",
                    hint: "'coffer keychain update' changes what it is named by"
                )
            }
            let key = GenericPasswordKey(target, in: group)
            try catalog.keychain.rename(item, to: key, with: call.caller.context)
        case .file:
            try catalog.files.move(
                params.name,
                to: target,
                in: group,
                params.replaces ? .replaces : .refuses,
                now: wallClockMilliseconds()
            )
        }
    }

    /// Refuses to replace an item unless the client asks for it and its key is available.
    private func replaceable(_ present: Vault.Present, _ name: ItemName, _ isWanted: Bool) throws -> StoredItem {
        guard isWanted else {
            throw CofferError(
                .duplicateItem,
                "there is an item \(name.quoted) already",
                hint: "choose another name, or replace it with '--replace'",
                operation: .create
            )
        }
        guard let existing = present.located?.item else {
            throw CofferError.locked(name.quoted, in: try keys.state, for: .write)
        }
        try checkReplacing(existing)
        return existing
    }

    /// Finds an item; a directory of that name is an error.
    private func requireItem(_ name: ItemName, in group: String) throws -> Vault.Located {
        if let located = try vault.stored(name, in: group) { return located }
        guard try catalog.files.entry(name, in: group)?.isDirectory == true else {
            return try vault.require(name, in: group)
        }
        throw CofferError(
            .param,
            "can't move \(name.quoted): it is a directory, and no item",
            hint: "'coffer file move' moves a directory with all that is in it"
        )
    }

    /// Changes the protection of an item: one row of the catalog, whatever the item's size.
    ///
    /// As for a put, a protection of the other store is converted.
    package func itemProtect(_ params: ItemProtectParameters, _ call: Call) throws -> Step {
        let group = try call.group(params.group)
        call.isFor("can't protect \(params.name.quoted)")
        var wishes = RoutingWishes(
            store: params.store,
            protectionClass: params.protectionClass,
            accessibility: params.accessibility
        )
        let asked = try wishes.named()
        guard asked != nil || params.store != nil else {
            throw CofferError(
                .param,
                "can't protect \(params.name.quoted): none of 'class', 'accessible' and 'store' was named",
                hint: "name a class or an accessibility: it is converted to the item's store"
            )
        }
        let located = try vault.require(params.name, in: group)
        let store = located.info.protection.store
        if let target = params.store, target != store {
            wishes.existing = located.info.protection
            return try handlers.file.settled(params.name, in: group, call) { [self, wishes] in
                try changeStore(of: vault.require(params.name, in: group), to: target, wishes, params, call)
            }
        }
        let named = asked ?? located.info.protection
        guard let protection = named.converted(to: store) else {
            throw CofferError(
                .param,
                "can't protect \(params.name.quoted) as \(named.name): it is in the \(store.words), and only the "
                    + "\(named.store.words) has that",
                hint: "'--store \(named.store.rawValue)' moves it there"
            )
        }
        let catalog = try catalog
        let now = wallClockMilliseconds()
        let item = try catalog.change { changes in
            switch (located.item, protection) {
            case (.keychain(let item), .keychain(let accessibility)):
                try catalog.keychain.protect(item, as: accessibility, now: now, with: call.caller.context)
            case (.file(let file), .file(let protectionClass)):
                try catalog.files.protect(file, as: protectionClass, now: now)
            case (.keychain, .file), (.file, .keychain):
                preconditionFailure("a protection is converted to the store of its item")
            }
            if located.info.protection != protection { changes.note(located.item.change(.changed)) }
            return try vault.require(params.name, in: group).info
        }
        let warnings = protection.warnings(convertedFrom: named.store == store || wishes.namesBoth ? nil : named)
        return .done(Reply(ProtectionChange(item: item, warnings: warnings)))
    }
}

extension StoredItem {
    fileprivate func isSame(as other: StoredItem) -> Bool {
        guard case .keychain(let item) = self, case .keychain(let other) = other else { return false }
        return item.id == other.id
    }
}
