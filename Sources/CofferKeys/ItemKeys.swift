package import CofferCore
internal import CofferCrypto
package import CofferMemory

/// A new key of an item or a file, and the same key wrapped for storing.
package struct WrappedItemKey: ~Copyable, Sendable {
    /// The key itself.
    package let key: SymmetricKey
    /// What is stored.
    package let wrapped: [UInt8]

    /// Takes the key out.
    package consuming func takeKey() -> SymmetricKey { key }
}

// Every item and every file has a random key of its own; nothing else is ever wrapped under a class key.

extension VaultKeys {
    /// Makes the key of a keychain item.
    ///
    /// - Parameters:
    ///   - accessibility: Decides the class key, which has to be there.
    ///   - id: The item: the wrapped key is bound to it.
    package func newItemKey(
        for accessibility: Accessibility,
        of id: ItemID
    ) throws(KeyError) -> WrappedItemKey {
        let name = ClassKeyName(accessibility)
        return try withKey(name) { (classKey) throws(CryptoError) in
            try WrappedItemKey(wrapping: { key in KeyWrap.wrap(key, under: classKey, context: Self.context(name, id)) })
        }
    }

    /// Unwraps the key of a keychain item.
    ///
    /// - Parameters:
    ///   - wrapped: What is stored.
    ///   - accessibility: The item's accessibility.
    ///   - id: The item.
    package func itemKey(
        unwrapping wrapped: RawSpan,
        for accessibility: Accessibility,
        of id: ItemID
    ) throws(KeyError) -> SymmetricKey {
        let name = ClassKeyName(accessibility)
        return try withKey(name) { (classKey) throws(CryptoError) in
            try KeyWrap.unwrap(wrapped, under: classKey, context: Self.context(name, id))
        }
    }

    /// Makes the key of a file.
    ///
    /// For class B this works in every state: its public half is always there.
    ///
    /// - Parameters:
    ///   - protectionClass: Decides the class key.
    ///   - id: The file's content: the wrapped key is bound to it.
    package func newFileKey(
        for protectionClass: ProtectionClass,
        of id: ItemID
    ) throws(KeyError) -> WrappedItemKey {
        let name = ClassKeyName(protectionClass)
        let context = Self.context(name, id)
        if protectionClass == .completeUnlessOpen {
            do {
                return try WrappedItemKey(wrapping: { (key) throws(CryptoError) in
                    try KeyAgreement.wrap(key, to: classBPublicKey, for: Self.classBPurpose, context: context)
                })
            } catch {
                throw KeyError(error)
            }
        }
        return try withKey(name) { (classKey) throws(CryptoError) in
            try WrappedItemKey(wrapping: { key in KeyWrap.wrap(key, under: classKey, context: context) })
        }
    }

    /// Unwraps the key of a file.
    ///
    /// - Parameters:
    ///   - wrapped: What is stored.
    ///   - protectionClass: The file's class.
    ///   - id: The file's content.
    package func fileKey(
        unwrapping wrapped: RawSpan,
        for protectionClass: ProtectionClass,
        of id: ItemID
    ) throws(KeyError) -> SymmetricKey {
        let name = ClassKeyName(protectionClass)
        let context = Self.context(name, id)
        return try withKey(name) { (classKey) throws(CryptoError) in
            protectionClass == .completeUnlessOpen
                ? try KeyAgreement.unwrap(wrapped, with: classKey, for: Self.classBPurpose, context: context)
                : try KeyWrap.unwrap(wrapped, under: classKey, context: context)
        }
    }

    private static var classBPurpose: StaticString { "coffer class B wrap v1" }

    private static func context(_ name: ClassKeyName, _ id: ItemID) -> [UInt8] {
        Array("coffer item key v1".utf8) + [name.rawValue] + id.bytes
    }
}

extension WrappedItemKey {
    fileprivate init(
        wrapping wrap: (borrowing SymmetricKey) throws(CryptoError) -> [UInt8]
    ) throws(CryptoError) {
        let key: SymmetricKey
        do { key = try SymmetricKey() } catch { throw .noMemory }
        let wrapped = try wrap(key)
        self.key = key
        self.wrapped = wrapped
    }
}
