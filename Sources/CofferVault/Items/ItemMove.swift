package import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferSystem
package import CofferWire

extension Vault {
    /// Renames an item: one row of the catalog, which needs the store key only.
    package func itemMove(_ params: ItemMoveParameters, _ call: Call) throws(CofferError) -> Step {
        let group = try call.caller.group(nil)
        let located = try requireItem(params.name, in: group)
        do {
            let catalog = try catalog
            let info = try catalog.change { changes in
                if params.name == params.target { return located.info }
                try move(located.item, params, in: group, catalog, call.caller.context)
                let moved = try require(params.target, in: group)
                changes.note(moved.item.renamed(from: params.name))
                return moved.info
            }
            return .done(Reply(info))
        } catch {
            throw .init(mapping: error, "can't move \(params.name.quoted)")
        }
    }

    private func move(
        _ item: StoredItem,
        _ params: ItemMoveParameters,
        in group: String,
        _ catalog: Catalog,
        _ context: AuthenticationContext
    ) throws {
        let target = params.target
        switch item {
        case .keychain(let item):
            try checkNoDirectory(target, in: group, catalog)
            // With another spelling, the target may be the item itself.
            if let existing = try stored(target, in: group)?.item, !existing.isSame(as: item) {
                try checkReplacing(existing, target, params.replaces)
                switch existing {
                case .keychain(let item): try catalog.keychain.remove(item, with: context)
                case .file(let file): try catalog.files.remove(file)
                }
            }
            try catalog.keychain.rename(item, to: GenericPasswordKey(target, in: group), with: context)
        case .file:
            if let existing = try stored(target, in: group)?.item {
                try checkReplacing(existing, target, params.replaces)
                if case .keychain(let item) = existing { try catalog.keychain.remove(item, with: context) }
            }
            try catalog.files.move(
                params.name,
                to: target,
                in: group,
                replaces: params.replaces,
                now: wallClockMilliseconds()
            )
        }
    }

    /// Refuses to replace an item unless the client asks for it and its key is available.
    private func checkReplacing(_ existing: StoredItem, _ name: ItemName, _ isWanted: Bool) throws(CofferError) {
        guard isWanted else {
            throw CofferError(
                .duplicateItem,
                "there is an item \(name.quoted) already",
                hint: "choose another name, or replace it with '--replace'",
                operation: .create
            )
        }
        switch existing {
        case .keychain(let item): try checkReplacing(item)
        case .file(let file): try checkReplacing(file)
        }
    }

    /// Finds an item; a directory of that name is an error.
    private func requireItem(_ name: ItemName, in group: String) throws(CofferError) -> Located {
        if let located = try stored(name, in: group) { return located }
        let isDirectory: Bool
        do { isDirectory = try catalog.files.entry(name, in: group)?.isDirectory ?? false } catch {
            throw .init(mapping: error, "can't look for \(name.quoted)")
        }
        guard isDirectory else { return try require(name, in: group) }
        throw CofferError(
            .param,
            "can't move \(name.quoted): it is a directory, and no item",
            hint: "'coffer file move' moves a directory with all that is in it"
        )
    }
}

extension StoredItem {
    fileprivate func isSame(as other: KeychainItem) -> Bool {
        if case .keychain(let item) = self { item.id == other.id } else { false }
    }
}
