internal import CofferFileContent
internal import CofferCore
internal import CofferDatabase
internal import CofferKeys
package import CofferPast
internal import CofferSystem
internal import Glibc

/// A file that takes the name of another one.
struct Heir {
    let node: Int64
    let protectionClass: ProtectionClass
    let name: ItemName
    let group: String
}

/// The former contents of files: each belongs to the history of the file that has its name now.
package struct FileVersions {
    let histories: FileHistories
    let tree: FileTree
    let past: PastStore
    let dead: DeadContents
    let openFiles: OpenFileTable
    var connection: Connection { tree.connection }
    var keys: VaultKeys { tree.keys }

    init(_ openFiles: OpenFileTable) {
        self.openFiles = openFiles
        (tree, past, dead) = (openFiles.tree, openFiles.past, openFiles.dead)
        histories = FileHistories(tree.connection, tree.keys)
    }

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
    func replace(_ place: FileTree.Place, by heir: Heir, keepCount: Int?, now: Int64) throws {
        func remove() throws {
            try removeName(place.name, of: place.id, content: place.content, now: now)
        }
        let isUsed = try keepCount != nil || !histories.isEmpty
        guard isUsed, place.kind == .file else { return try remove() }
        if place.name.id != place.id, try tree.linkCount(of: place.id) > 1 {
            // The file stays with its other names, and so do its versions.
            if let keepCount { try histories.set(heir.node, keepCount: keepCount) }
            return try remove()
        }
        let former = try histories.history(of: place.id)
        let own = try keepCount ?? former?.keepCount ?? histories.history(of: heir.node)?.keepCount
        let count = try own ?? inheritedKeepCount(of: heir.name, in: heir.group)
        if former == nil && own == nil && count == 0 { return try remove() }
        let history = try former ?? histories.set(place.id, keepCount: own)
        try move(history, to: heir.node, keepCount: own)
        if count > 0 && canBeKept(place) { try keep(place, in: history, now: now) } else { try remove() }
        try trim(history, to: count)
        if place.protectionClass != heir.protectionClass { try align(history, with: heir.protectionClass) }
    }

    /// Whether a version can be made of a file: a program that has it open would write on in it.
    func canBeKept(_ place: FileTree.Place) -> Bool { !openFiles.isBeingWritten(place.id) }

    /// Refuses to take a file away whose content was read, if a program writes it, or has written it since.
    ///
    /// - Parameter file: The file as it was when its content was read.
    package func checkUnwritten(_ file: FileItem) throws {
        let name = try ItemName(file.path)
        guard !openFiles.isBeingWritten(file.node),
            let present = try tree.file(tree.place(at: name, in: file.group), name, for: .read),
            present.content == file.content,
            present.metadata.layout.chunksTag == file.metadata.layout.chunksTag, present.byteCount == file.byteCount
        else { throw CofferError.isBeingWritten(name) }
    }

    /// Lets a history go on with another file; that of the other file is emptied into it.
    ///
    /// - Throws: `interactionNotAllowed` before the first unlock, if the other file has versions.
    func move(_ history: FileHistory, to node: Int64, keepCount: Int?) throws {
        if let other = try histories.history(of: node), other.id != history.id {
            try past.move(from: other.id, to: history.id)
        }
        try histories.move(history, to: node, keepCount: keepCount)
    }

    /// Moves a file out of the tree into a history; its content stays.
    func keep(_ place: FileTree.Place, in history: FileHistory, now: Int64) throws {
        guard let content = place.content, let image = try versionImage(of: place) else { return }
        let isNamed = place.protectionClass?.isNamedInEveryState ?? false
        try past.add(
            FormerRow(replaced: now, isNamedInEveryState: isNamed, image: image),
            to: history.id,
            keeping: KeptContent(node: place.id, content: content),
            of: byteCount(of: place, content)
        )
        try takeOut(place)
    }

    /// The row of a file as a version of it: without what the file has beside its content, if that can be told apart.
    private func versionImage(of place: FileTree.Place) throws -> RowImage? {
        guard let image = try tree.image(of: place.id, "a file") else { return nil }
        // Of an open file it may be known before the first unlock, too.
        guard let metadata = place.node?.metadata else { return image }
        return try sealed(image, metadata)
    }

    /// Seals the row of a version.
    private func sealed(_ image: RowImage, _ metadata: NodeMetadata) throws -> RowImage {
        var (image, metadata) = (image, metadata)
        // The file that has the name keeps them, and they follow its class.
        metadata.extended = ExtendedAttributes()
        image.metadata = try tree.seal(FileTree.Node(FileTree.Columns(image), metadata), image.tag)
        return image
    }

    /// Destroys the oldest versions of a history, beyond those that it keeps.
    @discardableResult
    private func trim(_ history: FileHistory, to count: Int) throws -> Int {
        let doomed = try past.excess(of: history.id, beyond: count, bound: Limits.versionBytes)
        for version in doomed { try destroy(version) }
        return doomed.count
    }

    func destroy(_ version: PastRow) throws { try remove(try past.remove(version.number)) }

    /// Destroys the versions of a file that is removed, within the open transaction.
    func destroy(ofFile node: Int64) throws {
        guard let history = try histories.id(of: node) else { return }
        for version in try past.rows(of: history) { try destroy(version) }
        try past.removeAll(of: history)
        try histories.forget(node)
    }

    /// Destroys the versions of a file in quarantine.
    ///
    /// - Parameter number: The number of its row there.
    func destroy(ofQuarantined number: Int64) throws {
        let node = try connection.row(
            """
            SELECT row FROM file_quarantine WHERE id = ? AND typeof(row) = 'integer'
                AND NOT EXISTS (SELECT 1 FROM file_nodes WHERE file_nodes.id = row)
            """,
            .integer(number)
        ) { try $0.integer(0) }
        if let node { try destroy(ofFile: node) }
    }

    // MARK: Removing

    /// Removes a name, and with its last name the file or the directory, within the open transaction.
    func removeName(_ name: FileTree.NameRow, of id: Int64, content: ItemID?, now: Int64) throws {
        if name.id != id {
            try tree.delete(name.id, content: nil)
            if try tree.hasLinks(id) { return try tree.touchChanged(id, now: now) }
        }
        try destroy(ofFile: id)
        try openFiles.unlink(id)
        try tree.delete(tree.orphans.list(id) ? tree.renumber(id) : id, content: content)
        guard let content else { return }
        try openFiles.log.forget(of: content)
        dead.add(content)
    }

    /// The size of a file; that of its content on the disk if its metadata can't be read.
    func byteCount(of place: FileTree.Place, _ content: ItemID) -> Int64 {
        if let node = place.node { return node.metadata.byteCount }
        return (try? openFiles.contents.open(content)?.status()).map { Int64($0.st_size) } ?? 0
    }

    /// Removes the row of a file from the tree; the past keeps its content.
    func takeOut(_ place: FileTree.Place) throws {
        if place.name.id != place.id { try tree.delete(place.name.id, content: nil) }
        try openFiles.unlink(place.id)
        try tree.delete(place.id, content: nil)
    }

    /// Removes contents that the past keeps no longer, within the open transaction.
    ///
    /// - Throws: ``DatabaseError``.
    package func remove(_ kept: [KeptContent]) throws {
        try dead.forgetRemoved()
        // A file that is in the tree keeps what is its own.
        for kept in kept where try tree.row(numbered: kept.node, read: { _ in true }) == nil {
            try openFiles.unlink(kept.node)
            try histories.forget(kept.node)
            try tree.orphans.remove(of: kept.node)
            try dead.addUnlessNamed(kept.content)
        }
    }

    // MARK: How many

    /// How many versions a new file would keep: as many as the nearest directory says that says it.
    func inheritedKeepCount(of name: ItemName, in group: String) throws -> Int {
        var count = 0
        try tree.forEachDirectory(around: name, in: group) { directory in
            count = try histories.history(of: directory.id)?.keepCount ?? count
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
            let history = try histories.set(entry.node.id, keepCount: count)
            if entry.isDirectory {
                var node = entry.node
                node.metadata.flags.insert(.stays)
                if node.metadata != entry.node.metadata { try tree.update(node) }
                if count == nil { try histories.forget(entry.node.id) }
                return 0
            }
            let limit = try count ?? inheritedKeepCount(of: ItemName(entry.path), in: entry.metadata.group)
            let trimmed = try trim(history, to: limit)
            try forgetUnused(history, of: entry.node.id)
            return trimmed
        }
    }

    /// Forgets a history that neither keeps nor says anything.
    func forgetUnused(_ history: FileHistory, of node: Int64) throws {
        guard history.keepCount == nil, try past.rows(of: history.id).isEmpty, try past.aside(of: history.id).isEmpty
        else { return }
        try histories.forget(node)
    }

    /// Whether any file may keep versions: then what was written to one is synced before it is replaced.
    package var mayKeepVersions: Bool { get throws { try !histories.isEmpty } }

    // MARK: Before the first unlock

    /// Sets the row of a file aside that is being replaced before the first unlock, for ``restoreReplaced()``.
    ///
    /// - Parameters:
    ///   - place: The row, which is still there.
    ///   - node: The row of the new file.
    func setAside(_ place: FileTree.Place, for node: Int64) throws {
        // What replaced another file before the first unlock as well has no date of its own.
        if let former = try histories.id(of: place.id), try !past.aside(of: former).isEmpty { return }
        guard let image = try tree.image(of: place.id, "a file") else { return }
        try past.setAside(image, of: try histories.set(node, keepCount: nil).id, keeping: 0)
    }

    /// Restores the creation date, the kind and the attributes of files that were replaced before the first unlock, within
    /// the open transaction.
    ///
    /// - Throws: ``DatabaseError``.
    package func restoreReplaced() throws {
        for history in try past.ownersOfAside() {
            guard let node = try histories.node(of: history) else { continue }
            // A damaged one stays, for when doctor has put the file back.
            try connection.unlessDamaged { try restoreReplaced(of: history, by: node) }
        }
    }

    /// Restores the metadata of one of them.
    func restoreReplaced(of history: ItemID, by number: Int64) throws {
        guard var node = try tree.node(numbered: number, "a file"), let image = try past.aside(of: history).first else {
            return
        }
        let former = try tree.opened(image, "a file").metadata
        node.metadata.created = former.created
        node.metadata.kind = node.metadata.kind ?? former.kind
        if node.metadata.extended.all.isEmpty { node.metadata.extended = former.extended }
        if node.metadata.ownership == Ownership() { node.metadata.ownership = former.ownership }
        try tree.update(node)
        try past.removeAside(of: history)
        if let history = try histories.history(of: number) { try forgetUnused(history, of: number) }
    }

    // MARK: Classes

    /// Gives the versions of a file its new class: they are as secret as the present content.
    ///
    /// - Throws: `interactionNotAllowed` if a key that is needed is not in memory; `decode` if a version is damaged.
    func protect(ofFile node: Int64, as protectionClass: ProtectionClass) throws {
        guard let history = try histories.history(of: node) else { return }
        for version in try past.rows(of: history.id) { try protect(version) { _ in protectionClass } }
    }

    /// Gives the versions of a file a class that it has got, unless theirs is stricter.
    func raise(ofFile node: Int64, to protectionClass: ProtectionClass) throws {
        guard let history = try histories.history(of: node) else { return }
        try align(history, with: protectionClass)
    }

    /// - Parameter wanted: The class that a version gets, by the one that it has.
    private func protect(_ version: PastRow, as wanted: (ProtectionClass) -> ProtectionClass) throws {
        let subject = "version \(version.number) of a file"
        let former = try past.open(version, subject)
        let opened = try tree.opened(former.image, subject)
        let protectionClass = wanted(opened.protectionClass)
        if opened.protectionClass == protectionClass { return }
        var image = opened.image
        image.classKey = UInt8(FileTree.code(of: protectionClass))
        image.wrappedKey = try rewrapped(opened, as: protectionClass, subject)
        let row = FormerRow(
            replaced: former.replaced,
            isNamedInEveryState: protectionClass.isNamedInEveryState,
            image: try sealed(image, opened.metadata)
        )
        try past.write(row, as: version)
        openFiles.openContents.change(opened.content, from: opened.protectionClass, to: protectionClass)
    }

    /// Gives versions the class of the present content, if that is stricter and the keys for it are in memory.
    ///
    /// Otherwise they keep the class that their content had, and are read as long as both classes can be.
    private func align(_ history: FileHistory, with protectionClass: ProtectionClass) throws {
        guard keys.opensNames else { return }
        for version in try past.rows(of: history.id) {
            do {
                try connection.transaction { try protect(version) { $0.stricter(protectionClass) } }
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
        _ opened: OpenedImage,
        as protectionClass: ProtectionClass,
        _ subject: String
    ) throws(CofferError) -> [UInt8] {
        if opened.protectionClass == protectionClass { return opened.image.wrappedKey }
        do throws(KeyError) {
            return unsafe try keys.rewrapFileKey(
                opened.image.wrappedKey.span.bytes,
                from: opened.protectionClass,
                to: protectionClass,
                of: opened.content
            )
        } catch {
            throw error.cofferError(subject, in: keys.state, for: .write)
        }
    }
}
