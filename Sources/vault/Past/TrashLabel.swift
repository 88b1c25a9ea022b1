package import CofferCore
internal import CofferKeys

/// The name and the protection of an entry of the trash, and the time of its removal.
package struct TrashLabel: Equatable, Sendable {
    private static let version: UInt8 = 1

    /// The access group.
    package let group: String
    /// The name by which it was listed.
    package let name: String
    /// Its store, and its class in it.
    package let protection: Protection
    /// The class of an item of the keychain; `nil` for a file.
    package let itemClass: ItemClass?
    /// The kind that its owner stated.
    package let kind: ItemKind?
    /// The size of its content.
    package let byteCount: Int64
    /// When it was removed, in milliseconds since 1970.
    package let removed: Int64

    package init(
        group: String,
        name: String,
        protection: Protection,
        itemClass: ItemClass? = nil,
        kind: ItemKind?,
        byteCount: Int64,
        removed: Int64
    ) {
        self.group = group
        self.name = name
        self.protection = protection
        self.itemClass = itemClass
        self.kind = kind
        self.byteCount = byteCount
        self.removed = removed
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(counted: group.utf8)
        writer.write(counted: name.utf8)
        writer.write(counted: protection.name.utf8)
        writer.write(counted: (itemClass?.rawValue ?? "").utf8)
        writer.write(counted: (kind?.rawValue ?? "").utf8)
        writer.write(byteCount)
        writer.write(removed)
        return writer.bytes
    }

    /// - Throws: `Malformed` if they are truncated, too long, of an unknown version, or have impossible values.
    init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.version else { throw ByteReader.Malformed() }
        group = try reader.readText()
        name = try reader.readText()
        guard let protection = Protection(name: try reader.readText()) else { throw ByteReader.Malformed() }
        self.protection = protection
        let itemClass = try reader.readText()
        self.itemClass = ItemClass(rawValue: itemClass)
        kind = ItemKind(rawValue: try reader.readText())
        byteCount = try reader.read()
        removed = try reader.read()
        guard reader.isAtEnd, byteCount >= 0, (self.itemClass != nil) == (protection.store == .keychain) else {
            throw ByteReader.Malformed()
        }
    }

    /// The name in quotes, for a sentence.
    package var quoted: String { quotedForDisplay(name) }
}

extension Protection {
    /// Whether the passcode does not protect the name of what has it.
    var hidesNoName: Bool {
        switch self {
        case .keychain(let accessibility): accessibility.isNamedInEveryState
        case .file(let protectionClass): protectionClass.isNamedInEveryState
        }
    }
}

extension CofferError {
    /// The error if an item that is restored can't have its name.
    package static func nameIsTaken(_ quoted: String) -> CofferError {
        CofferError(
            .duplicateItem,
            "can't restore \(quoted): there is something of that name now",
            hint: "restore it under another name with '--as NAME', or remove what has its name",
            operation: .create
        )
    }
}
