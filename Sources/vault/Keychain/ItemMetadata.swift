internal import CofferCore

/// The sealed attributes of an item, and the tag that binds them to its secret.
struct ItemMetadata {
    static let version: UInt8 = 1
    static let secretTagBytes = 16

    let attributes: ItemAttributes
    let created: Int64
    let modified: Int64
    let secretByteCount: Int
    /// A tag of the sealed secret that belongs to these attributes, so that a substituted one is detected.
    let secretTag: [UInt8]
    /// How often the vault had lost its device key when the secret's key was wrapped.
    let moveCount: UInt32

    init(
        attributes: ItemAttributes,
        created: Int64,
        modified: Int64,
        secretByteCount: Int,
        secretTag: [UInt8],
        moveCount: UInt32
    ) {
        self.attributes = attributes
        self.created = created
        self.modified = modified
        self.secretByteCount = secretByteCount
        self.secretTag = secretTag
        self.moveCount = moveCount
    }

    /// The same of another secret, or with other attributes.
    func with(_ attributes: ItemAttributes, _ secretTag: [UInt8]) -> ItemMetadata {
        ItemMetadata(
            attributes: attributes,
            created: created,
            modified: modified,
            secretByteCount: secretByteCount,
            secretTag: secretTag,
            moveCount: moveCount
        )
    }

    /// The size of encoded attributes, known before they are encoded.
    ///
    /// The access control, the decision and the count of moves are left out: no client can make them large.
    static func byteCount(of attributes: ItemAttributes) -> Int {
        let fixed = 3 + 1 + 2 * 8 + 4 + secretTagBytes + 2
        let texts = 2 + attributes.group.utf8.count + 2 + (attributes.kind?.rawValue ?? "").utf8.count
        let values = attributes.values.all.reduce(0) { $0 + 3 + $1.byteCount }
        return attributes.user.reduce(fixed + texts + values) { $0 + 4 + $1.key.text.utf8.count + $1.value.utf8.count }
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(attributes.itemClass.code)
        writer.write(UInt8(attributes.isSynchronizable ? 1 : 0))
        writer.write(counted: attributes.group.utf8)
        writer.write(counted: (attributes.kind?.rawValue ?? "").utf8)
        writer.write(UInt8(attributes.historyLimit))
        writer.write(attributes.accessControl?.code ?? 0)
        writer.write(counted: attributes.decision.utf8)
        writer.write(created)
        writer.write(modified)
        writer.write(UInt32(secretByteCount))
        writer.write(raw: secretTag)
        writer.write(moveCount)
        writer.write(UInt8(attributes.values.count))
        for entry in attributes.values.sorted {
            writer.write(entry.attribute.code)
            writer.write(counted: entry.value.encoded)
        }
        writer.write(UInt8(attributes.user.count))
        for (name, value) in attributes.user.sorted(by: { $0.key < $1.key }) {
            writer.write(counted: name.text.utf8)
            writer.write(counted: value.utf8)
        }
        return writer.bytes
    }

    init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        // The comparable form of a text still has a length of 2 bytes.
        guard bytes.count <= 4 * Limits.metadataBytes else { throw ByteReader.Malformed() }
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.version else { throw ByteReader.Malformed() }
        self = try Self.fields(&reader)
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
    }

    private static func fields(_ reader: inout ByteReader) throws(ByteReader.Malformed) -> ItemMetadata {
        guard let itemClass = ItemClass(code: try reader.read()) else { throw ByteReader.Malformed() }
        let isSynchronizable = try reader.read(UInt8.self) != 0
        var attributes = ItemAttributes(itemClass, in: try reader.readText())
        attributes.isSynchronizable = isSynchronizable
        attributes.kind = try ItemKind(from: &reader)
        attributes.historyLimit = Int(try reader.read(UInt8.self))
        attributes.accessControl = try AccessControl.decoded(try reader.read())
        attributes.decision = try reader.readText()
        let created = try reader.read(Int64.self)
        let modified = try reader.read(Int64.self)
        let secretByteCount = Int(try reader.read(UInt32.self))
        let secretTag = Array(try reader.readRaw(secretTagBytes))
        let moveCount = try reader.read(UInt32.self)
        let count = try reader.read(UInt8.self)
        attributes.values.reserveCapacity(Int(count))
        for _ in 0..<count {
            guard let attribute = KeychainAttribute(code: try reader.read()) else { throw ByteReader.Malformed() }
            guard attributes.values[attribute] == nil else { throw ByteReader.Malformed() }
            attributes.values.append(try AttributeValue(attribute.form, from: &reader), of: attribute)
        }
        for _ in 0..<(try reader.read(UInt8.self)) {
            let name = AttributeName(try reader.readText())
            attributes.user[name] = try reader.readText()
        }
        return ItemMetadata(
            attributes: attributes,
            created: created,
            modified: modified,
            secretByteCount: secretByteCount,
            secretTag: secretTag,
            moveCount: moveCount
        )
    }
}

extension ItemKind {
    /// Most items have none, which is an empty text.
    fileprivate init?(from reader: inout ByteReader) throws(ByteReader.Malformed) {
        let word = try reader.readText()
        if word.isEmpty { return nil }
        self.init(rawValue: word)
    }
}

extension AccessControl {
    /// The words, in the order of their bits in sealed metadata.
    private static let order: [Flag] = [
        .userPresence, .devicePasscode, .applicationPassword, .privateKeyUsage, .or, .and, .protectWrites,
    ]

    /// The words as bits.
    fileprivate var code: UInt8 {
        Self.order.enumerated().reduce(0) { $0 | (flags.contains($1.element) ? 1 << $1.offset : 0) }
    }

    /// - Returns: `nil` if there is no access control.
    fileprivate static func decoded(_ code: UInt8) throws(ByteReader.Malformed) -> AccessControl? {
        if code == 0 { return nil }
        let flags = order.enumerated().filter { code & 1 << $0.offset != 0 }.map(\.element)
        guard code >> order.count == 0, let control = try? AccessControl(Set(flags)) else {
            throw ByteReader.Malformed()
        }
        return control
    }
}

extension ItemClass {
    /// The class's code in sealed metadata and in tags.
    var code: UInt8 {
        switch self {
        case .genericPassword: 1
        case .internetPassword: 2
        case .certificate: 3
        case .key: 4
        case .identity: 0
        }
    }

    init?(code: UInt8) {
        guard code > 0, let itemClass = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = itemClass
    }
}

extension KeychainAttribute {
    /// The code of the attribute in sealed metadata and in tags; 0 for one that is not stored as a value, but as a field.
    ///
    /// A new attribute gets the next code.
    var code: UInt8 {
        switch self {
        case .accessGroup, .accessible, .synchronizable, .creationDate, .modificationDate: 0
        case .label: 1
        case .description: 2
        case .comment: 3
        case .creator: 4
        case .type: 5
        case .isInvisible: 6
        case .isNegative: 7
        case .account: 8
        case .service: 9
        case .generic: 10
        case .securityDomain: 11
        case .server: 12
        case .protocol: 13
        case .authenticationType: 14
        case .port: 15
        case .path: 16
        case .certificateType: 17
        case .certificateEncoding: 18
        case .subject: 19
        case .issuer: 20
        case .serialNumber: 21
        case .subjectKeyID: 22
        case .publicKeyHash: 23
        case .keyClass: 24
        case .applicationLabel: 25
        case .applicationTag: 26
        case .keyType: 27
        case .keySizeInBits: 28
        case .effectiveKeySize: 29
        case .isExtractable: 30
        case .canEncrypt: 31
        case .canDecrypt: 32
        case .canDerive: 33
        case .canSign: 34
        case .canVerify: 35
        case .canWrap: 36
        case .canUnwrap: 37
        case .expiryDate: 38
        }
    }

    /// The attributes by their codes from 1 on.
    private static let order = allCases.filter { $0.code > 0 }.sorted { $0.code < $1.code }

    init?(code: UInt8) {
        guard Self.order.indices.contains(Int(code) - 1) else { return nil }
        self = Self.order[Int(code) - 1]
    }
}

extension AttributeValue {
    /// The size of ``encoded``.
    fileprivate var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        case .bool: 1
        case .integer, .date: 8
        }
    }

    /// The value's bytes, as they are stored.
    var encoded: [UInt8] {
        switch self {
        case .text(let text): return Array(text.utf8)
        case .bytes(let bytes): return bytes
        case .bool(let flag): return [flag ? 1 : 0]
        case .integer(let number), .date(let number):
            var writer = ByteWriter()
            writer.write(number)
            return writer.bytes
        }
    }

    fileprivate init(_ form: Form, from reader: inout ByteReader) throws(ByteReader.Malformed) {
        if form == .text {
            self = .text(try reader.readText())
        } else {
            try self.init(form, Array(try reader.readCounted()))
        }
    }

    init(_ form: Form, _ bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        switch form {
        case .text:
            guard let text = String(checking: bytes.span) else { throw ByteReader.Malformed() }
            self = .text(text)
        case .bytes: self = .bytes(bytes)
        case .bool:
            guard bytes.count == 1 else { throw ByteReader.Malformed() }
            self = .bool(bytes[0] != 0)
        case .integer: self = .integer(try reader.read())
        case .date: self = .date(try reader.read())
        }
    }
}
