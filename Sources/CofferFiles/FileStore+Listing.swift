internal import CofferCore
internal import CofferDatabase

// What a listing of all files wants besides a walk.

extension FileStore {
    /// Counts the files of the next directory that no name leads to: its row, or that of one around it, is damaged or missing.
    ///
    /// - Parameter directory: The number of the directory behind which to look; `nil` at the beginning.
    /// - Returns: How many there are, and the directory that was looked at; `nil` at the end.
    /// - Throws: ``DatabaseError``.
    package func lostFiles(behind directory: Int64?) throws -> (count: Int, directory: Int64)? {
        guard let next = try tree.nextParent(behind: directory ?? .min) else { return nil }
        if try tree.path(ofDirectory: next) != nil { return (0, next) }
        let count = try connection.row(
            "SELECT count(*) FROM file_nodes WHERE parent = ? AND kind <> 1",
            .integer(next)
        ) { Int(try $0.integer(0)) }
        return (count ?? 0, next)
    }
}

extension FileTree {
    /// The node of a number; `nil` where there is none, or it is damaged.
    fileprivate func soundNode(_ number: Int64) throws -> Node? {
        do {
            return try node(numbered: number, "an entry")
        } catch let error as CofferError where error.code == .decode {
            return nil
        }
    }

    /// The path of a directory, closed by a slash unless it is the root.
    ///
    /// - Returns: `nil` where a part of it is damaged or missing, or it contains itself.
    func path(ofDirectory number: Int64) throws -> String? {
        var names: [String] = []
        var next = number
        while next != Self.root {
            guard names.count < Limits.nameComponents, let node = try soundNode(next), node.kind == .directory else {
                return nil
            }
            names.append(node.metadata.name)
            next = node.parent
        }
        return names.reversed().map { $0 + "/" }.joined()
    }

    /// The next number that rows have as their parent.
    fileprivate func nextParent(behind number: Int64) throws -> Int64? {
        try connection.row(
            "SELECT parent FROM file_nodes WHERE parent > ? ORDER BY parent LIMIT 1",
            .integer(number)
        ) { try $0.integer(0) }
    }
}
