package import CofferCore
internal import CofferCrypto
package import CofferMemory
package import CofferSystem
internal import Glibc

/// The write of a new content on another thread.
///
/// Nothing of it is visible until the store commits it.
package struct ContentWrite: Sendable {
    /// The id of the new content.
    package let id: ItemID
    /// The name in quotes, for errors.
    let subject: String
    package let protectionClass: ProtectionClass
    package let wrappedKey: [UInt8]
    package let key: ContentKey
    let directory: ContentDirectory

    package init(
        id: ItemID,
        subject: String,
        protectionClass: ProtectionClass,
        wrappedKey: [UInt8],
        key: ContentKey,
        directory: ContentDirectory
    ) {
        self.id = id
        self.subject = subject
        self.protectionClass = protectionClass
        self.wrappedKey = wrappedKey
        self.key = key
        self.directory = directory
    }

    /// Sets what cancels the wait for a client when the vault is locked.
    ///
    /// - Parameter cancellation: The cancellation.
    package func endOnLock(_ cancellation: Cancellation) { key.onRevoke { cancellation.cancel() } }

    /// Seals what a client sends into a staged content, and syncs it.
    ///
    /// It takes as long as the client takes: not for the event loop.
    ///
    /// - Parameters:
    ///   - prefix: The first bytes, which came with the request.
    ///   - rest: The bytes after them.
    ///   - progress: Called from time to time with the number of bytes done.
    /// - Returns: The size of the content.
    /// - Throws: `interactionNotAllowed` if the vault was locked meanwhile, `diskFull`, `io`, `dataTooLarge`. Nothing
    ///   stays on the disk then.
    package func perform(
        prefix: borrowing SecretBytes,
        rest: PeerStream?,
        progress: @Sendable (Int64) -> Void = { _ in }
    ) throws(CofferError) -> Int64 {
        do {
            let file = ContentFile(try directory.create(id))
            let format = ContentFormat(.base, of: id, suite: .preferred)
            try directory.fileSystem.willPerform(.write)
            unsafe try file.descriptor.write(all: format.header.span.bytes)
            let count = try seal(prefix, rest, into: file, format, progress)
            try directory.synchronize(file.descriptor)
            return count
        } catch {
            directory.discardStaged(id)
            throw transferError(error, key, subject, for: .write)
        }
    }

    private func seal(
        _ prefix: borrowing SecretBytes,
        _ rest: PeerStream?,
        into file: ContentFile,
        _ format: ContentFormat,
        _ progress: (Int64) -> Void
    ) throws -> Int64 {
        var source = PlaintextSource()
        var chunk = try SecretBytes(zeros: Limits.chunkBytes)
        var next = try SecretBytes(zeros: Limits.chunkBytes)
        var total: Int64 = 0
        var index: UInt64 = 0
        var isLast = false
        var writing = Pipeline<SealedChunks>(
            SealedChunks.pieceCount,
            make: { SealedChunks() },
            work: { [directory] sealed in
                try directory.fileSystem.willPerform(.write)
                unsafe try file.descriptor.write(all: sealed.bytes.span.bytes.extracting(first: sealed.count))
                if let range = sealed.range(perPart: Self.writingBytes) { file.descriptor.startWriting(range) }
            }
        )
        var count = try source.fill(&chunk, prefix, rest)
        while !isLast {
            try writing.load { sealed in
                (sealed.count, sealed.offset) = (0, ContentFormat.offset(ofChunk: Int64(index)))
                while !isLast && sealed.hasRoom {
                    // A chunk is known to be the last only if no other follows.
                    let nextCount = count == Limits.chunkBytes ? try source.fill(&next, prefix, rest) : 0
                    isLast = nextCount == 0
                    try sealed.append(chunk, first: count, at: index, isLast: isLast, under: key, format)
                    total += Int64(count)
                    index += 1
                    if index % 64 == 0 { progress(total) }
                    if total == Limits.bulkBytes { LibCrypto.load() }
                    guard isLast || total <= Limits.fileBytes else { throw tooLarge }
                    swap(&chunk, &next)
                    count = nextCount
                }
            }
        }
        try writing.finish()
        return total
    }

    /// The kernel starts to write that much at a time, while more is being sealed.
    private static let writingBytes: Int64 = 8 << 20

    private var tooLarge: CofferError {
        CofferError(
            .dataTooLarge,
            "can't store \(subject): a file has at most \(Limits.fileBytes >> 40) TiB",
            operation: .write
        )
    }
}

/// The bytes that came with a request, followed by those of the descriptor.
private struct PlaintextSource {
    private var prefixOffset = 0

    mutating func fill(
        _ chunk: inout SecretBytes,
        _ prefix: borrowing SecretBytes,
        _ rest: PeerStream?
    ) throws(TransferError) -> Int {
        let start = min(chunk.count, prefix.count - prefixOffset)
        let part = prefixOffset..<(prefixOffset + start)
        prefix.withBytes { chunk.copy($0.extracting(part), to: 0) }
        prefixOffset = part.upperBound
        guard let rest else { return start }
        return unsafe try chunk.withUnsafeMutableBytes { (buffer) throws(TransferError) in
            unsafe start + (try rest.fill(UnsafeMutableRawBufferPointer(rebasing: buffer[start...])))
        }
    }
}

/// The read of a content on another thread.
package struct ContentRead: Sendable {
    /// The id of the content.
    package let id: ItemID
    let subject: String
    /// The class of the file when it was opened.
    package let protectionClass: ProtectionClass
    package let key: ContentKey
    let file: ContentFile
    /// The size of the content, as the catalog records it.
    package let byteCount: Int64

    package init(
        id: ItemID,
        subject: String,
        protectionClass: ProtectionClass,
        key: ContentKey,
        file: ContentFile,
        byteCount: Int64
    ) {
        self.id = id
        self.subject = subject
        self.protectionClass = protectionClass
        self.key = key
        self.file = file
        self.byteCount = byteCount
    }

    /// Sets what cancels the wait for a client when the vault is locked.
    ///
    /// - Parameter cancellation: The cancellation.
    package func endOnLock(_ cancellation: Cancellation) { key.onRevoke { cancellation.cancel() } }

    /// Decrypts a range of the content and passes it on chunk by chunk: only authenticated bytes are passed on.
    ///
    /// It takes as long as the client takes: not for the event loop.
    ///
    /// - Parameters:
    ///   - range: The range, within the content.
    ///   - output: Called with the plaintext.
    ///   - progress: Called from time to time with the number of bytes done.
    /// - Throws: `decode` if the content is damaged, `interactionNotAllowed` if the vault was locked meanwhile, `io`.
    package func perform(
        _ range: Range<Int64>,
        to output: (RawSpan) throws -> Void,
        progress: @Sendable (Int64) -> Void = { _ in }
    ) throws(CofferError) {
        do {
            try open(range, to: output, progress: progress)
        } catch {
            throw transferError(error, key, subject, for: .read)
        }
    }

    private func open(
        _ range: Range<Int64>,
        waits: Bool = true,
        to output: (RawSpan) throws -> Void,
        progress: (Int64) -> Void
    ) throws {
        let base = try BaseContent(file, id, byteCount: byteCount)
        var plaintext = try OpenedChunks(1)
        for index in chunks(of: range) {
            plaintext.empty()
            try plaintext.append(base, index, under: key, range, waits: waits)
            try plaintext.withBytes(output)
            if index % 64 == 63 { progress(plaintext.end - range.lowerBound) }
        }
    }

    /// Decrypts a range of the content and writes it to a client's stream: some chunks are decrypted while others are
    /// written.
    ///
    /// - Parameters:
    ///   - range: The range, within the content.
    ///   - output: The stream.
    ///   - progress: Called from time to time with the number of bytes done, or nearly done.
    /// - Throws: As ``perform(_:to:progress:)``.
    package func perform(
        _ range: Range<Int64>,
        to output: PeerStream,
        progress: @Sendable (Int64) -> Void = { _ in }
    ) throws(CofferError) {
        do {
            let base = try BaseContent(file, id, byteCount: byteCount)
            if range.count >= Limits.bulkBytes { LibCrypto.load() }
            let indices = chunks(of: range)
            let pieceChunks = min(OpenedChunks.pieceChunks, indices.count)
            var writing = Pipeline<OpenedChunks>(
                OpenedChunks.pieceCount,
                make: { try OpenedChunks(pieceChunks) },
                work: { opened in try opened.withBytes { try output.write(all: $0) } }
            )
            var index = indices.lowerBound
            while index <= indices.upperBound {
                try writing.load { opened in
                    opened.empty()
                    while index <= indices.upperBound && opened.hasRoom {
                        try opened.append(base, index, under: key, range)
                        if index % 64 == 63 { progress(opened.end - range.lowerBound) }
                        index += 1
                    }
                }
            }
            try writing.finish()
            try output.finish()
        } catch {
            throw transferError(error, key, subject, for: .read)
        }
    }

    /// The chunks of a range: even an empty content has one, which proves that it is empty.
    private func chunks(of range: Range<Int64>) -> ClosedRange<Int64> {
        let chunkBytes = Int64(Limits.chunkBytes)
        let end = ContentFormat.chunkCount(ofPlaintext: byteCount) - 1
        let first = min(range.lowerBound / chunkBytes, end)
        return first...max(first, min((range.upperBound - 1) / chunkBytes, end))
    }

    /// Decrypts a range of the content into memory.
    ///
    /// - Parameter range: The range, within the content, and small enough for memory.
    /// - Returns: The plaintext.
    /// - Throws: As ``perform(_:to:progress:)``.
    package func collect(_ range: Range<Int64>) throws(CofferError) -> SecretBytes {
        do {
            return try collect(range, waits: true)
        } catch {
            throw transferError(error, key, subject, for: .read)
        }
    }

    /// Decrypts a range of the content into memory if that is quick, also on the event loop.
    ///
    /// - Parameter range: The range, within the content.
    /// - Returns: The plaintext; `nil` if it is large, or the read would block on the disk.
    /// - Throws: As ``perform(_:to:progress:)``.
    package func collectIfCached(_ range: Range<Int64>) throws(CofferError) -> SecretBytes? {
        if chunks(of: range).count > ReadPlan.chunksAtOnce { return nil }
        do {
            return try collect(range, waits: false)
        } catch is NotCached {
            return nil
        } catch {
            throw transferError(error, key, subject, for: .read)
        }
    }

    private func collect(_ range: Range<Int64>, waits: Bool) throws -> SecretBytes {
        var collected = try SecretBytes(zeros: range.count)
        var done = 0
        try open(
            range,
            waits: waits,
            to: { chunk in
                collected.copy(chunk, to: done)
                done += chunk.byteCount
            },
            progress: { _ in }
        )
        return collected
    }
}

/// The error of a transfer, as a client sees it.
func transferError(
    _ error: any Error,
    _ key: ContentKey,
    _ subject: String,
    for operation: ItemOperation
) -> CofferError {
    // Whatever it was doing, it failed because of the lock.
    if key.isRevoked { return .locked(subject, in: .locked, for: operation) }
    return switch error {
    case let error as CofferError: error
    case let error as SystemError:
        error.cofferError(operation == .read ? "can't read \(subject)" : "can't store \(subject)")
    case let error as ContentFormat.Finding: .damaged(content: subject, found: error.words)
    case is ContentKey.Revoked: .locked(subject, in: .locked, for: operation)
    case let error as TransferError: error.cofferError
    default: .noSecretMemory
    }
}
