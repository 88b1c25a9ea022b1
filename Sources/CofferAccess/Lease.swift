package import CofferCore

/// What was granted: who may read what, and until when.
package struct LeaseTerms: Hashable, Sendable {
    /// The access group of the item.
    package let group: String
    /// The name of the item.
    package let name: ItemName
    /// When the item was made, in milliseconds since 1970: another one of its name is not meant.
    package let itemCreated: Int64
    /// Who may read it.
    package let client: ClientPattern
    /// The boot that ``end`` is counted from: with it every lease ends.
    package let bootID: String
    /// When it ends, in nanoseconds of the boot clock.
    package let end: UInt64
    /// When it was granted, in milliseconds since 1970.
    package let granted: Int64
    /// What it is for; empty where nothing was said.
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

/// A right to read one item, which ends by itself.
package struct Lease: Hashable, Sendable {
    /// What it is called.
    package let number: Int64
    /// What was granted.
    package let terms: LeaseTerms
    /// How often the item may still be read; `nil` where only the time bounds that.
    package let usesLeft: Int?

    package init(number: Int64, terms: LeaseTerms, usesLeft: Int?) {
        self.number = number
        self.terms = terms
        self.usesLeft = usesLeft
    }

    /// Whether its time has not come yet.
    ///
    /// - Parameters:
    ///   - now: Nanoseconds of the boot clock.
    ///   - bootID: The boot that they are counted from; `nil` where nobody knows it.
    package func lives(at now: UInt64, of bootID: String?) -> Bool { terms.bootID == bootID && now < terms.end }
}

// MARK: - On disk

extension Lease {
    private static let version: UInt8 = 1

    /// What is sealed of it.
    ///
    /// proto-docs/FORMATS.md has the table.
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

    /// Reads what was sealed.
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
