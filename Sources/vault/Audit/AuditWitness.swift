internal import CofferCore

/// The end of the audit, in a sealed row outside of its own tables.
///
/// proto-docs/FORMATS.md describes the format. It is written in the transaction of each head, so that tables that were
/// emptied, or replaced by an older copy, have another end.
struct AuditWitness: Equatable {
    static let version: UInt8 = 1

    /// The number of the next record.
    var next: Int64
    /// The link of the last block.
    var chain: [UInt8]
    /// The number in the anchor at that time; 0 if there was none.
    var anchored: Int64
    /// Earlier inconsistencies.
    var doubts: AuditDoubts

    /// The serialised row.
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
    /// Parses the result of ``encoded``.
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

/// The inconsistencies that are found when a catalog is opened.
package struct AuditDoubts: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The tables of the audit end before the witness does.
    static let auditIsOlder = AuditDoubts(rawValue: 1)
    /// The catalog ends before the anchor.
    static let catalogIsOlder = AuditDoubts(rawValue: 2)
    /// The catalog ends after the anchor, but does not contain the records that the anchor names.
    static let hasOtherRecords = AuditDoubts(rawValue: 4)
    /// There was an anchor, and now there is none of this vault.
    static let anchorIsGone = AuditDoubts(rawValue: 8)
    /// The anchor is older than an earlier one.
    static let anchorIsOlder = AuditDoubts(rawValue: 16)
    /// The witness row is missing, or is not authentic.
    static let witnessIsGone = AuditDoubts(rawValue: 32)
    /// The witness row is older than the audit.
    static let witnessIsOlder = AuditDoubts(rawValue: 64)

    private static let all: [(doubt: AuditDoubts, words: String)] = [
        (
            .auditIsOlder,
            "the audit is older than the catalog: records were removed, or it was replaced by an older copy"
        ),
        (
            .catalogIsOlder,
            "the catalog is older than the keybag: it was replaced by an older copy, or has lost its last changes"
        ),
        (.hasOtherRecords, "the catalog continues an older copy: the records up to the last lock differ"),
        (.anchorIsGone, "the file 'anchor', which records the end of the audit, is missing or damaged"),
        (.anchorIsOlder, "the file 'anchor', which records the end of the audit, was replaced by an older copy"),
        (.witnessIsGone, "the catalog's record of the end of its audit is missing or damaged"),
        (.witnessIsOlder, "the catalog's record of the end of its audit was replaced by an older copy"),
    ]

    /// The inconsistencies, one sentence each.
    package var words: [String] { Self.all.filter { contains($0.doubt) }.map(\.words) }
}
