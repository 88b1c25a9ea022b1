internal import CofferFileContent
package import CofferCore
internal import CofferDatabase
internal import CofferKeys
package import CofferPast

// Former contents of files: listing, reading and restoring them.

/// A former content of a file.
package struct FormerFile {
    let row: PastRow
    let opened: OpenedImage

    /// Its number: later ones have higher numbers.
    package var number: Int64 { row.number }
    /// When another content replaced it, in milliseconds since 1970.
    package let replaced: Int64
    /// Its size.
    package var byteCount: Int64 { opened.metadata.byteCount }
    /// The class under which its key is wrapped.
    package var protectionClass: ProtectionClass { opened.protectionClass }

    /// Whether it can be read: it is as secret as the present content of the file.
    package func isReadable(as file: ProtectionClass, in state: VaultState) -> Bool {
        protectionClass.permits(.read, in: state) && file.permits(.read, in: state)
    }
}

/// The former contents of a file, and how many it keeps.
package struct FormerFiles {
    /// The newest first.
    package var versions: [FormerFile] = []
    /// The numbers of those that can't be read any more.
    package var damaged: [Int64] = []
    /// How many are kept.
    package var keepCount: Int
    /// Whether a directory decides that, or nothing does.
    package var isInherited: Bool
}

extension FileVersions {
    // MARK: Looking

    /// The former contents of a file, and how many it keeps; of a directory how many those in it keep.
    ///
    /// - Parameter entry: The file or the directory.
    /// - Throws: `decode` if its history is damaged; ``DatabaseError``.
    package func formerFiles(of entry: FileEntry) throws -> FormerFiles {
        let history = try histories.history(of: entry.node.id)
        let own = history?.keepCount
        let count = try own ?? inheritedKeepCount(of: ItemName(entry.path), in: entry.metadata.group)
        var found = FormerFiles(keepCount: count, isInherited: own == nil)
        guard let history else { return found }
        for version in try past.rows(of: history.id) {
            do {
                found.versions.append(try formerFile(version, of: entry))
            } catch let error as CofferError where error.code == .decode {
                found.damaged.append(version.number)
            }
        }
        return found
    }

    private func formerFile(_ version: PastRow, of entry: FileEntry) throws -> FormerFile {
        let subject = "version \(version.number) of \(entry.quoted)"
        let former = try past.open(version, subject)
        let opened = try tree.opened(former.image, subject)
        guard opened.image.node == version.node,
            opened.metadata.group.utf8.elementsEqual(entry.metadata.group.utf8)
        else { throw CofferError.damaged(subject, found: "its row is that of another file") }
        return FormerFile(row: version, opened: opened, replaced: former.replaced)
    }

    private func require(_ number: Int64, of entry: FileEntry) throws -> PastRow {
        if let history = try histories.history(of: entry.node.id), let version = try past.row(number, of: history.id) {
            return version
        }
        throw CofferError(
            .itemNotFound,
            "\(entry.quoted) has no version \(number)",
            hint: "'coffer file versions \(entry.path)' shows which there are"
        )
    }

    /// A former content, to be read as a file.
    ///
    /// - Parameters:
    ///   - number: The number of the version.
    ///   - entry: The file.
    /// - Throws: `itemNotFound` if there is no such version; `interactionNotAllowed` if the file, as it is now, can't be
    ///   read; `decode`.
    package func version(_ number: Int64, of entry: FileEntry) throws -> FileItem {
        let former = try formerFile(try require(number, of: entry), of: entry)
        guard entry.protectionClass?.permits(.read, in: keys.state) ?? false else {
            throw CofferError.locked(entry.quoted, in: keys.state, for: .read)
        }
        return FileItem(
            node: former.opened.image.node,
            parent: former.opened.image.parent,
            metadata: former.opened.metadata,
            path: entry.path,
            protectionClass: former.protectionClass,
            content: former.opened.content,
            wrappedKey: former.opened.image.wrappedKey,
            name: FileTree.NameRow(id: former.opened.image.node, parent: former.opened.image.parent),
            version: number
        )
    }

    // MARK: Going back

    /// Makes a former content the present one, within the open transaction; the present one becomes a version.
    ///
    /// Nothing is copied: the file has the number again that it had with that content. It keeps its attributes and its
    /// creation date, and its class unless the version has a stricter one.
    ///
    /// - Parameters:
    ///   - number: The number of the version.
    ///   - entry: The file.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The number of the file.
    /// - Throws: `itemNotFound`; `interactionNotAllowed` if the file can't be replaced now, or a key that is needed is not in
    ///   memory; `notAvailable` if a program has the file open for writing; `param` if it has several names.
    package func restore(_ number: Int64, of entry: FileEntry, now: Int64) throws -> Int64 {
        let name = try ItemName(entry.path)
        guard let file = entry.file, let place = try tree.place(at: name, in: entry.metadata.group) else {
            throw Self.noFormerContent(entry)
        }
        let version = try require(number, of: entry)
        let former = try formerFile(version, of: entry)
        guard file.protectionClass.permits(.create, in: keys.state) else {
            throw CofferError.locked(name.quoted, in: keys.state, for: .write)
        }
        if try tree.linkCount(of: entry.node) > 1 { throw Self.hasOtherNames(name) }
        guard canBeKept(place), let history = try histories.history(of: file.node) else {
            throw CofferError.isBeingWritten(name)
        }
        let protectionClass = file.protectionClass.stricter(former.protectionClass)
        let wrappedKey = try rewrapped(former.opened, as: protectionClass, name.quoted)
        var metadata = former.opened.metadata
        let present = file.metadata
        metadata.name = name.lastComponent
        metadata.kind = present.kind
        metadata.created = present.created
        metadata.decision = present.decision
        metadata.ownership = present.ownership
        metadata.extended = present.extended
        metadata.didChange(at: now)
        try connection.transaction {
            try dead.forgetRemoved()
            _ = try past.remove(version.number)
            try move(history, to: former.opened.image.node, keepCount: history.keepCount)
            try keep(place, in: history, now: now)
            try tree.touch(place.name.parent, now: now)
            _ = try tree.insert(
                metadata,
                under: place.name.parent,
                .file,
                class: protectionClass,
                content: former.opened.content,
                wrappedKey: wrappedKey,
                as: former.opened.image.node
            )
        }
        openFiles.openContents.change(former.opened.content, from: former.protectionClass, to: protectionClass)
        return former.opened.image.node
    }

    /// Removes versions of a file, within the open transaction.
    ///
    /// - Parameters:
    ///   - number: The number of the version; `nil` for all.
    ///   - entry: The file.
    /// - Returns: How many were removed.
    /// - Throws: `itemNotFound` if there is no such version.
    package func remove(_ number: Int64?, of entry: FileEntry) throws -> Int {
        let doomed =
            try number.map { [try require($0, of: entry)] }
            ?? histories.id(of: entry.node.id).map(past.rows) ?? []
        return try connection.transaction {
            try dead.forgetRemoved()
            for version in doomed { try destroy(version) }
            return doomed.count
        }
    }
}

// MARK: - Checking

extension FileVersions {
    /// Checks a row of the past.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - history: The history that it belongs to.
    /// - Returns: `nil` if no file has that history.
    package func check(_ row: PastRow, of history: ItemID) throws -> PastCondition? {
        guard let owner = try histories.node(of: history), try hasFile(owner) else { return nil }
        guard row.isFormer else { return .whole }
        do {
            let image = try tree.opened(try past.open(row, "a version").image, "a version").image
            let isOwn = try image.node == row.node && histories.history(of: owner) != nil
            return isOwn ? .whole : .damaged(name: "version \(row.number)")
        } catch let error as CofferError where error.code == .interactionNotAllowed {
            return .sealed
        } catch let error where error.isDamage {
            return .damaged(name: "version \(row.number)")
        }
    }

    /// Whether a file is in the tree, in quarantine or in the trash.
    private func hasFile(_ node: Int64) throws -> Bool {
        try connection.row(
            """
            SELECT 1 FROM file_nodes WHERE id = ?1
            UNION ALL SELECT 1 FROM past WHERE node = ?1
            UNION ALL SELECT 1 FROM file_quarantine WHERE row = ?1 LIMIT 1
            """,
            .integer(node)
        ) { _ in true } ?? false
    }

    private static func noFormerContent(_ entry: FileEntry) -> CofferError {
        CofferError(
            .param,
            "\(entry.quoted) is no file, and only files have versions",
            hint: "'coffer file stat' shows what it is",
            reason: entry.isDirectory ? .isDirectory : .isSymbolicLink
        )
    }

    private static func hasOtherNames(_ name: ItemName) -> CofferError {
        CofferError(
            .param,
            "can't restore a version of \(name.quoted): the file has other names, and they would keep the present content",
            hint: "'coffer file read \(name.path) --version N' reads version N",
            reason: .notPermitted
        )
    }
}

extension CofferError {
    static func isBeingWritten(_ name: ItemName) -> CofferError {
        CofferError(
            .notAvailable,
            "\(name.quoted) stays as it is: a program has it open for writing",
            hint: "close it there, and repeat this",
            retry: .later,
            reason: .writerElsewhere
        )
    }
}
