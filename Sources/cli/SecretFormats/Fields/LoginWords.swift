package import CofferClient

/// The user name and the addresses of a login, as attributes of its item, by which a search finds it although its secret
/// is sealed.
///
/// Of an address, only the scheme, the host and the port are taken: a path, a query and a user may be secrets.
package struct LoginWords {
    private static let username: AttributeName = "username"
    private static let url: AttributeName = "url"
    private static let usernameFields = ["username", "user", "login", "email"]

    /// The attributes.
    package let attributes: [AttributeName: String]

    /// Takes them from a secret; one that is no login has none.
    package init(_ content: Secret) {
        var attributes: [AttributeName: String] = [:]
        // A file of variables is no login, whatever its variables are called.
        if let fields = SecretFields(content), fields.form != .dotenv {
            attributes[Self.username] = Self.username(of: fields)
            attributes[Self.url] = Self.origins(of: fields)
        }
        self.attributes = attributes
    }

    private static func username(of fields: SecretFields) -> String? {
        for field in usernameFields {
            guard let name = try? fields.value(of: field)?.exposeText(), !name.isEmpty else { continue }
            let isPlain = name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
            return isPlain && name.utf8.count <= Limits.loginNameBytes ? name : nil
        }
        return nil
    }

    /// The addresses, as many as there is space for, with spaces between them.
    private static func origins(of fields: SecretFields) -> String? {
        var text = ""
        for url in (try? fields.addresses()) ?? [] {
            let origin = ServerAddress(origin: url).url
            let isPlain = origin.unicodeScalars.allSatisfy { !$0.properties.isWhitespace && $0.value >= 0x20 }
            guard isPlain, !text.split(separator: " ").contains(where: { $0.elementsEqual(origin) }),
                text.utf8.count + origin.utf8.count < Limits.loginAddressBytes
            else { continue }
            text += (text.isEmpty ? "" : " ") + origin
        }
        return text.isEmpty ? nil : text
    }

    /// The attributes, unless an item that has so many bytes of others already has no space for them.
    package func attributes(beside byteCount: Int) -> [AttributeName: String] {
        let own = attributes.reduce(0) { $0 + $1.key.text.utf8.count + $1.value.utf8.count }
        return byteCount + own + Limits.attributeReserveBytes <= Limits.metadataBytes ? attributes : [:]
    }

    /// The change that keeps the attributes of an item in step with its secret.
    ///
    /// - Parameters:
    ///   - former: The words of its former secret. An attribute that has another value is the user's own, and stays.
    ///   - item: The item with its former attributes.
    package func change(from former: LoginWords, of item: ItemInfo) -> KeychainChange {
        var change = KeychainChange()
        guard item.itemClass == .genericPassword else { return change }
        let stored = item.user ?? [:]
        let new = attributes(beside: item.attributeBytes)
        for name in [Self.username, Self.url] where stored[name] == nil || stored[name] == former.attributes[name] {
            guard let value = new[name] else {
                if stored[name] != nil { change.removedUser.insert(name) }
                continue
            }
            if stored[name] != value { change.user[name] = value }
        }
        return change
    }

    /// The change that gives an item the words of a new secret, whatever it had.
    package func replacing(of item: ItemInfo) -> KeychainChange {
        guard item.itemClass == .genericPassword else { return KeychainChange() }
        let stored = item.user ?? [:]
        return KeychainChange(user: attributes(beside: item.attributeBytes).filter { stored[$0.key] != $0.value })
    }

    /// The text to search for an address, up to its host: that is all that is known of one.
    package static func searched(_ text: String) -> String {
        let origin = ServerAddress(origin: text)
        return origin.protocol == nil || origin.host.isEmpty ? text : origin.url
    }
}

extension ItemInfo {
    /// The bytes of the texts that an item has as attributes.
    fileprivate var attributeBytes: Int {
        let own = (attributes ?? [:]).values.reduce(0) { sum, value in
            switch value {
            case .text(let text): sum + text.utf8.count
            case .bytes(let bytes): sum + bytes.count
            default: sum
            }
        }
        return (user ?? [:]).reduce(own + group.utf8.count) { $0 + $1.key.text.utf8.count + $1.value.utf8.count }
    }
}
