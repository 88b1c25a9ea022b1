internal import CofferFileContent
package import CofferCore
internal import CofferDatabase
internal import CofferKeys
internal import CofferMemory
package import CofferPast
internal import CofferSystem
internal import Glibc

// Rows outside of the tree: they leave it unopened, and come back. The content stays on the disk, with the rows of its
// rewritten chunks.

/// The row of a file outside of the tree, opened.
struct OpenedImage {
    let image: RowImage
    let protectionClass: ProtectionClass
    let metadata: NodeMetadata

    var content: ItemID { image.id }
}

extension FileTree.Columns {
    /// The columns of a file outside of the tree.
    init(_ image: RowImage) {
        self.init(
            id: image.node,
            parent: image.parent,
            kind: .file,
            classKey: Int64(image.classKey),
            content: image.id,
            wrappedKey: image.wrappedKey,
            target: nil
        )
    }
}

extension FileStore {
    /// The row of a file as it is; `nil` if there is none.
    ///
    /// - Throws: `decode` if it has impossible values.
    func image(of node: Int64, _ subject: String) throws -> RowImage? {
        try tree.row(numbered: node) { row -> RowImage? in
            let columns = try tree.columns(of: row, subject)
            guard let content = columns.content else { return nil }
            return RowImage(
                id: content,
                node: columns.id,
                parent: columns.parent,
                classKey: UInt8(truncatingIfNeeded: columns.classKey),
                tag: try row.blob(2),
                metadata: try row.blob(7),
                wrappedKey: columns.wrappedKey
            )
        } ?? nil
    }

    /// Opens the row of a file outside of the tree.
    ///
    /// - Throws: `decode` if it is damaged; `interactionNotAllowed` before the first unlock, if the passcode protects its
    ///   name.
    func opened(_ image: RowImage, _ subject: String) throws -> OpenedImage {
        let columns = FileTree.Columns(image)
        do {
            guard let protectionClass = columns.protectionClass else { throw ByteReader.Malformed() }
            let context = FileTree.context(columns, image.tag)
            let opened = unsafe try keys.openNames(image.metadata.span.bytes, of: .files, context: context)
            let metadata = try NodeMetadata(decoding: opened.exposeBytes())
            return OpenedImage(image: image, protectionClass: protectionClass, metadata: metadata)
        } catch let error as KeyError {
            throw error == .damaged
                ? CofferError.damaged(subject, found: "its metadata is not authentic")
                : error.cofferError(subject, in: keys.state, for: .read)
        } catch is ByteReader.Malformed {
            throw CofferError.damaged(subject, found: "its row has an unknown form")
        }
    }

    /// The size of a file; that of its content on the disk if its metadata can't be read.
    func byteCount(of place: FileTree.Place, _ content: ItemID) -> Int64 {
        if let node = place.node { return node.metadata.byteCount }
        return (try? contents.open(content)?.status()).map { Int64($0.st_size) } ?? 0
    }

    /// Removes the row of a file from the tree; the past keeps its content.
    func takeOut(_ place: FileTree.Place) throws {
        if place.name.id != place.id { try tree.delete(place.name.id, content: nil) }
        try unlink(place.id)
        try tree.delete(place.id, content: nil)
    }

    /// Removes contents that the past keeps no longer, within the open transaction.
    ///
    /// - Throws: ``DatabaseError``.
    package func remove(_ kept: [KeptContent]) throws {
        try dead.forgetRemoved()
        // A file that is in the tree keeps what is its own.
        for kept in kept where try tree.row(numbered: kept.node, read: { _ in true }) == nil {
            try unlink(kept.node)
            try histories.forget(kept.node)
            try connection.execute("DELETE FROM file_chunks WHERE node = ?", .integer(kept.node))
            try dead.addUnlessNamed(kept.content)
        }
    }

    // MARK: The trash

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
        guard let image = try image(of: place.id, name.quoted) else { throw CofferError.noEntry(name) }
        let history = try histories.id(of: place.id)
        let label = TrashLabel(
            group: group,
            name: name.path,
            protection: .file(protectionClass),
            kind: place.node?.metadata.kind,
            byteCount: byteCount(of: place, content),
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
            try takeOut(place)
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
        let file = try opened(image, name.quoted)
        if try tree.place(at: name, in: group) != nil { throw CofferError.nameIsTaken(name.quoted) }
        try checkPath(name, in: group)
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
            if keys.opensNames, let history = try histories.id(of: image.node) {
                try restoreReplaced(of: history, by: image.node)
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
