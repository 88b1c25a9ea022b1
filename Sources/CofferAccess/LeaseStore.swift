internal import CofferCore
internal import CofferCrypto
package import CofferDatabase
package import CofferKeys
internal import CofferMemory

/// The leases of a vault, sealed: the disk alone does not reveal which client may read which item, or why.
package final class LeaseStore {
    private let connection: Connection
    private let keys: VaultKeys
    /// A cache of the table, which is read with each request and seldom changed.
    private var known: Contents?

    private struct Contents {
        var leases: [Lease] = []
        var damaged: [Int64] = []
    }

    /// Opens the leases of a catalog after its migrations.
    package init(connection: Connection, keys: VaultKeys) {
        self.connection = connection
        self.keys = keys
    }

    /// The migrations of the store, in their order.
    ///
    /// Never edited: a change is a new migration.
    package static let migrations = [
        Migration(
            name: "leases",
            generation: 8,
            // The number of a revoked lease is never reused.
            sql: "CREATE TABLE leases (number INTEGER PRIMARY KEY AUTOINCREMENT, sealed BLOB NOT NULL) STRICT;"
        )
    ]

    // MARK: Looking

    /// All leases, in the order in which they were granted, expired or not.
    package var all: [Lease] {
        get throws { try contents().leases }
    }

    /// The numbers of damaged leases, which grant nothing.
    package var damaged: [Int64] {
        get throws { try contents().damaged }
    }

    private func contents() throws -> Contents {
        if let known { return known }
        var found = Contents()
        try connection.rows("SELECT number, sealed FROM leases ORDER BY number") { row in
            let number = try row.integer(0)
            if let lease = try? row.withBlob(1, { open($0, of: number) }) {
                found.leases.append(lease)
            } else {
                found.damaged.append(number)
            }
            return true
        }
        known = found
        return found
    }

    private func open(_ sealed: RawSpan, of number: Int64) -> Lease? {
        guard let opened = try? AEAD.open(sealed, under: keys.catalog.leases, context: Self.context(number)) else {
            return nil
        }
        return try? Lease(number: number, decoding: opened.exposeBytes())
    }

    /// Drops the cache after a change was rolled back.
    package func reread() { known = nil }

    // MARK: Changing

    /// Stores a lease, within the open transaction.
    ///
    /// - Parameters:
    ///   - terms: The terms.
    ///   - uses: How often the item may be read, at least once; `nil` for no limit.
    /// - Returns: The lease's number.
    package func add(_ terms: LeaseTerms, uses: Int?) throws -> Int64 {
        // The number is part of what is sealed.
        try connection.execute("INSERT INTO leases (sealed) VALUES (x'')")
        let lease = Lease(number: connection.lastInsertedRowID, terms: terms, usesLeft: uses)
        try write(lease)
        known?.leases.append(lease)
        return lease.number
    }

    /// Counts a use, within the open transaction; the last one ends the lease.
    ///
    /// - Parameter lease: The current lease.
    package func countUse(of lease: Lease) throws {
        guard let usesLeft = lease.usesLeft else { return }
        if usesLeft <= 1 { return try remove(lease.number) }
        let used = Lease(number: lease.number, terms: lease.terms, usesLeft: usesLeft - 1)
        try write(used)
        if let index = known?.leases.firstIndex(where: { $0.number == lease.number }) { known?.leases[index] = used }
    }

    /// Ends a lease, within the open transaction.
    ///
    /// - Parameter number: Its number.
    package func remove(_ number: Int64) throws {
        try connection.execute("DELETE FROM leases WHERE number = ?", .integer(number))
        known?.leases.removeAll { $0.number == number }
        known?.damaged.removeAll { $0 == number }
    }

    private func write(_ lease: Lease) throws {
        let sealed = unsafe AEAD.seal(
            lease.encoded.span.bytes,
            under: keys.catalog.leases,
            context: Self.context(lease.number)
        )
        try connection.execute("UPDATE leases SET sealed = ? WHERE number = ?", .blob(sealed), .integer(lease.number))
    }

    private static func context(_ number: Int64) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: "coffer lease v1".utf8)
        writer.write(number)
        return writer.bytes
    }
}
