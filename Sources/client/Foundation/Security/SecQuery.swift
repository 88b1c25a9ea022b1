internal import CofferCore
internal import CofferWire
internal import Foundation

/// The dictionary of a keychain call, from which each known key is removed when it is read.
///
/// The keys that remain are unknown, and are refused rather than ignored.
struct SecQuery {
    private var rest: CFDictionary
    private let call: String

    init(_ dictionary: CFDictionary, of call: String) {
        rest = dictionary
        self.call = call
    }

    /// Removes a value and returns it.
    ///
    /// - Throws: `param` if it has another type.
    mutating func take<Value>(_ key: String, as type: Value.Type, _ expected: String) throws(CofferError) -> Value? {
        guard let value = rest.removeValue(forKey: key) else { return nil }
        guard let match = value as? Value else { throw mismatch(key, expected) }
        return match
    }

    /// Removes a truth value and returns it.
    mutating func takeBool(_ key: String) throws(CofferError) -> Bool {
        guard let value = rest.removeValue(forKey: key) else { return false }
        guard let flag = AttributeValue(value, as: .bool) else { throw mismatch(key, "a truth value") }
        return flag == .bool(true)
    }

    /// Removes keys that have no effect in this call.
    mutating func drop(_ keys: [String]) { for key in keys { rest[key] = nil } }

    /// Refuses the remaining keys.
    func finish() throws(CofferError) {
        guard let key = rest.keys.min() else { return }
        throw CofferError(
            .param,
            "\(call) does not understand \(quotedForDisplay(key)) here",
            hint: "proto-docs/FOUNDATION.md says which keys there are"
        )
    }

    private func mismatch(_ key: String, _ expected: String) -> CofferError {
        CofferError(.param, "\(call): \(quotedForDisplay(key)): expected \(expected)")
    }

    // MARK: Parts

    /// Removes the class and returns it.
    mutating func takeClass() throws(CofferError) -> ItemClass? {
        guard let value = try take(kSecClass, as: String.self, "a class") else { return nil }
        guard let match = ItemClass.allCases.first(where: { $0.secValue == value }) else {
            throw mismatch(kSecClass, "a class")
        }
        return match
    }

    /// Removes the requested return values and returns them.
    mutating func takeReturns() throws(CofferError) -> Set<KeychainReturn> {
        var returns: Set<KeychainReturn> = []
        if try takeBool(kSecReturnData) { returns.insert(.data) }
        if try takeBool(kSecReturnAttributes) { returns.insert(.attributes) }
        if try takeBool(kSecReturnRef) { returns.insert(.reference) }
        if try takeBool(kSecReturnPersistentRef) { returns.insert(.persistentReference) }
        return returns
    }

    /// Removes the limit and returns it.
    mutating func takeLimit() throws(CofferError) -> KeychainLimit {
        switch rest.removeValue(forKey: kSecMatchLimit) {
        case nil: return .count(1)
        case let word as String where word == kSecMatchLimitOne: return .count(1)
        case let word as String where word == kSecMatchLimitAll: return .all
        case let value?:
            guard case .integer(let count) = AttributeValue(value, as: .integer), count >= 1 else {
                throw mismatch(kSecMatchLimit, "a number from 1 on, kSecMatchLimitOne or kSecMatchLimitAll")
            }
            return .count(Int(count))
        }
    }

    /// Removes the authentication and what to do without it, and returns both.
    ///
    /// - Parameter maySkip: Whether items that want authentication can be left out.
    mutating func takeAuthentication(maySkip: Bool = false) throws(CofferError) -> SecAuthentication {
        let isMeant = rest[kSecUseDataProtectionKeychain] == nil ? true : try takeBool(kSecUseDataProtectionKeychain)
        guard isMeant else { throw mismatch(kSecUseDataProtectionKeychain, "true: there is no other keychain") }
        var authentication = SecAuthentication()
        switch try take(kSecUseAuthenticationUI, as: String.self, "one of its values") {
        case nil, kSecUseAuthenticationUIAllow: break
        case kSecUseAuthenticationUIFail: authentication.absence = .fail
        case kSecUseAuthenticationUISkip where maySkip: authentication.absence = .skip
        case _?:
            let words =
                "kSecUseAuthenticationUIAllow, kSecUseAuthenticationUIFail, or in a search kSecUseAuthenticationUISkip"
            throw mismatch(kSecUseAuthenticationUI, words)
        }
        authentication.context = try take(kSecUseAuthenticationContext, as: LAContext.self, "an LAContext")
        if authentication.absence == .require, authentication.context?.interactionNotAllowed == true {
            authentication.absence = .fail
        }
        return authentication
    }

    /// Removes the accessibility and the access control of a new or changed item and returns them.
    mutating func takeAccess() throws(CofferError) -> (accessibility: Accessibility?, control: SecAccessControl?) {
        let control = try take(kSecAttrAccessControl, as: SecAccessControl.self, "a SecAccessControl")
        guard let value = rest.removeValue(forKey: kSecAttrAccessible) else { return (control?.accessibility, control) }
        guard control == nil else {
            throw CofferError(.param, "\(call): give either kSecAttrAccessible or kSecAttrAccessControl")
        }
        return (try Accessibility(secValue: value), nil)
    }

    /// Removes the attributes of a class and returns them; of every class if it is `nil`.
    mutating func takeAttributes(of itemClass: ItemClass?) throws(CofferError) -> [KeychainAttribute: AttributeValue] {
        var attributes: [KeychainAttribute: AttributeValue] = [:]
        for attribute in itemClass.map(KeychainAttribute.attributes(of:)) ?? KeychainAttribute.allCases {
            guard let key = attribute.secKey, let value = rest.removeValue(forKey: key) else { continue }
            attributes[attribute] = try attribute.value(value, of: call)
        }
        return attributes
    }

    /// Removes what a query matches and returns it.
    ///
    /// As on iOS, synchronizable items match only if the query says so.
    mutating func takeQuery() throws(CofferError) -> KeychainQuery {
        let itemClass = try takeClass()
        let reference = try take(kSecValueRef, as: SecItemReference.self, "a reference of kSecReturnRef")
        let bytes = try take(kSecValuePersistentRef, as: Data.self, "a persistent reference")
        if let reference { return KeychainQuery(reference: reference.id, itemClass: itemClass) }
        if let bytes {
            guard let id = ItemID(bytes) else { throw mismatch(kSecValuePersistentRef, "a persistent reference") }
            return KeychainQuery(reference: id, itemClass: itemClass)
        }
        guard let itemClass else { throw CofferError(.param, "\(call): kSecClass is missing") }
        let isAny = rest[kSecAttrSynchronizable] as? String == kSecAttrSynchronizableAny
        if isAny { drop([kSecAttrSynchronizable]) }
        var attributes = try takeAttributes(of: itemClass)
        if !isAny && itemClass != .identity && attributes[.synchronizable] == nil {
            attributes[.synchronizable] = .bool(false)
        }
        return KeychainQuery(itemClass, attributes)
    }
}

/// The authentication of a call, and what to do with an item that wants more.
struct SecAuthentication {
    enum Absence {
        /// Say which authentication is required.
        case require
        /// Say that no prompt is allowed.
        case fail
        /// Leave the item out.
        case skip
    }

    var context: LAContext?
    var absence = Absence.require

    /// The error of a call, as a program expects it that allows no prompt.
    func mapped(_ error: CofferError) -> CofferError {
        guard error.code == .interactionRequired else { return error }
        switch absence {
        case .require: return error
        case .fail: return CofferError(.interactionNotAllowed, error.message, hint: error.hint)
        case .skip: return CofferError(.itemNotFound, "every item that was found wants authentication")
        }
    }
}
