internal import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys

/// The state of an audit when its catalog is opened: where it ends, and which parts are inconsistent.
///
/// The end is stored three times: in the head, in the row outside of the audit's tables, and in the anchor outside of
/// the database. Numbers continue from the highest, so that removed records stay missing.
struct AuditOpening {
    private(set) var head: AuditHead
    private(set) var doubts: AuditDoubts = []
    /// The number in the anchor; 0 if there is none.
    private(set) var anchored: Int64 = 0
    /// Whether there is no witness row, and never was.
    private(set) var isFirst = false

    private let connection: Connection
    private let keys: VaultKeys

    /// Compares all three.
    ///
    /// - Parameters:
    ///   - connection: The catalog.
    ///   - keys: The keys of the vault.
    ///   - isNew: Whether nothing was ever recorded.
    init(_ connection: Connection, _ keys: VaultKeys, isNew: Bool) throws {
        self.connection = connection
        self.keys = keys
        head = AuditHead(beginningWith: AuditLog.beginning(keys))
        // A number beyond the bound was inserted by an attacker, and must not use up the valid ones.
        let last = try connection.row(
            "SELECT first, chain FROM audit_blocks WHERE first < ? ORDER BY first DESC LIMIT 1",
            .integer(AuditHead.numberBound / 2)
        ) { row in Last(number: max(0, try row.integer(0)), chain: try row.blob(1)) }
        let hasHead = try readHead(last)
        try compareWitness(hasHead: hasHead, isNew: isNew && !hasHead && last == nil, last)
        try compareAnchor()
        // Blocks after the end are found by each verification, and must not conflict with new ones.
        if let last, last.number >= head.next { head.next = Self.next(behind: last) }
    }

    private struct Last {
        let number: Int64
        let chain: [UInt8]
    }

    /// - Returns: Whether there is a head that was sealed for this vault.
    private mutating func readHead(_ last: Last?) throws -> Bool {
        let sealed = try connection.row("SELECT sealed FROM audit_head") { try $0.blob(0) }
        guard let sealed else {
            if let last { loseHead(last) }
            return false
        }
        let context = AuditLog.headContext(keys)
        guard let stored = try? AuditHead(decoding: AuditLog.open(sealed, context, keys)) else {
            loseHead(last)
            return false
        }
        head = stored
        return true
    }

    /// The end of the last block is unknown: numbers continue well beyond it.
    private mutating func loseHead(_ last: Last?) {
        head.next = last.map { Self.next(behind: $0) } ?? Int64(Limits.auditBlockRecords)
        head.lostUpTo = head.next - 1
        head.chain = last?.chain ?? head.chain
    }

    private static func next(behind last: Last) -> Int64 {
        last.number + Int64(Limits.auditBlockRecords)
    }

    private mutating func compareWitness(hasHead: Bool, isNew: Bool, _ last: Last?) throws {
        let sealed = try connection.row(
            "SELECT value FROM catalog_settings WHERE name = ?",
            .text(AuditLog.witnessName)
        ) { try $0.blob(0) }
        guard let sealed else {
            isFirst = isNew || !keys.isWitnessed && !hasAnchor
            if !isFirst { doubts.insert(.witnessIsGone) }
            return
        }
        let context = AuditLog.witnessContext(keys)
        guard let witness = try? AuditWitness(decoding: AuditLog.open(sealed, context, keys)) else {
            doubts.insert(.witnessIsGone)
            return
        }
        doubts.formUnion(witness.doubts)
        anchored = witness.anchored
        let end = hasHead ? head.chain : last?.chain ?? head.chain
        if witness.next > head.next {
            doubts.insert(.auditIsOlder)
            resume(from: witness.next, witness.chain)
        } else if hasHead && witness.next < head.next {
            doubts.insert(.witnessIsOlder)
        } else if !isEqualInConstantTime(witness.chain, end) {
            doubts.insert(.auditIsOlder)
        }
    }

    private var hasAnchor: Bool { if case .found = keys.readAnchor() { true } else { false } }

    private mutating func compareAnchor() throws {
        guard case .found(let anchor) = keys.readAnchor() else {
            if anchored > 0 { doubts.insert(.anchorIsGone) }
            return
        }
        if anchor.nextRecord < anchored { doubts.insert(.anchorIsOlder) }
        if anchor.nextRecord > head.next {
            doubts.insert(.catalogIsOlder)
            resume(from: anchor.nextRecord, anchor.link)
        } else if try !leads(from: anchor) {
            doubts.insert(.hasOtherRecords)
        }
        anchored = max(anchored, anchor.nextRecord)
    }

    /// Whether the block before an earlier end is still the same; a dropped block can't be checked.
    private func leads(from anchor: CatalogAnchor) throws -> Bool {
        let number = anchor.nextRecord - 1
        if number <= head.summary.recordCount || number <= head.lostUpTo { return true }
        let link = try connection.row(
            "SELECT chain FROM audit_blocks WHERE first <= ? ORDER BY first DESC LIMIT 1",
            .integer(number)
        ) { try $0.blob(0) }
        return isEqualInConstantTime(link ?? head.anchor, anchor.link)
    }

    private mutating func resume(from next: Int64, _ chain: [UInt8]) {
        head.next = next
        head.chain = chain
    }
}
