// packaging/tools/interface writes this file from proto-docs/openrpc.json.

extension KeychainAttribute {
    /// The form of the attribute's values.
    public var form: AttributeValue.Form {
        switch self {
        case .accessGroup, .accessible, .label, .description, .comment, .account, .service, .securityDomain, .server,
            .protocol, .authenticationType, .path, .keyClass, .keyType:
            .text
        case .synchronizable, .isInvisible, .isNegative, .isExtractable, .canEncrypt, .canDecrypt, .canDerive, .canSign,
            .canVerify, .canWrap, .canUnwrap:
            .bool
        case .creationDate, .modificationDate, .expiryDate: .date
        case .creator, .type, .port, .certificateType, .certificateEncoding, .keySizeInBits, .effectiveKeySize: .integer
        case .generic, .subject, .issuer, .serialNumber, .subjectKeyID, .publicKeyHash, .applicationLabel,
            .applicationTag:
            .bytes
        }
    }

    /// The attributes that identify an item of a class, besides its access group and whether it is
    /// synchronizable.
    ///
    /// A missing attribute counts as empty or 0.
    public static func primaryKey(of itemClass: ItemClass) -> [KeychainAttribute] {
        switch itemClass {
        case .genericPassword: [.account, .service]
        case .internetPassword: [.account, .securityDomain, .server, .protocol, .authenticationType, .port, .path]
        case .certificate: [.certificateType, .issuer, .serialNumber]
        case .key: [.keyClass, .applicationLabel, .applicationTag, .keyType, .keySizeInBits, .effectiveKeySize]
        case .identity: []
        }
    }

    /// The attributes that an item of a class may have.
    public static func attributes(of itemClass: ItemClass) -> [KeychainAttribute] {
        switch itemClass {
        case .genericPassword:
            [
                .accessGroup, .accessible, .synchronizable, .creationDate, .modificationDate, .expiryDate, .label,
                .description, .comment, .creator, .type, .isInvisible, .isNegative, .account, .service, .generic,
            ]
        case .internetPassword:
            [
                .accessGroup, .accessible, .synchronizable, .creationDate, .modificationDate, .expiryDate, .label,
                .description, .comment, .creator, .type, .isInvisible, .isNegative, .account, .securityDomain, .server,
                .protocol, .authenticationType, .port, .path,
            ]
        case .certificate:
            [
                .accessGroup, .accessible, .synchronizable, .creationDate, .modificationDate, .expiryDate, .label,
                .certificateType, .certificateEncoding, .subject, .issuer, .serialNumber, .subjectKeyID, .publicKeyHash,
            ]
        case .key:
            [
                .accessGroup, .accessible, .synchronizable, .creationDate, .modificationDate, .expiryDate, .label,
                .keyClass, .applicationLabel, .applicationTag, .keyType, .keySizeInBits, .effectiveKeySize,
                .isExtractable, .canEncrypt, .canDecrypt, .canDerive, .canSign, .canVerify, .canWrap, .canUnwrap,
            ]
        case .identity:
            [
                .accessGroup, .accessible, .synchronizable, .creationDate, .modificationDate, .expiryDate, .label,
                .certificateType, .certificateEncoding, .subject, .issuer, .serialNumber, .subjectKeyID, .publicKeyHash,
                .keyClass, .applicationLabel, .applicationTag, .keyType, .keySizeInBits, .effectiveKeySize,
                .isExtractable, .canEncrypt, .canDecrypt, .canDerive, .canSign, .canVerify, .canWrap, .canUnwrap,
            ]
        }
    }
}
