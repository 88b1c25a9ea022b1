package import CofferCore

/// The state of the whole audit: where it begins and ends, and the summary of dropped records.
///
/// proto-docs/FORMATS.md describes the format. The head is sealed beside the blocks, and written with each of them: a
/// truncated audit does not end where its head says.
struct AuditHead: Equatable {
    static let version: UInt8 = 1
    /// The size of a link of the chain.
    static let chainBytes = 32

    /// An upper bound for numbers of records, so that numbers never overflow.
    static let numberBound = Int64.max / 2

    /// The number of the next record.
    var next: Int64 = 1
    /// The link of the last block.
    var chain: [UInt8]
    /// The link that the first remaining block continues.
    var anchor: [UInt8]
    /// The sealed size of all blocks.
    var byteCount: Int64 = 0
    /// The number up to which records are unverified, because the head of that time was lost.
    var lostUpTo: Int64 = 0
    /// The summary of the records that were dropped.
    var summary = AuditSummary()

    /// Creates the head of an empty audit.
    init(beginningWith chain: [UInt8]) { (self.chain, anchor) = (chain, chain) }

    /// The serialised head.
    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        for number in [next, byteCount, lostUpTo] { writer.write(number) }
        writer.write(raw: chain + anchor)
        for number in [summary.recordCount, summary.firstTime, summary.lastTime, summary.unreadCount] {
            writer.write(number)
        }
        writer.write(UInt16(summary.tallies.count))
        for tally in summary.tallies {
            writer.write(counted: (tally.client ?? "").utf8)
            writer.write(tally.allowedCount)
            writer.write(tally.refusedCount)
        }
        return writer.bytes
    }

    /// Parses the result of ``encoded``.
    init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.version else { throw ByteReader.Malformed() }
        next = try reader.read()
        byteCount = try reader.read()
        lostUpTo = try reader.read()
        chain = [UInt8](try reader.readRaw(Self.chainBytes))
        anchor = [UInt8](try reader.readRaw(Self.chainBytes))
        summary.recordCount = try reader.read()
        summary.firstTime = try reader.read()
        summary.lastTime = try reader.read()
        summary.unreadCount = try reader.read()
        for _ in 0..<(try reader.read(UInt16.self)) {
            let client = try reader.readText()
            summary.tallies.append(
                AuditSummary.Tally(
                    client: client.isEmpty ? nil : client,
                    allowedCount: try reader.read(),
                    refusedCount: try reader.read()
                )
            )
        }
        guard reader.isAtEnd, (1...Self.numberBound).contains(next), (0..<next).contains(lostUpTo),
            (0...Self.numberBound).contains(byteCount), (0..<next).contains(summary.recordCount),
            (0...summary.recordCount).contains(summary.unreadCount),
            summary.tallies.allSatisfy({ min($0.allowedCount, $0.refusedCount) >= 0 }),
            summary.tallies.allSatisfy({ max($0.allowedCount, $0.refusedCount) <= Self.numberBound })
        else { throw ByteReader.Malformed() }
    }
}

extension AuditSummary {
    /// Adds a block that is being dropped before the first unlock, so that its records can't be read.
    mutating func addUnread(_ block: AuditLog.StoredBlock) {
        recordCount = block.last
        unreadCount += block.count
    }

    /// Adds a record that is being dropped.
    package mutating func add(_ record: AuditRecord) {
        if recordCount == unreadCount { firstTime = record.time }
        recordCount = record.number
        lastTime = record.time
        var client: String? = record.client?.summary ?? "cofferd"
        if tallies.count >= Limits.auditTallies && !tallies.contains(where: { $0.client == client }) { client = nil }
        let index = tallies.firstIndex { $0.client == client } ?? tallies.count
        if index == tallies.count { tallies.append(Tally(client: client, allowedCount: 0, refusedCount: 0)) }
        if record.refusal == nil {
            tallies[index].allowedCount += Int64(record.count)
        } else {
            tallies[index].refusedCount += Int64(record.count)
        }
    }
}
