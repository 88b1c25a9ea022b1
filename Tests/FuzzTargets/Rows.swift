import CofferAudit
import CofferRights
import CofferFileContent
import CofferCore
import CofferCrypto
import CofferDatabase
import CofferFiles
import CofferKeychain
import CofferKeys
import CofferMemory
import CofferPast
import Synchronization

/// Rows may have any values: each way of reading and changing them ends with an answer or an error, and the others answer.
///
/// The first byte says what is replaced: a value as it is, or a part of what is sealed, by those who have the keys. The second one
/// names the column, the third one the row; the rest is the value.
func checkRow(_ input: [UInt8]) throws(FuzzFinding) {
    guard input.count >= 4 else { return }
    let outcome = catalog.withLock { state -> Result<Void, FuzzFinding> in
        do throws(FuzzFinding) {
            try state.check(input)
            return .success(())
        } catch {
            return .failure(error)
        }
    }
    try outcome.get()
}

private let catalog = Mutex(RowCheck())

/// Values that arithmetic and allocation have to bear.
private let extremes: [Int64] = [
    .min, .min + 1, -65536, -1, 0, 1, 22, 255, 256, 65535, 65536, 1 << 24, 1 << 31, 1 << 32, 1 << 40, 1 << 62,
    .max - 256, .max - 1, .max,
]

private struct RowCheck: ~Copyable {
    private var made: RowCatalog?

    init() {}

    mutating func check(_ input: [UInt8]) throws(FuzzFinding) {
        do {
            let catalog = try made ?? RowCatalog()
            made = catalog
            let connection = catalog.connection
            try connection.beginBatch()
            defer { try? connection.rollbackBatch() }
            // A constraint may refuse the value.
            do { try Self.replace(input, catalog) } catch is DatabaseError { return }
            for use in Self.uses(of: catalog) {
                do {
                    try connection.transaction { try use() }
                } catch is CofferError {
                } catch let error as DatabaseError {
                    try require(error.kind != .misuse, "\(error)")
                }
            }
        } catch let error as FuzzFinding {
            throw error
        } catch {
            throw FuzzFinding(description: "unexpected error: \(error)")
        }
    }

    // MARK: What is replaced

    private static func replace(_ input: [UInt8], _ catalog: RowCatalog) throws {
        let (mode, place, row) = (input[0], Int(input[1]), Int64(input[2] % 8))
        if mode % 2 == 1 { return try reseal(place, row, Array(input[3...]), catalog) }
        let columns = RowTable.all.flatMap { table in table.columns.indices.map { (table, Int64($0)) } }
        let (table, column) = columns[place % columns.count]
        let (value, isFraction) = value(input[3], Array(input[4...]))
        try catalog.connection.execute(
            table.update,
            value,
            .integer(isFraction ? 1 : 0),
            .integer(column),
            .integer(row)
        )
    }

    private static func value(_ kind: UInt8, _ bytes: [UInt8]) -> (DatabaseValue, isFraction: Bool) {
        let number = bytes.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        switch kind % 8 {
        case 0: return (.null, false)
        case 1: return (.integer(number), false)
        case 2: return (.integer(extremes[Int(bytes.first ?? 0) % extremes.count]), false)
        case 3: return (.integer(number), true)
        case 4: return (.text(String(decoding: bytes, as: UTF8.self)), false)
        case 5: return (.blob([UInt8](repeating: 0, count: Int(truncatingIfNeeded: number & 0x1F_FFFF))), false)
        default: return (.blob(bytes), false)
        }
    }

    /// Replaces a part of what is sealed, and seals it as those do who have the keys.
    private static func reseal(_ place: Int, _ row: Int64, _ change: [UInt8], _ catalog: RowCatalog) throws {
        let sealed = SealedColumn.all[place % SealedColumn.all.count]
        try sealed.change(row, in: catalog) { plaintext in
            guard change.count >= 2 else { return change }
            // All of it, or some bytes in the midst.
            if change[0] == 0 { return Array(change[1...]) }
            var changed = plaintext
            let start = min(Int(change[1]), changed.count)
            let end = min(start + change.count - 2, changed.count)
            changed.replaceSubrange(start..<end, with: change[2...])
            return changed
        }
    }

    // MARK: What is done then

    private static func uses(of catalog: RowCatalog) -> [() throws -> Void] {
        keychainUses(catalog) + fileUses(catalog) + pastUses(catalog) + accessUses(catalog)
    }

    private static let order = CheckOrder(groups: [RowCatalog.group], repairs: false, now: 1)
    private static let repair = CheckOrder(groups: [RowCatalog.group], repairs: true, now: 1)

    private static func keychainUses(_ catalog: RowCatalog) -> [() throws -> Void] {
        let store = catalog.keychain
        let keys = ["a", "b"].map { GenericPasswordKey(group: RowCatalog.group, service: "s", account: $0) }
        var uses: [() throws -> Void] = [
            { _ = try store.count() }, { try store.forEachItem { _ = try? $0.get() } },
            { _ = try store.index.search(ItemQuery(groups: [RowCatalog.group])) },
            { _ = try store.quarantineTable.entries(after: 0, order) }, { _ = try store.countWantingPasscode() },
        ]
        for key in keys {
            uses.append({ _ = try store.open(key) })
            uses.append({
                guard let item = try store.find(key) else { return }
                for value in try store.histories.values(of: item).values {
                    _ = try store.histories.secret(value.number, of: item)
                }
            })
            uses.append({
                guard let item = try store.find(key) else { return }
                try store.protect(item, as: .afterFirstUnlockThisDeviceOnly, now: 1)
            })
        }
        for order in [order, repair] {
            uses.append({ _ = try store.checkItems(after: .min, order) })
            uses.append({ _ = try store.checkTags(after: nil, order) })
            uses.append({ _ = try store.checkCount(order) })
        }
        uses.append({
            let table = store.quarantineTable
            for entry in try table.entries(after: .min, order) { _ = try table.putBack(entry.number, order) }
        })
        for key in keys {
            uses.append({
                let secret = try SecretBytes(zeros: 5)
                try store.put(key, secret: secret, accessibility: .always, kind: nil, created: nil, now: 2)
            })
            uses.append({ _ = try store.remove(key) })
        }
        uses.append({ try store.removeWantingPasscode() })
        return uses
    }

    private static func fileUses(_ catalog: RowCatalog) -> [() throws -> Void] {
        let store = catalog.files
        let group = RowCatalog.group
        let names = ["f", "d/g", "h", "d/l", "d/s"].compactMap { try? ItemName($0) }
        var uses: [() throws -> Void] = [
            { _ = try store.count() },
            {
                var walk = store.walk(below: nil, in: [group], isRecursive: true)
                while try walk.next() != nil {}
            },
            {
                var directory: Int64?
                while let lost = try store.lostFiles(behind: directory) { directory = lost.directory }
            },
            { _ = try store.quarantineTable.entries(after: .min, order) },
        ]
        for name in names {
            uses.append({
                guard let file = try store.find(name, in: group) else { return }
                if store.openFiles.hasChunks(file) { return }
                let read = try store.prepareRead(file)
                defer { store.openContents.finished(read) }
                _ = try read.collect(0..<min(file.byteCount, 1 << 20))
            })
            for salvages in [false, true] {
                uses.append({ try open(name, salvages, store) })
            }
            uses.append({
                guard let file = try store.find(name, in: group) else { return }
                try store.protect(file, as: .completeUntilFirstUserAuthentication, now: 2)
            })
        }
        uses.append({ _ = try store.check(after: .min, order) })
        uses.append({ _ = try store.checkCount(order) })
        for name in names { uses += versionUses(of: name, store) }
        uses.append({ _ = try store.check(after: .min, repair) })
        uses.append({ _ = try store.checkCount(repair) })
        uses.append({
            let table = store.quarantineTable
            for entry in try table.entries(after: .min, order) { _ = try table.putBack(entry.number, order) }
        })
        uses.append({
            try store.move(try ItemName("f"), to: try ItemName("e/f"), in: group, .replaces, now: 3)
        })
        for name in names { uses.append({ try store.removeEntry(name, in: group, now: 3) }) }
        uses.append({
            guard var removal = try store.beginRemoval(of: try ItemName("d"), in: group) else { return }
            while try !store.resume(with: &removal, now: 3, until: { true }) {}
        })
        return uses
    }

    private static func pastUses(_ catalog: RowCatalog) -> [() throws -> Void] {
        let (past, keychain, files) = (catalog.past, catalog.keychain, catalog.files)
        return [
            {
                _ = try past.check(after: .min, limit: 100) { row, owner in
                    try keychain.check(row, of: owner, for: [RowCatalog.group])
                        ?? files.versions.check(row, of: owner) ?? .lost
                }
            },
            {
                for entry in try past.entries(of: RowCatalog.group, after: nil, limit: 10) {
                    guard let label = try entry.label else { continue }
                    let image = try past.takeOut(entry)
                    if label.protection.store == .keychain {
                        _ = try keychain.putBack(image, as: nil, "an item")
                    } else {
                        try files.putBack(image, at: ItemName("back/" + label.name), in: RowCatalog.group, now: 5)
                    }
                }
            },
            {
                try keychain.restoreReplaced()
                try files.versions.restoreReplaced()
            },
            {
                while let doomed = try past.nextDoomed(lifetime: 0, bound: 1, time: 1 << 60) {
                    try files.versions.remove(past.remove(doomed))
                }
            },
            { try past.empty(RowCatalog.group) }, { _ = try past.total() },
        ]
    }

    private static func versionUses(of name: ItemName, _ store: FileStore) -> [() throws -> Void] {
        let group = RowCatalog.group
        return [
            {
                let entry = try store.requireEntry(name, in: group)
                for former in try store.versions.formerFiles(of: entry).versions {
                    let version = try store.versions.version(former.number, of: entry)
                    let opening = try store.openFiles.beginOpening(version, for: .read)
                    while try store.openFiles.resume(opening, limit: 1) {}
                    if let open = try store.openFiles.finish(opening) { store.openFiles.close(open) }
                }
            },
            {
                let entry = try store.requireEntry(name, in: group)
                guard let version = try store.versions.formerFiles(of: entry).versions.first else { return }
                _ = try store.versions.restore(version.number, of: entry, now: 5)
            },
            { _ = try store.versions.setKeepCount(1, of: try store.requireEntry(name, in: group)) },
            { _ = try store.versions.remove(nil, of: try store.requireEntry(name, in: group)) },
        ]
    }

    /// Opens a file as handles do, reads its beginning and its end, and cuts it.
    private static func open(_ name: ItemName, _ salvages: Bool, _ store: FileStore) throws {
        guard let file = try store.find(name, in: RowCatalog.group) else { return }
        let opening = try store.openFiles.beginOpening(file, for: .read)
        while try store.openFiles.resume(opening, limit: 1) {}
        let opened = try salvages ? store.openFiles.finishSalvaging(opening) : store.openFiles.finish(opening)
        guard let open = opened else { return }
        defer { store.openFiles.close(open) }
        for start in [0, max(0, open.byteCount - 10)] {
            let plan = try store.plans.reading(start..<start + 10, of: open)
            defer { open.endRead() }
            _ = try plan.collect()
        }
        guard !salvages else { return }
        _ = try store.plans.allocating(0..<Limits.fileBytes, of: open)
        try store.openFiles.make(FileChange(size: .exactly(5), time: 4), in: open, isLogged: false)
        try store.openFiles.commit(open, now: 4)
        store.abandon(isCertain: false)
    }

    private static func accessUses(_ catalog: RowCatalog) -> [() throws -> Void] {
        let (connection, keys) = (catalog.connection, catalog.keys)
        return [
            {
                let rules = AccessRuleStore(connection: connection, keys: keys)
                let name = try ItemName("s/a")
                for rule in try rules.all {
                    for item in [NamedItem.missing, .unreadable, .found(listed: "s/a", created: 1000)] {
                        let known = [rules.rule(rule, askedFor: name, item)].compactMap(\.self)
                        _ = known.verdict(on: .read, "s/a", askedAs: "s/a", in: rule.rule.group)
                    }
                    _ = (rule.rule(at: 1), rule.counts(at: 1, of: "boot"))
                    try rules.countUse(of: rule)
                }
                for number in try rules.damaged { try rules.remove(number) }
            },
            {
                let audit = try AuditLog(connection: connection, keys: keys, isNew: false)
                var number: Int64? = 0
                for _ in 0..<8 {
                    guard let from = number else { break }
                    number = try audit.page(after: from, AuditQuery(), limit: 10).next
                }
                number = 0
                for _ in 0..<8 {
                    guard let from = number else { break }
                    number = try audit.verify(after: from).next
                }
                audit.note(AuditRecord(time: 1, client: nil, action: "item.get", state: .noPasscode))
                try audit.write(at: 1)
            },
        ]
    }
}
