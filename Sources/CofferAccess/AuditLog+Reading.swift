package import CofferCore
internal import CofferCrypto
internal import CofferDatabase

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
        var isDamaged = false
        var isFull = false
        let blocks = try blocks(from: try blockStart(ofNextTo: number))
        for block in blocks where !isFull {
            guard let records = try? records(of: block) else {
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
            summary: head.summary.recordCount > 0 ? head.summary : nil
        )
    }

    /// Verifies some blocks: whether each is authentic and at its place.
    ///
    /// - Parameter number: The last record that was verified; 0 at the beginning.
    /// - Throws: ``DatabaseError``.
    package func verify(after number: Int64) throws -> AuditVerification {
        guard number < head.next else { return AuditVerification(checkedCount: 0, findings: [], next: nil) }
        var findings: [String] = number == 0 ? doubts.words : []
        var checkedCount: Int64 = 0
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
            let link = Self.link(chain ?? head.anchor, block.first, block.sealed, keys)
            let records = try? records(of: block)
            // After a gap, the previous link is unknown.
            if records == nil || !isBehindGap && !isEqualInConstantTime(link, block.chain) {
                findings.append("the block at record \(block.first) is not what was written there")
            }
            // No valid audit reaches that number.
            expected = min(block.first, AuditHead.numberBound) + Int64(records?.count ?? 1)
            checkedCount += Int64(records?.count ?? 0)
            chain = block.chain
        }
        let isEnd = blocks.count < Limits.auditPageBlocks
        if isEnd && expected < head.next && head.next > head.lostUpTo + 1 {
            findings.append(Self.missing(expected, head.next - 1))
        } else if isEnd && !isEqualInConstantTime(chain ?? head.anchor, head.chain) {
            findings.append("the last records are not the last ones that were written")
        }
        return AuditVerification(checkedCount: checkedCount, findings: findings, next: isEnd ? nil : expected - 1)
    }

    private static func missing(_ first: Int64, _ last: Int64) -> String {
        first >= last ? "record \(first) is missing" : "the records \(first) to \(last) are missing"
    }

    struct StoredBlock {
        let first: Int64
        let sealed: [UInt8]
        let chain: [UInt8]
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

    private func blocks(from first: Int64) throws -> [StoredBlock] {
        var blocks: [StoredBlock] = []
        try connection.rows(
            "SELECT first, sealed, chain FROM audit_blocks WHERE first >= ? ORDER BY first",
            .integer(first)
        ) { row in
            blocks.append(
                StoredBlock(first: try row.integer(0), sealed: try row.blob(1), chain: try row.blob(2))
            )
            return blocks.count < Limits.auditPageBlocks
        }
        return blocks
    }

    func records(of block: StoredBlock) throws -> [AuditRecord] {
        let opened = try Self.open(block.sealed, Self.blockContext(block.first, keys), keys)
        return try AuditBlock(decoding: opened, first: block.first).records
    }
}
