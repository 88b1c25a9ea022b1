package import CofferCore
package import CofferDatabase
package import CofferKeys

/// The access rules of a vault, sealed: the disk alone does not reveal which client may do what with which items.
///
/// Whom a rule is for is known in every state; the names that it is for are under the passcode.
package final class AccessRuleStore {
    private struct Rows: PermitRows {
        static let statements = PermitTable<Self>.Statements(
            select: "SELECT number, sealed FROM access_rules ORDER BY number",
            insert: "INSERT INTO access_rules (sealed) VALUES (x'')",
            update: "UPDATE access_rules SET sealed = ? WHERE number = ?",
            delete: "DELETE FROM access_rules WHERE number = ?",
            rowLabel: "coffer access rule v1",
            namesLabel: "coffer access rule names v1"
        )

        var rules: [AccessRule] = []
        var isEmpty: Bool { rules.isEmpty }

        mutating func add(_ number: Int64, _ bytes: [UInt8], _ openNames: ([UInt8]) throws -> [UInt8]?) throws {
            let stored = try StoredAccessRule(decoding: bytes)
            let pattern = try openNames(stored.sealedPattern).map(StoredAccessRule.pattern)
            rules.append(stored.rule(number, pattern: pattern))
        }

        mutating func remove(_ number: Int64) { rules.removeAll { $0.number == number } }
    }

    private let table: PermitTable<Rows>

    /// Opens the rules of a catalog after its migrations.
    package init(connection: Connection, keys: VaultKeys) { table = PermitTable(connection: connection, keys: keys) }

    /// The table of the store: every change of it is a migration after this.
    package static let migrations = [
        Migration(
            name: "access rules",
            // The number of a removed rule is never reused.
            sql: "CREATE TABLE access_rules (number INTEGER PRIMARY KEY AUTOINCREMENT, sealed BLOB NOT NULL) STRICT;"
        )
    ]

    // MARK: Looking

    /// Whether there are none, also no damaged ones.
    package var isEmpty: Bool {
        get throws { try table.isEmpty }
    }

    /// All rules, in the order in which they were added; before the first unlock, without their patterns.
    package var all: [AccessRule] {
        get throws { try table.rows.rules }
    }

    /// The numbers of damaged rules.
    ///
    /// One of them may have denied what another allows, so none allows anything until they are removed.
    package var damaged: [Int64] {
        get throws { try table.damaged }
    }

    /// Drops the cache after a change was rolled back.
    package func reread() { table.reread() }

    // MARK: Changing

    /// Stores a rule, within the open transaction.
    ///
    /// - Returns: The rule's number.
    package func add(
        _ kind: AccessRuleKind,
        _ client: ClientPattern,
        _ verbs: Set<Verb>,
        _ pattern: NamePattern,
        in group: String
    ) throws -> Int64 {
        let number = try table.insert()
        let names = StoredAccessRule.encoded(pattern)
        let stored = StoredAccessRule(
            kind: kind,
            client: client,
            verbs: verbs,
            group: group,
            sealedPattern: try table.seal(names: names, of: number, "an access rule")
        )
        try table.write(number, stored.encoded)
        table.cache { $0.rules.append(stored.rule(number, pattern: $1 ? pattern : nil)) }
        return number
    }

    /// Removes a rule, within the open transaction.
    ///
    /// - Parameter number: Its number.
    package func remove(_ number: Int64) throws { try table.remove(number) }
}

/// A rule as it is stored: proto-docs/FORMATS.md describes the format.
private struct StoredAccessRule {
    let kind: AccessRuleKind
    let client: ClientPattern
    let verbs: Set<Verb>
    let group: String
    /// The pattern of the names, sealed under the passcode.
    let sealedPattern: [UInt8]

    private static let version: UInt8 = 1
    /// The verbs, by their bits from the lowest.
    private static let bits: [Verb] = [.read, .write, .delete]

    func rule(_ number: Int64, pattern: NamePattern?) -> AccessRule {
        AccessRule(number: number, kind: kind, client: client, verbs: verbs, group: group, pattern: pattern)
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(UInt8(kind == .allow ? 1 : 2))
        writer.write(Self.bits.enumerated().reduce(UInt8(0)) { $0 | (verbs.contains($1.element) ? 1 << $1.offset : 0) })
        writer.write(counted: group.utf8)
        writer.write(counted: client.description.utf8)
        writer.write(counted: sealedPattern)
        return writer.bytes
    }

    static func encoded(_ pattern: NamePattern) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(counted: pattern.text.utf8)
        return writer.bytes
    }

    static func pattern(decoding bytes: [UInt8]) throws(ByteReader.Malformed) -> NamePattern {
        var reader = ByteReader(bytes)
        guard let pattern = try? NamePattern(try reader.readText()), reader.isAtEnd else {
            throw ByteReader.Malformed()
        }
        return pattern
    }
}

extension StoredAccessRule {
    init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.version else { throw ByteReader.Malformed() }
        switch try reader.read(UInt8.self) {
        case 1: kind = .allow
        case 2: kind = .deny
        default: throw ByteReader.Malformed()
        }
        let mask = try reader.read(UInt8.self)
        verbs = Set(Self.bits.enumerated().filter { mask >> $0.offset & 1 == 1 }.map(\.element))
        guard mask >> Self.bits.count == 0, !verbs.isEmpty else { throw ByteReader.Malformed() }
        group = try reader.readText()
        guard let client = try? ClientPattern(try reader.readText()) else { throw ByteReader.Malformed() }
        self.client = client
        sealedPattern = Array(try reader.readCounted())
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
    }
}
