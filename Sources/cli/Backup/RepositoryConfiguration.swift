package import CofferCore
internal import CofferCrypto
package import CofferMemory

/// The first object of a repository, which is written once.
///
/// It has the backup key, sealed under a passphrase, and the public key that verifies snapshots. All of it is
/// authenticated under the backup key: who restores by passphrase or recovery key notices an exchange.
package struct RepositoryConfiguration: Sendable {
    static let magic = Array("COFFERBK".utf8)
    private static let sealedKeyBytes = BackupKey.symbolCount + AEAD.overhead
    private static let appendOnlyFlag: UInt8 = 1

    /// The repository, at random.
    package let id: ItemID
    /// The vault whose snapshots these are.
    package let vaultID: ItemID
    /// The Ed25519 key that verifies snapshots: 32 bytes.
    package let verificationKey: [UInt8]
    /// Whether nothing is ever removed, so that the storage can forbid it.
    package let isAppendOnly: Bool
    /// Under which chunks are hashed.
    ///
    /// It is no secret: all that is hashed is ciphertext.
    let chunkKey: [UInt8]
    private let operations: UInt32
    private let memoryKiB: UInt32
    private let salt: [UInt8]
    private let sealedKey: [UInt8]
    private let tag: [UInt8]
    private let version: UInt16
    /// The digest of its bytes, which each snapshot has, and the vault remembers.
    package let digest: [UInt8]

    /// Makes the configuration of a new repository; it takes as long as an unlock.
    ///
    /// - Parameters:
    ///   - vaultID: The vault.
    ///   - verificationKey: The public half of the key by which the vault signs.
    ///   - isAppendOnly: Whether nothing is ever to be removed.
    ///   - key: The backup key, a recovery key of the vault.
    ///   - passphrase: The passphrase that opens the backup key as well.
    ///   - cost: How much a guess of the passphrase costs.
    package init(
        vaultID: ItemID,
        verificationKey: [UInt8],
        isAppendOnly: Bool,
        key: borrowing BackupKey,
        passphrase: borrowing SecretBytes,
        cost: PasscodeCost
    ) throws(CofferError) {
        precondition(verificationKey.count == SigningKey.publicKeyBytes)
        id = ItemID()
        self.vaultID = vaultID
        self.verificationKey = verificationKey
        self.isAppendOnly = isAppendOnly
        chunkKey = randomBytes(SymmetricKey.byteCount)
        operations = cost.operations
        memoryKiB = cost.memoryKiB
        salt = randomBytes(KeyDerivation.saltBytes)
        version = BackupFormat.describedVersions.upperBound
        let front = Self.front(
            version,
            id,
            vaultID,
            isAppendOnly,
            chunkKey,
            verificationKey,
            (operations, memoryKiB),
            salt
        )
        do throws(CryptoError) {
            let wrapping = try Self.wrappingKey(passphrase, salt, operations, memoryKiB)
            sealedKey = key.symbols.withBytes { AEAD.seal($0, under: wrapping, context: front) }
            tag = try Self.tag(of: front + sealedKey, under: key)
        } catch {
            throw .passphrase(error)
        }
        digest = try Self.digest(of: front + sealedKey + tag)
    }

    /// The backup key, by its passphrase; it takes as long as an unlock.
    ///
    /// Whether the configuration is the one that was written with the key, ``verify(with:)`` says.
    ///
    /// - Throws: `authFailed` if the passphrase is wrong.
    package func backupKey(passphrase: borrowing SecretBytes) throws(CofferError) -> BackupKey {
        do throws(CryptoError) {
            let wrapping = try Self.wrappingKey(passphrase, salt, operations, memoryKiB)
            return BackupKey(
                symbols: try unsafe AEAD.open(sealedKey.span.bytes, under: wrapping, context: front)
            )
        } catch {
            throw .passphrase(error)
        }
    }

    /// Verifies that this is the configuration that was written with a backup key.
    ///
    /// - Throws: `decode` if it is another one, or the key is that of another vault.
    package func verify(with key: borrowing BackupKey) throws(CofferError) {
        let expected: [UInt8]
        do { expected = try Self.tag(of: front + sealedKey, under: key) } catch { throw .noSecretMemory }
        guard isEqualInConstantTime(expected, tag) else {
            throw CofferError(
                .decode,
                "the key does not belong to the configuration of the repository: one of the two is another one's",
                hint: "compare the recovery key with what was written down; if it is right, restore nothing from here"
            )
        }
    }

    // MARK: Bytes

    private var front: [UInt8] {
        Self.front(version, id, vaultID, isAppendOnly, chunkKey, verificationKey, (operations, memoryKiB), salt)
    }

    private static func front(
        _ version: UInt16,
        _ id: ItemID,
        _ vaultID: ItemID,
        _ isAppendOnly: Bool,
        _ chunkKey: [UInt8],
        _ verificationKey: [UInt8],
        _ cost: (operations: UInt32, memoryKiB: UInt32),
        _ salt: [UInt8]
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: magic)
        writer.write(version)
        writer.write(id)
        writer.write(vaultID)
        writer.write(isAppendOnly ? appendOnlyFlag : 0)
        writer.write(raw: chunkKey)
        writer.write(raw: verificationKey)
        writer.write(cost.operations)
        writer.write(cost.memoryKiB)
        writer.write(raw: salt)
        return writer.bytes
    }

    /// The bytes of the object.
    package var bytes: [UInt8] { front + sealedKey + tag + (hasChecksum ? digest : []) }

    /// Whether it ends with its digest, so that damage is noticed without a key.
    package var hasChecksum: Bool { version > 1 }

    private static func digest(of bytes: [UInt8]) throws(CofferError) -> [UInt8] {
        let zeros: SecretBytes
        do { zeros = try SecretBytes(zeros: SymmetricKey.byteCount) } catch { throw .noSecretMemory }
        guard let none = SymmetricKey(zeros) else { throw .noSecretMemory }
        return KeyedHash.tag(
            under: none,
            for: "coffer backup configuration digest v1",
            byteCount: BackupFormat.digestBytes,
            bytes
        )
    }

    /// Reads the object.
    ///
    /// - Throws: `decode` if it is none of this format.
    package init(_ bytes: [UInt8], named name: String = "config") throws(CofferError) {
        var reader = ByteReader(bytes)
        do {
            guard try reader.readRaw(Self.magic.count) == Self.magic[...] else { throw ByteReader.Malformed() }
        } catch {
            throw .damaged(object: name, "it is no configuration of a repository")
        }
        do {
            version = try reader.read()
            let known = BackupFormat.describedVersions
            guard known.contains(version) else {
                throw CofferError(
                    .decode,
                    "the repository has version \(version), and this program knows versions up to \(known.upperBound)",
                    hint: "use a newer version of coffer"
                )
            }
            id = try reader.readID()
            vaultID = try reader.readID()
            let flags: UInt8 = try reader.read()
            guard flags & ~Self.appendOnlyFlag == 0 else { throw ByteReader.Malformed() }
            isAppendOnly = flags == Self.appendOnlyFlag
            chunkKey = Array(try reader.readRaw(SymmetricKey.byteCount))
            verificationKey = Array(try reader.readRaw(SigningKey.publicKeyBytes))
            operations = try reader.read()
            memoryKiB = try reader.read()
            guard KeyDerivation.acceptedOperations.contains(operations),
                KeyDerivation.acceptedMemoryKiB.contains(memoryKiB)
            else { throw ByteReader.Malformed() }
            salt = Array(try reader.readRaw(KeyDerivation.saltBytes))
            sealedKey = Array(try reader.readRaw(Self.sealedKeyBytes))
            tag = Array(try reader.readRaw(BackupFormat.digestBytes))
            digest = try Self.digest(of: Array(bytes.dropLast(version > 1 ? BackupFormat.digestBytes : 0)))
            if version > 1, try reader.readRaw(BackupFormat.digestBytes) != digest[...] {
                throw CofferError.damaged(object: name, "its checksum is another one")
            }
            guard reader.isAtEnd else { throw ByteReader.Malformed() }
        } catch let error as CofferError {
            throw error
        } catch {
            throw .damaged(object: name, "its bytes are not those of a configuration")
        }
    }

    // MARK: Keys

    private static func wrappingKey(
        _ passphrase: borrowing SecretBytes,
        _ salt: [UInt8],
        _ operations: UInt32,
        _ memoryKiB: UInt32
    ) throws(CryptoError) -> SymmetricKey {
        let stretched = try KeyDerivation.passcodeKey(
            passphrase,
            salt: salt,
            operations: operations,
            memoryKiB: memoryKiB
        )
        return try KeyDerivation.subkey(of: stretched, for: "coffer backup passphrase v1")
    }

    private static func tag(of bytes: [UInt8], under key: borrowing BackupKey) throws(CryptoError) -> [UInt8] {
        KeyedHash.tag(
            under: try key.configurationKey(),
            for: "coffer backup configuration tag v1",
            byteCount: BackupFormat.digestBytes,
            bytes
        )
    }
}

extension ByteReader {
    /// Takes an identifier.
    mutating func readID() throws(Malformed) -> ItemID {
        guard let id = ItemID(try readRaw(ItemID.byteCount)) else { throw Malformed() }
        return id
    }
}

extension CofferError {
    fileprivate static func passphrase(_ error: CryptoError) -> CofferError {
        switch error {
        case .unauthentic:
            CofferError(
                .authFailed,
                "the passphrase does not open this repository",
                hint: "try again, or use the recovery key of the backup"
            )
        case .noMemoryToStretch:
            CofferError(.io, "there is not enough memory to stretch the passphrase", hint: "free some memory")
        case .noMemory, .unusableKey: .noSecretMemory
        }
    }
}
