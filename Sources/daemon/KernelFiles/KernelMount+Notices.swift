package import CofferCore
internal import CofferFiles
internal import CofferVault

// What the kernel is told: changes by other clients, and locks.
extension KernelMount {
    /// Has the kernel write mapped memory of open files back, while the keys are there.
    package func writeBack() {
        notifier.drop(nodes: openFiles.nodes)
        if isResumed { dropEverything() }
    }

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
    private func dropEverything() {
        guard isResumed else { return notifier.drop(allNodes: nodes.all) }
        do { notifier.drop(allNodes: nodes.all + (try filesOfStore())) } catch { notifier.giveUp() }
    }

    /// All files that a lock can end.
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
    package func note(_ changes: [ItemChange]) {
        for change in changes where change.store == .file && change.group.hasSameBytes(as: group) {
            if let inode = change.inode { notifier.drop(nodes: [UInt64(clamping: inode)]) }
            nodes.forgetPaths()
            for path in [change.formerName, change.name].compactMap(\.self) { noteEntry(path) }
        }
    }

    /// Has the kernel look up an entry again, and list its directory anew.
    private func noteEntry(_ path: String) {
        let slash = path.lastOffset(ofByte: UInt8(ascii: "/"))
        let parent = slash.map { String(path.utf8.prefix($0)) ?? "" } ?? ""
        let name = slash.map { String(path.utf8.dropFirst($0 + 1)) ?? "" } ?? path
        guard let directory = number(ofDirectory: parent) else { return }
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

    /// The kernel's number of a directory; `nil` if no directory has the path.
    private func number(ofDirectory path: String) -> UInt64? {
        var row = FileStore.rootNumber
        if !path.isEmpty {
            guard let name = try? ItemName(path), let found = try? store.inode(of: name, in: group) else { return nil }
            row = found
        }
        return row == facts.directory ? Self.root : UInt64(clamping: row)
    }

    /// The files that its programs have open.
    package var openFileCount: Int { caller.handles.count }
}
