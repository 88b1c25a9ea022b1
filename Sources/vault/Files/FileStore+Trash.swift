internal import CofferFileContent
package import CofferCore
internal import CofferDatabase
internal import CofferKeys
internal import CofferMemory
internal import CofferSystem
internal import CofferPast
internal import Glibc

// Files that leave the tree and may come back: the content stays on the disk, with the rows of its rewritten chunks.

/// A file that was taken out of the tree.
package struct TakenFile: Sendable {
    /// Its row.
    package let image: [UInt8]
    /// Its number, by which the store keeps its content.
    package let node: Int64
    /// Its class.
    package let protectionClass: ProtectionClass
    /// The kind that its owner stated, if its metadata can be read.
    package let kind: ItemKind?
    /// Its size; that of its content on the disk if its metadata can't be read.
    package let byteCount: Int64
    /// The space that its versions take.
    package let versionBytes: Int64
}

/// The row of a file outside of the tree: everything is sealed as it was in it.
struct FileImage {
    private static let version: UInt8 = 1

    let columns: FileTree.Columns
    let nameTag: [UInt8]
    let metadata: [UInt8]
    /// The rows of its versions in the trash, by their numbers.
    var versions: [(number: Int64, sealed: [UInt8])] = []

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(columns.id)
        writer.write(columns.parent)
        writer.write(counted: nameTag)
        writer.write(UInt8(truncatingIfNeeded: columns.classKey))
        writer.write(raw: columns.content?.bytes ?? [])
        writer.write(counted: columns.wrappedKey)
        writer.write(UInt32(metadata.count))
        writer.write(raw: metadata)
        writer.write(UInt32(versions.count))
        for (number, sealed) in versions {
            writer.write(number)
            writer.write(UInt32(sealed.count))
            writer.write(raw: sealed)
        }
        return writer.bytes
    }

    init(columns: FileTree.Columns, nameTag: [UInt8], metadata: [UInt8]) {
        self.columns = columns
        self.nameTag = nameTag
        self.metadata = metadata
    }

    /// - Throws: `Malformed` if they are truncated, too long, or of an unknown version.
    init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.version else { throw ByteReader.Malformed() }
        let (id, parent) = (try reader.read(Int64.self), try reader.read(Int64.self))
        nameTag = Array(try reader.readCounted())
        let classKey = try reader.read(UInt8.self)
        guard let content = ItemID(Array(try reader.readRaw(ItemID.byteCount))) else { throw ByteReader.Malformed() }
        columns = FileTree.Columns(
            id: id,
            parent: parent,
            kind: .file,
            classKey: Int64(classKey),
            content: content,
            wrappedKey: Array(try reader.readCounted()),
            target: nil
        )
        metadata = Array(try reader.readRaw(Int(try reader.read(UInt32.self))))
        for _ in 0..<(try reader.read(UInt32.self)) {
            let number = try reader.read(Int64.self)
            versions.append((number, Array(try reader.readRaw(Int(try reader.read(UInt32.self))))))
        }
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
    }
}

/// The row of a file outside of the tree, opened.
struct OpenedImage {
    let columns: FileTree.Columns
    let nameTag: [UInt8]
    let protectionClass: ProtectionClass
    let content: ItemID
    var metadata: NodeMetadata
    let versions: [(number: Int64, sealed: [UInt8])]
}

extension FileStore {
    /// Takes a file out of the tree, in every state of the vault, within the open transaction.
    ///
    /// - Parameters:
    ///   - name: The path.
    ///   - group: The caller's group.
    ///   - now: Milliseconds since 1970.
    /// - Returns: `nil` if the file has other names, and so is to be left where it is.
    /// - Throws: `itemNotFound`; `notAvailable` if a client has it open for writing; `decode` if its row is damaged.
    package func takeOut(_ name: ItemName, in group: String, now: Int64) throws -> TakenFile? {
        guard let place = try tree.place(at: name, in: group), place.kind == .file, let content = place.content,
            let protectionClass = place.protectionClass
        else { throw CofferError.noEntry(name) }
        if place.name.id != place.id, try tree.linkCount(of: place.id) > 1 { return nil }
        // What is written after this would be written to the file in the trash.
        if isBeingWritten(place.id) { throw Self.isBeingWritten(name) }
        guard var image = try image(of: place.id, name.quoted) else { throw CofferError.noEntry(name) }
        var versionBytes: Int64 = 0
        let byteCount = byteCount(of: place, content)
        try connection.transaction {
            try forgetRemoved()
            for (version, sealed) in try versions.takeOut(ofFile: place.id) {
                image.versions.append((version.number, sealed))
                versionBytes = versionBytes.nearestSum(version.byteCount)
            }
            try connection.execute(
                "INSERT INTO file_kept (node, content) VALUES (?, ?)",
                .integer(place.id),
                .blob(content.bytes)
            )
            if place.name.id != place.id { try tree.delete(place.name.id, content: nil) }
            try unlink(place.id)
            try tree.delete(place.id, content: nil)
            try tree.didRemove(from: place.name.parent, now: now)
        }
        return TakenFile(
            image: image.encoded,
            node: place.id,
            protectionClass: protectionClass,
            kind: place.node?.metadata.kind,
            byteCount: byteCount,
            versionBytes: versionBytes
        )
    }

    /// The row of a file as it is.
    ///
    /// - Throws: `decode` if it has impossible values.
    func image(of node: Int64, _ subject: String) throws -> FileImage? {
        try tree.row(numbered: node) { row in
            let nameTag = try row.blob(2)
            guard nameTag.count <= UInt16.max else {
                throw CofferError.damaged(subject, found: "its row has impossible values")
            }
            return FileImage(columns: try tree.columns(of: row, subject), nameTag: nameTag, metadata: try row.blob(7))
        }
    }

    /// The size of a file; that of its content on the disk if its metadata can't be read.
    func byteCount(of place: FileTree.Place, _ content: ItemID) -> Int64 {
        if let node = place.node { return node.metadata.byteCount }
        return (try? contents.open(content)?.status()).map { Int64($0.st_size) } ?? 0
    }

    private static func isBeingWritten(_ name: ItemName) -> CofferError {
        CofferError(
            .notAvailable,
            "can't move \(name.quoted) to the trash: a program has it open for writing",
            hint: "close it there, or remove it for good with 'coffer remove --now'",
            retry: .later
        )
    }

    /// Puts a file that was taken out back, within the open transaction: missing directories are made.
    ///
    /// - Parameters:
    ///   - image: Its row.
    ///   - name: The path.
    ///   - group: The group that it is of.
    ///   - now: Milliseconds since 1970.
    /// - Returns: The number of the file.
    /// - Throws: `duplicateItem` if something is at the path; `param` if a part of it is a file; `decode` if its row is
    ///   damaged; `interactionNotAllowed` before the first unlock, if the passcode protects its name.
    @discardableResult
    package func putBack(_ image: [UInt8], at name: ItemName, in group: String, now: Int64) throws -> Int64 {
        let file = try opened(image, name.quoted)
        if try tree.place(at: name, in: group) != nil { throw Self.nameIsTaken(name) }
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
                class: file.columns.protectionClass,
                content: file.columns.content,
                wrappedKey: file.columns.wrappedKey,
                as: file.columns.id
            )
            try connection.execute("DELETE FROM file_kept WHERE node = ?", .integer(file.columns.id))
            for (number, sealed) in file.versions { try versions.put(back: sealed, as: number) }
            if keys.opensNames { try restoreReplaced(by: file.columns.id) }
        }
        return file.columns.id
    }

    private static func nameIsTaken(_ name: ItemName) -> CofferError {
        CofferError(
            .duplicateItem,
            "can't restore \(name.quoted): there is something of that name now",
            hint: "restore it under another name with '--as NAME', or remove what has its name",
            operation: .create
        )
    }

    /// Opens the row of a file outside of the tree.
    ///
    /// - Throws: `decode` if it is damaged; `interactionNotAllowed` before the first unlock, if the passcode protects its
    ///   name.
    func opened(_ bytes: [UInt8], _ subject: String) throws -> OpenedImage {
        do {
            let image = try FileImage(decoding: bytes)
            guard let protectionClass = image.columns.protectionClass, let content = image.columns.content else {
                throw ByteReader.Malformed()
            }
            let context = FileTree.context(image.columns, image.nameTag)
            let opened = unsafe try keys.openNames(image.metadata.span.bytes, of: .files, context: context)
            return OpenedImage(
                columns: image.columns,
                nameTag: image.nameTag,
                protectionClass: protectionClass,
                content: content,
                metadata: try NodeMetadata(decoding: opened.exposeBytes()),
                versions: image.versions
            )
        } catch let error as KeyError {
            throw error == .damaged
                ? CofferError.damaged(subject, found: "its metadata is not authentic")
                : error.cofferError(subject, in: keys.state, for: .read)
        } catch is ByteReader.Malformed {
            throw CofferError.damaged(subject, found: "its row has an unknown form")
        }
    }

    /// Destroys what is kept of a file that was taken out, within the open transaction.
    ///
    /// - Parameter node: Its number.
    /// - Throws: ``DatabaseError``.
    package func destroyKept(_ node: Int64) throws {
        try forgetRemoved()
        let content = try connection.row("SELECT content FROM file_kept WHERE node = ?", .integer(node)) {
            ItemID(try $0.blob(0))
        }
        try connection.execute("DELETE FROM file_kept WHERE node = ?", .integer(node))
        // A file that is in the tree keeps what is its own.
        guard try tree.row(numbered: node, read: { _ in true }) == nil else { return }
        try destroyVersions(ofFile: node)
        try connection.execute("DELETE FROM file_chunks WHERE node = ?", .integer(node))
        try connection.execute("DELETE FROM file_replaced WHERE node = ?", .integer(node))
        guard let content = content ?? nil, try !tree.contains(content) else { return }
        try connection.execute("INSERT OR IGNORE INTO file_dead_contents (content) VALUES (?)", .blob(content.bytes))
        toRemove.append(content)
    }

    /// The numbers of kept files, for the check of the trash.
    ///
    /// - Parameters:
    ///   - number: The number after which they begin; `nil` for the first one.
    ///   - limit: The greatest number of them.
    package func keptFiles(after number: Int64?, limit: Int) throws -> [Int64] {
        try connection.numbers(
            "SELECT node FROM file_kept WHERE node >= ? ORDER BY node LIMIT ?",
            after: number,
            limit: limit
        )
    }
}
