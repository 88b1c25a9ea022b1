package import CofferCore
internal import CofferDatabase
internal import CofferFiles
internal import CofferKeychain
internal import CofferSystem
package import CofferWire

// Checks and repairs, one bounded step a request, so that a check of the whole vault doesn't block other clients.

extension Vault {
    // MARK: Checking

    package func vaultCheck(_ params: VaultCheckParameters, _ call: Call) throws(CofferError) -> Step {
        let place = try CheckPlace(params.cursor)
        let order = CheckOrder(groups: call.caller.groups, repairs: params.repairs, now: wallClockMilliseconds())
        do {
            let catalog = try catalog
            if params.repairs && params.cursor == nil { catalog.acknowledgeAuditFaults() }
            let page = try catalog.survey(from: params.cursor) {
                if !params.repairs { return try place.check(catalog, order) }
                return try catalog.change { changes in
                    let page = try place.check(catalog, order)
                    changes.noteUntold(page.quarantinedCount)
                    return page
                }
            }
            return .done(Reply(page))
        } catch {
            throw .init(mapping: error, "can't check the vault")
        }
    }

    // MARK: Quarantine

    package func vaultQuarantine(_ params: VaultQuarantineParameters, _ call: Call) throws(CofferError) -> Step {
        .done(Reply(try quarantine(params, call.caller)))
    }

    private func quarantine(
        _ params: VaultQuarantineParameters,
        _ caller: Caller
    ) throws(CofferError) -> QuarantinePage {
        let order = CheckOrder(groups: caller.groups, repairs: false, now: wallClockMilliseconds())
        do {
            let catalog = try catalog
            if params.action == .acknowledge {
                try catalog.acknowledgeFaults()
                return QuarantinePage(entries: [], cursor: nil)
            }
            if let store = params.store, let number = params.number {
                return try handle(params.action, QuarantinedRow(store: store, number: number), in: catalog, order)
            }
            let page = try QuarantinedRow(params.cursor).page(of: catalog, order)
            guard params.action == .restore else { return page }
            let entries = try catalog.change { changes in
                let entries = try page.entries.compactMap { entry in
                    let row = QuarantinedRow(store: entry.store, number: entry.number)
                    return try row.rows(of: catalog).putBack(row.number, order)
                }
                changes.noteUntold(entries.count { $0.obstacle == nil })
                return entries
            }
            return QuarantinePage(entries: entries, cursor: page.cursor)
        } catch {
            throw .init(mapping: error, "can't look into the quarantine")
        }
    }

    private func handle(
        _ action: QuarantineAction,
        _ row: QuarantinedRow,
        in catalog: Catalog,
        _ order: CheckOrder
    ) throws -> QuarantinePage {
        let rows = row.rows(of: catalog)
        let found =
            try action == .restore
            ? catalog.change { changes in
                let entry = try rows.putBack(row.number, order)
                if let entry, entry.obstacle == nil { changes.noteUntold(1) }
                return entry
            } : rows.entry(row.number, order)
        guard let found else {
            throw CofferError(
                .itemNotFound,
                "there is no row \(row.number) of that store in the quarantine",
                hint: "'coffer doctor' shows what there is"
            )
        }
        if action == .discard { try catalog.change(isRemoval: true) { _ in try rows.discard(row.number) } }
        return QuarantinePage(entries: [found], cursor: nil)
    }
}

/// The position at which a check resumes.
private struct CheckPlace {
    let stage: CheckStage
    /// The last row that was checked; 0 at the beginning of a stage.
    var number: Int64 = 0
    /// The last tag that was checked, in the stage of tags.
    var tag: [UInt8]?

    init(_ stage: CheckStage) { self.stage = stage }

    /// Reads a cursor; `nil` is the beginning.
    init(_ cursor: String?) throws(CofferError) {
        guard let cursor else {
            self.init(.database)
            return
        }
        let parts = cursor.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let stage = CheckStage(rawValue: String(parts[0])),
            let number = Int64(parts[1]), parts.count == 2 || stage == .keychainTags
        else { throw Self.malformed }
        self.init(stage)
        self.number = number
        if parts.count == 3 {
            guard let tag = bytes(ofHexadecimal: parts[2]) else { throw Self.malformed }
            self.tag = tag
        }
    }

    private static let malformed = CofferError(
        .param,
        "parameter 'cursor': expected the 'cursor' of an earlier page of the same check"
    )

    private var cursor: String { "\(stage.rawValue):\(number)" + (tag.map { ":" + hexadecimal($0) } ?? "") }

    /// The beginning of the next stage; `nil` after the last.
    private var nextStage: CheckPlace? {
        let stages = CheckStage.allCases
        guard let index = stages.firstIndex(of: stage), index + 1 < stages.count else { return nil }
        return CheckPlace(stages[index + 1])
    }

    func check(_ catalog: Catalog, _ order: CheckOrder) throws -> CheckPage {
        switch stage {
        case .database: page(try catalog.checkStructure(after: number, order))
        case .keychainItems: page(try catalog.keychain.checkItems(after: number, order))
        case .formerValues: page(try catalog.keychain.checkHistory(after: number, order))
        case .keychainTags: try checkTags(catalog, order)
        case .files: page(try catalog.files.check(after: number, order))
        // The second count is that of the files.
        case .counts where number == 0: counted(try catalog.keychain.checkCount(order), isLast: false)
        case .counts: counted(try catalog.files.checkCount(order), isLast: true)
        }
    }

    private func checkTags(_ catalog: Catalog, _ order: CheckOrder) throws -> CheckPage {
        let slice = try catalog.keychain.checkTags(after: tag.map { TagPlace(tag: $0, item: number) }, order)
        let next = slice.next.map { place in
            var next = self
            next.number = place.item
            next.tag = place.tag
            return next
        }
        return page(slice, next ?? nextStage)
    }

    private func counted(_ slice: CheckSlice<Int64>, isLast: Bool) -> CheckPage {
        var next = self
        next.number = 1
        return page(slice, isLast ? nil : next)
    }

    private func page(_ slice: CheckSlice<Int64>) -> CheckPage {
        let next = slice.next.map { number in
            var next = self
            next.number = number
            return next
        }
        return page(slice, next ?? nextStage)
    }

    private func page<Place>(_ slice: CheckSlice<Place>, _ next: CheckPlace?) -> CheckPage {
        CheckPage(
            stage: stage,
            checkedCount: slice.checkedCount,
            sealedCount: slice.sealedCount,
            quarantinedCount: slice.quarantinedCount,
            findings: slice.findings,
            cursor: next?.cursor
        )
    }
}

/// A row in the quarantine, or the position at which a list of them resumes.
private struct QuarantinedRow {
    let store: StoreName
    let number: Int64

    init(store: StoreName, number: Int64) {
        self.store = store
        self.number = number
    }

    /// Reads a cursor; `nil` is the beginning.
    init(_ cursor: String?) throws(CofferError) {
        guard let cursor else {
            self.init(store: .keychain, number: 0)
            return
        }
        let parts = cursor.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let store = StoreName(rawValue: String(parts[0])), let number = Int64(parts[1]) else {
            throw CofferError(.param, "parameter 'cursor': expected the 'cursor' of an earlier page")
        }
        self.init(store: store, number: number)
    }

    func page(of catalog: Catalog, _ order: CheckOrder) throws -> QuarantinePage {
        let entries = try rows(of: catalog).entries(after: number, order)
        if entries.count == order.limit, let last = entries.last {
            return QuarantinePage(entries: entries, cursor: "\(store.rawValue):\(last.number)")
        }
        let isLast = store == .file
        return QuarantinePage(entries: entries, cursor: isLast ? nil : "\(StoreName.file.rawValue):0")
    }

    func rows(of catalog: Catalog) -> QuarantineTable {
        switch store {
        case .keychain: catalog.keychain.quarantineTable
        case .file: catalog.files.quarantineTable
        }
    }
}

/// Decodes hexadecimal digits; `nil` if they are malformed.
private func bytes(ofHexadecimal digits: Substring) -> [UInt8]? {
    let digits = Array(digits.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for place in stride(from: 0, to: digits.count, by: 2) {
        guard let byte = UInt8(String(decoding: digits[place...(place + 1)], as: UTF8.self), radix: 16) else {
            return nil
        }
        bytes.append(byte)
    }
    return bytes
}
