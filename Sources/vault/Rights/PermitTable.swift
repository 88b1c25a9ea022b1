internal import CofferCore
internal import CofferCrypto
internal import CofferDatabase
internal import CofferKeys
internal import CofferMemory

/// What is read from a table of leases or of access rules.
protocol PermitRows {
    var isEmpty: Bool { get }

    static var statements: PermitTable<Self>.Statements { get }

    init()

    /// Adds a row.
    ///
    /// - Parameters:
    ///   - bytes: What was sealed in it.
    ///   - openNames: Opens what is sealed again under the passcode; `nil` where the state of the vault does not permit it.
    mutating func add(_ number: Int64, _ bytes: [UInt8], _ openNames: ([UInt8]) throws -> [UInt8]?) throws

    mutating func remove(_ number: Int64)
}

/// A table of numbered rows, each sealed: leases, or access rules.
///
/// The number is part of what is sealed, so that a row that was moved is damaged. The table is read with each request and seldom
/// changed, and so it is cached.
final class PermitTable<Rows: PermitRows> {
    /// The statements of a table, and the labels of what is sealed in it.
    struct Statements {
        let select: StaticString
        let insert: StaticString
        let update: StaticString
        let delete: StaticString
        let rowLabel: StaticString
        let namesLabel: StaticString
    }

    private let connection: Connection
    private let keys: VaultKeys
    private let statements = Rows.statements
    private var known: Contents? { didSet { isKnownEmpty = nil } }
    /// The answer of ``isEmpty``, for which nothing is copied.
    private var isKnownEmpty: (hasNames: Bool, isEmpty: Bool)?

    private struct Contents {
        /// Whether names could be read.
        let hasNames: Bool
        var rows = Rows()
        var damaged: [Int64] = []
    }

    init(connection: Connection, keys: VaultKeys) {
        self.connection = connection
        self.keys = keys
    }

    // MARK: Looking

    /// The rows that are not damaged, in the order in which they were added.
    var rows: Rows {
        get throws { try contents().rows }
    }

    /// Whether there is no row, as in most vaults, also none that is damaged.
    var isEmpty: Bool {
        get throws {
            if let isKnownEmpty, isKnownEmpty.hasNames == keys.opensNames { return isKnownEmpty.isEmpty }
            let found = try contents()
            isKnownEmpty = (found.hasNames, found.rows.isEmpty && found.damaged.isEmpty)
            return found.rows.isEmpty && found.damaged.isEmpty
        }
    }

    /// The numbers of the damaged rows.
    var damaged: [Int64] {
        get throws { try contents().damaged }
    }

    private func contents() throws -> Contents {
        if let known, known.hasNames == keys.opensNames { return known }
        var found = Contents(hasNames: keys.opensNames)
        try connection.rows(statements.select) { row in
            let number = try row.integer(0)
            do {
                try row.withBlob(1) { try open($0, number, into: &found.rows) }
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

    private func open(_ sealed: RawSpan, _ number: Int64, into rows: inout Rows) throws {
        let opened = try AEAD.open(sealed, under: keys.catalog.leases, context: context(statements.rowLabel, number))
        try rows.add(number, opened.exposeBytes()) { names in
            guard keys.opensNames else { return nil }
            let context = context(statements.namesLabel, number)
            return unsafe try keys.openNames(names.span.bytes, of: .leases, context: context).exposeBytes()
        }
    }

    /// Drops the cache after a change was rolled back.
    func reread() { known = nil }

    // MARK: Changing, within the open transaction

    /// Adds an empty row, as the number is part of what is sealed.
    ///
    /// - Returns: Its number.
    func insert() throws -> Int64 {
        try connection.execute(statements.insert)
        return connection.lastInsertedRowID
    }

    /// Seals a row.
    func write(_ number: Int64, _ bytes: [UInt8]) throws {
        let context = context(statements.rowLabel, number)
        let sealed = unsafe AEAD.seal(bytes.span.bytes, under: keys.catalog.leases, context: context)
        try connection.execute(statements.update, .blob(sealed), .integer(number))
    }

    /// Seals what the passcode protects of a row.
    ///
    /// - Parameter what: The noun for the error text.
    func seal(names: [UInt8], of number: Int64, _ what: String) throws -> [UInt8] {
        do throws(KeyError) {
            let context = context(statements.namesLabel, number)
            return unsafe try keys.sealNames(names.span.bytes, of: .leases, context: context)
        } catch {
            throw error.cofferError(what, in: keys.state, for: .write)
        }
    }

    func remove(_ number: Int64) throws {
        try connection.execute(statements.delete, .integer(number))
        known?.rows.remove(number)
        known?.damaged.removeAll { $0 == number }
    }

    /// Changes the cache, if there is one, as the table was changed.
    func cache(_ change: (_ rows: inout Rows, _ hasNames: Bool) -> Void) {
        guard var contents = known.take() else { return }
        change(&contents.rows, contents.hasNames)
        known = contents
    }

    private func context(_ label: StaticString, _ number: Int64) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: label)
        writer.write(number)
        return writer.bytes
    }
}
