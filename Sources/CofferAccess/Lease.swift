package import CofferCore

/// The terms of a lease.
package struct LeaseTerms: Hashable, Sendable {
    /// The access group of the item.
    package let group: String
    /// The name of the item.
    package let name: ItemName
    /// The creation date of the item, in milliseconds since 1970: the lease is not valid for another item of that name.
    package let itemCreated: Int64
    /// The clients that may read it.
    package let client: ClientPattern
    /// The boot to which ``end`` refers: every lease ends with its boot.
    package let bootID: String
    /// When it ends, in nanoseconds of the boot clock.
    package let end: UInt64
    /// When it was granted, in milliseconds since 1970.
    package let granted: Int64
    /// The reason; empty if none was given.
    package let reason: String

    package init(
        group: String,
        name: ItemName,
        itemCreated: Int64,
        client: ClientPattern,
        bootID: String,
        end: UInt64,
        granted: Int64,
        reason: String
    ) {
        self.group = group
        self.name = name
        self.itemCreated = itemCreated
        self.client = client
        self.bootID = bootID
        self.end = end
        self.granted = granted
        self.reason = reason
    }
}

/// A right to read one item that expires.
package struct Lease: Hashable, Sendable {
    /// Its number.
    package let number: Int64
    /// Its terms.
    package let terms: LeaseTerms
    /// How often the item may still be read; `nil` for no limit.
    package let usesLeft: Int?

    package init(number: Int64, terms: LeaseTerms, usesLeft: Int?) {
        self.number = number
        self.terms = terms
        self.usesLeft = usesLeft
    }

    /// Whether the lease has not expired.
    ///
    /// - Parameters:
    ///   - now: Nanoseconds of the boot clock.
    ///   - bootID: The boot to which that time refers; `nil` if it is unknown.
    package func lives(at now: UInt64, of bootID: String?) -> Bool { terms.bootID == bootID && now < terms.end }
}

// MARK: - On disk

extension Lease {
    private static let version: UInt8 = 1

    /// The serialised lease, before it is sealed.
    ///
    /// proto-docs/FORMATS.md describes the format.
    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(counted: terms.group.utf8)
        writer.write(counted: terms.name.path.utf8)
        writer.write(terms.itemCreated)
        writer.write(counted: terms.client.description.utf8)
        writer.write(counted: terms.bootID.utf8)
        writer.write(terms.end)
        writer.write(UInt32(usesLeft ?? 0))
        writer.write(terms.granted)
        writer.write(counted: terms.reason.utf8)
        return writer.bytes
    }

    /// Parses a serialised lease.
    init(number: Int64, decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.version else { throw ByteReader.Malformed() }
        let group = try reader.readText()
        guard let name = try? ItemName(try reader.readText()) else { throw ByteReader.Malformed() }
        let itemCreated = try reader.read(Int64.self)
        guard let client = try? ClientPattern(try reader.readText()) else { throw ByteReader.Malformed() }
        let bootID = try reader.readText()
        let end = try reader.read(UInt64.self)
        let uses = Int(try reader.read(UInt32.self))
        let granted = try reader.read(Int64.self)
        let reason = try reader.readText()
        guard reader.isAtEnd, end <= UInt64(Int64.max) else { throw ByteReader.Malformed() }
        let terms = LeaseTerms(
            group: group,
            name: name,
            itemCreated: itemCreated,
            client: client,
            bootID: bootID,
            end: end,
            granted: granted,
            reason: reason
        )
        self.init(number: number, terms: terms, usesLeft: uses == 0 ? nil : uses)
    }
}
