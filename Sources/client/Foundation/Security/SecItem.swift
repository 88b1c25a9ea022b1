internal import CofferClient
internal import CofferCore
internal import CofferWire
internal import Foundation

/// Adds an item.
///
/// - Parameters:
///   - attributes: The attributes and the secret; an unknown key is refused with `errSecParam`.
///   - result: Receives what the `kSecReturn…` keys request; `nil` if the call fails.
/// - Returns: `errSecDuplicateItem` if an item with the same primary key exists;
///   `errSecInteractionNotAllowed` if the key of its accessibility is not in memory.
@discardableResult
public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    OSStatus { () throws(CofferError) in
        unsafe result?.pointee = nil
        var query = SecQuery(attributes, of: "SecItemAdd")
        guard let itemClass = try query.takeClass() else {
            throw CofferError(.param, "SecItemAdd: 'class' is missing: that is kSecClass")
        }
        let authentication = try query.takeAuthentication()
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
        let added = try CofferDaemon.shared.perform(with: authentication) { (client) throws(CofferError) -> Any? in
            let returned = try client.call(params, payload: try data?.secret)
            guard let item = returned.value.item else { return nil }
            return item.secValue(returns, Data(exposing: returned.payload))
        }
        if let added { unsafe result?.pointee = added }
    }
}

/// Finds items.
///
/// - Parameters:
///   - query: What to match; an unknown key is refused with `errSecParam`.
///   - result: Receives what the `kSecReturn…` keys request: for one item, or an array if `kSecMatchLimit`
///     allows more. Several keys give a dictionary for each item.
/// - Returns: `errSecItemNotFound` if no item matches; `errSecInteractionNotAllowed` if none of the matching
///   items can be read now, while otherwise the readable ones are returned; `errSecInteractionRequired` if an
///   access control requires authentication.
@discardableResult
public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    OSStatus { () throws(CofferError) in
        unsafe result?.pointee = nil
        var dictionary = SecQuery(query, of: "SecItemCopyMatching")
        let authentication = try dictionary.takeAuthentication(maySkip: true)
        let returns = try dictionary.takeReturns()
        let limit = try dictionary.takeLimit()
        let query = try dictionary.takeQuery()
        try dictionary.finish()
        let found = try CofferDaemon.shared.perform(with: authentication) { (client) throws(CofferError) in
            try client.secValues(of: query, limit, returns, skips: authentication.absence == .skip)
        }
        if returns.isEmpty { return }
        unsafe result?.pointee = limit == .count(1) ? found.first : found
    }
}

/// Changes all matching items, or none.
///
/// - Parameters:
///   - query: What to match.
///   - attributesToUpdate: The new attributes, and `kSecValueData` for a new secret.
/// - Returns: `errSecItemNotFound` if no item matches; `errSecDuplicateItem` if two would have the same
///   primary key.
@discardableResult
public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    OSStatus { () throws(CofferError) in
        var dictionary = SecQuery(query, of: "SecItemUpdate")
        let authentication = try dictionary.takeAuthentication()
        let query = try dictionary.takeQuery()
        try dictionary.finish()
        var change = SecQuery(attributesToUpdate, of: "SecItemUpdate")
        let access = try change.takeAccess()
        let data = try change.take(kSecValueData, as: Data.self, "bytes")
        let attributes = try change.takeAttributes(of: query.itemClass)
        try change.finish()
        let update = KeychainChange(
            attributes: attributes,
            accessibility: access.accessibility,
            accessControl: access.control?.control,
            removesAccessControl: access.control.map { $0.control == nil } ?? false
        )
        try CofferDaemon.shared.perform(with: authentication) { (client) throws(CofferError) in
            let secret = try data?.secret
            // As the interface has it, a query without a condition is for every item of the class.
            let params = KeychainUpdateParameters(query, update, replacingBy: secret, isForAll: true)
            _ = try client.call(params, payload: secret)
        }
    }
}

/// Deletes all matching items, in every state of the vault from the first unlock on.
///
/// - Parameter query: What to match. `kSecValueData` and `kSecAttrAccessControl` are ignored, so that a
///   program may pass the dictionary with which it added the item.
/// - Returns: `errSecItemNotFound` if no item matches.
@discardableResult
public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    OSStatus { () throws(CofferError) in
        var dictionary = SecQuery(query, of: "SecItemDelete")
        dictionary.drop([kSecValueData, kSecAttrAccessControl])
        let authentication = try dictionary.takeAuthentication()
        let query = try dictionary.takeQuery()
        try dictionary.finish()
        try CofferDaemon.shared.perform(with: authentication) { (client) throws(CofferError) in
            _ = try client.call(KeychainDeleteParameters(query, isForAll: true))
        }
    }
}

extension CofferDaemon {
    /// Performs an operation with a connection that is authenticated meanwhile.
    fileprivate func perform<Result>(
        with authentication: SecAuthentication,
        _ body: (BlockingClient) throws(CofferError) -> Result
    ) throws(CofferError) -> Result {
        do throws(CofferError) {
            return try perform(showing: authentication.context, body)
        } catch {
            throw authentication.mapped(error)
        }
    }

    private func perform<Result>(
        showing context: LAContext?,
        _ body: (BlockingClient) throws(CofferError) -> Result
    ) throws(CofferError) -> Result {
        guard let context else { return try perform(body) }
        return try perform { (client) throws(CofferError) in
            defer { _ = try? client.call(ContextEndParameters()).value }
            for (type, credential) in context.shown {
                // Reuse, so that one operation may need both factors.
                let params = ContextAuthenticateParameters(
                    factor: type.factor,
                    reuseSeconds: Int64(Limits.contextSeconds)
                )
                try client.call(params, payload: try credential.secret)
            }
            return try body(client)
        }
    }
}

extension BlockingClient {
    /// Finds items, page by page.
    ///
    /// - Parameter skips: Whether items that want authentication are left out: so the first of the others is looked for
    ///   among all.
    fileprivate func secValues(
        of query: KeychainQuery,
        _ limit: KeychainLimit,
        _ returns: Set<KeychainReturn>,
        skips: Bool
    ) throws(CofferError) -> [Any] {
        var values: [Any] = []
        var foundCount = 0
        var cursor: String?
        /// The error of an earlier page without a readable item.
        var refusal: CofferError?
        repeat {
            let left: KeychainLimit
            switch limit {
            case .all: left = .all
            case .count where skips: left = .all
            case .count(let count): left = .count(count - foundCount)
            }
            let params = KeychainFindParameters(query, limit: left, cursor: cursor, returns: returns)
            do throws(CofferError) {
                let found = try call(params)
                foundCount += found.value.items.count
                for (item, secret) in zip(found.value.items, try found.secrets())
                where !(item.isLocked && returns.contains(.data)) {
                    values.append(item.secValue(returns, secret.map { Data(exposing: $0) }))
                }
                if found.value.lockedCount > 0 { refusal = .locked("what was found", in: .locked, for: .read) }
                cursor = found.value.cursor
            } catch {
                // An error after the first page does not discard the earlier items.
                guard cursor != nil else { throw error }
                refusal = refusal ?? (values.isEmpty ? error : nil)
                cursor = nil
            }
        } while cursor != nil && !limit.isReached(by: skips ? values.count : foundCount)
        if values.isEmpty, let refusal { throw refusal }
        if case .count(let count) = limit { return Array(values.prefix(count)) }
        return values
    }
}

extension KeychainLimit {
    fileprivate func isReached(by count: Int) -> Bool {
        if case .count(let limit) = self { count >= limit } else { false }
    }
}

extension KeychainItemInfo {
    /// The result for the item: the one requested value, or a dictionary of several.
    ///
    /// - Parameters:
    ///   - returns: The requested values.
    ///   - data: The secret; `nil` if it is not returned, as for a key that is not extractable.
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
