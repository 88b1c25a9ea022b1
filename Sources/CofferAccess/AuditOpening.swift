internal import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys

/// What is found of an audit when its catalog is opened: where it ends, and what does not fit together.
///
/// The end is told three times: by the head, by the row outside of the audit's tables, and by the anchor outside of the
/// database. Numbers go on from the farthest, so that those that were taken away stay missing.
struct AuditOpening {
    private(set) var head: AuditHead
    private(set) var doubts: AuditDoubts = []
    /// The number that the anchor has; 0 if there is none.
    private(set) var anchored: Int64 = 0
    /// Whether there is no row yet that says where the audit ends, and never was.
    private(set) var isFirst = false

    private let connection: Connection
    private let keys: VaultKeys

    /// Looks at all three.
    ///
    /// - Parameters:
    ///   - connection: The catalog.
    ///   - keys: The vault's keys.
    ///   - isNew: Whether nothing was ever recorded.
    init(_ connection: Connection, _ keys: VaultKeys, isNew: Bool) throws {
        self.connection = connection
        self.keys = keys
        head = AuditHead(beginningWith: AuditLog.beginning(keys))
        // A number that no log reaches was put there, and must not use up those that come.
        let last = try connection.row(
            "SELECT first, chain FROM audit_blocks WHERE first < ? ORDER BY first DESC LIMIT 1",
            .integer(AuditHead.numberBound / 2)
        ) { row in Last(number: max(0, try row.integer(0)), chain: try row.blob(1)) }
        let hasHead = try readHead(last)
        try compareWitness(hasHead: hasHead, isNew: isNew && !hasHead && last == nil, last)
        try compareAnchor()
        // What stands behind the end is found by each check, and must not be in the way of what comes.
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

    /// Where the last block ends is not known any more: numbers go on well behind it.
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
            goOn(from: witness.next, witness.chain)
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
            goOn(from: anchor.nextRecord, anchor.link)
        } else if try !leads(from: anchor) {
            doubts.insert(.hasOtherRecords)
        }
        anchored = max(anchored, anchor.nextRecord)
    }

    /// Whether the block before an earlier end is the one that was there; nothing is known of one that has made room.
    private func leads(from anchor: CatalogAnchor) throws -> Bool {
        let number = anchor.nextRecord - 1
        if number <= head.summary.recordCount || number <= head.lostUpTo { return true }
        let link = try connection.row(
            "SELECT chain FROM audit_blocks WHERE first <= ? ORDER BY first DESC LIMIT 1",
            .integer(number)
        ) { try $0.blob(0) }
        return isEqualInConstantTime(link ?? head.anchor, anchor.link)
    }

    private mutating func goOn(from next: Int64, _ chain: [UInt8]) {
        head.next = next
        head.chain = chain
    }
}
