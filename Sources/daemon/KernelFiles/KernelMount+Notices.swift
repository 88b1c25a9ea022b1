package import CofferCore
internal import CofferFiles
internal import CofferVault

// What the kernel is told: changes by other clients, and locks.
extension KernelMount {
    /// Has the kernel write mapped memory of open files back, while the keys are there.
    package func writeBack() { isResumed ? dropEverything() : notifier.drop(nodes: openFiles.nodes) }

    /// Has the kernel drop all contents and attributes, whatever the classes: a class may have changed just now.
    ///
    /// - Parameter withNames: Whether names are sealed as well.
    package func dropAll(withNames: Bool) {
        nodes.forgetPaths()
        dropEverything()
        dropDirectory(Self.root)
        if withNames { notifier.dropAllEntries() }
    }

    /// Has the kernel drop the contents and attributes of all that it may know.
    ///
    /// An earlier daemon may have given it any file of the store. Once it has dropped them all, it asks for each that it needs.
    private func dropEverything() {
        var known = nodes.all
        if isResumed, !nodes.hasDroppedFormer {
            do { known += try filesOfStore() } catch { return notifier.giveUp() }
            nodes.hasDroppedFormer = true
        }
        notifier.drop(allNodes: known)
    }

    /// All files and symbolic links whose class a lock can end.
    private func filesOfStore() throws -> [UInt64] {
        var files: [UInt64] = []
        var last: Int64 = 0
        while true {
            let numbers = try store.numbered.fileNumbers(behind: last, limit: Limits.entriesPerQuantum)
            guard let next = numbers.last else { return files }
            files += numbers.map { UInt64(clamping: $0) }
            last = next
        }
    }

    /// Has the kernel look again at what another client has changed.
    ///
    /// - Parameters:
    ///   - changes: The changes.
    ///   - found: The directories that other mounts have looked up for these changes.
    package func note(_ changes: [ItemChange], _ found: inout FoundDirectories) {
        for change in changes where change.store == .file && change.group.hasSameBytes(as: group) {
            if let inode = change.inode { notifier.drop(nodes: [UInt64(clamping: inode)]) }
            nodes.forgetPaths()
            for path in [change.formerName, change.name].compactMap(\.self) { noteEntry(path, &found) }
        }
    }

    /// Has the kernel look up an entry again, and list its directory anew.
    private func noteEntry(_ path: String, _ found: inout FoundDirectories) {
        let slash = path.lastOffset(ofByte: UInt8(ascii: "/"))
        let parent = slash.map { String(path.utf8.prefix($0)) ?? "" } ?? ""
        let name = slash.map { String(path.utf8.dropFirst($0 + 1)) ?? "" } ?? path
        guard let row = found.row(of: parent, in: group, else: row) else { return }
        let directory = row == facts.directory ? Self.root : UInt64(clamping: row)
        notifier.drop(entry: name, in: directory)
        dropDirectory(directory)
    }

    /// Has the kernel drop the attributes and the list of a directory.
    ///
    /// The kernel ignores an answer with the attributes of a node if a notice crosses it, and goes on with older attributes. The
    /// root has none before the first answer, and the kernel would refuse every program: so a notice waits for that answer.
    private func dropDirectory(_ number: UInt64) {
        if number != Self.root || nodes.hasRoot || isResumed { notifier.drop(nodes: [number]) }
    }

    /// The number of a directory; `nil` if no directory has the path.
    private func row(of path: String) -> Int64? {
        if path.isEmpty { return FileStore.rootNumber }
        guard let name = try? ItemName(path) else { return nil }
        return try? store.inode(of: name, in: group)
    }

    /// The files that its programs have open.
    package var openFileCount: Int { caller.handles.count }
}

/// The numbers of directories that were looked up for some changes: one look-up does for all mounts that are told of them.
package struct FoundDirectories {
    private var rows: [[String]: Int64?] = [:]

    package init() {}

    /// The number of a directory; `nil` if no directory has the path.
    fileprivate mutating func row(of path: String, in group: String, else find: (String) -> Int64?) -> Int64? {
        if let known = rows[[group, path]] { return known }
        let row = find(path)
        rows[[group, path]] = .some(row)
        return row
    }
}
