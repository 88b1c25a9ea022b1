internal import CofferFileContent
package import CofferCore
internal import CofferDatabase
internal import CofferKeys
internal import CofferPast

// Former contents of files: listing, reading and restoring them.

/// A former content of a file.
package struct FormerFile {
    let row: FileVersion
    let image: OpenedImage

    /// Its number: later ones have higher numbers.
    package var number: Int64 { row.number }
    /// When another content replaced it, in milliseconds since 1970.
    package let replaced: Int64
    /// Its size.
    package var byteCount: Int64 { image.metadata.byteCount }
    /// The class under which its key is wrapped.
    package var protectionClass: ProtectionClass { image.protectionClass }

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

extension FileStore {
    // MARK: Looking

    /// The former contents of a file, and how many it keeps; of a directory how many those in it keep.
    ///
    /// - Parameter entry: The file or the directory.
    /// - Throws: `decode` if its history is damaged; ``DatabaseError``.
    package func formerFiles(of entry: FileEntry) throws -> FormerFiles {
        let history = try versions.history(of: entry.node.id)
        let own = history?.keepCount
        let count = try own ?? inheritedKeepCount(of: ItemName(entry.path), in: entry.metadata.group)
        var found = FormerFiles(keepCount: count, isInherited: own == nil)
        guard let history else { return found }
        for version in try versions.versions(of: history) {
            do {
                found.versions.append(try formerFile(version, of: entry))
            } catch let error as CofferError where error.code == .decode {
                found.damaged.append(version.number)
            }
        }
        return found
    }

    private func formerFile(_ version: FileVersion, of entry: FileEntry) throws -> FormerFile {
        let subject = "version \(version.number) of \(entry.quoted)"
        let contents = try versions.contents(of: version)
        let image = try opened(contents.image, subject)
        guard image.columns.id == version.node,
            image.metadata.group.utf8.elementsEqual(entry.metadata.group.utf8)
        else { throw CofferError.damaged(subject, found: "its row is that of another file") }
        return FormerFile(row: version, image: image, replaced: contents.replaced)
    }

    private func require(_ number: Int64, of entry: FileEntry) throws -> FileVersion {
        let history = try versions.history(of: entry.node.id)
        if let version = try history.flatMap({ try versions.versions(of: $0).first { $0.number == number } }) {
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
            node: former.row.node,
            parent: former.image.columns.parent,
            metadata: former.image.metadata,
            path: entry.path,
            protectionClass: former.protectionClass,
            content: former.image.content,
            wrappedKey: former.image.columns.wrappedKey,
            name: FileTree.NameRow(id: former.row.node, parent: former.image.columns.parent),
            version: number
        )
    }

    /// Whether the content of a version is still kept.
    func isKept(_ version: FileItem) throws -> Bool {
        try connection.row(
            "SELECT 1 FROM file_kept WHERE node = ? AND content = ?",
            .integer(version.node),
            .blob(version.content.bytes)
        ) { _ in true } ?? false
    }

    // MARK: Going back

    /// Makes a former content the present one, within the open transaction; the present one becomes a version.
    ///
    /// Nothing is copied: the file has the number again that it had with that content. It keeps its attributes and its
    /// creation date, and its class unless the version has a stricter one.
    ///
    /// - Parameters:
    ///   - number: The number of the version.
    ///   - name: The path of the file.
    ///   - group: The caller's group.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The number of the file.
    /// - Throws: `itemNotFound`; `interactionNotAllowed` if the file can't be replaced now, or a key that is needed is not in
    ///   memory; `notAvailable` if a program has the file open for writing; `param` if it has several names.
    package func restoreVersion(_ number: Int64, of name: ItemName, in group: String, now: Int64) throws -> Int64 {
        let entry = try requireEntry(name, in: group)
        guard let file = entry.file, let place = try tree.place(at: name, in: group) else {
            throw CofferError.noFormerContent(entry)
        }
        let version = try require(number, of: entry)
        let former = try formerFile(version, of: entry)
        guard file.protectionClass.permits(.create, in: keys.state) else {
            throw CofferError.locked(name.quoted, in: keys.state, for: .write)
        }
        if try tree.linkCount(of: entry.node) > 1 { throw CofferError.hasOtherNames(name) }
        guard canBeKept(place), let history = try versions.history(of: file.node) else {
            throw CofferError.isBeingWritten(name)
        }
        let protectionClass = file.protectionClass.stricter(former.protectionClass)
        let wrappedKey = try rewrapped(former.image, as: protectionClass, name.quoted)
        var metadata = former.image.metadata
        let present = file.metadata
        metadata.name = name.lastComponent
        metadata.kind = present.kind
        metadata.created = present.created
        metadata.decision = present.decision
        metadata.ownership = present.ownership
        metadata.extended = present.extended
        metadata.didChange(at: now)
        try connection.transaction {
            try forgetRemoved()
            try versions.remove(version)
            try versions.move(history, to: version.node, keepCount: history.keepCount)
            _ = try keep(place, in: history, now: now)
            try tree.touch(place.name.parent, now: now)
            _ = try tree.insert(
                metadata,
                under: place.name.parent,
                .file,
                class: protectionClass,
                content: former.image.content,
                wrappedKey: wrappedKey,
                as: version.node
            )
            try connection.execute("DELETE FROM file_kept WHERE node = ?", .integer(version.node))
        }
        openContents.change(former.image.content, from: former.protectionClass, to: protectionClass)
        return version.node
    }

    /// Removes versions of a file, within the open transaction.
    ///
    /// - Parameters:
    ///   - number: The number of the version; `nil` for all.
    ///   - entry: The file.
    /// - Returns: How many were removed.
    /// - Throws: `itemNotFound` if there is no such version.
    package func removeVersions(_ number: Int64?, of entry: FileEntry) throws -> Int {
        let doomed = try number.map { [try require($0, of: entry)] } ?? versions.versions(ofFile: entry.node.id)
        return try connection.transaction {
            try forgetRemoved()
            for version in doomed { try destroy(version) }
            return doomed.count
        }
    }
}

// MARK: - Checking

extension FileStore {
    /// Whether the content of a file outside of the tree is that of a version.
    package func isVersion(_ node: Int64) throws -> Bool { try versions.contains(node: node) }

    /// Checks some versions: that each belongs to a file, and that its row is authentic.
    ///
    /// - Parameters:
    ///   - number: The number of the last version; `nil` at the beginning.
    ///   - order: The parameters of the check.
    /// - Throws: ``DatabaseError``.
    package func checkVersions(after number: Int64?, _ order: CheckOrder) throws -> CheckSlice<Int64> {
        var slice = CheckSlice<Int64>()
        let rows = try versions.checked(after: number, limit: order.limit)
        for row in rows {
            slice.checkedCount += 1
            guard let owner = row.owner, try hasFile(owner) else {
                // Nothing leads to it any more.
                if order.repairs { try connection.transaction { try destroy(row.version) } }
                slice.findings.append(Finding(.versions, .missingOwner, repair: .rewrite, isRepaired: order.repairs))
                continue
            }
            if row.isInTrash { continue }
            do {
                let contents = try versions.contents(of: row.version)
                let image = try opened(contents.image, "a version")
                if try image.columns.id != row.version.node || versions.history(of: owner) == nil {
                    throw CofferError.damaged("a version", found: "its row is that of another file")
                }
            } catch let error as CofferError where error.code == .interactionNotAllowed {
                slice.sealedCount += 1
            } catch let error as CofferError where error.code == .decode {
                // It can be removed, and nothing else.
                slice.findings.append(
                    Finding(
                        .versions,
                        name: "version \(row.version.number)",
                        .metadata,
                        repair: .copy,
                        isRepaired: false
                    )
                )
            }
        }
        slice.next = rows.count < order.limit ? nil : rows.last?.version.number
        return slice
    }

    /// Whether a file is in the tree, in quarantine or in the trash.
    private func hasFile(_ node: Int64) throws -> Bool {
        try connection.row(
            """
            SELECT 1 FROM file_nodes WHERE id = ?1
            UNION ALL SELECT 1 FROM file_kept WHERE node = ?1
            UNION ALL SELECT 1 FROM file_quarantine WHERE row = ?1 LIMIT 1
            """,
            .integer(node)
        ) { _ in true } ?? false
    }
}

extension CofferError {
    fileprivate static func noFormerContent(_ entry: FileEntry) -> CofferError {
        CofferError(
            .param,
            "\(entry.quoted) is no file, and only files have versions",
            hint: "'coffer file stat' shows what it is",
            reason: entry.isDirectory ? .isDirectory : .isSymbolicLink
        )
    }

    fileprivate static func hasOtherNames(_ name: ItemName) -> CofferError {
        CofferError(
            .param,
            "can't restore a version of \(name.quoted): the file has other names, and they would keep the present content",
            hint: "'coffer file read \(name.path) --version N' reads version N",
            reason: .notPermitted
        )
    }

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
