package import CofferCore
internal import CofferCrypto
package import CofferMemory

/// A new key of an item or a file, together with its wrapped form.
package struct WrappedItemKey: ~Copyable, Sendable {
    /// The key itself.
    package let key: SymmetricKey
    /// The wrapped key, for storing.
    package let wrapped: [UInt8]

    /// Takes the key.
    package consuming func takeKey() -> SymmetricKey { key }
}

// Every item and every file has its own random key; a class key wraps nothing else.

extension VaultKeys {
    /// Creates the key of a keychain item.
    ///
    /// - Parameters:
    ///   - accessibility: Decides the class key, which must be in memory.
    ///   - id: The item, to which the wrapped key is bound.
    package func newItemKey(
        for accessibility: Accessibility,
        of id: ItemID
    ) throws(KeyError) -> WrappedItemKey {
        try WrappedItemKey(wrapping: { (key) throws(KeyError) in try wrap(key, ClassKeyName(accessibility), of: id) })
    }

    /// Unwraps the key of a keychain item.
    ///
    /// - Parameters:
    ///   - wrapped: The wrapped key.
    ///   - accessibility: The item's accessibility.
    ///   - id: The item.
    package func itemKey(
        unwrapping wrapped: RawSpan,
        for accessibility: Accessibility,
        of id: ItemID
    ) throws(KeyError) -> SymmetricKey {
        try unwrap(wrapped, ClassKeyName(accessibility), of: id)
    }

    /// Creates the key of a file.
    ///
    /// For class B this works in every state, because its public key is always in memory.
    ///
    /// - Parameters:
    ///   - protectionClass: Decides the class key.
    ///   - id: The content of the file, to which the wrapped key is bound.
    package func newFileKey(
        for protectionClass: ProtectionClass,
        of id: ItemID
    ) throws(KeyError) -> WrappedItemKey {
        try WrappedItemKey(wrapping: { (key) throws(KeyError) in try wrap(key, ClassKeyName(protectionClass), of: id) })
    }

    /// Unwraps the key of a file.
    ///
    /// - Parameters:
    ///   - wrapped: The wrapped key.
    ///   - protectionClass: The file's class.
    ///   - id: The content of the file.
    package func fileKey(
        unwrapping wrapped: RawSpan,
        for protectionClass: ProtectionClass,
        of id: ItemID
    ) throws(KeyError) -> SymmetricKey {
        try unwrap(wrapped, ClassKeyName(protectionClass), of: id)
    }

    // MARK: Changing a protection

    /// Rewraps the key of a keychain item for another accessibility.
    ///
    /// - Parameters:
    ///   - wrapped: The wrapped key.
    ///   - old: The item's accessibility.
    ///   - new: The new accessibility.
    ///   - id: The item.
    /// - Returns: The new wrapped key.
    /// - Throws: `locked` if the class key of either is not in memory; `damaged`.
    package func rewrapItemKey(
        _ wrapped: RawSpan,
        from old: Accessibility,
        to new: Accessibility,
        of id: ItemID
    ) throws(KeyError) -> [UInt8] {
        try wrap(try itemKey(unwrapping: wrapped, for: old, of: id), ClassKeyName(new), of: id)
    }

    /// Rewraps the key of a file for another class.
    ///
    /// To class B this works in every state in which the old class can be unwrapped.
    ///
    /// - Parameters:
    ///   - wrapped: The wrapped key.
    ///   - old: The file's class.
    ///   - new: The new class.
    ///   - id: The content of the file.
    /// - Returns: The new wrapped key.
    /// - Throws: `locked` if the key for unwrapping, or the one for wrapping, is not in memory; `damaged`.
    package func rewrapFileKey(
        _ wrapped: RawSpan,
        from old: ProtectionClass,
        to new: ProtectionClass,
        of id: ItemID
    ) throws(KeyError) -> [UInt8] {
        try wrap(try fileKey(unwrapping: wrapped, for: old, of: id), ClassKeyName(new), of: id)
    }

    // MARK: Wrapping under a class key

    /// Wraps the key of an item or a file; to a public key in every state.
    private func wrap(
        _ key: borrowing SymmetricKey,
        _ name: ClassKeyName,
        of id: ItemID
    ) throws(KeyError) -> [UInt8] {
        let context = Self.context(name, id)
        guard let pair = publicKey(of: name) else {
            return try withKey(name) { classKey in KeyWrap.wrap(key, under: classKey, context: context) }
        }
        do {
            return try KeyAgreement.wrap(key, to: pair.key, for: pair.purpose, context: context)
        } catch {
            throw KeyError(error)
        }
    }

    private func unwrap(
        _ wrapped: RawSpan,
        _ name: ClassKeyName,
        of id: ItemID
    ) throws(KeyError) -> SymmetricKey {
        let context = Self.context(name, id)
        let pair = publicKey(of: name)
        return try withKey(name) { (classKey) throws(CryptoError) in
            switch pair {
            case .some(let pair): try KeyAgreement.unwrap(wrapped, with: classKey, for: pair.purpose, context: context)
            case .none: try KeyWrap.unwrap(wrapped, under: classKey, context: context)
            }
        }
    }

    /// The public key of a class whose key is a pair, and the purpose of wrapping to it.
    private func publicKey(of name: ClassKeyName) -> (key: [UInt8], purpose: StaticString)? {
        switch name {
        case .bPrivate: (publicKeys.classB, "coffer class B wrap v1")
        case .bkPrivate: (publicKeys.deposits, "coffer deposit wrap v1")
        case .a, .c, .cx, .d, .ak, .ck, .dk, .aku, .cku, .dku, .akpu, .store: nil
        }
    }

    private static func context(_ name: ClassKeyName, _ id: ItemID) -> [UInt8] {
        var context = ByteWriter(capacity: 64)
        context.write(raw: "coffer item key v1")
        context.write(name.rawValue)
        context.write(id)
        return context.bytes
    }
}

extension Accessibility {
    /// The bytes of the wrapped key of an item: of a deposit, an ephemeral public key is part of it.
    package var wrappedKeyBytes: Int {
        ClassKeyName(self) == .bkPrivate ? KeyAgreement.wrappedBytes : KeyWrap.wrappedBytes
    }
}

extension WrappedItemKey {
    fileprivate init(
        wrapping wrap: (borrowing SymmetricKey) throws(KeyError) -> [UInt8]
    ) throws(KeyError) {
        let key: SymmetricKey
        do { key = try SymmetricKey() } catch { throw .noMemory }
        let wrapped = try wrap(key)
        self.key = key
        self.wrapped = wrapped
    }
}
