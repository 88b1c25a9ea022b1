internal import CofferCore
internal import CofferFiles
internal import CofferKeys
internal import CofferMemory
internal import CofferVault
internal import CofferWire

/// One page of a listing of files and directories, in the order in which the tree is walked.
final class FileListing: SlicedWork {
    private let keys: VaultKeys
    private var walk: TreeWalk
    private var quota: PageQuota
    private var entries: [FileInfo] = []
    private var unread = Unread()

    init(_ params: FileListParameters, _ walk: TreeWalk, _ keys: VaultKeys) {
        quota = PageQuota(params.limit)
        self.walk = walk
        self.keys = keys
    }

    package var doneCount: Int { quota.rowCount }

    package func slice(_ catalog: Catalog, until isEnough: () -> Bool) throws -> Reply? {
        _ = try walk.resume()
        repeat {
            guard let visit = try walk.next() else { return page(cursor: nil) }
            try take(visit, catalog.files)
            if quota.isSpent { return page(cursor: Base64.encode(walk.position)) }
        } while !isEnough()
        return nil
    }

    private func take(_ visit: TreeWalk.Visit, _ files: FileStore) throws {
        switch visit {
        case .entry(let entry):
            quota.addRows(1)
            quota.add(entry.path, and: entry.metadata.target)
            entries.append(try FileInfo(entry, files, in: keys.state))
        case .damaged:
            quota.addRows(1)
            unread.damagedCount += 1
        case .sealed:
            quota.addRows(1)
            unread.sealedCount += 1
        case .end: return
        }
    }

    private func page(cursor: String?) -> Reply {
        Reply(
            FilePage(
                entries: entries,
                cursor: cursor,
                damagedCount: unread.damagedCount,
                sealedCount: unread.sealedCount
            )
        )
    }
}

extension FileInfo {
    init(_ entry: FileEntry, _ files: FileStore, in state: VaultState) throws {
        let times = files.openFiles.times(of: entry)
        let byteCount = files.openFiles.byteCount(of: entry)
        let storedByteCount = files.openFiles.storedByteCount(of: entry)
        self.init(
            name: entry.path,
            isDirectory: entry.isDirectory,
            type: entry.type,
            inode: entry.inode,
            mode: Int64(entry.mode),
            uid: entry.metadata.ownership.uid.map(Int64.init),
            gid: entry.metadata.ownership.gid.map(Int64.init),
            target: entry.type == .symbolicLink ? entry.metadata.target : nil,
            linkCount: try files.linkCount(of: entry),
            protectionClass: entry.protectionClass,
            byteCount: byteCount,
            storedByteCount: storedByteCount == byteCount ? nil : storedByteCount,
            kind: entry.metadata.kind,
            created: entry.metadata.created,
            modified: times.modifiedMilliseconds,
            accessedNanoseconds: times.accessed,
            modifiedNanoseconds: times.modified,
            changedNanoseconds: times.changed,
            isReadable: entry.type != .file || entry.protectionClass?.permits(.read, in: state) == true,
            isOpenForWriting: files.openFiles.isOpenForWriting(entry),
            childCount: entry.isDirectory ? try files.childCount(of: entry) : nil
        )
    }
}
