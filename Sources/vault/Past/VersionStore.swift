package import CofferCore
internal import CofferCrypto
package import CofferDatabase
package import CofferKeys
internal import CofferMemory

/// The history of a file, or what a directory says of those in it.
package struct FileHistory: Sendable {
    let number: Int64
    /// How many former contents are kept; `nil` if the directory decides.
    package let keepCount: Int?
}

/// A former content of a file, as far as its row says without a key.
package struct FileVersion: Sendable {
    /// Its number: later ones have higher numbers, and none is used again.
    package let number: Int64
    let history: Int64
    /// The number by which the file store keeps the content.
    package let node: Int64
    /// The space that it takes, in bytes.
    package let byteCount: Int64

    var context: [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: "coffer file version v1".utf8)
        for value in [number, history, node, byteCount] { writer.write(value) }
        return writer.bytes
    }
}

/// What the row of a former content has sealed.
package struct VersionContents: Sendable {
    private static let version: UInt8 = 1

    /// When another content replaced it, in milliseconds since 1970.
    package let replaced: Int64
    /// Whether the passcode does not protect the name of the file.
    package let isNamedInEveryState: Bool
    /// The row of the file, as its store has written it.
    package let image: [UInt8]

    package init(replaced: Int64, isNamedInEveryState: Bool, image: [UInt8]) {
        self.replaced = replaced
        self.isNamedInEveryState = isNamedInEveryState
        self.image = image
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(replaced)
        writer.write(UInt8(isNamedInEveryState ? 1 : 0))
        writer.write(UInt32(image.count))
        writer.write(raw: image)
        return writer.bytes
    }

    /// - Throws: `Malformed` if they are truncated, too long, or of an unknown version.
    package init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.version else { throw ByteReader.Malformed() }
        replaced = try reader.read()
        isNamedInEveryState = try reader.read(UInt8.self) == 1
        image = Array(try reader.readRaw(Int(try reader.read(UInt32.self))))
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
    }
}

/// The former contents of files: which there are, and how many are kept.
///
/// The contents themselves are the file store's.
///
/// A history belongs to the row of a file, and goes on with the row that takes its name, whatever is in either: that is
/// one change, however many versions there are.
package final class VersionStore {
    let connection: Connection
    let keys: VaultKeys

    /// Opens the versions of a catalog after its migrations.
    package init(connection: Connection, keys: VaultKeys) {
        self.connection = connection
        self.keys = keys
    }

    /// Whether neither a file nor a directory has said that anything is kept.
    package var isEmpty: Bool {
        get throws { try connection.row("SELECT 1 FROM file_histories LIMIT 1") { _ in false } ?? true }
    }

    // MARK: Histories

    /// The history of a file, or of what is in a directory; `nil` if there is none.
    ///
    /// - Parameter node: The number of the file or the directory.
    /// - Throws: `decode` if it is damaged.
    package func history(of node: Int64) throws -> FileHistory? {
        try connection.row("SELECT number, keep, tag FROM file_histories WHERE node = ?", .integer(node)) { row in
            let (number, keep) = (try row.integer(0), try row.optionalInteger(1))
            guard isEqualInConstantTime(try row.blob(2), tag(number, node, keep)) else {
                throw CofferError.damaged("the history of a file", found: "its row is not authentic")
            }
            return FileHistory(number: number, keepCount: keep.map { Int($0) })
        }
    }

    /// Begins a history, or changes how many versions it keeps.
    ///
    /// - Parameters:
    ///   - node: The number of the file or the directory.
    ///   - keepCount: How many versions are kept; `nil` if the directory decides.
    /// - Returns: The history.
    @discardableResult
    package func set(_ node: Int64, keepCount: Int?) throws -> FileHistory {
        let found = try connection.row("SELECT number FROM file_histories WHERE node = ?", .integer(node)) {
            try $0.integer(0)
        }
        // Random, because its tag is made before it is inserted and could get a number.
        let number = found ?? .random(in: 1...Int64.max)
        let keep = keepCount.map { Int64($0) }
        try connection.execute(
            "INSERT OR REPLACE INTO file_histories (number, node, keep, tag) VALUES (?, ?, ?, ?)",
            .integer(number),
            .integer(node),
            keep.map { .integer($0) } ?? .null,
            .blob(tag(number, node, keep))
        )
        return FileHistory(number: number, keepCount: keepCount)
    }

    /// Lets a history go on with another file.
    ///
    /// - Parameters:
    ///   - history: The history; that of the other file, if it has one, is emptied into it.
    ///   - node: The number of the other file.
    ///   - keepCount: How many versions are kept; `nil` if the directory decides.
    /// - Throws: `interactionNotAllowed` before the first unlock, if the other file has versions.
    package func move(_ history: FileHistory, to node: Int64, keepCount: Int?) throws {
        if let other = try self.history(of: node), other.number != history.number {
            for version in try versions(of: other) {
                try write(try contents(of: version), as: version, in: history)
            }
            try connection.execute("DELETE FROM file_histories WHERE number = ?", .integer(other.number))
        }
        let keep = keepCount.map { Int64($0) }
        try connection.execute(
            "UPDATE file_histories SET node = ?, keep = ?, tag = ? WHERE number = ?",
            .integer(node),
            keep.map { .integer($0) } ?? .null,
            .blob(tag(history.number, node, keep)),
            .integer(history.number)
        )
    }

    /// Forgets the history of a file or a directory, without versions.
    package func forget(_ node: Int64) throws {
        try connection.execute("DELETE FROM file_histories WHERE node = ?", .integer(node))
    }

    private func tag(_ number: Int64, _ node: Int64, _ keep: Int64?) -> [UInt8] {
        var writer = ByteWriter()
        for value in [number, node, keep ?? -1] { writer.write(value) }
        return KeyedHash.tag(under: keys.catalog.search, for: "coffer file history tag v1", byteCount: 16, writer.bytes)
    }

    // MARK: Versions

    /// Adds a version to a history, within the open transaction.
    ///
    /// - Parameters:
    ///   - contents: Its row.
    ///   - node: The number by which its content is kept.
    ///   - byteCount: The space that it takes, in bytes.
    ///   - history: The history.
    package func add(_ contents: VersionContents, node: Int64, byteCount: Int64, to history: FileHistory) throws {
        try connection.execute(
            "INSERT INTO file_versions (history, node, bytes, sealed) VALUES (?, ?, ?, x'')",
            .integer(history.number),
            .integer(node),
            .integer(byteCount)
        )
        let version = FileVersion(
            number: connection.lastInsertedRowID,
            history: history.number,
            node: node,
            byteCount: byteCount
        )
        try write(contents, as: version, in: history)
    }

    /// Seals a version anew.
    package func write(_ contents: VersionContents, as version: FileVersion, in history: FileHistory) throws {
        let moved = FileVersion(
            number: version.number,
            history: history.number,
            node: version.node,
            byteCount: version.byteCount
        )
        let bytes = contents.encoded
        let sealed: [UInt8]
        do throws(KeyError) {
            sealed = unsafe try keys.sealNames(
                bytes.span.bytes,
                of: .trash,
                context: moved.context,
                inEveryState: contents.isNamedInEveryState
            )
        } catch {
            throw error.cofferError("a version of a file", in: keys.state, for: .write)
        }
        try connection.execute(
            "UPDATE file_versions SET history = ?, sealed = ? WHERE number = ?",
            .integer(moved.history),
            .blob(sealed),
            .integer(moved.number)
        )
    }

    /// The row of a version.
    ///
    /// - Throws: `interactionNotAllowed` before the first unlock; `decode` if it is damaged.
    package func contents(of version: FileVersion) throws -> VersionContents {
        let subject = "version \(version.number) of a file"
        let contents = try connection.row(
            "SELECT sealed FROM file_versions WHERE number = ?",
            .integer(version.number)
        ) { row in
            do {
                return try row.withBlob(0) { sealed in
                    let opened = try keys.openNames(sealed, of: .trash, context: version.context)
                    return try VersionContents(decoding: opened.exposeBytes())
                }
            } catch let error as KeyError {
                throw error == .damaged
                    ? CofferError.damaged(subject, found: "its row is not authentic")
                    : error.cofferError(subject, in: keys.state, for: .read)
            } catch is ByteReader.Malformed {
                throw CofferError.damaged(subject, found: "its row has an unknown form")
            }
        }
        guard let contents else { throw CofferError.damaged(subject, found: "its row is missing") }
        return contents
    }

    /// The versions of a history, the newest first.
    package func versions(of history: FileHistory) throws -> [FileVersion] {
        try versions(ofHistory: history.number)
    }

    /// The versions of the history of a file, whether that is authentic or not.
    package func versions(ofFile node: Int64) throws -> [FileVersion] {
        let number = try connection.row("SELECT number FROM file_histories WHERE node = ?", .integer(node)) {
            try $0.integer(0)
        }
        return try number.map { try versions(ofHistory: $0) } ?? []
    }

    private func versions(ofHistory number: Int64) throws -> [FileVersion] {
        var found: [FileVersion] = []
        try connection.rows(
            "SELECT number, history, node, bytes FROM file_versions WHERE history = ? ORDER BY number DESC",
            .integer(number)
        ) { row in
            found.append(try FileVersion(in: row))
            return true
        }
        return found
    }

    /// Whether there is a version whose content is kept by a number.
    package func contains(node: Int64) throws -> Bool {
        try connection.row("SELECT 1 FROM file_versions WHERE node = ?", .integer(node)) { _ in true } ?? false
    }

    /// The versions that a history keeps no longer.
    ///
    /// - Parameters:
    ///   - history: The history.
    ///   - count: How many it keeps.
    ///   - bound: The space that they may take, in bytes.
    package func excess(of history: FileHistory, beyond count: Int, bound: Int64) throws -> [FileVersion] {
        var byteCount: Int64 = 0
        return try versions(of: history).enumerated().drop { place, version in
            byteCount = byteCount.nearestSum(version.byteCount)
            return place < count && byteCount <= bound
        }.map(\.element)
    }

    /// Removes a version, within the open transaction; its content is the file store's to remove.
    package func remove(_ version: FileVersion) throws {
        try connection.execute("DELETE FROM file_versions WHERE number = ?", .integer(version.number))
    }

    // MARK: In the trash

    /// Takes the rows of a file's versions out, sealed as they are, within the open transaction.
    ///
    /// The trash keeps them with the file. Their numbers stay.
    package func takeOut(ofFile node: Int64) throws -> [(version: FileVersion, sealed: [UInt8])] {
        try versions(ofFile: node).map { version in
            let sealed = try connection.row(
                "SELECT sealed FROM file_versions WHERE number = ?",
                .integer(version.number)
            ) { try $0.blob(0) }
            try put(back: [], as: version.number)
            return (version, sealed ?? [])
        }
    }

    /// Puts the row of a version back, within the open transaction.
    package func put(back sealed: [UInt8], as number: Int64) throws {
        try connection.execute(
            "UPDATE file_versions SET sealed = ? WHERE number = ?",
            .blob(sealed),
            .integer(number)
        )
    }
}

extension FileVersion {
    fileprivate init(in row: borrowing Row) throws {
        self.init(
            number: try row.integer(0),
            history: try row.integer(1),
            node: try row.integer(2),
            byteCount: try row.integer(3)
        )
    }
}

// MARK: - Checking

extension VersionStore {
    /// A row of a check.
    package struct Checked {
        package let version: FileVersion
        /// The number of the file; `nil` if no history has the version.
        package let owner: Int64?
        /// Whether its row is in the trash, with that of its file.
        package let isInTrash: Bool
    }

    /// Some versions of all files.
    ///
    /// - Parameters:
    ///   - number: The number after which they begin; `nil` for the first one.
    ///   - limit: The greatest number of them.
    package func checked(after number: Int64?, limit: Int) throws -> [Checked] {
        guard let first = Connection.firstNumber(after: number) else { return [] }
        var found: [Checked] = []
        try connection.rows(
            """
            SELECT version.number, history, version.node, bytes, file.node, length(sealed) FROM file_versions AS version
            LEFT JOIN file_histories AS file ON file.number = history
            WHERE version.number >= ? ORDER BY version.number LIMIT ?
            """,
            .integer(first),
            .integer(Int64(limit))
        ) { row in
            let version = try FileVersion(in: row)
            found.append(
                Checked(version: version, owner: try row.optionalInteger(4), isInTrash: try row.integer(5) == 0)
            )
            return true
        }
        return found
    }
}
