package import CofferCore

/// An access rule as the catalog keeps it.
///
/// The client, the verbs, the group and the end can be read in every state. The passcode protects the names and the
/// reason, except of a rule for an item that is named in every state. Before the first unlock, a keyed tag identifies a rule
/// for one name.
package struct StoredAccessRule: Hashable, Sendable {
    /// What it says, as far as the passcode does not protect it; the time that is left is in ``end``.
    package internal(set) var rule: AccessRule
    /// When it ends; `nil` if it counts until it is removed.
    let end: RuleEnd?
    /// What tells the name that it is for; `nil` if it is for those that match a pattern with wildcards.
    let tags: RuleTags?
    /// What the passcode protects of it, as it is in the row.
    let words: StoredWords

    /// Its number.
    package var number: Int64 { rule.number }

    /// The rule as it is read where the passcode protects its words.
    var withoutWords: StoredAccessRule {
        var sealed = self
        (sealed.rule.pattern, sealed.rule.name, sealed.rule.reason, sealed.rule.added) = (nil, nil, nil, nil)
        return sealed
    }

    /// The rule in the form of the protocol.
    ///
    /// - Parameter now: Nanoseconds of the boot clock.
    package func rule(at now: UInt64) -> AccessRule {
        guard let end else { return rule }
        var rule = rule
        rule.seconds = end.time > now ? Int64((end.time - now + 999_999_999) / 1_000_000_000) : 0
        return rule
    }

    /// Whether it says the same as a rule, and both count until they are removed.
    package func saysTheSame(as other: AccessRule) -> Bool { end == nil && rule.saysTheSame(as: other) }

    /// Whether it has not ended.
    ///
    /// - Parameters:
    ///   - now: Nanoseconds of the boot clock.
    ///   - bootID: The boot to which that time refers; `nil` if it is unknown.
    package func counts(at now: UInt64, of bootID: String?) -> Bool {
        end.map { $0.bootID == bootID && now < $0.time } ?? true
    }
}

/// When a rule ends: with its boot at the latest.
package struct RuleEnd: Hashable, Sendable {
    /// The boot to which ``time`` refers.
    package let bootID: String
    /// Nanoseconds of the boot clock.
    package let time: UInt64

    package init(bootID: String, time: UInt64) {
        self.bootID = bootID
        self.time = time
    }
}

/// Keyed tags that tell what a rule is for while its words are sealed.
struct RuleTags: Hashable {
    static let byteCount = 32

    /// The tag of the group and the name.
    let name: [UInt8]
    /// The tag of the group, the name and the item's creation date, if the rule is for one item.
    let item: [UInt8]?
}

/// What the passcode protects of a rule, in a row.
enum StoredWords: Hashable {
    /// Of an item that is named in every state.
    case plain([UInt8])
    case sealed([UInt8])
}

// MARK: - On disk: proto-docs/FORMATS.md describes the format

extension StoredAccessRule {
    private static let version: UInt8 = 1
    /// The verbs, by their bits from the lowest.
    private static let bits: [Verb] = [.read, .write, .delete]

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(UInt8(rule.kind == .allow ? 1 : 2))
        let verbs = Self.bits.enumerated().filter { rule.verbs.contains($0.element) }
        writer.write(verbs.reduce(UInt8(0)) { $0 | 1 << $1.offset })
        writer.write(counted: rule.group.utf8)
        writer.write(counted: rule.client.description.utf8)
        writer.write(counted: (end?.bootID ?? "").utf8)
        writer.write(end?.time ?? 0)
        writer.write(UInt32(rule.uses ?? 0))
        writer.write(counted: tags?.name ?? [])
        writer.write(counted: tags?.item ?? [])
        let (form, bytes): (UInt8, [UInt8]) =
            switch words {
            case .plain(let bytes): (1, bytes)
            case .sealed(let bytes): (2, bytes)
            }
        writer.write(form)
        writer.write(counted: bytes)
        return writer.bytes
    }

    /// Parses a row.
    ///
    /// - Parameter openWords: Opens sealed words; `nil` where the state of the vault does not permit it.
    init(number: Int64, decoding bytes: [UInt8], _ openWords: ([UInt8]) throws -> [UInt8]?) throws {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.version else { throw ByteReader.Malformed() }
        let kind: AccessRuleKind
        switch try reader.read(UInt8.self) {
        case 1: kind = .allow
        case 2: kind = .deny
        default: throw ByteReader.Malformed()
        }
        let mask = try reader.read(UInt8.self)
        let verbs = Set(Self.bits.enumerated().filter { mask >> $0.offset & 1 == 1 }.map(\.element))
        guard mask >> Self.bits.count == 0, !verbs.isEmpty else { throw ByteReader.Malformed() }
        let group = try reader.readText()
        guard let client = try? ClientPattern(try reader.readText()) else { throw ByteReader.Malformed() }
        rule = AccessRule(number: number, kind: kind, client: client, verbs: verbs, group: group)
        end = try RuleEnd(reading: &reader)
        let uses = try reader.read(UInt32.self)
        rule.uses = uses == 0 ? nil : Int64(uses)
        tags = try RuleTags(reading: &reader)
        let form = try reader.read(UInt8.self)
        let words = Array(try reader.readCounted())
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
        switch form {
        case 1:
            self.words = .plain(words)
            try rule.setWords(decoding: words)
        case 2:
            self.words = .sealed(words)
            if let opened = try openWords(words) { try rule.setWords(decoding: opened) }
        default: throw ByteReader.Malformed()
        }
    }
}

extension RuleEnd {
    fileprivate init?(reading reader: inout ByteReader) throws(ByteReader.Malformed) {
        bootID = try reader.readText()
        time = try reader.read()
        // Times are subtracted from it.
        guard time <= UInt64(Int64.max) else { throw ByteReader.Malformed() }
        if bootID.isEmpty { return nil }
    }
}

extension RuleTags {
    fileprivate init?(reading reader: inout ByteReader) throws(ByteReader.Malformed) {
        name = Array(try reader.readCounted())
        let item = Array(try reader.readCounted())
        self.item = item.isEmpty ? nil : item
        for tag in [name, item] where !tag.isEmpty && tag.count != Self.byteCount { throw ByteReader.Malformed() }
        if name.isEmpty { return nil }
    }
}

extension AccessRule {
    /// The only name that it is for; `nil` for a pattern with wildcards, and where it is not known.
    var onlyName: ItemName? { name ?? pattern.flatMap { $0.isOneName ? try? ItemName($0.text) : nil } }

    /// What the passcode protects of it.
    var encodedWords: [UInt8] {
        var writer = ByteWriter()
        writer.write(UInt8(name == nil ? 1 : 2))
        writer.write(counted: (name?.path ?? pattern?.text ?? "").utf8)
        writer.write(added ?? 0)
        writer.write(counted: (reason ?? "").utf8)
        return writer.bytes
    }

    fileprivate mutating func setWords(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        let form = try reader.read(UInt8.self)
        let text = try reader.readText()
        switch form {
        case 1: pattern = try? NamePattern(text)
        case 2: name = try? ItemName(text)
        default: break
        }
        guard name != nil || pattern != nil else { throw ByteReader.Malformed() }
        added = try reader.read(Int64.self)
        let reason = try reader.readText()
        self.reason = reason.isEmpty ? nil : reason
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
    }
}
