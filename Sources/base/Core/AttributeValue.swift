/// The value of an attribute.
public enum AttributeValue: Hashable, Sendable {
    case text(String)
    case integer(Int64)
    case bool(Bool)
    case bytes([UInt8])
    /// Milliseconds since 1970.
    case date(Int64)

    /// The form of a value.
    public enum Form: Sendable {
        case text, integer, bool, bytes, date
    }

    /// The form of this value.
    public var form: Form {
        switch self {
        case .text: .text
        case .integer: .integer
        case .bool: .bool
        case .bytes: .bytes
        case .date: .date
        }
    }
}

extension KeychainAttribute {
    /// The attributes that say which item it is, and when it was made: a copy has its own, and so has the item as a file.
    package static let ofIdentity: Set<KeychainAttribute> = [
        .service, .account, .accessGroup, .accessible, .synchronizable, .creationDate, .modificationDate,
    ]

    /// Whether the daemon sets the attribute, and clients can't.
    public func isGiven(in itemClass: ItemClass) -> Bool {
        switch self {
        case .creationDate, .modificationDate: true
        case .certificateType, .certificateEncoding, .subject, .issuer, .serialNumber, .subjectKeyID, .publicKeyHash:
            true
        case .keyClass, .keyType, .keySizeInBits, .effectiveKeySize: itemClass == .key
        default: false
        }
    }
}

extension AttributeValue {
    /// What a missing attribute counts as, for uniqueness and for queries: "" or 0.
    package static func empty(_ form: Form) -> AttributeValue {
        switch form {
        case .text: .text("")
        case .bytes: .bytes([])
        case .integer: .integer(0)
        case .date: .date(0)
        case .bool: .bool(false)
        }
    }
}
