package import CofferCore

/// The files that the kernel knows by number: where each is in the tree, and how often the kernel has looked it up.
///
/// A number is the file's inode in the vault, and 1 for the root of the mount.
package struct NodeTable: Sendable {
    /// An entry of a directory.
    package struct Place: Hashable, Sendable {
        package let parent: UInt64
        package let name: FileName

        package init(_ parent: UInt64, _ name: FileName) {
            self.parent = parent
            self.name = name
        }
    }

    private struct Node {
        /// All names under which the kernel has looked it up and that still lead to it.
        var places: [Place] = []
        var lookupCount: UInt64 = 0
        /// The attributes of a directory that was removed, which programs may have open, or be in.
        var removed: Attributes?
    }

    /// The number of the root of the mount.
    package static let root: UInt64 = 1

    private var nodes: [UInt64: Node] = [:]
    private var numbers: [Place: UInt64] = [:]
    /// The name of the root in the vault; empty for all of it.
    private let prefix: String

    /// Makes a table that knows the root only.
    package init(prefix: String = "") { self.prefix = prefix }

    // MARK: Paths

    /// The path of a node in the vault; empty for the root of the vault.
    ///
    /// - Throws: `ESTALE` if no known name leads to it, as for a file that was removed while it is open.
    package func path(of number: UInt64) throws(Errno) -> String {
        var parts: [String] = []
        var number = number
        while number != Self.root {
            guard let place = nodes[number]?.places.first else { throw .stale }
            parts.append(place.name.text)
            number = place.parent
            // A path of more parts is no name of the vault; this also ends a circle.
            if parts.count > Limits.nameComponents { throw .nameTooLong }
        }
        if !prefix.isEmpty { parts.append(prefix) }
        return parts.reversed().joined(separator: "/")
    }

    /// The path of an entry in a directory.
    ///
    /// - Throws: `ESTALE`; `ENAMETOOLONG` if the vault has no such long names.
    package func path(of name: FileName, in parent: UInt64) throws(Errno) -> ItemName {
        let directory = try path(of: parent)
        do {
            return try ItemName(directory.isEmpty ? name.text : "\(directory)/\(name.text)")
        } catch {
            throw .nameTooLong
        }
    }

    /// The number of an entry that the kernel knows.
    package func number(at place: Place) -> UInt64? { numbers[place] }

    // MARK: Looking up

    /// Records that the kernel gets the number of an entry.
    package mutating func lookUp(_ number: UInt64, at place: Place) {
        put(number, at: place)
        nodes[number]?.lookupCount += 1
    }

    /// Records that the kernel has forgotten some look-ups.
    package mutating func forget(_ number: UInt64, _ count: UInt64) {
        guard var node = nodes[number] else { return }
        node.lookupCount -= min(count, node.lookupCount)
        nodes[number] = node.lookupCount == 0 ? nil : node
        if node.lookupCount == 0 { for place in node.places { numbers[place] = nil } }
    }

    private mutating func put(_ number: UInt64, at place: Place) {
        if numbers[place] == number { return }
        remove(place)
        numbers[place] = number
        nodes[number, default: Node()].places.append(place)
    }

    // MARK: Changing

    /// Records that an entry leads nowhere.
    package mutating func remove(_ place: Place) {
        guard let number = numbers.removeValue(forKey: place) else { return }
        nodes[number]?.places.removeAll { $0 == place }
    }

    /// Records that a directory was removed.
    package mutating func remove(_ place: Place, directory attributes: Attributes?) {
        let number = numbers[place]
        remove(place)
        guard let number, var attributes else { return }
        attributes.linkCount = 0
        nodes[number]?.removed = attributes
    }

    /// A directory that was removed, and that the kernel still knows.
    package func removedDirectory(_ number: UInt64) -> Attributes? { nodes[number]?.removed }

    /// Records that an entry was renamed, and has replaced what was there.
    package mutating func move(_ place: Place, to target: Place) {
        // POSIX leaves two names of one file as they are.
        if let number = numbers[place], number == numbers[target] { return }
        guard let number = numbers[place] else { return remove(target) }
        remove(place)
        put(number, at: target)
    }

    /// Records that two entries have changed places.
    package mutating func exchange(_ one: Place, _ other: Place) {
        let (first, second) = (numbers[one], numbers[other])
        remove(one)
        remove(other)
        if let first { put(first, at: other) }
        if let second { put(second, at: one) }
    }

    // MARK: Changes of others

    /// The files that the kernel may have cached.
    package var known: [UInt64] { Array(nodes.keys) }

    /// The entries that the kernel may have cached.
    package var places: [Place] { Array(numbers.keys) }

    /// Whether the kernel may have cached a file.
    package func isKnown(_ number: UInt64) -> Bool { nodes[number] != nil }

    /// The entry that a path of the vault leads to, if the kernel knows its directory.
    package func place(ofPath path: String) -> Place? {
        var parts = path.utf8.split(separator: UInt8(ascii: "/")).map { FileName(String(Substring($0))) }
        let prefix = prefix.utf8.split(separator: UInt8(ascii: "/")).map { FileName(String(Substring($0))) }
        guard parts.starts(with: prefix) else { return nil }
        parts.removeFirst(prefix.count)
        guard let last = parts.popLast() else { return nil }
        var directory = Self.root
        for part in parts {
            guard let number = numbers[Place(directory, part)] else { return nil }
            directory = number
        }
        return Place(directory, last)
    }
}
