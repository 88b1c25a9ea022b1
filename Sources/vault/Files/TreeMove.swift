package import CofferCore

/// The check of what is in a directory before it is moved, which can pause anywhere.
package struct TreeMove {
    package let directory: FileEntry
    /// The new path of the directory.
    package let target: ItemName
    /// Whether a path may become too long, so that all of them have to be looked at.
    package let mayBecomeTooLong: Bool
    private var walk: TreeWalk

    init(of directory: FileEntry, to target: ItemName, mayBecomeTooLong: Bool, _ walk: TreeWalk) {
        self.directory = directory
        self.target = target
        self.mayBecomeTooLong = mayBecomeTooLong
        self.walk = walk
    }

    /// Goes to the next entry, and checks its new path.
    ///
    /// - Returns: `nil` at the end.
    /// - Throws: `param` if the path would become too long.
    package mutating func next() throws -> TreeWalk.Visit? {
        let visit = try walk.next()
        if mayBecomeTooLong, case .entry(let entry)? = visit { try check(entry) }
        return visit
    }

    /// The new path of an entry.
    package func path(of entry: FileEntry) -> String {
        target.path + String(decoding: entry.path.utf8.dropFirst(directory.path.utf8.count), as: UTF8.self)
    }

    private func check(_ entry: FileEntry) throws(CofferError) {
        let path = path(of: entry).utf8
        let partCount = path.count { $0 == UInt8(ascii: "/") } + 1
        if partCount <= Limits.nameComponents && path.count <= Limits.nameBytes { return }
        throw CofferError(
            .param,
            "can't move \(directory.quoted) to \(target.quoted): the path of \(entry.quoted) would become too long",
            hint: "a path has at most \(Limits.nameComponents) parts and \(Limits.nameBytes) bytes",
            reason: .nameTooLong
        )
    }
}
