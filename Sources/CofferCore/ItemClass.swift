/// The class of a keychain item, with the names of `kSecClass…`.
public enum ItemClass: String, CaseIterable, Sendable {
    /// A password for a service.
    case genericPassword
    /// A password for a server.
    case internetPassword
    /// An X.509 certificate.
    case certificate
    /// A cryptographic key.
    case key
    /// Never stored: a certificate together with the private key of the same public key.
    case identity
}

/// An attribute of a keychain item, with the names of `kSecAttr…`.
public enum KeychainAttribute: String, CaseIterable, Sendable {
    case accessGroup, accessible, synchronizable
    case creationDate, modificationDate, expiryDate
    case label, description, comment, creator, type, isInvisible, isNegative
    case account, service, generic
    case securityDomain, server, `protocol`, authenticationType, port, path
    case certificateType, certificateEncoding, subject, issuer, serialNumber, subjectKeyID, publicKeyHash
    case keyClass, applicationLabel, applicationTag, keyType, keySizeInBits, effectiveKeySize, isExtractable
    case canEncrypt, canDecrypt, canDerive, canSign, canVerify, canWrap, canUnwrap
}

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
    /// The form of the attribute's values.
    public var form: AttributeValue.Form {
        switch self {
        case .accessGroup, .accessible, .label, .description, .comment, .account, .service, .securityDomain, .server,
            .protocol, .authenticationType, .path, .keyClass, .keyType:
            .text
        case .creator, .type, .port, .certificateType, .certificateEncoding, .keySizeInBits, .effectiveKeySize:
            .integer
        case .synchronizable, .isInvisible, .isNegative, .isExtractable, .canEncrypt, .canDecrypt, .canDerive, .canSign,
            .canVerify, .canWrap, .canUnwrap:
            .bool
        case .generic, .subject, .issuer, .serialNumber, .subjectKeyID, .publicKeyHash, .applicationLabel,
            .applicationTag:
            .bytes
        case .creationDate, .modificationDate, .expiryDate:
            .date
        }
    }

    /// The attributes that identify an item of a class, besides its access group and whether it is synchronizable.
    ///
    /// A missing attribute counts as "" or 0.
    public static func primaryKey(of itemClass: ItemClass) -> [KeychainAttribute] {
        switch itemClass {
        case .genericPassword: [.account, .service]
        case .internetPassword:
            [.account, .securityDomain, .server, .protocol, .authenticationType, .port, .path]
        case .certificate: [.certificateType, .issuer, .serialNumber]
        case .key:
            [.keyClass, .applicationLabel, .applicationTag, .keyType, .keySizeInBits, .effectiveKeySize]
        case .identity: []
        }
    }

    /// The attributes that an item of a class may have.
    public static func attributes(of itemClass: ItemClass) -> [KeychainAttribute] {
        let common: [KeychainAttribute] = [
            .accessGroup, .accessible, .synchronizable, .creationDate, .modificationDate, .expiryDate, .label,
        ]
        let password: [KeychainAttribute] = [.description, .comment, .creator, .type, .isInvisible, .isNegative]
        let certificate: [KeychainAttribute] = [
            .certificateType, .certificateEncoding, .subject, .issuer, .serialNumber, .subjectKeyID, .publicKeyHash,
        ]
        let key: [KeychainAttribute] = [
            .keyClass, .applicationLabel, .applicationTag, .keyType, .keySizeInBits, .effectiveKeySize, .isExtractable,
            .canEncrypt, .canDecrypt, .canDerive, .canSign, .canVerify, .canWrap, .canUnwrap,
        ]
        return switch itemClass {
        case .genericPassword: common + password + [.account, .service, .generic]
        case .internetPassword: common + password + primaryKey(of: .internetPassword)
        case .certificate: common + certificate
        case .key: common + key
        case .identity: common + certificate + key
        }
    }

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
