package import CofferCore
internal import CofferDatabase
internal import CofferKeys
package import CofferPast

// Files leave the tree for the trash unopened, and come back.

extension FileStore {
    /// Moves a file to the trash, in every state of the vault, within the open transaction.
    ///
    /// - Parameters:
    ///   - name: The path.
    ///   - group: The caller's group.
    ///   - bound: The bytes that the trash has for the group.
    ///   - moment: The time.
    /// - Returns: The number of the entry; `nil` if the file has other names and only lost this one. The number of the file.
    /// - Throws: `itemNotFound`; `notAvailable` if a client has it open for writing; `dataTooLarge`; `decode` if its row is
    ///   damaged.
    package func discard(
        _ name: ItemName,
        in group: String,
        bound: Int64,
        at moment: TrashMoment
    ) throws -> (entry: Int64?, inode: Int64) {
        guard let place = try tree.place(at: name, in: group), place.kind == .file, let content = place.content,
            let protectionClass = place.protectionClass
        else { throw CofferError.noEntry(name) }
        if place.name.id != place.id, try tree.linkCount(of: place.id) > 1 {
            return (nil, try removeEntry(name, in: group, now: moment.wall))
        }
        // Later writes would change the file in the trash.
        if openFiles.isBeingWritten(place.id) { throw CofferError.cantDiscard(beingWritten: name) }
        guard let image = try tree.image(of: place.id, name.quoted) else { throw CofferError.noEntry(name) }
        let history = try versions.histories.id(of: place.id)
        let label = TrashLabel(
            group: group,
            name: name.path,
            protection: .file(protectionClass),
            kind: place.node?.metadata.kind,
            byteCount: versions.byteCount(of: place, content),
            removed: moment.wall
        )
        let formerBytes = try history.map(past.byteCount) ?? 0
        guard label.byteCount.nearestSum(formerBytes) <= bound else {
            throw CofferError.largerThanTrash(name, bound)
        }
        return try connection.transaction {
            try dead.forgetRemoved()
            let kept = KeptContent(node: place.id, content: content)
            let entry = try past.discard(image, label, withRowsOf: history, keeping: kept, at: moment)
            try versions.takeOut(place)
            try tree.didRemove(from: place.name.parent, now: moment.wall)
            return (entry, place.id)
        }
    }

    /// Puts a file from the trash back, within the open transaction: missing directories are made.
    ///
    /// - Parameters:
    ///   - image: Its row.
    ///   - name: The path.
    ///   - group: The group that it is of.
    ///   - now: Milliseconds since 1970.
    /// - Throws: `duplicateItem` if something is at the path; `param` if a part of it is a file; `decode` if its row is
    ///   damaged; `interactionNotAllowed` before the first unlock, if the passcode protects its name.
    package func putBack(_ image: RowImage, at name: ItemName, in group: String, now: Int64) throws {
        let file = try tree.opened(image, name.quoted)
        if try tree.place(at: name, in: group) != nil { throw CofferError.nameIsTaken(name.quoted) }
        try tree.checkPath(name, in: group)
        try connection.faults.refuseNew(name.quoted)
        var metadata = file.metadata
        guard metadata.group.utf8.elementsEqual(group.utf8) else {
            throw CofferError.damaged(name.quoted, found: "it is of another group")
        }
        metadata.name = name.lastComponent
        metadata.times.changed = NodeTimes.nanoseconds(now)
        try connection.transaction {
            let parent = try tree.makeParents(of: name, in: group, now: now)
            try tree.touch(parent, now: now)
            _ = try tree.insert(
                metadata,
                under: parent,
                .file,
                class: file.protectionClass,
                content: file.content,
                wrappedKey: image.wrappedKey,
                as: image.node
            )
            if keys.opensNames, let history = try versions.histories.id(of: image.node) {
                try versions.restoreReplaced(of: history, by: image.node)
            }
        }
    }
}

extension CofferError {
    fileprivate static func cantDiscard(beingWritten name: ItemName) -> CofferError {
        CofferError(
            .notAvailable,
            "can't move \(name.quoted) to the trash: a program has it open for writing",
            hint: "close it there, or remove it for good with 'coffer remove --now'",
            retry: .later
        )
    }

    fileprivate static func largerThanTrash(_ name: ItemName, _ bound: Int64) -> CofferError {
        CofferError(
            .dataTooLarge,
            "can't move \(name.quoted) to the trash, which has \(bound) bytes: the file and its versions are larger",
            hint: "remove it for good with 'coffer remove --now', or set 'TrashSize=' of cofferd.conf",
            operation: .write
        )
    }
}
