internal import CofferCore
internal import CofferCrypto
package import CofferMemory

/// The keys of the catalog: they seal names and attributes, and make the tags for searching.
package struct CatalogKeys: ~Copyable, Sendable {
    /// Seals the metadata of keychain items.
    package let keychainMetadata: SymmetricKey
    /// Seals the metadata of files.
    package let fileMetadata: SymmetricKey
    /// Makes the tags of the search columns.
    package let search: SymmetricKey
    /// Seals access rules.
    package let accessRules: SymmetricKey
    /// Seals the audit, and chains it.
    package let audit: SymmetricKey
    /// Seals the keys of the past, and the names in it that the passcode does not protect.
    package let past: SymmetricKey
    /// Seals the key that signs snapshots, and what the vault records of its backup.
    package let backup: SymmetricKey
    /// Seals the default classes of files.
    package let defaults: SymmetricKey

    init(from store: borrowing SymmetricKey) throws(CryptoError) {
        let keychainMetadata = try KeyDerivation.subkey(of: store, for: "coffer keychain metadata v1")
        let fileMetadata = try KeyDerivation.subkey(of: store, for: "coffer file metadata v1")
        let search = try KeyDerivation.subkey(of: store, for: "coffer search v1")
        let accessRules = try KeyDerivation.subkey(of: store, for: "coffer access rules v1")
        let audit = try KeyDerivation.subkey(of: store, for: "coffer audit v1")
        let past = try KeyDerivation.subkey(of: store, for: "coffer past v1")
        let backup = try KeyDerivation.subkey(of: store, for: "coffer backup v1")
        let defaults = try KeyDerivation.subkey(of: store, for: "coffer file defaults v1")
        self.keychainMetadata = keychainMetadata
        self.fileMetadata = fileMetadata
        self.search = search
        self.accessRules = accessRules
        self.audit = audit
        self.past = past
        self.backup = backup
        self.defaults = defaults
    }
}
