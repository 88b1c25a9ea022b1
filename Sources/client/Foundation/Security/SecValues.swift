package import CofferCore
internal import Foundation

// Conversions between the values of dictionaries and those of Coffer.

extension ItemClass {
    /// The value of `kSecClass`.
    var secValue: String {
        switch self {
        case .genericPassword: kSecClassGenericPassword
        case .internetPassword: kSecClassInternetPassword
        case .certificate: kSecClassCertificate
        case .key: kSecClassKey
        case .identity: kSecClassIdentity
        }
    }
}

extension Accessibility {
    /// The value of `kSecAttrAccessible`.
    var secValue: String {
        switch self {
        case .whenUnlocked: kSecAttrAccessibleWhenUnlocked
        case .afterFirstUnlock: kSecAttrAccessibleAfterFirstUnlock
        case .always: kSecAttrAccessibleAlways
        case .whenUnlockedThisDeviceOnly: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
        case .afterFirstUnlockThisDeviceOnly: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        case .alwaysThisDeviceOnly: kSecAttrAccessibleAlwaysThisDeviceOnly
        case .whenPasscodeSetThisDeviceOnly: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
        case .whenUnlockedDeposit: kSecAttrAccessibleWhenUnlockedDeposit
        }
    }

    /// Converts a value of `kSecAttrAccessible`.
    ///
    /// - Throws: `param` if it is none.
    init(secValue value: Any) throws(CofferError) {
        guard let match = Self.allCases.first(where: { $0.secValue == value as? String }) else {
            throw CofferError(.param, "\(quotedForDisplay(kSecAttrAccessible)): expected a value of kSecAttrAccessible")
        }
        self = match
    }
}

extension KeychainAttribute {
    /// The key in a dictionary; `nil` for an attribute that iOS does not have.
    package var secKey: String? {
        switch self {
        case .accessGroup: kSecAttrAccessGroup
        case .accessible: kSecAttrAccessible
        case .synchronizable: kSecAttrSynchronizable
        case .creationDate: kSecAttrCreationDate
        case .modificationDate: kSecAttrModificationDate
        case .expiryDate: nil
        case .label: kSecAttrLabel
        case .description: kSecAttrDescription
        case .comment: kSecAttrComment
        case .creator: kSecAttrCreator
        case .type: kSecAttrType
        case .isInvisible: kSecAttrIsInvisible
        case .isNegative: kSecAttrIsNegative
        case .account: kSecAttrAccount
        case .service: kSecAttrService
        case .generic: kSecAttrGeneric
        case .securityDomain: kSecAttrSecurityDomain
        case .server: kSecAttrServer
        case .protocol: kSecAttrProtocol
        case .authenticationType: kSecAttrAuthenticationType
        case .port: kSecAttrPort
        case .path: kSecAttrPath
        case .certificateType: kSecAttrCertificateType
        case .certificateEncoding: kSecAttrCertificateEncoding
        case .subject: kSecAttrSubject
        case .issuer: kSecAttrIssuer
        case .serialNumber: kSecAttrSerialNumber
        case .subjectKeyID: kSecAttrSubjectKeyID
        case .publicKeyHash: kSecAttrPublicKeyHash
        case .keyClass: kSecAttrKeyClass
        case .applicationLabel: kSecAttrApplicationLabel
        case .applicationTag: kSecAttrApplicationTag
        case .keyType: kSecAttrKeyType
        case .keySizeInBits: kSecAttrKeySizeInBits
        case .effectiveKeySize: kSecAttrEffectiveKeySize
        case .isExtractable: kSecAttrIsExtractable
        case .canEncrypt: kSecAttrCanEncrypt
        case .canDecrypt: kSecAttrCanDecrypt
        case .canDerive: kSecAttrCanDerive
        case .canSign: kSecAttrCanSign
        case .canVerify: kSecAttrCanVerify
        case .canWrap: kSecAttrCanWrap
        case .canUnwrap: kSecAttrCanUnwrap
        }
    }

    private static let keyClasses = [
        (kSecAttrKeyClassPublic, "public"), (kSecAttrKeyClassPrivate, "private"),
        (kSecAttrKeyClassSymmetric, "symmetric"),
    ]

    /// Converts a value from a dictionary.
    ///
    /// - Throws: `param` if it has another type.
    func value(_ value: Any, of call: String) throws(CofferError) -> AttributeValue {
        if self == .accessible { return .text(try Accessibility(secValue: value).rawValue) }
        if self == .keyClass, let match = Self.keyClasses.first(where: { $0.0 == "\(value)" }) { return .text(match.1) }
        guard let match = AttributeValue(value, as: form), self != .keyClass else {
            throw CofferError(.param, "\(call): \(quotedForDisplay(secKey ?? rawValue)) has a value of another form")
        }
        return match
    }

    /// Converts a value for a dictionary.
    func secValue(_ value: AttributeValue) -> Any {
        if case .text(let text) = value {
            if self == .accessible { return Accessibility(rawValue: text)?.secValue ?? text }
            if self == .keyClass { return Self.keyClasses.first { $0.1 == text }?.0 ?? text }
        }
        return value.secValue
    }
}

extension AttributeValue {
    /// Converts a value from a dictionary; `nil` if it has another type.
    init?(_ value: Any, as form: Form) {
        switch form {
        case .text:
            guard let text = value as? String else { return nil }
            self = .text(text)
        case .integer:
            let number = (value as? any BinaryInteger).flatMap { Int64(exactly: $0) }
            guard let exact = number ?? (value as? NSNumber).flatMap({ Int64(exactly: $0) }) else { return nil }
            self = .integer(exact)
        case .bool:
            guard let flag = value as? Bool else { return nil }
            self = .bool(flag)
        case .bytes:
            guard let data = value as? Data else { return nil }
            self = .bytes(Array(data))
        case .date:
            guard let date = value as? Date, let milliseconds = date.milliseconds else { return nil }
            self = .date(milliseconds)
        }
    }

    fileprivate var secValue: Any {
        switch self {
        case .text(let text): text
        case .integer(let number): Int(number)
        case .bool(let flag): flag
        case .bytes(let bytes): Data(bytes)
        case .date(let milliseconds): Date(milliseconds: milliseconds)
        }
    }
}

extension Date {
    /// The time in Coffer's unit; `nil` if it is out of range.
    fileprivate var milliseconds: Int64? { Int64(exactly: (timeIntervalSince1970 * 1000).rounded()) }
}
