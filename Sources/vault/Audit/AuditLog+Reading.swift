package import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys

// Reading and verifying records.

extension AuditLog {
    /// A page of records, the oldest first.
    ///
    /// - Parameters:
    ///   - number: The record after which the page begins; 0 for the oldest.
    ///   - query: The query that the records match.
    ///   - limit: The maximum number of records.
    ///   - reader: The client that reads, and when it does: the record of this reading is left out.
    /// - Throws: ``DatabaseError``.
    package func page(
        after number: Int64,
        _ query: AuditQuery,
        limit: Int,
        for reader: (client: ClientIdentity, time: Int64)? = nil
    ) throws -> AuditPage {
        var found: [AuditRecord] = []
        var byteCount = 0
        var last = number
        var sealedCount = 0
        var isDamaged = false
        var isFull = false
        let blocks = try blocks(from: try blockStart(ofNextTo: number))
        for block in blocks where !isFull {
            let records: [AuditRecord]
            switch try contents(of: block) {
            case .records(let opened): records = opened
            case .sealed:
                sealedCount += Int(max(0, block.last - max(number, block.first - 1)))
                last = max(last, block.last)
                continue
            case .damaged:
                isDamaged = true
                last = max(last, block.first)
                continue
            }
            for record in records where record.number > number && !isFull {
                let isOwn = reader.map { readings.isPresent(record, of: $0.client, at: $0.time) } ?? false
                if query.matches(record) && !isOwn {
                    byteCount += record.jsonByteCount
                    isFull = found.count == limit || byteCount > Limits.pageJSONBytes && !found.isEmpty
                    if isFull { break }
                    found.append(record)
                }
                last = record.number
            }
        }
        let hasMore = isFull || blocks.count == Limits.auditPageBlocks
        return AuditPage(
            records: found,
            next: hasMore ? last : nil,
            isDamaged: isDamaged,
            sealedCount: sealedCount,
            summary: head.summary.recordCount > 0 ? head.summary : nil
        )
    }

    /// Verifies some blocks: whether each is authentic and at its place.
    ///
    /// Before the first unlock, the chain alone says so of a block that is under the passcode.
    ///
    /// - Parameter number: The last record that was verified; 0 at the beginning.
    /// - Throws: ``DatabaseError``.
    package func verify(after number: Int64) throws -> AuditVerification {
        guard number < head.next else { return AuditVerification(checkedCount: 0, findings: [], next: nil) }
        var findings: [String] = number == 0 ? doubts.words : []
        var (checkedCount, sealedCount): (Int64, Int64) = (0, 0)
        var isBehindSealed = false
        var expected = number + 1
        var chain = try connection.row(
            "SELECT chain FROM audit_blocks WHERE first <= ? ORDER BY first DESC LIMIT 1",
            .integer(number)
        ) { try $0.blob(0) }
        if number == 0 && head.lostUpTo > 0 {
            findings.append("the records up to \(head.lostUpTo) are unverified: the record of their end was lost")
        }
        if number <= head.summary.recordCount { (expected, chain) = (head.summary.recordCount + 1, head.anchor) }
        let blocks = try blocks(from: number + 1)
        for block in blocks {
            let isBehindGap = block.first > expected
            if isBehindGap && block.first > head.lostUpTo + 1 {
                findings.append(Self.missing(expected, block.first - 1))
            }
            let contents = try contents(of: block)
            // After a gap, the previous link is unknown.
            if contents.isDamaged || !isBehindGap && !isLinked(block, to: chain ?? head.anchor) {
                // How many records a sealed block has is only known from the next one.
                let addition = isBehindSealed ? ", or records before it are missing" : ""
                findings.append("the block at record \(block.first) is not what was written there" + addition)
            }
            let count = contents.count(of: block)
            // No valid audit reaches that number.
            expected = min(block.first, AuditHead.numberBound) + max(1, count)
            checkedCount += count
            isBehindSealed = contents.isSealed
            if contents.isSealed { sealedCount += count }
            chain = block.chain
        }
        let isEnd = blocks.count < Limits.auditPageBlocks
        if isEnd && expected < head.next && head.next > head.lostUpTo + 1 {
            findings.append(Self.missing(expected, head.next - 1))
        } else if isEnd && !isEqualInConstantTime(chain ?? head.anchor, head.chain) {
            findings.append("the last records are not the last ones that were written")
        }
        return AuditVerification(
            checkedCount: checkedCount,
            sealedCount: sealedCount,
            findings: findings,
            next: isEnd ? nil : expected - 1
        )
    }

    private static func missing(_ first: Int64, _ last: Int64) -> String {
        first >= last ? "record \(first) is missing" : "the records \(first) to \(last) are missing"
    }

    struct StoredBlock {
        let first: Int64
        let sealed: [UInt8]
        let chain: [UInt8]
        /// The number of its last record, as the block after it tells.
        private(set) var last: Int64

        /// Reads the columns `first`, `sealed` and `chain`.
        init(_ row: borrowing Row) throws(DatabaseError) {
            first = try row.integer(0)
            sealed = try row.blob(1)
            chain = try row.blob(2)
            last = first
        }

        /// The number of its records.
        var count: Int64 { last - first + 1 }

        /// Sets the number of the last record, within the bounds of a block.
        fileprivate mutating func end(before next: Int64) {
            // No sum that is beyond the largest number: the numbers may be an attacker's.
            last = first + min(max(0, next - 1 - first), Int64(Limits.auditBlockRecords) - 1)
        }
    }

    /// What a block holds.
    enum Contents {
        case records([AuditRecord])
        /// It is under the passcode, which was not given yet.
        case sealed
        case damaged

        var isSealed: Bool { if case .sealed = self { true } else { false } }
        var isDamaged: Bool { if case .damaged = self { true } else { false } }

        /// The number of records; 0 if it is damaged.
        func count(of block: StoredBlock) -> Int64 {
            switch self {
            case .records(let records): Int64(records.count)
            case .sealed: block.count
            case .damaged: 0
            }
        }
    }

    /// The first number of the block with the next record, or of the block after it.
    private func blockStart(ofNextTo number: Int64) throws -> Int64 {
        // Clients choose this number.
        let next = number == .max ? number : number + 1
        return try connection.row(
            "SELECT first FROM audit_blocks WHERE first <= ? ORDER BY first DESC LIMIT 1",
            .integer(next)
        ) { try $0.integer(0) } ?? next
    }

    /// Blocks in their order.
    func blocks(from first: Int64, limit: Int = Limits.auditPageBlocks) throws -> [StoredBlock] {
        var blocks: [StoredBlock] = []
        try connection.rows(
            "SELECT first, sealed, chain FROM audit_blocks WHERE first >= ? ORDER BY first",
            // No block of a valid audit begins before 1.
            .integer(max(0, first))
        ) { row in
            let block = try StoredBlock(row)
            if !blocks.isEmpty { blocks[blocks.count - 1].end(before: block.first) }
            if blocks.count == limit { return false }
            blocks.append(block)
            blocks[blocks.count - 1].end(before: head.next)
            return true
        }
        return blocks
    }

    /// - Throws: `internal` if there is no memory to open it in.
    func contents(of block: StoredBlock) throws(CofferError) -> Contents {
        do throws(KeyError) {
            let opened = try Self.openBlock(block.sealed, block.first, keys)
            return (try? AuditBlock(decoding: opened, first: block.first)).map { .records($0.records) } ?? .damaged
        } catch {
            switch error {
            case .locked: return .sealed
            case .damaged: return .damaged
            case .noMemory: throw .noSecretMemory
            }
        }
    }

    /// Whether a block continues a link.
    func isLinked(_ block: StoredBlock, to chain: [UInt8]) -> Bool {
        isEqualInConstantTime(Self.link(chain, block.first, block.sealed, keys), block.chain)
    }
}
