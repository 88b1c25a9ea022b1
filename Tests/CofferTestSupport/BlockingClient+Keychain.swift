import CofferClient
package import CofferCore
import CofferMemory
package import CofferWire

// The verbs of the keychain with arrays as secrets, which need no protection in tests.

extension MethodCaller {
    /// Adds an item.
    ///
    /// - Returns: The persistent reference.
    @discardableResult package func add(
        _ itemClass: ItemClass,
        _ attributes: [KeychainAttribute: AttributeValue],
        _ secret: [UInt8] = Array("secret".utf8),
        user: [AttributeName: String] = [:],
        accessible: Accessibility? = nil,
        history: Int? = nil
    ) throws -> ItemID {
        let params = KeychainAddParameters(
            itemClass,
            attributes,
            user: user,
            accessibility: accessible,
            historyCount: history
        )
        let content: SecretBytes? = try SecretBytes(secret)
        return try addKeychainItem(params, secret: content).value.reference
    }

    /// Finds items.
    ///
    /// - Returns: The page, and the returned secrets.
    package func find(
        _ query: KeychainQuery,
        limit: KeychainLimit = .all,
        returns: Set<KeychainReturn> = [.data, .attributes],
        cursor: String? = nil
    ) throws -> (page: KeychainPage, secrets: [[UInt8]]) {
        let params = KeychainFindParameters(query, limit: limit, cursor: cursor, returns: returns)
        let found = try findKeychainItems(params)
        let page = found.page
        var rest = (found.takePayload()?.exposeBytes() ?? [])[...]
        let secrets = page.items.compactMap(\.byteCount).map { count in
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        return (page, secrets)
    }

    /// Changes items.
    @discardableResult package func update(
        _ query: KeychainQuery,
        _ change: KeychainChange = KeychainChange(),
        _ secret: [UInt8]? = nil
    ) throws -> Int64 {
        let content: SecretBytes? = try secret.map { try SecretBytes($0) }
        return try updateKeychainItems(query, change, secret: content).count
    }

    /// The former values of a secret, the newest first.
    package func formerSecrets(of query: KeychainQuery) throws -> [[UInt8]] {
        try keychainHistory(of: query).map { value in
            let secret = try formerValue(value.number, of: query)
            switch secret {
            case .some(let bytes): return bytes.exposeBytes()
            case .none: return []
            }
        }
    }
}
