package import CofferCore
package import CofferDatabase

// Checking every row of the tree, a few at a time.

extension FileStore {
    private var rows: FileRows { FileRows(store: self) }

    /// The quarantine of files and directories.
    package var quarantineTable: QuarantineTable {
        QuarantineTable(
            connection,
            (
                numbers: "SELECT id FROM file_quarantine WHERE id >= ? ORDER BY id LIMIT ?",
                head: "SELECT damage, moved FROM file_quarantine WHERE id = ?",
                last: "SELECT max(id) FROM file_quarantine",
                remove: "DELETE FROM file_quarantine WHERE id = ?"
            ),
            rows
        )
    }

    /// Checks some files and directories, as ``SealedTable/check(after:_:)``.
    package func check(after place: Int64?, _ order: CheckOrder) throws -> CheckSlice<Int64> {
        try rows.check(after: place, order)
    }

    // MARK: Contents

    /// The number of the first file after a row, or of the first one at all; `nil` if there is none.
    package func nextFile(after number: Int64?) throws -> Int64? {
        try connection.numbers(
            "SELECT id FROM file_nodes WHERE id >= ? AND kind = 2 ORDER BY id LIMIT ?",
            after: number,
            limit: 1
        ).first
    }

    /// The file with a number, with as much of its path as can be read.
    ///
    /// - Returns: `nil` if it was removed, or its row is damaged.
    /// - Throws: `interactionNotAllowed` before the first unlock, if the passcode protects its name; ``DatabaseError``.
    package func file(numbered number: Int64) throws -> FileItem? {
        guard let node = try intactNode(number) else { return nil }
        guard let name = try tree.nameRow(of: node) else { return FileItem(node, path: node.metadata.name) }
        var components = [name.metadata.name]
        var parent = name.parent
        while parent != FileTree.root, components.count < Limits.nameComponents, let next = try intactNode(parent) {
            components.append(next.metadata.name)
            parent = next.parent
        }
        return FileItem(node, path: components.reversed().joined(separator: "/"))
    }

    private func intactNode(_ number: Int64) throws -> FileTree.Node? {
        do {
            return try tree.node(numbered: number, "a file")
        } catch let error as CofferError where error.code == .decode {
            return nil
        } catch let error as DatabaseError where error.kind == .damaged {
            return nil
        }
    }

    // MARK: Counts

    /// Compares the number of files with the stored count.
    ///
    /// - Throws: ``DatabaseError``.
    package func checkCount(_ order: CheckOrder) throws -> CheckSlice<Int64> {
        try connection.checkCount(
            of: "the files",
            order,
            comparison: """
                SELECT (SELECT group_concat(files) FROM file_count) = CAST(count(*) AS TEXT) FROM file_nodes WHERE kind = 2
                """,
            removal: "DELETE FROM file_count",
            recount: "INSERT INTO file_count SELECT count(*) FROM file_nodes WHERE kind = 2"
        )
    }

    /// The table of files and directories.
    package static let table = "file_nodes"

    /// Has the indices of the tree rebuilt, as ``SealedTable/rebuildIndices(without:_:_:_:)``.
    package func rebuildIndices(_ order: CheckOrder, _ rebuild: () throws -> Void) throws -> [Finding] {
        try rows.rebuildIndices(without: try rows.duplicates(), quarantineTable, order, rebuild)
    }
}
