internal import CofferCore
internal import CofferCrypto
internal import CofferMemory
package import CofferSystem

// What a backup needs of the keys, in every state of the vault: its snapshots are signed while the vault is locked, too.

/// A key that signs snapshots, sealed under the key of the catalog for backups.
package struct SealedBackupKey: Sendable {
    /// How it is stored.
    package let sealed: [UInt8]

    /// Reads one as it is stored.
    package init(_ sealed: [UInt8]) { self.sealed = sealed }
}

extension VaultKeys {
    /// Creates a key that signs snapshots.
    ///
    /// - Throws: `noMemory`.
    package func newBackupKey() throws(KeyError) -> SealedBackupKey {
        let seed: SecretBytes
        do { seed = try SecretBytes(random: SigningKey.seedBytes) } catch { throw .noMemory }
        return SealedBackupKey(
            seed.withBytes { AEAD.seal($0, under: catalog.backup, context: backupContext("coffer backup key v1")) }
        )
    }

    /// The public key of a key that signs snapshots, Ed25519.
    ///
    /// - Throws: `damaged`, `noMemory`.
    package func publicKey(of key: SealedBackupKey) throws(KeyError) -> [UInt8] { try opened(key).publicKey }

    /// Whether a key has signed a message.
    ///
    /// - Throws: `damaged`, `noMemory`.
    package func isSigned(
        _ message: RawSpan,
        _ signature: [UInt8],
        by key: SealedBackupKey
    ) throws(KeyError) -> Bool {
        let publicKey = try publicKey(of: key)
        return SigningKey.isValid(signature, of: message, by: publicKey)
    }

    /// Signs a message.
    ///
    /// - Throws: `damaged`, `noMemory`.
    package func sign(_ message: RawSpan, with key: SealedBackupKey) throws(KeyError) -> [UInt8] {
        try opened(key).signature(of: message)
    }

    private func opened(_ key: SealedBackupKey) throws(KeyError) -> SigningKey {
        do throws(CryptoError) {
            let context = backupContext("coffer backup key v1")
            let seed = unsafe try AEAD.open(key.sealed.span.bytes, under: catalog.backup, context: context)
            guard let pair = try SigningKey(seed: seed) else { throw .unauthentic }
            return pair
        } catch {
            throw KeyError(error)
        }
    }

    /// Seals what the vault records of its backup.
    package func seal(backupRecord record: [UInt8]) -> [UInt8] {
        let context = backupContext("coffer backup record v1")
        return unsafe AEAD.seal(record.span.bytes, under: catalog.backup, context: context)
    }

    /// Opens what the vault records of its backup.
    ///
    /// - Throws: `damaged`, `noMemory`.
    package func open(backupRecord sealed: [UInt8]) throws(KeyError) -> [UInt8] {
        do throws(CryptoError) {
            let context = backupContext("coffer backup record v1")
            let record = unsafe try AEAD.open(sealed.span.bytes, under: catalog.backup, context: context)
            return record.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
        } catch {
            throw KeyError(error)
        }
    }

    /// Seals the labels of the keyslots.
    package func seal(slotLabels labels: [UInt8]) -> [UInt8] {
        let context = backupContext("coffer keyslot labels v1")
        return unsafe AEAD.seal(labels.span.bytes, under: catalog.backup, context: context)
    }

    /// Opens the labels of the keyslots.
    ///
    /// - Throws: `damaged`, `noMemory`.
    package func open(slotLabels sealed: [UInt8]) throws(KeyError) -> [UInt8] {
        do throws(CryptoError) {
            let context = backupContext("coffer keyslot labels v1")
            let labels = unsafe try AEAD.open(sealed.span.bytes, under: catalog.backup, context: context)
            return labels.withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
        } catch {
            throw KeyError(error)
        }
    }

    // MARK: The files of the keys

    /// The keybag as it is on the disk.
    ///
    /// - Throws: ``SystemError``.
    package func storedKeybag() throws(SystemError) -> [UInt8] {
        // On the thread for keys, it may be exchanged, and the old one overwritten, during a look.
        var last: [UInt8] = []
        for _ in 0..<8 {
            let found = try directory.contents(of: Keybag.fileName, limit: Limits.copyBytes) ?? []
            if found == last { break }
            last = found
        }
        return last
    }

    /// The anchor as it is on the disk; `nil` if there is none.
    ///
    /// - Throws: ``SystemError``.
    package func storedAnchor() throws(SystemError) -> [UInt8]? {
        try directory.contents(of: CatalogAnchor.fileName, limit: Limits.copyBytes)
    }

    private func backupContext(_ label: StaticString) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: label)
        writer.write(vaultID)
        return writer.bytes
    }
}
