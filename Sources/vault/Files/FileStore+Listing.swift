internal import CofferCore
internal import CofferDatabase

// What a listing of all files needs besides a walk.

extension FileStore {
    /// Counts the files of the next directory to which no name leads, because its row, or that of a parent, is damaged
    /// or missing.
    ///
    /// - Parameter directory: The number of the directory after which to continue; `nil` at the beginning.
    /// - Returns: The count and the directory that was checked; `nil` at the end.
    /// - Throws: ``DatabaseError``.
    package func lostFiles(behind directory: Int64?) throws -> (count: Int, directory: Int64)? {
        guard let next = try tree.nextParent(behind: directory ?? .min) else { return nil }
        if next == FileTree.linked { return (try tree.unnamedCount(), next) }
        do {
            if try tree.path(ofDirectory: next) != nil { return (0, next) }
        } catch let error as CofferError where error.code == .interactionNotAllowed {
            return (0, next)
        }
        let count = try connection.row(
            "SELECT count(*) FROM file_nodes WHERE parent = ? AND kind <> 1",
            .integer(next)
        ) { Int(try $0.integer(0)) }
        return (count ?? 0, next)
    }
}

extension FileTree {
    /// The node with a number; `nil` if there is none, or it is damaged.
    fileprivate func soundNode(_ number: Int64) throws -> Node? {
        do {
            return try node(numbered: number, "an entry")
        } catch let error as CofferError where error.code == .decode {
            return nil
        }
    }

    /// The path of a directory, followed by a slash unless it is the root.
    ///
    /// - Returns: `nil` if a part of it is damaged or missing, or it contains itself.
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

    /// The next number that occurs as a parent.
    fileprivate func nextParent(behind number: Int64) throws -> Int64? {
        try connection.row(
            "SELECT parent FROM file_nodes WHERE parent > ? ORDER BY parent LIMIT 1",
            .integer(number)
        ) { try $0.integer(0) }
    }
}
