internal import CofferCore
internal import CofferFiles
internal import CofferKeychain
internal import CofferSystem
internal import CofferVault
internal import CofferWire

/// The renaming of an entry.
///
/// The entries of a directory are checked first, in slices, and the directory is moved in the step in which the check ends. If
/// another client changes something between two slices, the check begins anew: the client may have made an entry, or a secret.
final class Renaming: SlicedWork {
    private let params: FileRenameParameters
    private let group: String
    /// The checks that have not ended.
    private var checks: [MoveCheck] = []
    /// How often they have begun.
    private var beginCount = 0
    /// The number of changes of the catalog when they began; `nil` before.
    private var changeCount: Int?
    private(set) var doneCount = 0

    init(_ params: FileRenameParameters, in group: String) {
        self.params = params
        self.group = group
    }

    func slice(_ catalog: Catalog, until isEnough: () -> Bool) throws -> Reply? {
        if changeCount != catalog.changes.madeCount { try begin(catalog) }
        while !checks.isEmpty {
            guard try checks[0].advance(catalog) else {
                checks.removeFirst()
                continue
            }
            doneCount += 1
            // A client that never stops changing something must not hold the rename up.
            if beginCount <= Limits.slicedMoveChecks && isEnough() { return nil }
        }
        return Reply(try move(catalog))
    }

    private func begin(_ catalog: Catalog) throws {
        changeCount = catalog.changes.madeCount
        beginCount += 1
        checks = []
        if params.name == params.target { return }
        try check(params.name, params.target, catalog)
        if params.exchanges { try check(params.target, params.name, catalog) }
    }

    /// Refuses to give an entry the name of a secret, and begins to check what is in it.
    private func check(_ name: ItemName, _ target: ItemName, _ catalog: Catalog) throws {
        let entry = try catalog.files.requireOwnEntry(name, in: group)
        try catalog.checkNotSecret(target, in: group)
        if entry.isDirectory { checks.append(try MoveCheck(of: entry, to: target, in: group, catalog)) }
    }

    private func move(_ catalog: Catalog) throws -> FileInfo {
        let files = catalog.files
        let mode: MoveMode =
            if params.exchanges {
                .exchanges
            } else if params.replaces {
                params.keepsClass ? .replacesKeepingClass : .replaces
            } else {
                .refuses
            }
        return try catalog.change { changes in
            let entry = try files.requireOwnEntry(params.name, in: group)
            let other = params.exchanges ? try files.requireOwnEntry(params.target, in: group) : nil
            try files.move(
                params.name,
                to: params.target,
                in: group,
                mode,
                keepsDirectory: params.keepsDirectories,
                isChecked: true,
                now: wallClockMilliseconds()
            )
            for (entry, name) in [(entry, params.target)] + (other.map { [($0, params.name)] } ?? []) {
                try changes.note(renaming(of: entry, to: name))
            }
            return try FileInfo(
                try files.requireOwnEntry(params.target, in: group),
                files,
                in: catalog.keychain.state
            )
        }
    }

    private func renaming(of entry: FileEntry, to name: ItemName) throws -> ItemChange {
        ItemChange(.renamed, file: name, in: group, formerName: try ItemName(entry.path), inode: entry.inode)
    }
}

/// The check of what is in a directory before it is moved: no path may become too long, and no name that of a secret.
///
/// Each entry is looked for among the secrets, and by turns each secret among the entries, so that whichever are fewer end it.
private struct MoveCheck {
    private var move: TreeMove
    private let group: String
    private var checksPaths: Bool
    private var checksNames: Bool
    /// Whether an entry was met that can't be read: then only the secrets tell whether its name is one of theirs.
    private var isBlind = false
    /// The secrets that may get to be below the directory.
    private var secrets = ItemQuery(groups: [])
    /// The row of the keychain that was looked at last.
    private var row: Int64?

    init(of directory: FileEntry, to target: ItemName, in group: String, _ catalog: Catalog) throws {
        move = try catalog.files.beginMove(of: directory, to: target)
        self.group = group
        checksPaths = move.mayBecomeTooLong
        checksNames = try catalog.keychain.count() > 0
        secrets.groups = [group]
        secrets.itemClass = .genericPassword
        secrets.prefixes = [.service: target.path]
        if try catalog.keychain.sealedCount() > 0 { throw refusal(catalog) }
    }

    /// Looks at an entry, and at a secret.
    ///
    /// - Returns: Whether anything is left.
    mutating func advance(_ catalog: Catalog) throws -> Bool {
        if checksPaths || checksNames && !isBlind { try visitEntry(catalog) }
        if checksNames { try visitSecret(catalog) }
        return checksPaths || checksNames
    }

    private mutating func visitEntry(_ catalog: Catalog) throws {
        switch try move.next() {
        case .entry(let entry)?:
            if checksNames, entry.excludesSecret {
                try catalog.checkNotSecret(try ItemName(move.path(of: entry)), in: group)
            }
        case .damaged?, .sealed?: isBlind = true
        case .end?: break
        case nil: (checksPaths, checksNames) = (false, checksNames && isBlind)
        }
    }

    private mutating func visitSecret(_ catalog: Catalog) throws {
        let page = try catalog.keychain.index.search(secrets, after: row, lookingAt: 1)
        if !page.sealedRows.isEmpty { throw refusal(catalog) }
        for name in page.items.compactMap(\.attributes.name) where try isTaken(name, catalog) {
            throw CofferError.isSecret(name)
        }
        row = page.next
        checksNames = page.next != nil
    }

    /// Whether an entry gets the name of a secret.
    private func isTaken(_ name: ItemName, _ catalog: Catalog) throws -> Bool {
        let prefix = (move.target.path + "/").utf8
        guard name.path.utf8.starts(with: prefix) else { return false }
        let rest = String(decoding: name.path.utf8.dropFirst(prefix.count), as: UTF8.self)
        guard let former = try? ItemName("\(move.directory.path)/\(rest)") else { return false }
        return try catalog.files.entry(former, in: group)?.excludesSecret ?? false
    }

    private func refusal(_ catalog: Catalog) -> CofferError {
        .locked(move.directory.quoted, in: catalog.keychain.state, for: .write)
    }
}

extension FileEntry {
    /// Whether no secret may have its name: a directory that was only made implicitly shares it.
    fileprivate var excludesSecret: Bool { !isDirectory || staysWhenEmpty }
}
