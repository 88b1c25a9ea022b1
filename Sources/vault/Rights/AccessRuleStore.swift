package import CofferCore
internal import CofferCrypto
package import CofferDatabase
package import CofferKeys
internal import CofferMemory

/// The access rules of a vault, sealed: the disk alone does not reveal which client may do what with which items, or why.
///
/// The number of a rule is part of what is sealed, so that a row that was moved is damaged. The table is read with each
/// request and seldom changed, and so it is cached.
package final class AccessRuleStore {
    private let connection: Connection
    private let keys: VaultKeys
    private var known: Contents?

    private final class Contents {
        /// Whether words under the passcode could be read.
        let hasWords: Bool
        var rules: [StoredAccessRule] = []
        var damaged: [Int64] = []

        init(hasWords: Bool) { self.hasWords = hasWords }
    }

    /// Opens the rules of a catalog after its migrations.
    package init(connection: Connection, keys: VaultKeys) {
        self.connection = connection
        self.keys = keys
    }

    /// The table of the store: every change of it is a migration after this.
    package static let migrations = [
        Migration(
            name: "access rules",
            // The number of a removed rule is never reused.
            sql: "CREATE TABLE access_rules (number INTEGER PRIMARY KEY AUTOINCREMENT, sealed BLOB NOT NULL) STRICT;"
        )
    ]

    // MARK: Looking

    /// Whether there are none, also no damaged ones, as in most vaults.
    package var isEmpty: Bool {
        get throws {
            let contents = try contents()
            return contents.rules.isEmpty && contents.damaged.isEmpty
        }
    }

    /// All rules, in the order in which they were added, ended or not.
    package var all: [StoredAccessRule] {
        get throws { try contents().rules }
    }

    /// The numbers of damaged rules.
    ///
    /// One of them may have denied what another allows, so none allows anything until they are removed.
    package var damaged: [Int64] {
        get throws { try contents().damaged }
    }

    /// What a rule says about the item that a request names.
    ///
    /// Before the first unlock, a rule for one name is told by its tag; the pattern of one with wildcards stays unknown.
    ///
    /// - Parameters:
    ///   - name: The name of the request.
    ///   - item: The item that has this name.
    /// - Returns: `nil` if the rule is for another name, or for an item that does not exist any more.
    package func rule(_ stored: StoredAccessRule, askedFor name: ItemName, _ item: NamedItem) -> AccessRule? {
        let group = stored.rule.group
        if let tag = stored.tags?.item, item.isAnother(than: { self.tag(of: $0, $1, in: group) == tag }) { return nil }
        guard stored.rule.isForOneName == nil, let tags = stored.tags else { return stored.rule }
        let names = [item.listed.flatMap { try? ItemName($0) }, name].compactMap(\.self)
        guard let name = names.first(where: { tag(of: $0, in: group) == tags.name }) else { return nil }
        var rule = stored.rule
        rule.name = name
        return rule
    }

    private func contents() throws -> Contents {
        if let known, known.hasWords == keys.opensNames { return known }
        let found = Contents(hasWords: keys.opensNames)
        try connection.rows("SELECT number, sealed FROM access_rules ORDER BY number") { row in
            let number = try row.integer(0)
            do {
                try row.withBlob(1) { found.rules.append(try self.open($0, number)) }
            } catch {
                switch error {
                case is DatabaseError, is ByteReader.Malformed, CryptoError.unauthentic, KeyError.damaged:
                    found.damaged.append(number)
                default: throw error
                }
            }
            return true
        }
        known = found
        return found
    }

    private func open(_ sealed: RawSpan, _ number: Int64) throws -> StoredAccessRule {
        let opened = try AEAD.open(sealed, under: keys.catalog.accessRules, context: Self.rowContext(number))
        return try StoredAccessRule(number: number, decoding: opened.exposeBytes()) { words in
            guard keys.opensNames else { return nil }
            let context = Self.wordsContext(number)
            return unsafe try keys.openNames(words.span.bytes, of: .accessRules, context: context).exposeBytes()
        }
    }

    /// Drops the cache after a change was rolled back.
    package func reread() { known = nil }

    // MARK: Changing

    /// Stores a rule, within the open transaction.
    ///
    /// - Parameters:
    ///   - rule: What it says: its number and its seconds are not used.
    ///   - end: When it ends; `nil` if it counts until it is removed.
    ///   - itemCreated: The creation date of the item that it is for, if it is for one.
    ///   - isNamedInEveryState: Whether the passcode does not protect the name of this item either.
    /// - Returns: The rule's number.
    package func add(
        _ rule: AccessRule,
        until end: RuleEnd?,
        itemCreated: Int64? = nil,
        isNamedInEveryState: Bool = false
    ) throws -> Int64 {
        try connection.execute("INSERT INTO access_rules (sealed) VALUES (x'')")
        let number = connection.lastInsertedRowID
        var rule = rule
        rule.number = number
        rule.seconds = nil
        let words = rule.encodedWords
        let tags = rule.onlyName.map { name in
            RuleTags(
                name: tag(of: name, in: rule.group),
                item: itemCreated.map { tag(of: name.path, $0, in: rule.group) }
            )
        }
        let stored = StoredAccessRule(
            rule: rule,
            end: end,
            tags: tags,
            words: try isNamedInEveryState ? .plain(words) : .sealed(seal(words, of: number))
        )
        try write(stored)
        known?.rules.append(keys.opensNames || isNamedInEveryState ? stored : stored.withoutWords)
        return number
    }

    /// Counts a use, within the open transaction; the last one ends the rule.
    ///
    /// - Parameter rule: The current rule.
    package func countUse(of rule: StoredAccessRule) throws {
        guard let uses = rule.rule.uses else { return }
        if uses <= 1 { return try remove(rule.number) }
        var used = rule
        used.rule.uses = uses - 1
        try write(used)
        if let index = known?.rules.firstIndex(where: { $0.number == rule.number }) { known?.rules[index] = used }
    }

    /// Removes a rule, within the open transaction.
    ///
    /// - Parameter number: Its number.
    package func remove(_ number: Int64) throws {
        try connection.execute("DELETE FROM access_rules WHERE number = ?", .integer(number))
        known?.rules.removeAll { $0.number == number }
        known?.damaged.removeAll { $0 == number }
    }

    private func write(_ rule: StoredAccessRule) throws {
        let context = Self.rowContext(rule.number)
        let sealed = unsafe AEAD.seal(rule.encoded.span.bytes, under: keys.catalog.accessRules, context: context)
        try connection.execute(
            "UPDATE access_rules SET sealed = ? WHERE number = ?",
            .blob(sealed),
            .integer(rule.number)
        )
    }

    private func seal(_ words: [UInt8], of number: Int64) throws(CofferError) -> [UInt8] {
        do throws(KeyError) {
            let context = Self.wordsContext(number)
            return unsafe try keys.sealNames(words.span.bytes, of: .accessRules, context: context)
        } catch {
            throw error.cofferError("an access rule", in: keys.state, for: .write)
        }
    }

    // MARK: Tags and contexts

    private func tag(of name: ItemName, in group: String) -> [UInt8] {
        KeyedHash.tag(
            under: keys.catalog.search,
            for: "coffer access rule name tag v1",
            byteCount: RuleTags.byteCount,
            Array(group.utf8),
            Array(name.path.utf8)
        )
    }

    private func tag(of listed: String, _ created: Int64, in group: String) -> [UInt8] {
        var date = ByteWriter()
        date.write(created)
        return KeyedHash.tag(
            under: keys.catalog.search,
            for: "coffer access rule item tag v1",
            byteCount: RuleTags.byteCount,
            Array(group.utf8),
            Array(listed.utf8),
            date.bytes
        )
    }

    private static func rowContext(_ number: Int64) -> [UInt8] { context("coffer access rule v1", number) }
    private static func wordsContext(_ number: Int64) -> [UInt8] { context("coffer access rule names v1", number) }

    private static func context(_ label: StaticString, _ number: Int64) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: label)
        writer.write(number)
        return writer.bytes
    }
}

/// What is stored under a name.
package enum NamedItem {
    case missing
    /// There is an item that can't be read: it is locked or damaged.
    case unreadable
    case found(listed: String, created: Int64)

    /// Whether there is an item, or may be.
    package var isThere: Bool { if case .missing = self { false } else { true } }

    /// The name by which it is listed.
    package var listed: String? { if case .found(let listed, _) = self { listed } else { nil } }

    /// Whether it is known to be no item that fits.
    func isAnother(than fits: (_ listed: String, _ created: Int64) -> Bool) -> Bool {
        switch self {
        case .missing: true
        case .unreadable: false
        case .found(let listed, let created): !fits(listed, created)
        }
    }
}
