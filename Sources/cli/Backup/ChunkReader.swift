internal import CofferCore
internal import CofferMemory

/// Reads chunks, each verified.
final class ChunkReader {
    private let storage: any RepositoryStorage
    private let index: ChunkIndex
    private let key: RepositoryKey

    init(_ storage: any RepositoryStorage, _ index: ChunkIndex, _ key: RepositoryKey) {
        self.storage = storage
        self.index = index
        self.key = key
    }

    /// Reads a chunk.
    ///
    /// - Parameters:
    ///   - id: The chunk.
    ///   - limit: The bytes that it can have.
    ///   - what: What it belongs to, for the error.
    /// - Throws: `decode` if it is missing or damaged.
    func chunk(_ id: ChunkID, upTo limit: Int, of what: String) throws(CofferError) -> [UInt8] {
        guard let place = index.place(of: id) else { throw .lostChunk(of: what, "no pack has it") }
        guard place.byteCount <= limit else { throw .lostChunk(of: what, "it is larger than it can be") }
        let pack = BackupFormat.name(ofPack: index.packs[Int(place.pack)])
        guard let bytes = try storage.read(pack, at: Int64(place.offset), Int(place.byteCount)) else {
            throw .lostChunk(of: what, "\(quotedForDisplay(pack)) is missing")
        }
        guard bytes.count == place.byteCount, key.id(of: bytes) == id else {
            throw .lostChunk(of: what, "\(quotedForDisplay(pack)) is damaged or was exchanged")
        }
        return bytes
    }
}

/// The key of a repository, under which its chunks are hashed.
final class RepositoryKey: Sendable {
    let key: SymmetricKey

    init(_ configuration: RepositoryConfiguration) throws(CofferError) {
        let bytes: SecretBytes
        do {
            bytes = try unsafe SecretBytes(copying: configuration.chunkKey.span.bytes)
        } catch {
            throw .noSecretMemory
        }
        guard let key = SymmetricKey(bytes) else { throw .noSecretMemory }
        self.key = key
    }

    func id(of chunk: [UInt8]) -> ChunkID { unsafe ChunkID(of: chunk.span.bytes, under: key) }
}

extension CofferError {
    fileprivate static func lostChunk(of what: String, _ finding: String) -> CofferError {
        CofferError(
            .decode,
            "\(what) can't be read from the repository: \(finding)",
            hint: "'coffer backup check --read-data' says what can still be restored; "
                + "the next 'coffer backup create' stores again what the vault still has"
        )
    }
}
