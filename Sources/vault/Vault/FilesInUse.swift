internal import CofferCore
package import CofferFiles

/// The files that are open, or were closed, and are not synced yet.
package struct FilesInUse {
    /// Those that clients have closed, in the order in which they are synced.
    package private(set) var closed: [ChangedFile] = []
    /// Closed ones whose sync is under way; one of them may be among ``closed`` again, because it was written and closed
    /// anew.
    package var beingSynced: [ChangedFile] = []
    /// Those with changes of which clients that watch were not notified: an entry for each process that made one.
    package var unannounced: [ChangedFile] = []
    /// The numbers of handles of ended connections and mounts that are still being synced, by their tenants.
    private var orphans: [Int: Int] = [:]

    package var hasOrphans: Bool { !orphans.isEmpty }

    /// Whether so many wait that a sync must not wait for more.
    package var areMany: Bool { closed.count >= Limits.closedFilesAtOnce }
    /// Whether so many wait that another one must not wait.
    package var areTooMany: Bool { closed.count >= Limits.closedFiles }

    /// Notes a file that was closed, or whose sync has failed.
    ///
    /// - Returns: Whether it was not noted before.
    package mutating func noteClosed(_ file: OpenFile, by origin: Int32?) -> Bool {
        guard let index = closed.firstIndex(where: { $0.file === file }) else {
            closed.append(ChangedFile(file, by: origin))
            return true
        }
        if closed[index].origin != origin { closed[index].origin = nil }
        return false
    }

    /// Takes closed files out, the earliest first.
    package mutating func takeClosed(upTo count: Int = .max) -> [ChangedFile] {
        let taken = Array(closed.prefix(count))
        closed.removeFirst(taken.count)
        return taken
    }

    /// Notes a handle whose connection, or mount, has ended.
    package mutating func addOrphan(of tenant: Int) { orphans[tenant, default: 0] += 1 }

    /// Notes that such a handle was synced and released.
    package mutating func removeOrphan(of tenant: Int) {
        let left = (orphans[tenant] ?? 0) - 1
        orphans[tenant] = left > 0 ? left : nil
    }

    /// The number of such handles of a tenant, and that of all tenants.
    package func orphanCounts(of tenant: Int) -> (held: Int, used: Int) {
        (orphans[tenant] ?? 0, orphans.values.reduce(0, +))
    }

    /// Notes a change of which clients were not notified.
    package mutating func noteUnannounced(_ file: OpenFile, by origin: Int32?) {
        if unannounced.contains(where: { $0.file === file && $0.origin == origin }) { return }
        unannounced.append(ChangedFile(file, by: origin))
    }

    mutating func forgetClosed() { (closed, beingSynced) = ([], []) }
}

/// A file with changes that are not synced.
package struct ChangedFile {
    package let file: OpenFile
    /// The process that has made them, which need not be notified of its own changes; `nil` if there are several, or it is
    /// unknown.
    package fileprivate(set) var origin: Int32?

    fileprivate init(_ file: OpenFile, by origin: Int32?) {
        self.file = file
        self.origin = origin
    }
}
