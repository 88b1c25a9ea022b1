package import CofferFileContent
package import CofferCore
package import CofferMemory
internal import CofferSystem

/// Plans reads and writes of open files.
///
/// Another thread performs the plans, without a look-up of chunks.
package struct FilePlans {
    private let contents: ContentDirectory
    private let chunks: ChunkTable
    /// The chunks that were opened last on the daemon's thread.
    private let recent: ChunkReader

    init(_ contents: ContentDirectory, _ chunks: ChunkTable, _ recent: ChunkReader) {
        self.contents = contents
        self.chunks = chunks
        self.recent = recent
    }

    // MARK: Reading and writing

    /// The maximum number of bytes of one plan to read, so that other requests get their turn in between.
    private static let planBytes = 64 * Int64(Limits.chunkBytes)

    /// Plans to read a range of an open file.
    ///
    /// Each plan is followed by ``OpenFile/endRead()``.
    ///
    /// - Parameters:
    ///   - range: The range; it is cut at the end of the file, and to the size of a plan.
    ///   - file: The file.
    package func reading(_ range: Range<Int64>, of file: OpenFile) throws -> ReadPlan {
        let chunkBytes = file.chunkBytes
        let start = min(range.lowerBound, file.byteCount)
        let most = start / chunkBytes * chunkBytes + Self.planBytes
        let part = start..<max(start, min(range.upperBound, file.byteCount, most))
        var sources: [ChunkSource] = []
        if !part.isEmpty {
            let indices = (part.lowerBound / chunkBytes)...((part.upperBound - 1) / chunkBytes)
            sources = try self.sources(of: indices, in: file)
        }
        file.slots.beginRead()
        return ReadPlan(content: file.content, range: part, sources: sources)
    }

    /// Plans to overwrite a range of an open file.
    ///
    /// - Parameters:
    ///   - count: The number of bytes.
    ///   - offset: The offset in the file.
    ///   - file: The file, after ``OpenFileTable/prepareWriting(_:)``.
    ///   - most: The largest chunk size that the first write may choose.
    /// - Throws: `dataTooLarge`; `io` if the chunk size can't be chosen.
    package func writing(
        _ count: Int,
        at offset: Int64,
        of file: OpenFile,
        chunksAtMost most: Int = Limits.chunkBytes
    ) throws -> WritePlan {
        guard offset <= Limits.fileBytes - Int64(count) else {
            throw CofferError(
                .dataTooLarge,
                "can't write \(file.subject): a file has at most \(Limits.fileBytes >> 40) TiB",
                operation: .write
            )
        }
        if count > 0 { try chooseChunkSize(forWriting: count, atMost: most, of: file) }
        let chunkBytes = file.chunkBytes
        var pieces: [WritePlan.Piece] = []
        var place = offset
        let end = offset + Int64(count)
        while place < end {
            let index = place / chunkBytes
            let start = index * chunkBytes
            let range = Int(place - start)..<Int(min(end - start, chunkBytes))
            let source = try source(of: index, in: file)
            pieces.append(
                WritePlan.Piece(
                    index: index,
                    source: source,
                    slot: file.slots.take(),
                    range: range,
                    byteCount: max(source.byteCount, range.upperBound)
                )
            )
            place = start + chunkBytes
        }
        return WritePlan(content: file.content, pieces: pieces)
    }

    /// Chooses the chunk size of an overlay by the first write to it: a database writes pages, and would have to read and
    /// write a large chunk for each of them; a stream would need many rows for small ones.
    private func chooseChunkSize(
        forWriting count: Int,
        atMost most: Int,
        of file: OpenFile
    ) throws(CofferError) {
        let chunkBytes = ContentFormat.chunkBytes(forWriting: count, atMost: most)
        guard file.hasNoSlots, !file.isBeingCommitted, chunkBytes != file.content.chunkBytes,
            let overlay = file.content.overlay
        else { return }
        do throws(SystemError) {
            try contents.fileSystem.willPerform(.write)
            file.resizeChunks(try Overlay(making: overlay.file, of: file.id, chunkBytes: chunkBytes))
        } catch {
            throw error.cofferError("can't store \(file.subject)")
        }
    }

    /// Plans to cut the chunk in which a shortened file ends.
    ///
    /// - Returns: `nil` if no chunk has to be cut.
    package func cutting(to count: Int64, of file: OpenFile) throws -> WritePlan? {
        let chunkBytes = file.chunkBytes
        let index = count / chunkBytes
        let rest = Int(count - index * chunkBytes)
        guard rest > 0, count < file.byteCount, case .slot(let slot) = try source(of: index, in: file),
            slot.byteCount > rest
        else { return nil }
        let piece = WritePlan.Piece(
            index: index,
            source: .slot(slot),
            slot: file.slots.take(),
            range: 0..<0,
            byteCount: rest
        )
        return WritePlan(content: file.content, pieces: [piece])
    }

    /// Plans to turn a range of an open file into zeros, as much of it as one request may.
    ///
    /// A chunk that is zeros as a whole becomes a hole, or an empty one where the base would reappear: what is behind the
    /// plaintext of a chunk reads as zeros.
    ///
    /// - Parameters:
    ///   - range: The bytes; what is behind the end of the file is zeros already.
    ///   - file: The file, after ``OpenFileTable/prepareWriting(_:)``.
    /// - Returns: The plan.
    package func zeroing(_ range: Range<Int64>, of file: OpenFile) throws -> ZeroingPlan {
        let chunkBytes = file.chunkBytes
        let stored = range.clamped(to: 0..<max(0, file.byteCount))
        var pieces: [WritePlan.Piece] = []
        var holes: [Int64] = []
        guard !stored.isEmpty else {
            return ZeroingPlan(writes: WritePlan(content: file.content, pieces: []), holes: [], end: range.upperBound)
        }
        let first = stored.lowerBound / chunkBytes
        let last = min((stored.upperBound - 1) / chunkBytes, first + Int64(Limits.punchedChunks) - 1)
        for (index, source) in zip(first...last, try sources(of: first...last, in: file)) where source != .hole {
            let start = index * chunkBytes
            let part = stored.clamped(to: start..<(start + Int64(source.byteCount)))
            let isEmpty = source.byteCount == 0 && stored.contains(start)
            if part.isEmpty && !isEmpty { continue }
            let isWhole = part.count == source.byteCount
            if isWhole, source != .lost, file.unwritten(index) == .hole {
                holes.append(index)
                continue
            }
            if part.isEmpty { continue }
            pieces.append(
                WritePlan.Piece(
                    index: index,
                    source: source,
                    slot: file.slots.take(),
                    range: isWhole ? 0..<0 : Int(part.lowerBound - start)..<Int(part.upperBound - start),
                    byteCount: isWhole ? 0 : source.byteCount
                )
            )
        }
        let next = pieces.isEmpty && holes.isEmpty ? try nextWritten(behind: last, in: file) : last + 1
        let end = next * chunkBytes
        return ZeroingPlan(
            writes: WritePlan(content: file.content, pieces: pieces),
            holes: holes,
            end: end >= stored.upperBound ? range.upperBound : end
        )
    }

    /// Plans to reserve disk space for a range of an open file.
    ///
    /// - Parameters:
    ///   - range: The bytes.
    ///   - file: The file, after ``OpenFileTable/prepareWriting(_:)``.
    /// - Throws: `dataTooLarge`.
    package func allocating(_ range: Range<Int64>, of file: OpenFile) throws(CofferError) -> AllocationPlan {
        let chunkBytes = file.chunkBytes
        guard range.upperBound <= Limits.fileBytes else {
            throw CofferError(
                .dataTooLarge,
                "can't reserve room for \(file.subject): a file has at most \(Limits.fileBytes >> 40) TiB",
                operation: .write
            )
        }
        let count = range.isEmpty ? 0 : (range.upperBound - 1) / chunkBytes - range.lowerBound / chunkBytes + 1
        return AllocationPlan(content: file.content, slots: file.slots.reserve(Int(count)))
    }

    /// The places of consecutive chunks, in order.
    private func sources(of indices: ClosedRange<Int64>, in file: OpenFile) throws -> [ChunkSource] {
        let (first, last) = (indices.lowerBound, indices.upperBound)
        // A row with impossible values must cost its own chunk only: then each is looked up alone.
        if first < last, first < file.rowsEnd, let rows = try? chunks.rows(of: file.node, from: first, to: last) {
            let slots = Dictionary(rows.map { ($0.chunk, $0.slot) }) { $1 }
            return indices.map { file.known($0) ?? slots[$0].map { .slot($0) } ?? file.unwritten($0) }
        }
        return try indices.map { try source(of: $0, in: file) }
    }

    private func source(of index: Int64, in file: OpenFile) throws -> ChunkSource {
        if let known = file.known(index) { return known }
        if index >= file.rowsEnd { return file.unwritten(index) }
        do {
            if let slot = try chunks.slot(of: index, in: file.node) { return .slot(slot) }
        } catch is ContentFormat.Finding {
            // Reported when the chunk is read: it affects that chunk only.
            return .lost
        }
        return file.unwritten(index)
    }

    // MARK: Holes

    /// Finds how far an open file is data, or a hole, from an offset on.
    ///
    /// A hole is what was never written, or was punched, as far as that is whole chunks, and what is behind the plaintext
    /// of a chunk. Zeros that were written are data.
    ///
    /// - Parameters:
    ///   - offset: The offset, in bytes.
    ///   - file: The file.
    /// - Returns: A number of bytes, 0 at the end of the file, and whether they are a hole. What follows may be of the
    ///   same kind: only so many chunks are looked up.
    package func extent(at offset: Int64, of file: OpenFile) throws -> (byteCount: Int64, isHole: Bool) {
        guard offset < file.byteCount else { return (0, true) }
        let chunkBytes = file.chunkBytes
        let first = offset / chunkBytes
        let last = min((file.byteCount - 1) / chunkBytes, first + Int64(Limits.extentChunks) - 1)
        var (isHole, end) = (false, offset)
        for (index, source) in zip(first...last, try sources(of: first...last, in: file)) {
            let start = index * chunkBytes
            let dataEnd = start + source.dataBytes(in: chunkBytes)
            if index == first { isHole = offset >= dataEnd }
            if index > first && isHole != (dataEnd == start) { return (start - offset, isHole) }
            end = dataEnd
            if !isHole && dataEnd < start + chunkBytes { break }
        }
        if isHole { end = try nextWritten(behind: last, in: file) * chunkBytes }
        return (min(end, file.byteCount) - offset, isHole)
    }

    /// The first chunk behind a hole that may have data, or that is behind the end of the file.
    private func nextWritten(behind index: Int64, in file: OpenFile) throws -> Int64 {
        let (next, end) = (index + 1, file.byteCount / file.chunkBytes + 1)
        if file.unwritten(next) != .hole { return next }
        let known = file.nextKnown(behind: index) ?? end
        if next >= file.rowsEnd { return min(known, end) }
        return min(known, try chunks.first(in: next..<end, of: file.node) ?? end)
    }

    // MARK: At once

    /// The chunks that are kept in plaintext for the next read.
    package var openedChunkCount: Int { recent.count }

    /// Decrypts what a plan reads if that is quick.
    ///
    /// - Returns: The plaintext; `nil` if it is much, or not cached by the kernel.
    /// - Throws: As ``ReadPlan/perform(to:)``.
    package func collectIfCached(_ plan: ReadPlan) throws(CofferError) -> SecretBytes? {
        try plan.collectIfCached(with: recent)
    }

    /// Performs a plan to write if that is quick.
    ///
    /// - Returns: The chunks and their slots; `nil` if it is much, or what it needs is not cached by the kernel.
    /// - Throws: As ``WritePlan/perform(_:)``.
    package func performIfCached(
        _ plan: WritePlan,
        _ bytes: borrowing SecretBytes?
    ) throws(CofferError) -> [WritePlan.Written]? {
        try plan.performIfCached(bytes, with: recent)
    }

    // MARK: Syncing

    /// Plans to sync an open file.
    package func syncing(_ file: OpenFile) -> SyncPlan {
        SyncPlan(content: file.content, isStaged: file.overlayState.isStaged)
    }

    /// Plans to give the space of what was punched or cut off back to the disk.
    ///
    /// - Parameter file: The file, which no other request writes meanwhile.
    /// - Returns: `nil` if there is none.
    package func returning(of file: OpenFile) -> ReturnPlan? {
        let slots = file.slots.takeEmptied()
        return slots.isEmpty ? nil : ReturnPlan(content: file.content, slots: slots)
    }
}

/// A plan to turn a range of an open file into zeros.
package struct ZeroingPlan {
    /// The chunks that are written.
    package let writes: WritePlan
    /// The chunks that become holes.
    package let holes: [Int64]
    /// The offset up to which the range is zeros then.
    package let end: Int64
}

extension ChunkSource {
    /// The bytes of a chunk that are no hole: as whole pages, at which disk tools expect holes to begin.
    fileprivate func dataBytes(in chunkBytes: Int64) -> Int64 {
        // Its damage is found when it is read.
        if self == .lost { return chunkBytes }
        let page = ContentFormat.chunkBytes(forWriting: 1)
        return min(Int64((byteCount + page - 1) / page * page), chunkBytes)
    }
}
