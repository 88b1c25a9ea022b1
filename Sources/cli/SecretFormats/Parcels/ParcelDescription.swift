package import CofferClient
internal import CofferCore

/// What a parcel says of the item in it.
package struct ParcelDescription: Equatable, Sendable {
    private static let version: UInt8 = 1

    /// The name that the sender has for it.
    package var name: ItemName
    /// The kind that was stated.
    package var kind: ItemKind?
    /// When it was created there, in milliseconds since 1970.
    package var created: Int64
    /// When it was changed there, in milliseconds since 1970.
    package var modified: Int64
    /// The attributes, without those that the name and the protection give it.
    package var attributes: [KeychainAttribute: AttributeValue]
    /// User-defined attributes.
    package var user: [AttributeName: String]

    package init(
        name: ItemName,
        kind: ItemKind?,
        created: Int64,
        modified: Int64,
        attributes: [KeychainAttribute: AttributeValue] = [:],
        user: [AttributeName: String] = [:]
    ) {
        self.name = name
        self.kind = kind
        self.created = created
        self.modified = modified
        self.attributes = attributes
        self.user = user
    }

    package var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(counted: name.path.utf8)
        writer.write(counted: (kind?.rawValue ?? "").utf8)
        writer.write(created)
        writer.write(modified)
        writer.write(UInt8(attributes.count))
        for (attribute, value) in attributes.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            writer.write(counted: attribute.rawValue.utf8)
            switch value {
            case .text(let text):
                writer.write(UInt8(0))
                writer.write(counted: text.utf8)
            case .integer(let number):
                writer.write(UInt8(1))
                writer.write(number)
            case .bool(let isSet):
                writer.write(UInt8(2))
                writer.write(UInt8(isSet ? 1 : 0))
            case .bytes(let bytes):
                writer.write(UInt8(3))
                writer.write(counted: bytes)
            case .date(let date):
                writer.write(UInt8(4))
                writer.write(date)
            }
        }
        writer.write(UInt8(user.count))
        for (name, value) in user.sorted(by: { $0.key.text < $1.key.text }) {
            writer.write(counted: name.text.utf8)
            writer.write(counted: value.utf8)
        }
        return writer.bytes
    }

    /// - Throws: `Malformed` if they are truncated, too long, of an unknown version, or have impossible values.
    package init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.version, let name = try? ItemName(try reader.readText()) else {
            throw ByteReader.Malformed()
        }
        self.name = name
        kind = ItemKind(rawValue: try reader.readText())
        created = try reader.read()
        modified = try reader.read()
        attributes = [:]
        for _ in 0..<(try reader.read(UInt8.self)) {
            let attribute = KeychainAttribute(rawValue: try reader.readText())
            let value: AttributeValue
            switch try reader.read(UInt8.self) {
            case 0: value = .text(try reader.readText())
            case 1: value = .integer(try reader.read())
            case 2: value = .bool(try reader.read(UInt8.self) != 0)
            case 3: value = .bytes(Array(try reader.readCounted()))
            case 4: value = .date(try reader.read())
            default: throw ByteReader.Malformed()
            }
            // One that a later version knows is left out.
            if let attribute { attributes[attribute] = value }
        }
        user = [:]
        for _ in 0..<(try reader.read(UInt8.self)) {
            let name = AttributeName(try reader.readText())
            user[name] = try reader.readText()
        }
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
    }
}
