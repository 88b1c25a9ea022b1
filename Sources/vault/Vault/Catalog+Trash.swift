package import CofferCore
internal import CofferDatabase
internal import CofferFiles
package import CofferKeychain
internal import CofferKeys
package import CofferPast

// Moving items into the trash and out of it: one entry is the rows of an item of either store.

extension Catalog {
    /// Moves an item of the keychain to the trash, within the open transaction.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - context: The authentication of the client.
    ///   - policy: What the trash keeps.
    ///   - moment: The time.
    /// - Returns: The number of the entry.
    /// - Throws: `dataTooLarge` if it is larger than the trash; as ``KeychainStore/takeOut(_:with:)``.
    package func discard(
        _ item: KeychainItem,
        with context: AuthenticationContext,
        _ policy: TrashPolicy,
        at moment: TrashMoment
    ) throws -> Int64 {
        let taken = try keychain.takeOut(item, with: context)
        let label = TrashLabel(
            group: item.attributes.group,
            name: item.listedName,
            protection: .keychain(item.accessibility),
            itemClass: item.attributes.itemClass,
            kind: item.kind,
            byteCount: Int64(item.secretByteCount),
            removed: moment.wall
        )
        return try trash.add(
            label,
            image: taken.image,
            node: nil,
            wantsPasscode: taken.wantsPasscode,
            time: try trash.advance(to: moment)
        )
    }

    /// Moves a file to the trash, in every state of the vault, within the open transaction.
    ///
    /// - Parameters:
    ///   - name: Its path.
    ///   - group: Its group.
    ///   - policy: What the trash keeps.
    ///   - moment: The time.
    /// - Returns: The number of the entry; `nil` if the file has other names and only lost this one. The number of the file.
    /// - Throws: `dataTooLarge` if it is larger than the trash; as ``FileStore/takeOut(_:in:now:)``.
    package func discard(
        file name: ItemName,
        in group: String,
        _ policy: TrashPolicy,
        at moment: TrashMoment
    ) throws -> (entry: Int64?, inode: Int64) {
        guard let taken = try files.takeOut(name, in: group, now: moment.wall) else {
            return (nil, try files.removeEntry(name, in: group, now: moment.wall))
        }
        guard taken.byteCount.nearestSum(taken.versionBytes) <= policy.byteCount else {
            throw CofferError.largerThanTrash(name, policy)
        }
        let label = TrashLabel(
            group: group,
            name: name.path,
            protection: .file(taken.protectionClass),
            kind: taken.kind,
            byteCount: taken.byteCount,
            removed: moment.wall
        )
        let entry = try trash.add(
            label,
            image: taken.image,
            node: taken.node,
            versionBytes: taken.versionBytes,
            wantsPasscode: false,
            time: try trash.advance(to: moment)
        )
        return (entry, taken.node)
    }

    /// Puts the item of an entry back, within the open transaction.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - label: What it was called.
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
        let image = try trash.image(of: entry)
        try trash.remove(entry.number)
        guard label.protection.store == .file else {
            let attributes = try keychain.attributes(ofTaken: image, label.quoted)
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

    /// Destroys an entry, within the open transaction.
    ///
    /// - Parameters:
    ///   - number: Its number.
    ///   - node: The number of the file that is kept for it.
    package func destroy(_ number: Int64, node: Int64?) throws {
        try trash.remove(number)
        if let node { try files.destroyKept(node) }
    }

    /// Removes what is destroyed with the passcode: items, former values, and what of both is in the trash.
    ///
    /// - Throws: ``DatabaseError``.
    package func removeWantingPasscode() throws {
        try keychain.removeWantingPasscode()
        try trash.removeWantingPasscode(KeychainStore.withoutPasscode)
    }
}

extension CofferError {
    fileprivate static func largerThanTrash(_ name: ItemName, _ policy: TrashPolicy) -> CofferError {
        CofferError(
            .dataTooLarge,
            "can't move \(name.quoted) to the trash, which has \(policy.byteCount) bytes: the file and its versions are larger",
            hint: "remove it for good with 'coffer remove --now', or set 'TrashSize=' of cofferd.conf",
            operation: .write
        )
    }
}

// MARK: - Checking

/// The position of a check in the trash: first of all its entries, and then of the contents that are kept for them.
package struct TrashPlace {
    /// The number of the last one; `nil` at the beginning.
    package let number: Int64?
    package let isKept: Bool

    package init(number: Int64?, isKept: Bool) {
        self.number = number
        self.isKept = isKept
    }
}

extension Catalog {
    /// Checks some entries of the trash, and after them that each content that is kept belongs to one.
    ///
    /// - Parameters:
    ///   - place: The last one that was checked.
    ///   - order: The parameters of the check.
    /// - Throws: ``DatabaseError``.
    package func checkTrash(after place: TrashPlace, _ order: CheckOrder) throws -> CheckSlice<TrashPlace> {
        place.isKept ? try checkKept(after: place.number, order) : try checkEntries(after: place.number, order)
    }

    private func checkEntries(after number: Int64?, _ order: CheckOrder) throws -> CheckSlice<TrashPlace> {
        var slice = CheckSlice<TrashPlace>()
        let entries = try trash.entries(after: number, limit: order.limit)
        for entry in entries {
            slice.checkedCount += 1
            do {
                if try entry.label == nil { slice.sealedCount += 1 }
                _ = try trash.image(of: entry)
            } catch let error as CofferError where error.code == .decode {
                // It can be emptied out of the trash, and nothing else.
                slice.findings.append(
                    Finding(
                        .trash,
                        name: "entry \(entry.number)",
                        .metadata,
                        repair: .copy,
                        isRepaired: false
                    )
                )
            }
        }
        let isLast = entries.count < order.limit
        slice.next = TrashPlace(number: isLast ? nil : entries.last?.number, isKept: isLast)
        return slice
    }

    /// Finds contents that were kept for entries that are gone: nothing opens them any more.
    private func checkKept(after number: Int64?, _ order: CheckOrder) throws -> CheckSlice<TrashPlace> {
        var slice = CheckSlice<TrashPlace>()
        let nodes = try files.keptFiles(after: number, limit: order.limit)
        for node in nodes where try !trash.hasEntry(ofFile: node) && !files.isVersion(node) {
            if order.repairs { try files.destroyKept(node) }
            slice.findings.append(Finding(.trash, .missingOwner, repair: .rewrite, isRepaired: order.repairs))
        }
        slice.next = nodes.count < order.limit ? nil : nodes.last.map { TrashPlace(number: $0, isKept: true) }
        return slice
    }
}
