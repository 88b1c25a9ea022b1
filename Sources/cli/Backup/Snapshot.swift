package import CofferCore
internal import CofferCrypto
internal import CofferMemory

/// Which snapshot: its number in the chain, and the digest of what the vault signed.
package struct SnapshotReference: Equatable, Sendable {
    /// 1 for the first.
    package let number: Int64
    /// 32 bytes.
    package let digest: [UInt8]

    package init(number: Int64, digest: [UInt8]) {
        self.number = number
        self.digest = digest
    }

    /// What the vault signs: `coffer backup snapshot v1`, a NUL, the number (8 bytes) and the digest (32).
    package var signedMessage: [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: "coffer backup snapshot v1")
        writer.write(UInt8(0))
        writer.write(number)
        writer.write(raw: digest)
        return writer.bytes
    }

    /// The first digits of the digest, by which people name it.
    package var shortName: String { String(hexadecimal(digest).prefix(8)) }
}

/// A snapshot.
package struct Snapshot: Sendable {
    private static let magic = Array("COFFERSN".utf8)
    private static let versionOffset = 8

    /// The bytes that the digest covers; they remain of a snapshot that was forgotten, with the signature.
    private static func statementBytes(_ version: UInt16) -> Int { version == 1 ? 138 : 170 }

    private static let nameDigits = 10

    /// The number and the digest.
    package let reference: SnapshotReference
    /// The digest of the snapshot before it; zeros for the first.
    package let previousDigest: [UInt8]
    /// When it was begun, in milliseconds since 1970.
    package let date: Int64
    /// Its files.
    package let fileCount: Int64
    /// Their bytes.
    package let byteCount: Int64
    /// The digest of the configuration of the repository; `nil` in snapshots of version 1.
    let configurationDigest: [UInt8]?
    /// Whether the vault has signed it.
    let isSigned: Bool
    /// Whether its files were forgotten, and only this statement of the chain remains.
    package let isForgotten: Bool
    /// The chunks of the list of files.
    let listIDs: [ChunkID]
    private let statement: [UInt8]
    private let signature: [UInt8]

    /// Makes a snapshot, and has it signed.
    init(
        _ configuration: RepositoryConfiguration,
        _ key: RepositoryKey,
        after previous: SnapshotReference?,
        date: Int64,
        _ list: FileListWriter,
        sign: (SnapshotReference) throws(CofferError) -> [UInt8]
    ) throws(CofferError) {
        let (number, isBeyond) = (previous?.number ?? 0).addingReportingOverflow(1)
        if isBeyond {
            throw CofferError(
                .notAvailable,
                "can't make a snapshot: the vault has signed one with the last number, and none follows it",
                hint: "begin another repository: 'coffer backup init'"
            )
        }
        previousDigest = previous?.digest ?? [UInt8](repeating: 0, count: BackupFormat.digestBytes)
        self.date = date
        fileCount = list.fileCount
        byteCount = list.byteCount
        isForgotten = false
        listIDs = list.ids
        var writer = ByteWriter()
        writer.write(raw: Self.magic)
        writer.write(BackupFormat.describedVersions.upperBound)
        writer.write(configuration.id)
        writer.write(configuration.vaultID)
        writer.write(number)
        writer.write(raw: previousDigest)
        writer.write(date)
        writer.write(list.fileCount)
        writer.write(list.byteCount)
        writer.write(raw: key.digest(ofList: list.ids))
        writer.write(raw: configuration.digest)
        configurationDigest = configuration.digest
        statement = writer.bytes
        reference = SnapshotReference(number: number, digest: key.digest(ofStatement: statement))
        signature = try sign(reference)
        isSigned = Self.isSigned(reference, signature, configuration)
        guard isSigned else { throw .damaged(object: name, "the vault has not signed it") }
    }

    /// The object's name.
    package var name: String {
        "\(isForgotten ? BackupFormat.forgotten : BackupFormat.snapshots)/\(Self.fileName(reference))"
    }

    private static func fileName(_ reference: SnapshotReference) -> String {
        let digits = String(reference.number)
        let zeros = String(repeating: "0", count: max(0, nameDigits - digits.count))
        return "\(zeros)\(digits)-\(hexadecimal(reference.digest.prefix(16)))"
    }

    /// Its digest and the vault's signature, by which the vault knows it for its own.
    package var proof: [UInt8] { reference.digest + signature }

    /// The object's bytes.
    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: statement + signature)
        writer.write(UInt32(listIDs.count))
        for id in listIDs { writer.write(id) }
        return writer.bytes
    }

    /// What remains of it in the chain when it is forgotten.
    var remains: (name: String, bytes: [UInt8]) {
        ("\(BackupFormat.forgotten)/\(Self.fileName(reference))", statement + signature)
    }

    /// Reads a snapshot, or the remains of one, and verifies it, unless the vault has not signed it.
    ///
    /// - Parameters:
    ///   - bytes: The object.
    ///   - name: Its name, with the folder.
    ///   - configuration: The configuration of the repository.
    /// - Throws: `decode` if it is damaged.
    package init(
        _ bytes: [UInt8],
        named name: String,
        _ configuration: RepositoryConfiguration
    ) throws(CofferError) {
        let key = try RepositoryKey(configuration)
        var reader = ByteReader(bytes)
        let ids: (repository: ItemID, vault: ItemID)
        let listDigest: [UInt8]
        do {
            var head = ByteReader(bytes)
            _ = try head.readRaw(Self.versionOffset)
            let version: UInt16 = try head.read()
            guard BackupFormat.describedVersions.contains(version) else { throw ByteReader.Malformed() }
            statement = Array(try reader.readRaw(Self.statementBytes(version)))
            signature = Array(try reader.readRaw(SigningKey.signatureBytes))
            var fields = ByteReader(statement)
            guard try fields.readRaw(Self.magic.count) == Self.magic[...] else { throw ByteReader.Malformed() }
            _ = try fields.read(UInt16.self)
            ids = (try fields.readID(), try fields.readID())
            let number: Int64 = try fields.read()
            previousDigest = Array(try fields.readRaw(BackupFormat.digestBytes))
            date = try fields.read()
            fileCount = try fields.read()
            byteCount = try fields.read()
            listDigest = Array(try fields.readRaw(BackupFormat.digestBytes))
            configurationDigest = version == 1 ? nil : Array(try fields.readRaw(BackupFormat.digestBytes))
            reference = SnapshotReference(number: number, digest: key.digest(ofStatement: statement))
            isForgotten = reader.isAtEnd
            listIDs = reader.isAtEnd ? [] : try Self.readIDs(&reader)
        } catch {
            throw .damaged(object: name, "its bytes are not those of a snapshot")
        }
        guard ids.repository == configuration.id, ids.vault == configuration.vaultID else {
            throw .damaged(object: name, "it is that of another repository")
        }
        isSigned = Self.isSigned(reference, signature, configuration)
        if !isSigned { return }
        guard isForgotten || key.digest(ofList: listIDs) == listDigest else {
            throw .damaged(object: name, "its list of files is not the signed one")
        }
        guard self.name == name, reference.number > 0, fileCount >= 0, byteCount >= 0 else {
            throw .damaged(object: name, "it is that of another name")
        }
    }

    private static func readIDs(_ reader: inout ByteReader) throws(ByteReader.Malformed) -> [ChunkID] {
        let count: UInt32 = try reader.read()
        guard count <= Limits.snapshotBytes / ChunkID.byteCount else { throw ByteReader.Malformed() }
        var ids: [ChunkID] = []
        for _ in 0..<count { ids.append(try ChunkID(&reader)) }
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
        return ids
    }

    private static func isSigned(
        _ reference: SnapshotReference,
        _ signature: [UInt8],
        _ configuration: RepositoryConfiguration
    ) -> Bool {
        let message = reference.signedMessage
        return unsafe SigningKey.isValid(signature, of: message.span.bytes, by: configuration.verificationKey)
    }
}

extension RepositoryKey {
    fileprivate func digest(ofStatement statement: [UInt8]) -> [UInt8] {
        KeyedHash.tag(
            under: key,
            for: "coffer backup snapshot digest v1",
            byteCount: BackupFormat.digestBytes,
            statement
        )
    }

    fileprivate func digest(ofList ids: [ChunkID]) -> [UInt8] {
        var writer = ByteWriter(capacity: ids.count * ChunkID.byteCount)
        for id in ids { writer.write(id) }
        return KeyedHash.tag(
            under: key,
            for: "coffer backup list digest v1",
            byteCount: BackupFormat.digestBytes,
            writer.bytes
        )
    }
}
