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
    /// Whether the passcode does not protect the item's name either.
    package let isNamedInEveryState: Bool

    package init(number: Int64, terms: LeaseTerms, usesLeft: Int?, isNamedInEveryState: Bool) {
        self.number = number
        self.terms = terms
        self.usesLeft = usesLeft
        self.isNamedInEveryState = isNamedInEveryState
    }

    /// Whether the lease has not expired.
    ///
    /// - Parameters:
    ///   - now: Nanoseconds of the boot clock.
    ///   - bootID: The boot to which that time refers; `nil` if it is unknown.
    package func lives(at now: UInt64, of bootID: String?) -> Bool { terms.bootID == bootID && now < terms.end }
}

/// A lease before the first unlock, if the passcode protects the name of its item: who has it is known, and by a keyed
/// tag whether it is for a name.
package struct SealedLease: Hashable, Sendable {
    /// Its number.
    package let number: Int64
    /// The access group of the item.
    package let group: String
    /// The clients that may read it.
    package let client: ClientPattern
    /// The tag of the group and the name.
    package let nameTag: [UInt8]
    let bootID: String
    let end: UInt64
    let usesLeft: Int?
    let sealedNames: [UInt8]

    /// Whether the lease has not expired.
    ///
    /// - Parameters: As those of ``Lease/lives(at:of:)``.
    package func lives(at now: UInt64, of bootID: String?) -> Bool { self.bootID == bootID && now < end }

    /// The lease, for a name whose tag it has: that much of it, and not what is sealed.
    package func lease(for name: ItemName) -> Lease {
        lease(LeaseNames(name: name, itemCreated: 0, granted: 0, reason: ""))
    }

    func lease(_ names: LeaseNames) -> Lease {
        let terms = LeaseTerms(
            group: group,
            name: names.name,
            itemCreated: names.itemCreated,
            client: client,
            bootID: bootID,
            end: end,
            granted: names.granted,
            reason: names.reason
        )
        return Lease(number: number, terms: terms, usesLeft: usesLeft, isNamedInEveryState: false)
    }
}

/// What the passcode protects of a lease.
struct LeaseNames {
    let name: ItemName
    let itemCreated: Int64
    let granted: Int64
    let reason: String
}

// MARK: - On disk

/// A lease as it was stored.
enum StoredLease {
    case named(Lease)
    case sealed(SealedLease)
}

extension LeaseNames {
    init(_ terms: LeaseTerms) {
        self.init(name: terms.name, itemCreated: terms.itemCreated, granted: terms.granted, reason: terms.reason)
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(counted: name.path.utf8)
        writer.write(itemCreated)
        writer.write(granted)
        writer.write(counted: reason.utf8)
        return writer.bytes
    }

    init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard let name = try? ItemName(try reader.readText()) else { throw ByteReader.Malformed() }
        self.name = name
        itemCreated = try reader.read()
        granted = try reader.read()
        reason = try reader.readText()
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
    }
}

extension Lease {
    static let tagBytes = 32

    /// The form of a serialised lease.
    fileprivate enum Form: UInt8 {
        /// Of an item that is named in every state.
        case named = 1
        /// Of any other item: its names are sealed again, under the passcode.
        case sealed = 2
    }

    /// The serialised lease of an item that is named in every state, before it is sealed.
    ///
    /// proto-docs/FORMATS.md describes the format.
    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Form.named.rawValue)
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

    /// The serialised lease of any other item, before it is sealed.
    ///
    /// - Parameters:
    ///   - names: Its ``LeaseNames``, sealed under the passcode.
    ///   - tag: The tag of the group and the name.
    func encoded(withNames names: [UInt8], _ tag: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(Form.sealed.rawValue)
        writer.write(counted: terms.group.utf8)
        writer.write(counted: terms.client.description.utf8)
        writer.write(counted: terms.bootID.utf8)
        writer.write(terms.end)
        writer.write(UInt32(usesLeft ?? 0))
        writer.write(raw: tag)
        writer.write(counted: names)
        return writer.bytes
    }
}

extension StoredLease {
    /// Parses a serialised lease.
    init(number: Int64, decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        switch Lease.Form(rawValue: try reader.read()) {
        case .named: self = .named(try Self.named(number, &reader))
        case .sealed: self = .sealed(try Self.sealed(number, &reader))
        case .none: throw ByteReader.Malformed()
        }
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
    }

    private static func named(_ number: Int64, _ reader: inout ByteReader) throws(ByteReader.Malformed) -> Lease {
        let group = try reader.readText()
        guard let name = try? ItemName(try reader.readText()) else { throw ByteReader.Malformed() }
        let itemCreated = try reader.read(Int64.self)
        let (client, bootID, end, uses) = try limits(&reader)
        let terms = LeaseTerms(
            group: group,
            name: name,
            itemCreated: itemCreated,
            client: client,
            bootID: bootID,
            end: end,
            granted: try reader.read(),
            reason: try reader.readText()
        )
        return Lease(number: number, terms: terms, usesLeft: uses, isNamedInEveryState: true)
    }

    private static func sealed(
        _ number: Int64,
        _ reader: inout ByteReader
    ) throws(ByteReader.Malformed) -> SealedLease {
        let group = try reader.readText()
        let (client, bootID, end, uses) = try limits(&reader)
        return SealedLease(
            number: number,
            group: group,
            client: client,
            nameTag: Array(try reader.readRaw(Lease.tagBytes)),
            bootID: bootID,
            end: end,
            usesLeft: uses,
            sealedNames: Array(try reader.readCounted())
        )
    }

    private static func limits(
        _ reader: inout ByteReader
    ) throws(ByteReader.Malformed) -> (client: ClientPattern, bootID: String, end: UInt64, uses: Int?) {
        guard let client = try? ClientPattern(try reader.readText()) else { throw ByteReader.Malformed() }
        let bootID = try reader.readText()
        let end = try reader.read(UInt64.self)
        let uses = Int(try reader.read(UInt32.self))
        guard end <= UInt64(Int64.max) else { throw ByteReader.Malformed() }
        return (client, bootID, end, uses == 0 ? nil : uses)
    }
}
