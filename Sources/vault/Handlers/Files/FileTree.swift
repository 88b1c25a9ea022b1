internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferKeys
internal import CofferMemory
internal import CofferSystem
package import CofferVault
package import CofferWire

// The tree of files and directories. From the first unlock on, everything except changing a class works in every state.

extension FileHandlers {
    package func fileStat(_ params: FileStatParameters, _ call: Call) throws -> Step {
        let group = try call.group(params.group)
        let files = try catalog.files
        let entry = try entry(params.name, params.handle, in: group, call)
        return .done(Reply(try FileInfo(entry, files, in: try keys.state)))
    }

    /// The description of a file or directory that was changed just now.
    func fileInfo(_ name: ItemName, in group: String) throws -> FileInfo {
        let files = try catalog.files
        return try FileInfo(try files.requireOwnEntry(name, in: group), files, in: try keys.state)
    }

    package func fileList(_ params: FileListParameters, _ call: Call) throws -> Step {
        let group = try call.group(params.group)
        call.isFor(params.name.map { "can't list \($0.quoted)" } ?? "can't list the files")
        let files = try catalog.files
        let directory = try params.name.map { try files.requireEntry($0, in: group) }
        if let directory, !directory.isDirectory { throw CofferError.noDirectory(directory) }
        var walk = files.walk(below: directory, in: [group], isRecursive: params.isRecursive)
        if let cursor = params.cursor {
            guard let position = Base64.decode(cursor), try walk.seek(position) else {
                throw CofferError.noPosition("cursor")
            }
        }
        return try perform(FileListing(params, walk, try keys), call)
    }

    package func fileMkdir(_ params: FileMkdirParameters, _ call: Call) throws -> Step {
        let group = try call.group(params.group)
        call.isFor("can't make \(params.name.quoted)")
        let catalog = try catalog
        let info = try catalog.change { changes in
            try catalog.checkNotSecret(params.name, in: group)
            // The copy of a directory inherits unless its source is stricter.
            var stricter: ProtectionClass?
            if let least = params.leastClass {
                let inherited = try vault.classOfNewFile(params.name, in: group, call)
                if inherited.stricter(least) != inherited { stricter = least }
            }
            try catalog.files.makeDirectory(
                params.name,
                in: group,
                defaultClass: params.protectionClass ?? stricter,
                makesParents: params.makesParents,
                ownership: Ownership(mode: params.mode, uid: params.uid, gid: params.gid),
                now: wallClockMilliseconds()
            )
            if let keepCount = params.keepCount {
                _ = try catalog.files.versions.setKeepCount(
                    keepCount,
                    of: try catalog.files.requireOwnEntry(params.name, in: group)
                )
            }
            let info = try madeDirectory(params.name, in: group)
            changes.note(ItemChange(.added, file: params.name, in: group, inode: info.inode))
            return info
        }
        return .done(Reply(info))
    }

    /// The description of a directory that was made, or was there: before the first unlock without its dates, if it was.
    private func madeDirectory(_ name: ItemName, in group: String) throws -> FileInfo {
        do {
            return try fileInfo(name, in: group)
        } catch let error as CofferError where error.code == .interactionNotAllowed {
            return FileInfo(
                name: name.path,
                isDirectory: true,
                type: .directory,
                inode: try catalog.files.inode(of: name, in: group) ?? 0,
                protectionClass: try catalog.files.defaultClass(ofDirectory: name, in: group),
                byteCount: 0,
                created: 0,
                modified: 0,
                isReadable: true,
                isOpenForWriting: false
            )
        }
    }

    package func fileRename(_ params: FileRenameParameters, _ call: Call) throws -> Step {
        let group = try call.group(params.group)
        call.isFor("can't move \(params.name.quoted)")
        // What is replaced becomes a version, with all that was written to it.
        let isKept = try params.replaces && catalog.files.versions.mayKeepVersions
        return try settled([params.name] + (isKept ? [params.target] : []), in: group, call) { [self] in
            let renaming = Renaming(params, in: group)
            // Only what is in a directory takes longer.
            if let reply = try renaming.slice(catalog, until: { true }) { return .done(reply) }
            return try perform(renaming, call)
        }
    }

    package func fileRemove(_ params: FileRemoveParameters, _ call: Call) throws -> Step {
        let group = try call.group(params.group)
        call.isFor("can't remove \(params.name.quoted)")
        let catalog = try catalog
        if params.isRecursive, let removal = try catalog.files.beginRemoval(of: params.name, in: group) {
            let work = DirectoryRemoval(params.name, in: group, removal)
            return try perform(work, call, wantsProgress: params.wantsProgress)
        }
        try catalog.change(isRemoval: true) { changes in
            let inode = try catalog.files.removeEntry(
                params.name,
                in: group,
                keepsDirectory: params.keepsDirectories,
                now: wallClockMilliseconds()
            )
            changes.note(ItemChange(.removed, file: params.name, in: group, inode: inode))
        }
        return .done(Reply(CountResult(count: 1)))
    }

    package func fileProtect(_ params: FileProtectParameters, _ call: Call) throws -> Step {
        let group = try call.group(params.group)
        guard let name = params.name else { return .done(Reply(try protectRoot(of: group, params, call))) }
        call.isFor("can't protect \(name.quoted)")
        if params.isRecursive && params.isDefaultOnly {
            throw CofferError(
                .param,
                "parameters 'recursive' and 'default' were both given",
                hint: "'default' changes what new files get, 'recursive' that and the files that are there"
            )
        }
        let catalog = try catalog
        let entry = try catalog.files.requireOwnEntry(name, in: group)
        if params.isRecursive && entry.isDirectory {
            let walk = catalog.files.walk(below: entry, in: [group], isRecursive: true)
            let work = DirectoryProtection(name, as: params.protectionClass, in: group, walk)
            return try perform(work, call, wantsProgress: params.wantsProgress)
        }
        if params.isDefaultOnly && !entry.isDirectory { throw CofferError.noDirectory(entry) }
        guard !entry.isDirectory || params.isDefaultOnly else {
            throw CofferError(
                .param,
                "\(entry.quoted) is a directory: what is to be protected, the files in it or new ones?",
                hint: "'--recursive' changes all that is in it, '--default' the class of new files"
            )
        }
        let isChanged = try catalog.protect(entry, as: params.protectionClass, now: wallClockMilliseconds())
        return .done(Reply(FileProtectionChange(changedCount: isChanged ? 1 : 0, unchanged: [], unchangedCount: 0)))
    }

    /// Changes the class of new files of a group where no directory has one.
    private func protectRoot(
        of group: String,
        _ params: FileProtectParameters,
        _ call: Call
    ) throws -> FileProtectionChange {
        call.isFor("can't change the default class of files")
        guard params.isDefaultOnly, !params.isRecursive else {
            throw CofferError(
                .param,
                "parameter 'name' is missing: the root has a class of new files alone",
                hint: "say 'default', or name a file or a directory"
            )
        }
        let catalog = try catalog
        let keys = try keys
        let isChanged = try catalog.change { _ in
            try catalog.setDefaultClass(params.protectionClass, of: group, keys)
        }
        return FileProtectionChange(changedCount: isChanged ? 1 : 0, unchanged: [], unchangedCount: 0)
    }
}

extension Catalog {
    /// Changes the class of a file, or the class of new files of a directory.
    ///
    /// - Returns: Whether it had another class.
    fileprivate func protect(
        _ entry: FileEntry,
        as protectionClass: ProtectionClass,
        now: Int64
    ) throws -> Bool {
        try change { changes in
            let isChanged = try files.protect(entry, as: protectionClass, now: now)
            if isChanged { changes.note(ItemChange(.changed, entry)) }
            return isChanged
        }
    }
}

/// The removal of a directory, in slices.
private final class DirectoryRemoval: SlicedWork {
    private let name: ItemName
    private let group: String
    private var removal: TreeRemoval

    init(_ name: ItemName, in group: String, _ removal: TreeRemoval) {
        self.name = name
        self.group = group
        self.removal = removal
    }

    var doneCount: Int { removal.removedCount }
    var changedCount: Int { removal.removedCount }

    func slice(_ catalog: Catalog, until isEnough: () -> Bool) throws -> Reply? {
        let isDone = try catalog.change(isRemoval: true) { changes in
            let formerCount = removal.removedCount
            let now = wallClockMilliseconds()
            let isDone = try catalog.files.resume(with: &removal, now: now, until: isEnough)
            if isDone && removal.keptCount == 0 {
                changes.note(ItemChange(.removed, file: name, in: group, inode: removal.top))
            } else {
                changes.noteUntold(removal.removedCount - formerCount)
            }
            return isDone
        }
        guard isDone else { return nil }
        guard removal.keptCount == 0 else {
            throw CofferError(
                .duplicateItem,
                "can't remove all of \(name.quoted): another client has changed \(removal.keptCount) directories meanwhile",
                hint: "repeat the command, if they still are to be removed",
                operation: .write
            )
        }
        return Reply(CountResult(count: Int64(removal.removedCount)))
    }
}

/// The change of the class of everything in a directory, in slices.
private final class DirectoryProtection: SlicedWork {

    private let name: ItemName
    private let protectionClass: ProtectionClass
    private let group: String
    private var walk: TreeWalk
    private var isDirectoryDone = false
    private(set) var changedCount = 0
    private var unchanged: [UnchangedFile] = []
    private var unchangedCount = 0
    private(set) var doneCount = 0

    init(_ name: ItemName, as protectionClass: ProtectionClass, in group: String, _ walk: TreeWalk) {
        self.name = name
        self.protectionClass = protectionClass
        self.group = group
        self.walk = walk
    }

    func slice(_ catalog: Catalog, until isEnough: () -> Bool) throws -> Reply? {
        let now = wallClockMilliseconds()
        if let moved = try walk.resume() {
            keep(
                moved,
                CofferError(.duplicateItem, "it was moved meanwhile, and what was left to do in it was not done")
            )
        }
        if !isDirectoryDone {
            // New files first: those that are made meanwhile get the new class already.
            isDirectoryDone = true
            try protect(try catalog.files.requireOwnEntry(name, in: group), catalog, now)
        }
        repeat {
            guard let visit = try walk.next() else {
                let change = FileProtectionChange(
                    changedCount: changedCount,
                    unchanged: unchanged,
                    unchangedCount: unchangedCount
                )
                return Reply(change)
            }
            switch visit {
            case .entry(let entry): try protect(entry, catalog, now)
            case .damaged(let entry), .sealed(let entry): keep(entry.directory, entry.error)
            case .end: break
            }
        } while !isEnough()
        return nil
    }

    private func protect(_ entry: FileEntry, _ catalog: Catalog, _ now: Int64) throws {
        doneCount += 1
        guard entry.hasClass else { return }
        // A directory inside that inherits its class keeps inheriting it.
        let isTop = entry.path.utf8.elementsEqual(name.path.utf8)
        if entry.isDirectory && !isTop && entry.protectionClass == nil { return }
        if entry.protectionClass == protectionClass { return }
        do {
            if try catalog.protect(entry, as: protectionClass, now: now) { changedCount += 1 }
        } catch let error as CofferError {
            keep(entry.path, error)
        }
    }

    private func keep(_ name: String, _ error: CofferError) {
        unchangedCount += 1
        if unchanged.count == Limits.namedFiles { return }
        unchanged.append(UnchangedFile(name: name, code: error.code, message: error.message))
    }
}

extension CofferError {
    static func noDirectory(_ entry: FileEntry) -> CofferError {
        CofferError(
            .param,
            "\(entry.quoted) is a file, and not a directory",
            hint: "'coffer file stat' shows it",
            reason: .notDirectory
        )
    }
}
