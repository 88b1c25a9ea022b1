package import CofferCore

/// What the tree has at a path, for a request that asks for several things about it: its directories are read once, and
/// what is there when it is first asked for.
///
/// It holds until something is changed.
package final class FileSpot {
    package let name: ItemName
    package let group: String
    /// Whether the path lies in a directory that was created explicitly, or that has a class.
    package let isInMadeDirectory: Bool
    /// The class of new files there; `nil` if no directory has one.
    package let defaultClass: ProtectionClass?
    private let tree: FileTree
    /// The directory, and the last part of the path; `nil` if a directory is missing.
    private let last: (parent: Int64, component: Substring)?
    private var known: FileTree.Place??

    init(_ name: ItemName, in group: String, _ tree: FileTree) throws {
        self.name = name
        self.group = group
        self.tree = tree
        let components = name.components
        var (isInMadeDirectory, defaultClass, parent) = (false, ProtectionClass?.none, FileTree.root)
        let depth = try tree.forEachDirectory(components.dropLast(), in: group, name) { directory in
            if directory.stays || directory.defaultClass != nil { isInMadeDirectory = true }
            defaultClass = directory.defaultClass ?? defaultClass
            parent = directory.id
        }
        last = depth == components.count - 1 ? (parent, components[depth]) : nil
        (self.isInMadeDirectory, self.defaultClass) = (isInMadeDirectory, defaultClass)
    }

    /// The row at the path; `nil` if there is none.
    var place: FileTree.Place? {
        get throws {
            if let known { return known }
            let place = try last.flatMap { try tree.place($0.component, under: $0.parent, in: group, name.quoted) }
            known = .some(place)
            return place
        }
    }
}

extension FileStore {
    /// Finds the file at a path.
    ///
    /// - Throws: `interactionNotAllowed` before the first unlock, if the passcode protects its name.
    package func find(at spot: FileSpot) throws -> FileItem? { try tree.file(spot.place, spot.name, for: .read) }
}
