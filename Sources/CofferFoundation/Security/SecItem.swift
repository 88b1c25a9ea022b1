internal import CofferClient
internal import CofferCore
internal import CofferMemory
internal import CofferWire
internal import Foundation

/// Adds an item.
///
/// - Parameters:
///   - attributes: What it is; a key that is not understood is refused with `errSecParam`.
///   - result: Gets what the `kSecReturn…` keys ask for; `nil` where the call fails.
/// - Returns: `errSecDuplicateItem` where there is one of the same primary key; `errSecInteractionNotAllowed` where its
///   accessibility is not there now.
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    OSStatus { () throws(CofferError) in
        unsafe result?.pointee = nil
        var query = SecQuery(attributes, of: "SecItemAdd")
        guard let itemClass = try query.takeClass() else {
            throw CofferError(.param, "SecItemAdd: 'class' is missing: that is kSecClass")
        }
        let context = try query.takeContext()
        let returns = try query.takeReturns()
        let access = try query.takeAccess()
        let data = try query.take(kSecValueData, as: Data.self, "bytes")
        let params = KeychainAddParameters(
            itemClass,
            try query.takeAttributes(of: itemClass),
            accessibility: access.accessibility,
            accessControl: access.control?.control,
            returns: returns
        )
        try query.finish()
        let added = try CofferDaemon.shared.perform(showing: context) { (client) throws(CofferError) -> Any? in
            let secret = try SecretBytes.payload(data)
            let returned = try client.call(params, payload: secret)
            guard let item = returned.value.item else { return nil }
            return item.secValue(returns, Data(exposing: returned.takePayload()))
        }
        if let added { unsafe result?.pointee = added }
    }
}

/// Looks for items.
///
/// - Parameters:
///   - query: What they are to have; a key that is not understood is refused with `errSecParam`.
///   - result: Gets what the `kSecReturn…` keys ask for: of one item, or an array with `kSecMatchLimit` of more. Several keys
///     together give a dictionary of each.
/// - Returns: `errSecItemNotFound` where there are none; `errSecInteractionNotAllowed` where nothing of what was found can be
///   read now: of several, those that can be read are given; `errSecInteractionRequired` where an access control is not met.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    OSStatus { () throws(CofferError) in
        unsafe result?.pointee = nil
        var dictionary = SecQuery(query, of: "SecItemCopyMatching")
        let context = try dictionary.takeContext()
        let returns = try dictionary.takeReturns()
        let limit = try dictionary.takeLimit()
        let query = try dictionary.takeQuery()
        try dictionary.finish()
        let found = try CofferDaemon.shared.perform(showing: context) { (client) throws(CofferError) in
            try client.secValues(of: query, limit, returns)
        }
        if returns.isEmpty { return }
        unsafe result?.pointee = limit == .count(1) ? found.first : found
    }
}

/// Changes every item that is found, or none.
///
/// - Parameters:
///   - query: What they are to have.
///   - attributesToUpdate: What they are to have instead, `kSecValueData` among it.
/// - Returns: `errSecItemNotFound` where there are none; `errSecDuplicateItem` where two would have the same primary key.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    OSStatus { () throws(CofferError) in
        var dictionary = SecQuery(query, of: "SecItemUpdate")
        let context = try dictionary.takeContext()
        let query = try dictionary.takeQuery()
        try dictionary.finish()
        var change = SecQuery(attributesToUpdate, of: "SecItemUpdate")
        let access = try change.takeAccess()
        let data = try change.take(kSecValueData, as: Data.self, "bytes")
        if let data, data.isEmpty {
            throw CofferError(.param, "SecItemUpdate: the new secret is empty", hint: "delete the item and add it anew")
        }
        let attributes = try change.takeAttributes(of: query.itemClass)
        try change.finish()
        let update = KeychainChange(
            attributes: attributes,
            accessibility: access.accessibility,
            accessControl: access.control?.control,
            removesAccessControl: access.control.map { $0.control == nil } ?? false
        )
        try CofferDaemon.shared.perform(showing: context) { (client) throws(CofferError) in
            let secret = try SecretBytes.payload(data)
            _ = try client.call(KeychainUpdateParameters(query, update), payload: secret)
        }
    }
}

/// Deletes every item that is found, in every state of the vault.
///
/// - Parameter query: What they are to have. `kSecValueData` and `kSecAttrAccessControl` select nothing: a program may give the
///   dictionary that it adds the item with.
/// - Returns: `errSecItemNotFound` where there are none.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    OSStatus { () throws(CofferError) in
        var dictionary = SecQuery(query, of: "SecItemDelete")
        dictionary.drop([kSecValueData, kSecAttrAccessControl])
        let context = try dictionary.takeContext()
        let query = try dictionary.takeQuery()
        try dictionary.finish()
        try CofferDaemon.shared.perform(showing: context) { (client) throws(CofferError) in
            _ = try client.call(KeychainDeleteParameters(query))
        }
    }
}

extension CofferDaemon {
    /// Does something with a connection on which something is shown, for as long as that lasts.
    fileprivate func perform<Result>(
        showing context: LAContext?,
        _ body: (BlockingClient) throws(CofferError) -> Result
    ) throws(CofferError) -> Result {
        guard let context else { return try perform(body) }
        return try perform { (client) throws(CofferError) in
            defer { _ = try? client.call(ContextEndParameters()).value }
            for (type, credential) in context.shown {
                let secret = try SecretBytes.payload(credential)
                // One of them is not to be used up by showing the other.
                let params = ContextAuthenticateParameters(
                    factor: type.factor,
                    reuseSeconds: Int64(Limits.contextSeconds)
                )
                try client.call(params, payload: secret)
            }
            return try body(client)
        }
    }
}

extension BlockingClient {
    /// Looks for items, over as many pages as it takes.
    fileprivate func secValues(
        of query: KeychainQuery,
        _ limit: KeychainLimit,
        _ returns: Set<KeychainReturn>
    ) throws(CofferError) -> [Any] {
        var values: [Any] = []
        var cursor: String?
        /// Why a page before this one had nothing that can be read.
        var refusal: CofferError?
        repeat {
            let left: KeychainLimit
            switch limit {
            case .all: left = .all
            case .count(let count): left = .count(count - values.count)
            }
            let params = KeychainFindParameters(query, limit: left, cursor: cursor, returns: returns)
            do throws(CofferError) {
                let found = try findKeychainItems(params)
                for (index, item) in found.page.items.enumerated() {
                    let data = found.withSecret(at: index) { item.byteCount == nil ? nil : Data(exposing: $0) }
                    values.append(item.secValue(returns, data))
                }
                if found.page.lockedCount > 0 { refusal = .locked("what was found", in: .locked, for: .read) }
                cursor = found.page.cursor
            } catch {
                // Of a page behind others: the items of those count.
                guard cursor != nil else { throw error }
                refusal = refusal ?? (values.isEmpty ? error : nil)
                cursor = nil
            }
        } while cursor != nil && .count(values.count) != limit
        if values.isEmpty, let refusal { throw refusal }
        return values
    }
}

extension KeychainItemInfo {
    /// What a call gives of the item: the one thing that was asked for, or a dictionary of several.
    ///
    /// - Parameters:
    ///   - returns: What was asked for.
    ///   - data: The secret; `nil` where it is not given, as that of a key that stays inside.
    fileprivate func secValue(_ returns: Set<KeychainReturn>, _ data: Data?) -> Any {
        let handle = SecItemReference(id: reference, itemClass: itemClass)
        switch returns {
        case [.data]: return data ?? Data()
        case [.reference]: return handle
        case [.persistentReference]: return Data(reference.bytes)
        default: break
        }
        var dictionary: CFDictionary = [kSecClass: itemClass.secValue]
        for (attribute, value) in attributes ?? [:] {
            if let key = attribute.secKey { dictionary[key] = attribute.secValue(value) }
        }
        if let accessControl, case .text(let name) = attributes?[.accessible] {
            let accessibility = Accessibility(rawValue: name) ?? .whenUnlocked
            dictionary[kSecAttrAccessControl] = SecAccessControl(accessibility: accessibility, control: accessControl)
        }
        if returns.contains(.data) { dictionary[kSecValueData] = data }
        if returns.contains(.reference) { dictionary[kSecValueRef] = handle }
        if returns.contains(.persistentReference) { dictionary[kSecValuePersistentRef] = Data(reference.bytes) }
        return dictionary
    }
}
