internal import CofferCore

/// Where the audit ends, as a sealed row outside of its own tables says.
///
/// proto-docs/FORMATS.md has the table. It is written in the transaction of each head: tables that were emptied, or put back
/// from an older copy, end elsewhere.
struct AuditWitness: Equatable {
    static let version: UInt8 = 1

    /// The number of the record that comes next.
    var next: Int64
    /// The link of the last block.
    var chain: [UInt8]
    /// The number that the anchor had by then; 0 if there was none.
    var anchored: Int64
    /// What was found before.
    var doubts: AuditDoubts

    /// As it is before it is sealed.
    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(next)
        writer.write(raw: chain)
        writer.write(anchored)
        writer.write(doubts.rawValue)
        return writer.bytes
    }
}

extension AuditWitness {
    /// Reads what ``encoded`` gave.
    init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.version else { throw ByteReader.Malformed() }
        next = try reader.read()
        chain = [UInt8](try reader.readRaw(AuditHead.chainBytes))
        anchored = try reader.read()
        doubts = AuditDoubts(rawValue: try reader.read())
        guard reader.isAtEnd, next >= 1, anchored >= 0 else { throw ByteReader.Malformed() }
    }
}

/// What does not fit together when a catalog is opened.
package struct AuditDoubts: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The tables of the audit end before the catalog says.
    static let auditIsOlder = AuditDoubts(rawValue: 1)
    /// The catalog has not come as far as the anchor.
    static let catalogIsOlder = AuditDoubts(rawValue: 2)
    /// The catalog has come farther, and not by way of the records that the anchor names.
    static let hasOtherRecords = AuditDoubts(rawValue: 4)
    /// There was an anchor, and is none that was written for this vault.
    static let anchorIsGone = AuditDoubts(rawValue: 8)
    /// The anchor is older than one that there was.
    static let anchorIsOlder = AuditDoubts(rawValue: 16)
    /// The row that says where the audit ends is missing, or is not authentic.
    static let witnessIsGone = AuditDoubts(rawValue: 32)
    /// That row is older than the audit.
    static let witnessIsOlder = AuditDoubts(rawValue: 64)

    private static let all: [(doubt: AuditDoubts, words: String)] = [
        (.auditIsOlder, "the audit is older than the catalog: records were taken away, or put back from a copy"),
        (
            .catalogIsOlder,
            "the catalog is older than the keybag: it was put back from a copy, or has lost what came last"
        ),
        (.hasOtherRecords, "the catalog goes on from an older one: the records up to the last lock are others"),
        (.anchorIsGone, "the file 'anchor', which says how far the catalog had come, is missing or damaged"),
        (.anchorIsOlder, "the file 'anchor', which says how far the catalog had come, was put back from a copy"),
        (.witnessIsGone, "what the catalog says of the end of its audit is missing or damaged"),
        (.witnessIsOlder, "what the catalog says of the end of its audit was put back from a copy"),
    ]

    /// What was found, a sentence each.
    package var words: [String] { Self.all.filter { contains($0.doubt) }.map(\.words) }
}
