internal import CofferCore
internal import CofferFiles
internal import CofferKeys
internal import CofferWire

/// One page of a listing of files and directories: goes through all that is there and holds no more of it than a page.
final class FileListing: SlicedWork {
    private let params: FileListParameters
    private let limit: Int
    private let keys: VaultKeys
    private var walk: TreeWalk
    /// Sorted by the paths' bytes; one more than the page, to know whether there is another.
    private var entries: [FileEntry] = []
    private var damagedCount = 0
    private(set) var doneCount = 0

    init(_ params: FileListParameters, _ walk: TreeWalk, _ keys: VaultKeys) {
        self.params = params
        self.walk = walk
        self.keys = keys
        limit = Int(params.limit ?? Int64(Limits.pageItems))
    }

    var subject: String { params.name.map { "list \($0.quoted)" } ?? "list the files" }

    func slice(_ catalog: Catalog, until isEnough: () -> Bool) throws -> Reply? {
        _ = try walk.resume()
        repeat {
            guard let visit = try walk.next() else { return try finish(catalog.files) }
            take(visit)
        } while !isEnough()
        return nil
    }

    private func take(_ visit: TreeWalk.Visit) {
        switch visit {
        case .entry(let entry):
            doneCount += 1
            add(entry)
            if entry.isDirectory && params.isRecursive && isElsewhere(entry.path + "/") { walk.skip() }
        case .damaged: damagedCount += 1
        case .end: return
        }
    }

    /// Whether nothing in a directory is on the page.
    ///
    /// The first page looks everywhere, to count what is damaged.
    private func isElsewhere(_ prefix: String) -> Bool {
        guard let cursor = params.cursor else { return false }
        if prefix.precedes(cursor) && !cursor.utf8.starts(with: prefix.utf8) { return true }
        guard entries.count > limit, let last = entries.last else { return false }
        return !prefix.precedes(last.path)
    }

    private func add(_ entry: FileEntry) {
        if let cursor = params.cursor, !cursor.precedes(entry.path) { return }
        if entries.count > limit, let last = entries.last, !entry.path.precedes(last.path) { return }
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].path.precedes(entry.path) { low = middle + 1 } else { high = middle }
        }
        // Moved while the walk rested, it may come by twice.
        if low < entries.count, entries[low].path.utf8.elementsEqual(entry.path.utf8) { return }
        entries.insert(entry, at: low)
        if entries.count > limit + 1 { entries.removeLast() }
    }

    private func finish(_ files: FileStore) throws -> Reply {
        var page: [FileInfo] = []
        var byteCount = 0
        for entry in entries.prefix(limit) {
            let info = try FileInfo(entry, files, in: keys.state)
            byteCount += info.greatestJSONByteCount
            if byteCount > Limits.pageJSONBytes && !page.isEmpty { break }
            page.append(info)
        }
        return Reply(
            FilePage(
                entries: page,
                cursor: entries.count > page.count ? page.last?.name : nil,
                damagedCount: params.cursor == nil ? damagedCount : 0
            )
        )
    }
}

extension FileInfo {
    init(_ entry: FileEntry, _ files: FileStore, in state: VaultState) throws {
        self.init(
            name: entry.path,
            isDirectory: entry.isDirectory,
            protectionClass: entry.protectionClass,
            byteCount: files.byteCount(of: entry),
            kind: entry.metadata.kind,
            created: entry.metadata.created,
            modified: entry.metadata.modified,
            isReadable: entry.isDirectory || entry.protectionClass?.permits(.read, in: state) == true,
            isOpenForWriting: files.isOpenForWriting(entry),
            childCount: entry.isDirectory ? try files.childCount(of: entry) : nil
        )
    }

    /// The most bytes that the entry's JSON can have: a byte of a name may become six.
    fileprivate var greatestJSONByteCount: Int { 512 + name.utf8.count * 6 }
}
