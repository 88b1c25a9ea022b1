package import CofferCore
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
        /// Whether names could be read.
        let hasNames: Bool
        var leases: [Lease] = []
        var sealed: [SealedLease] = []
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

    /// The leases of items whose names can be read after the first unlock only.
    package var sealed: [SealedLease] {
        get throws { try contents().sealed }
    }

    private func contents() throws -> Contents {
        if let known, known.hasNames == keys.opensNames { return known }
        var found = Contents(hasNames: keys.opensNames)
        try connection.rows("SELECT number, sealed FROM leases ORDER BY number") { row in
            let number = try row.integer(0)
            switch try? row.withBlob(1, { try open($0, of: number) }) {
            case .named(let lease): found.leases.append(lease)
            case .sealed(let lease): found.sealed.append(lease)
            case .none: found.damaged.append(number)
            }
            return true
        }
        known = found
        return found
    }

    private func open(_ sealed: RawSpan, of number: Int64) throws -> StoredLease {
        let opened = try AEAD.open(sealed, under: keys.catalog.leases, context: Self.context(number))
        let stored = try StoredLease(number: number, decoding: opened.exposeBytes())
        guard case .sealed(let lease) = stored, keys.opensNames else { return stored }
        let names = unsafe try keys.openNames(
            lease.sealedNames.span.bytes,
            of: .leases,
            context: Self.namesContext(number)
        )
        return .named(lease.lease(try LeaseNames(decoding: names.exposeBytes())))
    }

    /// The tag by which a lease is found for a name before the first unlock.
    package func tag(of name: ItemName, in group: String) -> [UInt8] {
        KeyedHash.tag(
            under: keys.catalog.search,
            for: "coffer lease name tag v1",
            byteCount: Lease.tagBytes,
            Array(group.utf8),
            Array(name.path.utf8)
        )
    }

    /// Drops the cache after a change was rolled back.
    package func reread() { known = nil }

    // MARK: Changing

    /// Stores a lease, within the open transaction.
    ///
    /// - Parameters:
    ///   - terms: The terms.
    ///   - uses: How often the item may be read, at least once; `nil` for no limit.
    ///   - isNamedInEveryState: Whether the passcode does not protect the item's name either.
    /// - Returns: The lease's number.
    package func add(_ terms: LeaseTerms, uses: Int?, isNamedInEveryState: Bool) throws -> Int64 {
        // The number is part of what is sealed.
        try connection.execute("INSERT INTO leases (sealed) VALUES (x'')")
        let lease = Lease(
            number: connection.lastInsertedRowID,
            terms: terms,
            usesLeft: uses,
            isNamedInEveryState: isNamedInEveryState
        )
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
        let used = Lease(
            number: lease.number,
            terms: lease.terms,
            usesLeft: usesLeft - 1,
            isNamedInEveryState: lease.isNamedInEveryState
        )
        try write(used)
        if let index = known?.leases.firstIndex(where: { $0.number == lease.number }) { known?.leases[index] = used }
    }

    /// Ends a lease, within the open transaction.
    ///
    /// - Parameter number: Its number.
    package func remove(_ number: Int64) throws {
        try connection.execute("DELETE FROM leases WHERE number = ?", .integer(number))
        known?.leases.removeAll { $0.number == number }
        known?.sealed.removeAll { $0.number == number }
        known?.damaged.removeAll { $0 == number }
    }

    private func write(_ lease: Lease) throws {
        let bytes = lease.isNamedInEveryState ? lease.encoded : try encodedWithNames(lease)
        let sealed = unsafe AEAD.seal(
            bytes.span.bytes,
            under: keys.catalog.leases,
            context: Self.context(lease.number)
        )
        try connection.execute("UPDATE leases SET sealed = ? WHERE number = ?", .blob(sealed), .integer(lease.number))
    }

    private func encodedWithNames(_ lease: Lease) throws -> [UInt8] {
        let names = LeaseNames(lease.terms).encoded
        do throws(KeyError) {
            let sealed = unsafe try keys.sealNames(
                names.span.bytes,
                of: .leases,
                context: Self.namesContext(lease.number)
            )
            return lease.encoded(withNames: sealed, tag(of: lease.terms.name, in: lease.terms.group))
        } catch {
            throw error.cofferError("a lease", in: keys.state, for: .write)
        }
    }

    private static func namesContext(_ number: Int64) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: "coffer lease names v1".utf8)
        writer.write(number)
        return writer.bytes
    }

    private static func context(_ number: Int64) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: "coffer lease v1".utf8)
        writer.write(number)
        return writer.bytes
    }
}
