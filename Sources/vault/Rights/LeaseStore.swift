package import CofferCore
internal import CofferCrypto
package import CofferDatabase
package import CofferKeys

/// The leases of a vault, sealed: the disk alone does not reveal which client may read which item, or why.
package final class LeaseStore {
    private struct Rows: PermitRows {
        static let statements = PermitTable<Self>.Statements(
            select: "SELECT number, sealed FROM leases ORDER BY number",
            insert: "INSERT INTO leases (sealed) VALUES (x'')",
            update: "UPDATE leases SET sealed = ? WHERE number = ?",
            delete: "DELETE FROM leases WHERE number = ?",
            rowLabel: "coffer lease v1",
            namesLabel: "coffer lease names v1"
        )

        var leases: [Lease] = []
        var sealed: [SealedLease] = []
        var isEmpty: Bool { leases.isEmpty && sealed.isEmpty }

        mutating func add(_ number: Int64, _ bytes: [UInt8], _ openNames: ([UInt8]) throws -> [UInt8]?) throws {
            switch try StoredLease(number: number, decoding: bytes) {
            case .named(let lease): leases.append(lease)
            case .sealed(let lease):
                guard let names = try openNames(lease.sealedNames) else { return sealed.append(lease) }
                leases.append(lease.lease(try LeaseNames(decoding: names)))
            }
        }

        mutating func remove(_ number: Int64) {
            leases.removeAll { $0.number == number }
            sealed.removeAll { $0.number == number }
        }
    }

    private let table: PermitTable<Rows>
    private let keys: VaultKeys

    /// Opens the leases of a catalog after its migrations.
    package init(connection: Connection, keys: VaultKeys) {
        table = PermitTable(connection: connection, keys: keys)
        self.keys = keys
    }

    /// The table of the store: every change of it is a migration after this.
    package static let migrations = [
        Migration(
            name: "leases",
            // The number of a revoked lease is never reused.
            sql: "CREATE TABLE leases (number INTEGER PRIMARY KEY AUTOINCREMENT, sealed BLOB NOT NULL) STRICT;"
        )
    ]

    // MARK: Looking

    /// Whether there are none, also no damaged ones.
    package var isEmpty: Bool {
        get throws { try table.isEmpty }
    }

    /// All leases, in the order in which they were granted, expired or not.
    package var all: [Lease] {
        get throws { try table.rows.leases }
    }

    /// The numbers of damaged leases, which grant nothing.
    package var damaged: [Int64] {
        get throws { try table.damaged }
    }

    /// The leases of items whose names can be read after the first unlock only.
    package var sealed: [SealedLease] {
        get throws { try table.rows.sealed }
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
    package func reread() { table.reread() }

    // MARK: Changing

    /// Stores a lease, within the open transaction.
    ///
    /// - Parameters:
    ///   - terms: The terms.
    ///   - uses: How often the item may be read, at least once; `nil` for no limit.
    ///   - isNamedInEveryState: Whether the passcode does not protect the item's name either.
    /// - Returns: The lease's number.
    package func add(_ terms: LeaseTerms, uses: Int?, isNamedInEveryState: Bool) throws -> Int64 {
        let lease = Lease(
            number: try table.insert(),
            terms: terms,
            usesLeft: uses,
            isNamedInEveryState: isNamedInEveryState
        )
        try write(lease)
        table.cache { rows, _ in rows.leases.append(lease) }
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
        table.cache { rows, _ in
            if let index = rows.leases.firstIndex(where: { $0.number == lease.number }) { rows.leases[index] = used }
        }
    }

    /// Ends a lease, within the open transaction.
    ///
    /// - Parameter number: Its number.
    package func remove(_ number: Int64) throws { try table.remove(number) }

    private func write(_ lease: Lease) throws {
        try table.write(lease.number, lease.isNamedInEveryState ? lease.encoded : try encodedWithNames(lease))
    }

    private func encodedWithNames(_ lease: Lease) throws -> [UInt8] {
        let names = try table.seal(names: LeaseNames(lease.terms).encoded, of: lease.number, "a lease")
        return lease.encoded(withNames: names, tag(of: lease.terms.name, in: lease.terms.group))
    }
}
