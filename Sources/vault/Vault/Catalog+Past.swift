package import CofferCore
internal import CofferDatabase
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
package import CofferPast

// The past of both stores: items come back to the one that they were in.

extension Catalog {
    /// Puts the item of an entry of the trash back, within the open transaction.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - label: Its label.
    ///   - target: The name that it gets; `nil` for the one that it had.
    ///   - moment: The time.
    /// - Returns: The item.
    /// - Throws: `duplicateItem` if the name is taken; as ``KeychainStore/putBack(_:as:_:)`` and
    ///   ``FileStore/putBack(_:at:in:now:)``.
    package func restore(
        _ entry: TrashEntry,
        _ label: TrashLabel,
        as target: ItemName?,
        at moment: TrashMoment
    ) throws -> StoredItem {
        let image = try past.takeOut(entry)
        guard label.protection.store == .file else {
            let attributes = try keychain.attributes(of: image, label.quoted)
            if let name = target ?? attributes.name { try checkFree(name, in: label.group) }
            let key = target.map { GenericPasswordKey($0, in: label.group) }
            return .keychain(try keychain.putBack(image, as: key, label.quoted))
        }
        let name = try target ?? ItemName(label.name)
        if try keychain.contains(GenericPasswordKey(name, in: label.group)) {
            throw CofferError.nameIsTaken(name.quoted)
        }
        try files.putBack(image, at: name, in: label.group, now: moment.wall)
        guard let file = try files.find(name, in: label.group) else {
            throw CofferError.damaged(name.quoted, found: "it is not where it was put")
        }
        return .file(file)
    }

    /// Refuses the name of a file or of a directory that was made: a name is in one store at a time.
    private func checkFree(_ name: ItemName, in group: String) throws {
        if try files.occupant(of: name, in: group) != nil { throw CofferError.nameIsTaken(name.quoted) }
    }

    /// Destroys a row of the past, within the open transaction.
    ///
    /// - Parameter number: Its number.
    package func destroy(_ number: Int64) throws { try files.versions.remove(try past.remove(number)) }

    /// Checks some rows of the past.
    ///
    /// - Parameters:
    ///   - number: The last one that was checked; `nil` at the beginning.
    ///   - order: The parameters of the check.
    /// - Throws: ``DatabaseError``.
    package func checkPast(after number: Int64?, _ order: CheckOrder) throws -> CheckSlice<Int64> {
        var slice = CheckSlice<Int64>()
        let rows = try past.check(after: number, limit: order.limit) { row, owner in
            try files.versions.check(row, of: owner) ?? keychain.check(row, of: owner, for: order.groups) ?? .lost
        }
        for (number, condition) in rows {
            slice.checkedCount += 1
            switch condition {
            case .whole: break
            case .sealed: slice.sealedCount += 1
            case .lost:
                if order.repairs { try connection.transaction { try destroy(number) } }
                slice.findings.append(Finding(.past, .missingOwner, repair: .rewrite, isRepaired: order.repairs))
            case .damaged(let name):
                slice.findings.append(Finding(.past, name: name, .metadata, repair: .copy, isRepaired: false))
            }
        }
        slice.next = rows.count < order.limit ? nil : rows.last?.number
        return slice
    }
}
