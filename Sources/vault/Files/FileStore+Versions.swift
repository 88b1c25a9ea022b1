internal import CofferFileContent
internal import CofferCore
internal import CofferDatabase
internal import CofferKeys
internal import CofferPast

// The former contents of files. What is replaced leaves the tree as what goes to the trash does: its content stays where it
// is, with the rows of its rewritten chunks, and its row is kept, sealed.

/// A file that takes the name of another one.
struct Heir {
    let node: Int64
    let protectionClass: ProtectionClass
    let name: ItemName
    let group: String
}

extension FileStore {
    // MARK: Replacing

    /// Takes a file out of the tree in favour of another one, within the open transaction: its content becomes a version of
    /// that, if it keeps versions.
    ///
    /// It is done in every state in which the file may be replaced: nothing has to be opened.
    ///
    /// - Parameters:
    ///   - place: What is there.
    ///   - heir: What takes its name.
    ///   - keepCount: How many versions the file keeps from now on; `nil` for no change.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The content that nothing names any more; `nil` if there is none.
    func replace(_ place: FileTree.Place, by heir: Heir, keepCount: Int?, now: Int64) throws -> ItemID? {
        func remove() throws -> ItemID? {
            try removeName(place.name, of: place.id, content: place.content, now: now)
        }
        let isUsed = try keepCount != nil || !versions.isEmpty
        guard isUsed, place.kind == .file else { return try remove() }
        if place.name.id != place.id, try tree.linkCount(of: place.id) > 1 {
            // The file stays with its other names, and so do its versions.
            if let keepCount { try versions.set(heir.node, keepCount: keepCount) }
            return try remove()
        }
        let former = try versions.history(of: place.id)
        let own = try keepCount ?? former?.keepCount ?? versions.history(of: heir.node)?.keepCount
        let count = try own ?? inheritedKeepCount(of: heir.name, in: heir.group)
        if former == nil && own == nil && count == 0 { return try remove() }
        let history = try former ?? versions.set(place.id, keepCount: own)
        try versions.move(history, to: heir.node, keepCount: own)
        let dead = count > 0 && canBeKept(place) ? try keep(place, in: history, now: now) : try remove()
        try trim(history, to: count)
        if place.protectionClass != heir.protectionClass { try align(history, with: heir.protectionClass) }
        return dead
    }

    /// Whether a version can be made of a file: a program that has it open would write on in it.
    func canBeKept(_ place: FileTree.Place) -> Bool { !isBeingWritten(place.id) }

    /// Whether a program has a file open for writing, or has written to it what is not synced.
    func isBeingWritten(_ node: Int64) -> Bool {
        openFiles[node].map { $0.hasWriter || $0.hasChanges } ?? false
    }

    /// Refuses to take a file away whose content was read, if a program writes it, or has written it since.
    ///
    /// - Parameter file: The file as it was when its content was read.
    package func checkUnwritten(_ file: FileItem) throws {
        let name = try ItemName(file.path)
        guard !isBeingWritten(file.node), let present = try find(name, in: file.group), present.content == file.content,
            present.metadata.chunksTag == file.metadata.chunksTag, present.byteCount == file.byteCount
        else { throw CofferError.isBeingWritten(name) }
    }

    /// Moves a file out of the tree into a history.
    ///
    /// - Returns: `nil`: its content stays.
    func keep(_ place: FileTree.Place, in history: FileHistory, now: Int64) throws -> ItemID? {
        guard let content = place.content, let image = try versionImage(of: place) else { return nil }
        try connection.execute(
            "INSERT INTO file_kept (node, content) VALUES (?, ?)",
            .integer(place.id),
            .blob(content.bytes)
        )
        if place.name.id != place.id { try tree.delete(place.name.id, content: nil) }
        try unlink(place.id)
        try tree.delete(place.id, content: nil)
        let byteCount = byteCount(of: place, content).nearestSum(Int64(image.count))
        let isNamed = place.protectionClass?.isNamedInEveryState ?? false
        let contents = VersionContents(replaced: now, isNamedInEveryState: isNamed, image: image)
        try versions.add(contents, node: place.id, byteCount: byteCount, to: history)
        return nil
    }

    /// The row of a file as a version of it: without what the file has beside its content, if that can be told apart.
    private func versionImage(of place: FileTree.Place) throws -> [UInt8]? {
        guard let image = try image(of: place.id, "a file") else { return nil }
        guard let node = place.node, let content = place.content, let protectionClass = place.protectionClass else {
            return image.encoded
        }
        return try sealed(
            OpenedImage(
                columns: image.columns,
                nameTag: image.nameTag,
                protectionClass: protectionClass,
                content: content,
                metadata: node.metadata,
                versions: []
            )
        )
    }

    /// Seals the row of a version.
    private func sealed(_ image: OpenedImage) throws -> [UInt8] {
        var metadata = image.metadata
        // The file that has the name keeps them, and they follow its class.
        metadata.extended = ExtendedAttributes()
        let node = FileTree.Node(image.columns, metadata)
        return FileImage(
            columns: FileTree.Columns(node),
            nameTag: image.nameTag,
            metadata: try tree.seal(node, image.nameTag)
        ).encoded
    }

    /// Destroys the oldest versions of a history, beyond those that it keeps.
    @discardableResult
    private func trim(_ history: FileHistory, to count: Int) throws -> Int {
        let doomed = try versions.excess(of: history, beyond: count, bound: Limits.versionBytes)
        for version in doomed { try destroy(version) }
        return doomed.count
    }

    func destroy(_ version: FileVersion) throws {
        try versions.remove(version)
        try unlink(version.node)
        try destroyKept(version.node)
    }

    /// Destroys the versions of a file that is removed, or whose row is in the trash, within the open transaction.
    func destroyVersions(ofFile node: Int64) throws {
        if try versions.isEmpty { return }
        for version in try versions.versions(ofFile: node) { try destroy(version) }
        try versions.forget(node)
    }

    /// Destroys the versions of a file in quarantine.
    ///
    /// - Parameter number: The number of its row there.
    func destroyVersions(ofQuarantined number: Int64) throws {
        let node = try connection.row(
            """
            SELECT row FROM file_quarantine WHERE id = ? AND typeof(row) = 'integer'
                AND NOT EXISTS (SELECT 1 FROM file_nodes WHERE file_nodes.id = row)
            """,
            .integer(number)
        ) { try $0.integer(0) }
        if let node { try destroyVersions(ofFile: node) }
    }

    // MARK: How many

    /// How many versions a new file would keep: as many as the nearest directory says that says it.
    func inheritedKeepCount(of name: ItemName, in group: String) throws -> Int {
        var count = 0
        try tree.forEachDirectory(around: name, in: group) { directory in
            count = try versions.history(of: directory.id)?.keepCount ?? count
        }
        return count
    }

    /// Changes how many versions a file keeps, or those in a directory, within the open transaction.
    ///
    /// - Parameters:
    ///   - count: How many; `nil` if the directory above decides.
    ///   - entry: The file or the directory.
    /// - Returns: How many versions were destroyed because of that.
    /// - Throws: `param` for a symbolic link.
    package func setKeepCount(_ count: Int?, of entry: FileEntry) throws -> Int {
        guard entry.type != .symbolicLink else {
            throw CofferError(
                .param,
                "\(entry.quoted) is a symbolic link, which has no versions",
                hint: "name the file that it leads to",
                reason: .notSupported
            )
        }
        return try connection.transaction {
            let history = try versions.set(entry.node.id, keepCount: count)
            if entry.isDirectory {
                var node = entry.node
                node.metadata.flags.insert(.stays)
                if node.metadata != entry.node.metadata { try tree.update(node) }
                if count == nil { try versions.forget(entry.node.id) }
                return 0
            }
            let limit = try count ?? inheritedKeepCount(of: ItemName(entry.path), in: entry.metadata.group)
            let trimmed = try trim(history, to: limit)
            if try count == nil && versions.versions(of: history).isEmpty { try versions.forget(entry.node.id) }
            return trimmed
        }
    }

    /// Whether any file may keep versions: then what was written to one is synced before it is replaced.
    package var mayKeepVersions: Bool { get throws { try !versions.isEmpty } }

    // MARK: Classes

    /// Gives the versions of a file its new class: they are as secret as the present content.
    ///
    /// - Throws: `interactionNotAllowed` if a key that is needed is not in memory; `decode` if a version is damaged.
    func protectVersions(of node: Int64, as protectionClass: ProtectionClass) throws {
        if try versions.isEmpty { return }
        guard let history = try versions.history(of: node) else { return }
        for version in try versions.versions(of: history) { try protect(version, in: history) { _ in protectionClass } }
    }

    /// - Parameter wanted: The class that a version gets, by the one that it has.
    private func protect(
        _ version: FileVersion,
        in history: FileHistory,
        as wanted: (ProtectionClass) -> ProtectionClass
    ) throws {
        let subject = "version \(version.number) of a file"
        let contents = try versions.contents(of: version)
        let image = try opened(contents.image, subject)
        let protectionClass = wanted(image.protectionClass)
        if image.protectionClass == protectionClass { return }
        let changed = image.with(protectionClass, try rewrapped(image, as: protectionClass, subject))
        let row = VersionContents(
            replaced: contents.replaced,
            isNamedInEveryState: protectionClass.isNamedInEveryState,
            image: try sealed(changed)
        )
        try versions.write(row, as: version, in: history)
        openContents.change(image.content, from: image.protectionClass, to: protectionClass)
    }

    /// Gives versions the class of what has replaced them, if that is stricter and the keys for it are in memory.
    ///
    /// Otherwise they keep the class that their content had, and are read as long as both classes can be.
    private func align(_ history: FileHistory, with protectionClass: ProtectionClass) throws {
        guard keys.opensNames else { return }
        for version in try versions.versions(of: history) {
            do {
                try connection.transaction { try protect(version, in: history) { $0.stricter(protectionClass) } }
            } catch let error as CofferError where error.code == .interactionNotAllowed {
                continue
            } catch let error where error.isDamage {
                // Doctor finds it.
                continue
            }
        }
    }

    /// The key of a version, wrapped for a class.
    func rewrapped(
        _ image: OpenedImage,
        as protectionClass: ProtectionClass,
        _ subject: String
    ) throws(CofferError) -> [UInt8] {
        if image.protectionClass == protectionClass { return image.columns.wrappedKey }
        do throws(KeyError) {
            return unsafe try keys.rewrapFileKey(
                image.columns.wrappedKey.span.bytes,
                from: image.protectionClass,
                to: protectionClass,
                of: image.content
            )
        } catch {
            throw error.cofferError(subject, in: keys.state, for: .write)
        }
    }
}

extension OpenedImage {
    /// The row with another class.
    fileprivate func with(_ protectionClass: ProtectionClass, _ wrappedKey: [UInt8]) -> OpenedImage {
        OpenedImage(
            columns: FileTree.Columns(
                id: columns.id,
                parent: columns.parent,
                kind: columns.kind,
                classKey: FileTree.code(of: protectionClass),
                content: columns.content,
                wrappedKey: wrappedKey,
                target: nil
            ),
            nameTag: nameTag,
            protectionClass: protectionClass,
            content: content,
            metadata: metadata,
            versions: []
        )
    }
}
