internal import CofferCore
internal import CofferDatabase
internal import CofferFiles
internal import CofferKeychain
internal import CofferSystem
package import CofferVault
package import CofferWire

// Checks and repairs, one bounded step a request, so that a check of the whole vault doesn't block other clients.

extension VaultHandlers {
    // MARK: Checking

    package func vaultCheck(_ params: VaultCheckParameters, _ call: Call) throws -> Step {
        call.isFor("can't check the vault")
        let place = try CheckPlace(params.cursor)
        if place.stage == .contents {
            return try ContentCheck(after: place.number, of: vault, wantsProgress: params.wantsProgress, call)
                .resume()
        }
        let order = CheckOrder(groups: call.caller.rights.reach, repairs: params.repairs, now: wallClockMilliseconds())
        let catalog = try catalog
        if params.repairs && params.cursor == nil { catalog.acknowledgeAuditFaults() }
        var page = try catalog.survey(from: params.cursor) {
            if !params.repairs { return try place.check(catalog, order) }
            return try catalog.change { changes in
                let page = try place.check(catalog, order)
                changes.noteUntold(page.quarantinedCount)
                return page
            }
        }
        if page.cursor == nil && !params.isQuick { page.cursor = CheckPlace(stage: .contents).cursor }
        return .done(Reply(page))
    }

    // MARK: Quarantine

    package func vaultQuarantine(_ params: VaultQuarantineParameters, _ call: Call) throws -> Step {
        call.isFor("can't look into the quarantine")
        return .done(Reply(try quarantine(params, call.caller)))
    }

    private func quarantine(_ params: VaultQuarantineParameters, _ caller: Caller) throws -> QuarantinePage {
        let order = CheckOrder(groups: caller.rights.reach, repairs: false, now: wallClockMilliseconds())
        let catalog = try catalog
        if params.action == .acknowledge {
            try catalog.acknowledgeFaults()
            return QuarantinePage(entries: [], cursor: nil)
        }
        if let store = params.store, let number = params.number {
            return try handle(params.action, QuarantinedRow(store: store, number: number), in: catalog, order)
        }
        let page = try QuarantinePlace(params.cursor).page(of: catalog, order)
        guard params.action == .restore else { return page }
        let entries = try catalog.change { _ in
            try page.entries.compactMap {
                try putBack(QuarantinedRow(store: $0.store, number: $0.number), in: catalog, order)
            }
        }
        return QuarantinePage(entries: entries, cursor: page.cursor)
    }

    /// Restores a row.
    private func putBack(_ row: QuarantinedRow, in catalog: Catalog, _ order: CheckOrder) throws -> QuarantineEntry? {
        try catalog.change { changes in
            let entry = try row.rows(of: catalog).putBack(row.number, order)
            if let entry, entry.obstacle == nil { changes.noteUntold(1) }
            return entry
        }
    }

    private func handle(
        _ action: QuarantineAction,
        _ row: QuarantinedRow,
        in catalog: Catalog,
        _ order: CheckOrder
    ) throws -> QuarantinePage {
        let rows = row.rows(of: catalog)
        let found = try action == .restore ? putBack(row, in: catalog, order) : rows.entry(row.number, order)
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
struct CheckPlace {
    let stage: CheckStage
    /// The last row that was checked; `nil` at the beginning of a stage.
    var number: Int64?
    /// The last tag that was checked, in the stage of tags.
    var tag: [UInt8]?
}

extension CheckPlace {
    /// Reads a cursor; `nil` is the beginning.
    init(_ cursor: String?) throws(CofferError) {
        guard let cursor else {
            self.init(stage: .database)
            return
        }
        let parts = cursor.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        // A tag has as many bytes as an identifier.
        let tag = parts.count == 3 ? ItemID(hexadecimal: parts[2])?.bytes : nil
        guard let stage = CheckStage(rawValue: parts[0]), parts.count > 1, let number = RowCursor.number(parts[1]),
            parts.count == 2 || stage == .keychainTags && tag != nil
        else {
            throw CofferError(.param, "parameter 'cursor': expected the 'cursor' of an earlier page of the same check")
        }
        self.init(stage: stage, number: number, tag: tag)
    }

    var cursor: String { "\(stage.rawValue):\(RowCursor.text(number))" + (tag.map { ":" + hexadecimal($0) } ?? "") }

    /// The beginning of the next stage; `nil` after the last.
    private var nextStage: CheckPlace? {
        CheckStage.allCases.drop { $0 != stage }.dropFirst().first.map { CheckPlace(stage: $0) }
    }

    func check(_ catalog: Catalog, _ order: CheckOrder) throws -> CheckPage {
        switch stage {
        case .database: page(try catalog.checkStructure(after: number ?? 0, order), at)
        case .keychainItems: page(try catalog.keychain.checkItems(after: number, order), at)
        case .keychainTags:
            page(try catalog.keychain.checkTags(after: tag.map { TagPlace(tag: $0, item: number ?? 0) }, order)) {
                CheckPlace(stage: stage, number: $0.item, tag: $0.tag)
            }
        case .files: page(try catalog.files.check(after: number, order), at)
        case .past: page(try catalog.checkPast(after: number, order), at)
        // The second count is that of the files.
        case .counts where number == nil: page(try catalog.keychain.checkCount(order), next: at(1))
        case .counts: page(try catalog.files.checkCount(order), next: nil)
        // Takes several steps: ``ContentCheck``.
        case .contents: page(CheckSlice<Int64>(), next: self)
        }
    }

    private func at(_ number: Int64) -> CheckPlace { CheckPlace(stage: stage, number: number) }

    private func page<Place>(_ slice: CheckSlice<Place>, _ place: (Place) -> CheckPlace) -> CheckPage {
        page(slice, next: slice.next.map(place) ?? nextStage)
    }

    private func page<Place>(_ slice: CheckSlice<Place>, next: CheckPlace?) -> CheckPage {
        CheckPage(
            stage: stage,
            checkedCount: slice.checkedCount,
            sealedCount: slice.sealedCount,
            quarantinedCount: slice.quarantinedCount,
            byteCount: slice.byteCount,
            findings: slice.findings,
            cursor: next?.cursor
        )
    }
}

/// A row in the quarantine.
private struct QuarantinedRow {
    let store: StoreName
    let number: Int64
}

/// The position at which a list of the quarantine resumes.
private struct QuarantinePlace {
    let store: StoreName
    let number: Int64?
}

extension QuarantinePlace {
    /// Reads a cursor; `nil` is the beginning.
    init(_ cursor: String?) throws(CofferError) {
        guard let cursor else {
            self.init(store: .keychain, number: nil)
            return
        }
        let parts = cursor.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let store = StoreName(rawValue: parts[0]), let number = RowCursor.number(parts[1])
        else {
            throw CofferError(.param, "parameter 'cursor': expected the 'cursor' of an earlier page")
        }
        self.init(store: store, number: number)
    }

    func page(of catalog: Catalog, _ order: CheckOrder) throws -> QuarantinePage {
        let entries = try catalog.quarantine(of: store).entries(after: number, order)
        if entries.count == order.limit, let last = entries.last {
            return QuarantinePage(entries: entries, cursor: "\(store.rawValue):\(RowCursor.text(last.number))")
        }
        let isLast = store == .file
        return QuarantinePage(
            entries: entries,
            cursor: isLast ? nil : "\(StoreName.file.rawValue):\(RowCursor.text(nil))"
        )
    }
}

extension QuarantinedRow {
    func rows(of catalog: Catalog) -> QuarantineTable { catalog.quarantine(of: store) }
}

extension Catalog {
    fileprivate func quarantine(of store: StoreName) -> QuarantineTable {
        switch store {
        case .keychain: keychain.quarantineTable
        case .file: files.quarantineTable
        }
    }
}
