package import CofferCore
internal import CofferCrypto
package import CofferDatabase
package import CofferKeys
internal import CofferMemory

/// The access rules of a vault, sealed: the disk alone does not reveal which client may do what with which items.
///
/// Whom a rule is for is known in every state; the names that it is for are under the passcode.
package final class AccessRuleStore {
    private let connection: Connection
    private let keys: VaultKeys
    /// A cache of the table, which is read with each request and seldom changed.
    private var known: Contents?

    private struct Contents {
        /// Whether names could be read.
        let hasNames: Bool
        var rules: [AccessRule] = []
        var damaged: [Int64] = []
    }

    /// Opens the rules of a catalog after its migrations.
    package init(connection: Connection, keys: VaultKeys) {
        self.connection = connection
        self.keys = keys
    }

    /// The migrations of the store, in their order.
    ///
    /// Never edited: a change is a new migration.
    package static let migrations = [
        Migration(
            name: "access rules",
            generation: 11,
            // The number of a removed rule is never reused.
            sql: "CREATE TABLE access_rules (number INTEGER PRIMARY KEY AUTOINCREMENT, sealed BLOB NOT NULL) STRICT;"
        )
    ]

    // MARK: Looking

    /// All rules, in the order in which they were added; before the first unlock, without their patterns.
    package var all: [AccessRule] {
        get throws { try contents().rules }
    }

    /// The numbers of damaged rules.
    ///
    /// One of them may have denied what another allows, so none allows anything until they are removed.
    package var damaged: [Int64] {
        get throws { try contents().damaged }
    }

    private func contents() throws -> Contents {
        if let known, known.hasNames == keys.opensNames { return known }
        var found = Contents(hasNames: keys.opensNames)
        try connection.rows("SELECT number, sealed FROM access_rules ORDER BY number") { row in
            let number = try row.integer(0)
            if let rule = try rule(in: row, of: number) {
                found.rules.append(rule)
            } else {
                found.damaged.append(number)
            }
            return true
        }
        known = found
        return found
    }

    /// - Returns: `nil` if it is damaged.
    private func rule(in row: borrowing Row, of number: Int64) throws -> AccessRule? {
        do {
            return try row.withBlob(1) { try open($0, of: number) }
        } catch {
            switch error {
            case is DatabaseError, is ByteReader.Malformed, CryptoError.unauthentic, KeyError.damaged: return nil
            default: throw error
            }
        }
    }

    private func open(_ sealed: RawSpan, of number: Int64) throws -> AccessRule {
        let opened = try AEAD.open(sealed, under: keys.catalog.leases, context: Self.context(number))
        let stored = try StoredAccessRule(decoding: opened.exposeBytes())
        guard keys.opensNames else { return stored.rule(number, pattern: nil) }
        let names = unsafe try keys.openNames(
            stored.sealedPattern.span.bytes,
            of: .leases,
            context: Self.namesContext(number)
        )
        return stored.rule(number, pattern: try StoredAccessRule.pattern(decoding: names.exposeBytes()))
    }

    /// Drops the cache after a change was rolled back.
    package func reread() { known = nil }

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
        // The number is part of what is sealed.
        try connection.execute("INSERT INTO access_rules (sealed) VALUES (x'')")
        let number = connection.lastInsertedRowID
        let stored = StoredAccessRule(
            kind: kind,
            client: client,
            verbs: verbs,
            group: group,
            sealedPattern: try seal(pattern, of: number)
        )
        let sealed = unsafe AEAD.seal(
            stored.encoded.span.bytes,
            under: keys.catalog.leases,
            context: Self.context(number)
        )
        try connection.execute("UPDATE access_rules SET sealed = ? WHERE number = ?", .blob(sealed), .integer(number))
        let hasNames = known?.hasNames == true
        known?.rules.append(stored.rule(number, pattern: hasNames ? pattern : nil))
        return number
    }

    private func seal(_ pattern: NamePattern, of number: Int64) throws -> [UInt8] {
        let encoded = StoredAccessRule.encoded(pattern)
        do throws(KeyError) {
            return unsafe try keys.sealNames(encoded.span.bytes, of: .leases, context: Self.namesContext(number))
        } catch {
            throw error.cofferError("an access rule", in: keys.state, for: .write)
        }
    }

    /// Removes a rule, within the open transaction.
    ///
    /// - Parameter number: Its number.
    package func remove(_ number: Int64) throws {
        try connection.execute("DELETE FROM access_rules WHERE number = ?", .integer(number))
        known?.rules.removeAll { $0.number == number }
        known?.damaged.removeAll { $0 == number }
    }

    private static func namesContext(_ number: Int64) -> [UInt8] {
        context("coffer access rule names v1", number)
    }

    private static func context(_ number: Int64) -> [UInt8] { context("coffer access rule v1", number) }

    private static func context(_ words: StaticString, _ number: Int64) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: words)
        writer.write(number)
        return writer.bytes
    }
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
