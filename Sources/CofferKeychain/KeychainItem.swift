package import CofferCore
package import CofferMemory

/// What identifies a generic password: its access group and its primary key.
package struct GenericPasswordKey: Hashable, Sendable {
    /// The set of items that one client, or several that share it, may reach.
    package let group: String
    /// What the password is for.
    package let service: String
    /// Whose it is.
    package let account: String

    /// Names a generic password.
    package init(group: String, service: String, account: String) {
        self.group = group
        self.service = service
        self.account = account
    }

    /// The generic password that a name of the one namespace stands for.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - group: The caller's group.
    package init(_ name: ItemName, in group: String) {
        self.init(group: group, service: name.service, account: name.account)
    }

    /// The name in the one namespace.
    package var path: String { service.isEmpty ? account : "\(service)/\(account)" }

    /// The name in quotes, for a sentence.
    var quoted: String { quotedForDisplay(path) }
}

/// A keychain item without its secret.
package struct KeychainItem: Sendable {
    /// Survives update and restart: the persistent reference.
    package let id: ItemID
    /// What identifies the item.
    package let key: GenericPasswordKey
    /// In which states the secret is there.
    package let accessibility: Accessibility
    /// What the owner said it is.
    package let kind: ItemKind?
    /// When it was added, in milliseconds since 1970.
    package let created: Int64
    /// When it was last changed, in milliseconds since 1970.
    package let modified: Int64
    /// The bytes of the secret.
    package let secretByteCount: Int
}

/// A keychain item with its secret.
package struct OpenedItem: ~Copyable {
    /// The item.
    package let item: KeychainItem
    /// Its secret.
    package let secret: SecretBytes

    /// Takes the secret out.
    package consuming func takeSecret() -> SecretBytes { secret }
}
