internal import CofferCore
internal import CofferCrypto
package import CofferMemory

/// The keys of the catalog that the passcode protects: they seal names, attributes, sizes and dates.
///
/// They are derived from the key of class C, so that they are in memory from the first unlock on.
struct MetadataKeys: ~Copyable, Sendable {
    private let keychain, files, audit, accessRules, past, privateKey: SymmetricKey

    init(from classC: borrowing SymmetricKey) throws(CryptoError) {
        let keychain = try KeyDerivation.subkey(of: classC, for: "coffer keychain names v1")
        let files = try KeyDerivation.subkey(of: classC, for: "coffer file names v1")
        let audit = try KeyDerivation.subkey(of: classC, for: "coffer audit names v1")
        let accessRules = try KeyDerivation.subkey(of: classC, for: "coffer words of access rules v1")
        let past = try KeyDerivation.subkey(of: classC, for: "coffer past names v1")
        let privateKey = try Self.privateKey(of: classC)
        self.keychain = keychain
        self.files = files
        self.audit = audit
        self.accessRules = accessRules
        self.past = past
        self.privateKey = privateKey
    }

    /// The private half of the pair to which metadata is sealed before the first unlock.
    private static func privateKey(of classC: borrowing SymmetricKey) throws(CryptoError) -> SymmetricKey {
        try KeyDerivation.subkey(of: classC, for: "coffer metadata private key v1")
    }

    /// The public half of that pair.
    var publicKey: [UInt8] { KeyAgreement.publicKey(of: privateKey) }

    fileprivate func seal(_ plaintext: RawSpan, _ part: CatalogPart, context: [UInt8]) -> [UInt8] {
        switch part {
        case .keychain: AEAD.seal(plaintext, under: keychain, context: context)
        case .files: AEAD.seal(plaintext, under: files, context: context)
        case .audit: AEAD.seal(plaintext, under: audit, context: context)
        case .accessRules: AEAD.seal(plaintext, under: accessRules, context: context)
        case .past: AEAD.seal(plaintext, under: past, context: context)
        }
    }

    fileprivate func open(
        _ sealed: RawSpan,
        _ part: CatalogPart,
        context: [UInt8]
    ) throws(CryptoError) -> SecretBytes {
        switch part {
        case .keychain: try AEAD.open(sealed, under: keychain, context: context)
        case .files: try AEAD.open(sealed, under: files, context: context)
        case .audit: try AEAD.open(sealed, under: audit, context: context)
        case .accessRules: try AEAD.open(sealed, under: accessRules, context: context)
        case .past: try AEAD.open(sealed, under: past, context: context)
        }
    }

    fileprivate func unwrap(_ wrapped: RawSpan, context: [UInt8]) throws(CryptoError) -> SymmetricKey {
        try KeyAgreement.unwrap(wrapped, with: privateKey, for: VaultKeys.metadataPurpose, context: context)
    }
}

/// The parts of the catalog whose metadata is sealed under keys of their own.
package enum CatalogPart: Sendable {
    /// The attributes of keychain items.
    case keychain
    /// The attributes of files and directories.
    case files
    /// The records of the audit.
    case audit
    /// The names and reasons of access rules.
    case accessRules
    /// The names and the former rows of the past.
    case past
}

extension CatalogKeys {
    /// The key of a part that the device key alone protects.
    fileprivate func withKey<Result: ~Copyable>(
        of part: CatalogPart,
        _ body: (borrowing SymmetricKey) throws(CryptoError) -> Result
    ) throws(CryptoError) -> Result {
        switch part {
        case .keychain: try body(keychainMetadata)
        case .files: try body(fileMetadata)
        case .audit: try body(audit)
        case .accessRules: try body(accessRules)
        case .past: try body(past)
        }
    }
}

// MARK: - Sealing metadata

extension VaultKeys {
    /// What seals metadata, as its first byte.
    private enum Form: UInt8 {
        /// A key that is derived from the device key: the passcode does not protect the content either.
        case deviceKey = 0
        /// A key that is derived from the key of class C.
        case classKey = 1
        /// A new key, wrapped to the public key whose private half is derived from the key of class C.
        case publicKey = 2
    }

    fileprivate static let metadataPurpose: StaticString = "coffer metadata wrap v1"

    /// Whether metadata that the passcode protects can be opened: from the first unlock on.
    package var opensNames: Bool { state != .beforeFirstUnlock }

    /// Seals metadata under the passcode: before the first unlock, to a public key.
    ///
    /// - Parameters:
    ///   - plaintext: The metadata.
    ///   - part: The part of the catalog.
    ///   - context: What it belongs to; it must be the same for opening.
    ///   - inEveryState: Whether it can be opened in every state: it is sealed under the device key alone.
    /// - Throws: `noMemory`, `damaged` if the public key can't be used.
    package func sealNames(
        _ plaintext: RawSpan,
        of part: CatalogPart,
        context: [UInt8],
        inEveryState: Bool = false
    ) throws(KeyError) -> [UInt8] {
        do throws(CryptoError) {
            if inEveryState {
                let sealed = try catalog.withKey(of: part) { AEAD.seal(plaintext, under: $0, context: context) }
                return [Form.deviceKey.rawValue] + sealed
            }
            let sealed = lockState.withAfterFirstUnlockKeys { $0.metadata.seal(plaintext, part, context: context) }
            if let sealed { return [Form.classKey.rawValue] + sealed }
            let key = try newKey()
            let wrapped = try KeyAgreement.wrap(
                key,
                to: publicKeys.metadata,
                for: Self.metadataPurpose,
                context: context
            )
            let mixed = try mixing(key, part)
            return [Form.publicKey.rawValue] + wrapped + AEAD.seal(plaintext, under: mixed, context: context)
        } catch {
            throw KeyError(error)
        }
    }

    /// Opens metadata that ``sealNames(_:of:context:inEveryState:)`` has sealed.
    ///
    /// - Throws: `locked` before the first unlock; `damaged` if it is not authentic.
    package func openNames(
        _ sealed: RawSpan,
        of part: CatalogPart,
        context: [UInt8]
    ) throws(KeyError) -> SecretBytes {
        guard sealed.byteCount > 0, let form = Form(rawValue: unsafe sealed.unsafeLoad(as: UInt8.self)) else {
            throw .damaged
        }
        let rest = sealed.extracting(droppingFirst: 1)
        let opened: SecretBytes?
        do throws(CryptoError) {
            switch form {
            case .deviceKey:
                opened = try catalog.withKey(of: part) { (key) throws(CryptoError) in
                    try AEAD.open(rest, under: key, context: context)
                }
            case .classKey:
                opened = try lockState.withAfterFirstUnlockKeys { (keys) throws(CryptoError) in
                    try keys.metadata.open(rest, part, context: context)
                }
            case .publicKey:
                opened = try lockState.withAfterFirstUnlockKeys { (keys) throws(CryptoError) in
                    guard rest.byteCount > KeyAgreement.wrappedBytes else { throw .unauthentic }
                    let wrapped = rest.extracting(first: KeyAgreement.wrappedBytes)
                    let key = try mixing(try keys.metadata.unwrap(wrapped, context: context), part)
                    return try AEAD.open(
                        rest.extracting(droppingFirst: KeyAgreement.wrappedBytes),
                        under: key,
                        context: context
                    )
                }
            }
        } catch {
            throw KeyError(error)
        }
        guard let opened else { throw .locked }
        return opened
    }

    private func newKey() throws(CryptoError) -> SymmetricKey {
        do { return try SymmetricKey() } catch { throw .noMemory }
    }

    /// Anyone can wrap a key to a public key: what is sealed with the device key's help comes from this machine.
    private func mixing(_ key: borrowing SymmetricKey, _ part: CatalogPart) throws(CryptoError) -> SymmetricKey {
        try catalog.withKey(of: part) { (own) throws(CryptoError) in
            try key.bytes.withBytes { (bytes) throws(CryptoError) in
                try KeyedHash.key(under: own, for: "coffer metadata seal v1", bytes, [])
            }
        }
    }
}
