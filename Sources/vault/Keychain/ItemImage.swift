internal import CofferCore
internal import CofferKeys

/// The rows of an item outside of its tables: everything is sealed as it was in them.
struct ItemImage {
    private static let version: UInt8 = 1

    let id: ItemID
    let classKey: UInt8
    let primaryTag: [UInt8]
    let metadata: [UInt8]
    let wrappedKey: [UInt8]
    let secret: [UInt8]
    /// The former values, the oldest first.
    var values: [FormerValueRow]

    private static let passcodeClassKey = UInt8(ClassKeyName(.whenPasscodeSetThisDeviceOnly).rawValue)

    /// Whether a part of it is destroyed with the passcode.
    var wantsPasscode: Bool {
        classKey == Self.passcodeClassKey || values.contains { $0.classKey == Self.passcodeClassKey }
    }

    /// What is left of it without a passcode; `nil` for nothing.
    var withoutPasscode: ItemImage? {
        if classKey == Self.passcodeClassKey { return nil }
        var rest = self
        rest.values.removeAll { $0.classKey == Self.passcodeClassKey }
        return rest
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(raw: id.bytes)
        writer.write(classKey)
        writer.write(counted: primaryTag)
        for part in [metadata, wrappedKey, secret] {
            writer.write(UInt32(part.count))
            writer.write(raw: part)
        }
        writer.write(UInt8(values.count))
        for value in values {
            writer.write(value.classKey)
            for part in [value.metadata, value.wrappedKey, value.secret] {
                writer.write(UInt32(part.count))
                writer.write(raw: part)
            }
        }
        return writer.bytes
    }

    init(
        id: ItemID,
        classKey: UInt8,
        primaryTag: [UInt8],
        metadata: [UInt8],
        wrappedKey: [UInt8],
        secret: [UInt8],
        values: [FormerValueRow]
    ) {
        self.id = id
        self.classKey = classKey
        self.primaryTag = primaryTag
        self.metadata = metadata
        self.wrappedKey = wrappedKey
        self.secret = secret
        self.values = values
    }

    /// - Throws: `Malformed` if they are truncated, too long, or of an unknown version.
    init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.version, let id = ItemID(Array(try reader.readRaw(ItemID.byteCount)))
        else { throw ByteReader.Malformed() }
        self.id = id
        classKey = try reader.read()
        primaryTag = Array(try reader.readCounted())
        metadata = try Self.part(&reader)
        wrappedKey = try Self.part(&reader)
        secret = try Self.part(&reader)
        var values: [FormerValueRow] = []
        for _ in 0..<(try reader.read(UInt8.self)) {
            values.append(
                FormerValueRow(
                    classKey: try reader.read(),
                    metadata: try Self.part(&reader),
                    wrappedKey: try Self.part(&reader),
                    secret: try Self.part(&reader)
                )
            )
        }
        self.values = values
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
    }

    private static func part(_ reader: inout ByteReader) throws(ByteReader.Malformed) -> [UInt8] {
        Array(try reader.readRaw(Int(try reader.read(UInt32.self))))
    }
}
