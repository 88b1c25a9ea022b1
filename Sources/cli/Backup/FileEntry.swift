package import CofferCore
internal import CofferCrypto
internal import CofferMemory
package import CofferSystem
internal import Glibc

/// What distinguishes the state of a file from an earlier one without reading it: inode, size and times.
package struct FileIdentity: Equatable, Sendable {
    static let byteCount = 16
    /// A hash of them; zeros if they prove nothing.
    let bytes: [UInt8]

    /// The identity that proves nothing.
    static let unknown = FileIdentity(bytes: [UInt8](repeating: 0, count: byteCount))

    var isKnown: Bool { self != .unknown }

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// The identity of what some bytes describe, such as when the catalog was last written.
    package init(describing bytes: [UInt8]) { self.bytes = Array(sha256(bytes).prefix(Self.byteCount)) }

    /// The identity of an open file.
    ///
    /// A file that was changed in the last two seconds has none: it could change again without another time.
    ///
    /// - Parameter file: The file.
    package init(of file: borrowing OwnedDescriptor) throws(CofferError) {
        let status: stat
        do { status = try file.status() } catch { throw error.cofferError("can't look at a file of the vault") }
        let changed = Int64(status.st_ctim.tv_sec)
        guard changed.nearestSum(2) < wallClockMilliseconds() / 1000 else {
            self = .unknown
            return
        }
        var writer = ByteWriter()
        for word in [
            Int64(truncatingIfNeeded: status.st_dev), Int64(truncatingIfNeeded: status.st_ino),
            Int64(status.st_size), Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec), changed,
            Int64(status.st_ctim.tv_nsec),
        ] { writer.write(word) }
        bytes = Array(sha256(writer.bytes).prefix(Self.byteCount))
    }
}

/// A file of the state directory that a snapshot gets.
package struct SnapshotFile: Sendable {
    /// Relative to the state directory, with `/` between the components.
    package let path: String
    /// Its bytes.
    package let byteCount: Int64
    /// Whether a file of that path and size never has other bytes: a content is, an overlay or the catalog is not.
    package let isImmutable: Bool
    /// Its identity, if the previous snapshot may prove that it has not changed; not for the catalog's copy.
    package let identity: FileIdentity?

    package init(path: String, byteCount: Int64, isImmutable: Bool, identity: FileIdentity? = nil) {
        self.path = path
        self.byteCount = byteCount
        self.isImmutable = isImmutable
        self.identity = identity
    }
}

/// A file of a snapshot.
package struct FileEntry: Equatable, Sendable {
    private static let immutableFlag: UInt8 = 1

    /// Relative to the state directory.
    package let path: String
    /// Its bytes.
    package let byteCount: Int64
    package let isImmutable: Bool
    let identity: FileIdentity
    /// The bytes of each chunk but the last.
    let chunkBytes: Int
    let chunks: [ChunkID]

    init(_ file: SnapshotFile, chunkBytes: Int, _ chunks: [ChunkID]) {
        path = file.path
        byteCount = file.byteCount
        isImmutable = file.isImmutable
        identity = file.identity ?? .unknown
        self.chunkBytes = chunkBytes
        self.chunks = chunks
    }

    /// The bytes of a chunk.
    func byteCount(ofChunk index: Int) -> Int { Int(min(Int64(chunkBytes), byteCount - Int64(index * chunkBytes))) }

    private static func chunkCount(_ byteCount: Int64, _ chunkBytes: Int) -> Int {
        Int((byteCount + Int64(chunkBytes) - 1) / Int64(chunkBytes))
    }

    /// The size of the chunks of a file.
    ///
    /// What never changes has large ones: only whole files are found again. What changes in pages has small ones. A
    /// large file has larger ones, so that its entry stays small.
    static func chunkBytes(for byteCount: Int64, isImmutable: Bool) -> Int {
        if byteCount > 64 << 30 { return 16 << 20 }
        if isImmutable { return byteCount > 256 << 20 ? 4 << 20 : 1 << 20 }
        if byteCount > 1 << 30 { return 1 << 20 }
        return byteCount > 64 << 20 ? 256 << 10 : 64 << 10
    }

    // MARK: Bytes

    func write(to writer: inout ByteWriter) {
        writer.write(counted: path.utf8)
        writer.write(isImmutable ? Self.immutableFlag : 0)
        writer.write(byteCount)
        writer.write(UInt32(chunkBytes))
        writer.write(raw: identity.bytes)
        for chunk in chunks { writer.write(chunk) }
    }

    init(_ reader: inout ByteReader) throws(ByteReader.Malformed) {
        path = try reader.readText()
        guard Self.isAllowed(path) else { throw ByteReader.Malformed() }
        let flags: UInt8 = try reader.read()
        guard flags & ~Self.immutableFlag == 0 else { throw ByteReader.Malformed() }
        isImmutable = flags == Self.immutableFlag
        byteCount = try reader.read()
        let chunkBytes: UInt32 = try reader.read()
        guard (0...2 * Limits.fileBytes).contains(byteCount), chunkBytes > 0, chunkBytes <= Limits.backupChunkBytes
        else { throw ByteReader.Malformed() }
        self.chunkBytes = Int(chunkBytes)
        identity = FileIdentity(bytes: Array(try reader.readRaw(FileIdentity.byteCount)))
        let count = Self.chunkCount(byteCount, self.chunkBytes)
        guard count <= Limits.largestFileListBytes / ChunkID.byteCount else { throw ByteReader.Malformed() }
        var chunks: [ChunkID] = []
        // Not more than there can be: the number is not authenticated here.
        chunks.reserveCapacity(min(count, 4096))
        for _ in 0..<count { chunks.append(try ChunkID(&reader)) }
        self.chunks = chunks
    }

    /// Whether a path stays below the directory that is restored into.
    static func isAllowed(_ path: String) -> Bool {
        guard !path.isEmpty, path.utf8.count <= Limits.nameBytes, !path.utf8.contains(0) else { return false }
        return path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).allSatisfy { part in
            !part.isEmpty && part.count <= Limits.nameComponentBytes && !part.elementsEqual(".".utf8)
                && !part.elementsEqual("..".utf8)
        }
    }
}
