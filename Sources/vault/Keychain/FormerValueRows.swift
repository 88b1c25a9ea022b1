internal import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys
internal import CofferMemory

/// Checks, quarantines and restores the rows of former values.
///
/// Those of a damaged item are not findings of their own: they are moved with it.
struct FormerValueRows: SealedTable {
    static let numbersSQL: StaticString = "SELECT id FROM keychain_history WHERE id >= ? ORDER BY id LIMIT ?"
    static let rowSQL: StaticString = """
        SELECT id, class_key, metadata, wrapped_key, secret, uuid FROM keychain_history WHERE id = ?
        """
    static let quarantineSQL: StaticString = """
        INSERT INTO keychain_quarantine (stage, damage, moved, row, uuid, class_key, metadata, wrapped_key, secret)
        SELECT 'formerValues', ?, ?, id, uuid, class_key, metadata, wrapped_key, secret
        FROM keychain_history WHERE id = ?
        """
    static let removeSQL: StaticString = "DELETE FROM keychain_history WHERE id = ?"
    static let quarantinedRowSQL: StaticString = """
        SELECT row, class_key, metadata, wrapped_key, secret, uuid FROM keychain_quarantine WHERE id = ?
        """
    static let restoreSQL: StaticString = """
        INSERT INTO keychain_history (id, uuid, class_key, metadata, wrapped_key, secret)
        SELECT iif(EXISTS (SELECT 1 FROM keychain_history WHERE id = row), NULL, row),
            uuid, class_key, metadata, wrapped_key, secret
        FROM keychain_quarantine WHERE id = ?
        """
    static let stage = CheckStage.formerValues
    static let store = StoreName.keychain
    static let takenWords = ItemRows.takenWords

    let store: KeychainStore
    var connection: Connection { store.connection }

    func examine(_ row: borrowing Row) throws -> Examination<ItemAttributes> {
        var seen = Examination<ItemAttributes>()
        do {
            seen.reference = ItemID(try row.blob(5))
            guard let reference = seen.reference else {
                seen.damage = .row
                return seen
            }
            let item: KeychainItem
            do {
                guard let found = try store.find(reference) else {
                    seen.damage = .missingOwner
                    return seen
                }
                item = found
            } catch let error as CofferError where error.code == .decode {
                return seen
            }
            seen.contents = item.attributes
            let classKey = try row.integer(1)
            guard Accessibility(classKey: classKey) != nil else {
                seen.damage = .row
                return seen
            }
            let value: EarlierValue
            do {
                value = try store.earlierValue(of: item, in: row)
            } catch let error as CofferError where error.code == .decode {
                let context = KeychainStore.historyContext(item.id, classKey)
                let isAuthentic = try row.withBlob(2) { sealed in
                    (try? store.openNames(sealed, context)) != nil
                }
                seen.damage = isAuthentic ? .exchangedSecret : .metadata
                return seen
            }
            if item.isLeftBehind { return seen }
            try seen.trySecret {
                try row.withBlob(3) { wrapped in
                    try row.withBlob(4) { sealed in
                        let former = item.with(value.accessibility)
                        return try store.openSecret(of: former, wrapped, sealed, with: nil).count == value.byteCount
                    }
                }
            }
            if seen.damage == nil && value.accessibility != item.accessibility {
                if value.isAvailable(in: store.keys.state, as: item.accessibility) {
                    seen.damage = .otherClass
                    seen.repair = .rewrite
                } else {
                    seen.isSealed = true
                }
            }
        } catch let error as CofferError where error.code == .interactionNotAllowed {
            seen.isSealed = true
        } catch let error as DatabaseError where error.kind == .damaged {
            seen.damage = .row
        }
        return seen
    }

    func name(of contents: ItemAttributes, for groups: AccessGroups) -> String? { contents.name(for: groups) }

    func examineQuarantined(_ row: borrowing Row) throws -> Examination<ItemAttributes> {
        var seen = try examine(row)
        // A value that was moved only because of its class gets the class of its item when it is restored.
        if seen.damage == .otherClass { seen.damage = nil }
        // The values of a damaged item wait for it.
        if seen.damage == nil && seen.contents == nil { seen.damage = .missingOwner }
        return seen
    }

    func mend(_ number: Int64, _ seen: Examination<ItemAttributes>, _ now: Int64) throws -> Int {
        try connection.transaction { try store.alignHistory(number) }
        return 0
    }

    func complete(_ number: Int64, _ contents: ItemAttributes) throws { try store.alignHistory(number) }

    func discard(_ number: Int64) {}
}
