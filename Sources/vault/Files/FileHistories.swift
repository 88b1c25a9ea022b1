internal import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys

/// The history of a file, or the default of a directory for its files.
///
/// It belongs to the row of a file, and moves to the row that takes its name: one change for any number of former contents,
/// which are rows of the past that belong to the history.
struct FileHistory {
    let id: ItemID
    /// How many former contents are kept; `nil` if the directory decides.
    let keepCount: Int?
}

/// The histories of files, and how many former contents each keeps.
struct FileHistories {
    private let connection: Connection
    private let keys: VaultKeys

    init(_ connection: Connection, _ keys: VaultKeys) {
        self.connection = connection
        self.keys = keys
    }

    /// Whether neither a file nor a directory has said that anything is kept.
    var isEmpty: Bool {
        get throws { try connection.row("SELECT 1 FROM file_histories LIMIT 1") { _ in false } ?? true }
    }

    /// The history of a file or a directory; `nil` if there is none.
    ///
    /// - Parameter node: The number of the file or the directory.
    /// - Throws: `decode` if it is damaged.
    func history(of node: Int64) throws -> FileHistory? {
        try connection.row("SELECT history, keep, tag FROM file_histories WHERE node = ?", .integer(node)) { row in
            let (id, keep) = (ItemID(try row.blob(0)), try row.optionalInteger(1))
            guard let id, isEqualInConstantTime(try row.blob(2), tag(id, node, keep)) else {
                throw CofferError.damaged("the history of a file", found: "its row is not authentic")
            }
            return FileHistory(id: id, keepCount: keep.map { Int($0) })
        }
    }

    /// The history of a file, whether that is authentic or not.
    func id(of node: Int64) throws -> ItemID? {
        try connection.row("SELECT history FROM file_histories WHERE node = ?", .integer(node)) {
            ItemID(try $0.blob(0))
        } ?? nil
    }

    /// The number of the file that has a history; `nil` if there is none.
    func node(of history: ItemID) throws -> Int64? {
        try connection.row("SELECT node FROM file_histories WHERE history = ?", .blob(history.bytes)) {
            try $0.integer(0)
        }
    }

    /// Begins a history, or changes how many former contents it keeps.
    ///
    /// - Parameters:
    ///   - node: The number of the file or the directory.
    ///   - keepCount: How many are kept; `nil` if the directory decides.
    @discardableResult
    func set(_ node: Int64, keepCount: Int?) throws -> FileHistory {
        let history = FileHistory(id: try id(of: node) ?? ItemID(), keepCount: keepCount)
        try write(history, of: node)
        return history
    }

    /// Moves a history to another file, whose own one ends.
    func move(_ history: FileHistory, to node: Int64, keepCount: Int?) throws {
        try write(FileHistory(id: history.id, keepCount: keepCount), of: node)
    }

    /// Forgets the history of a file or a directory, without former contents.
    func forget(_ node: Int64) throws {
        try connection.execute("DELETE FROM file_histories WHERE node = ?", .integer(node))
    }

    private func write(_ history: FileHistory, of node: Int64) throws {
        let keep = history.keepCount.map { Int64($0) }
        // It replaces the row of the file that had the history before, too.
        try connection.execute(
            "INSERT OR REPLACE INTO file_histories (node, history, keep, tag) VALUES (?, ?, ?, ?)",
            .integer(node),
            .blob(history.id.bytes),
            keep.map { .integer($0) } ?? .null,
            .blob(tag(history.id, node, keep))
        )
    }

    private func tag(_ history: ItemID, _ node: Int64, _ keep: Int64?) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(history)
        for value in [node, keep ?? -1] { writer.write(value) }
        return KeyedHash.tag(under: keys.catalog.search, for: "coffer file history tag v1", byteCount: 16, writer.bytes)
    }
}
