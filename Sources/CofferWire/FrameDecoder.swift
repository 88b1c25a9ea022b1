internal import CofferCore
internal import CofferMemory

/// Cuts a stream of bytes, arriving in whatever pieces, into frames.
///
/// JSON of a frame that lies whole inside one piece is parsed where it lies; otherwise it is collected in an array that
/// grows with what has arrived, never by what was announced, and parsed when the frame is complete. A payload goes straight
/// to the locked memory that it stays in, which is taken at the announced size when the first byte is there.
package struct FrameDecoder: ~Copyable, Sendable {
    private let maximumJSONCount: Int
    private let maximumPayloadCount: Int

    private var failure: FrameError?
    private var headerWord: UInt64 = 0
    private var headerCount = 0
    /// There once the header is complete, and within the limits.
    private var header: FrameHeader?
    private var collectedJSON: [UInt8] = []
    /// There once the payload has begun.
    private var payload: SecretBytes?
    private var payloadCount = 0
    /// Whether a part of the payload was wiped: what is left of it is counted, and not kept.
    private var isPayloadWiped = false

    /// Begins with a stream.
    package init(
        maximumJSONCount: Int = Limits.frameJSONBytes,
        maximumPayloadCount: Int = Limits.framePayloadBytes
    ) {
        self.maximumJSONCount = maximumJSONCount
        self.maximumPayloadCount = maximumPayloadCount
    }

    /// Whether no frame is begun: a stream that ends anywhere else was cut off.
    package var isBetweenFrames: Bool { headerCount == 0 && failure == nil }

    /// The bytes of JSON that are kept of a frame that has begun.
    package var heldJSONCount: Int { collectedJSON.count }
    /// The bytes of the payload that memory was taken for.
    package var heldPayloadCount: Int { payload.byteCount }

    /// Wipes what has come of a payload that is not complete: its frame comes to its end without it, and says so.
    package mutating func wipePayload() {
        guard payload != nil else { return }
        payload = nil
        isPayloadWiped = true
    }

    /// Takes bytes of the stream up to the end of a frame, or all there are.
    ///
    /// Call it again with the same bytes until it returns `nil`: they may hold several frames.
    ///
    /// - Parameters:
    ///   - bytes: A piece of the stream.
    ///   - offset: Where to begin in it; afterwards, the first byte that was not taken. After `nil`, that is the end.
    ///   - room: The most bytes that may be kept of a frame that is not complete, besides those that are already.
    /// - Returns: A frame, once its last byte is there.
    /// - Throws: ``FrameError`` where the stream can't be read on; every later call throws it again.
    package mutating func decode(
        _ bytes: RawSpan,
        at offset: inout Int,
        room: Room = .unbounded
    ) throws(FrameError) -> Frame? {
        if let failure { throw failure }
        do throws(FrameError) {
            guard let header = try takeHeader(from: bytes, at: &offset) else { return nil }
            let (jsonCount, payloadCount) = (Int(header.jsonCount), Int(header.payloadCount))
            if collectedJSON.isEmpty, bytes.byteCount - offset >= jsonCount + payloadCount {
                let json = offset..<(offset + jsonCount)
                offset = json.upperBound
                // Whole frames come and go with the turn: they need no room beside what handling them takes.
                _ = try takePayload(payloadCount, from: bytes, at: &offset, room: .max)
                return finishFrame(Self.parse(bytes.extracting(json)))
            }
            guard try takeJSON(jsonCount, from: bytes, at: &offset, room: room.json),
                try takePayload(payloadCount, from: bytes, at: &offset, room: room.payload)
            else { return nil }
            return finishFrame(unsafe Self.parse(collectedJSON.span.bytes))
        } catch {
            failure = error
            throw error
        }
    }

    private mutating func finishFrame(_ json: Result<JSONValue, JSONError>) -> Frame {
        let jsonByteCount = Int(header?.jsonCount ?? 0)
        headerWord = 0
        headerCount = 0
        header = nil
        collectedJSON = []
        payloadCount = 0
        defer { isPayloadWiped = false }
        return Frame(
            json: json,
            jsonByteCount: jsonByteCount,
            payload: payload.take(),
            isPayloadWiped: isPayloadWiped
        )
    }
}

extension FrameDecoder {
    /// The bytes that may be kept of frames that are not complete.
    package struct Room: Sendable {
        /// Of their JSON.
        package let json: Int
        /// Of their payloads, in locked memory.
        package let payload: Int

        /// Room for so much.
        package init(json: Int, payload: Int) {
            self.json = json
            self.payload = payload
        }

        /// Room for all that the limits of a frame allow.
        package static let unbounded = Room(json: .max, payload: .max)
    }
}

// MARK: - The parts of a frame

extension FrameDecoder {
    private mutating func takeHeader(
        from bytes: RawSpan,
        at offset: inout Int
    ) throws(FrameError) -> FrameHeader? {
        if let header { return header }
        while headerCount < FrameHeader.byteCount {
            guard offset < bytes.byteCount else { return nil }
            headerWord = headerWord << 8 | UInt64(bytes[offset])
            headerCount += 1
            offset += 1
        }
        let complete = FrameHeader(word: headerWord)
        // Nothing is allocated for a frame before this point.
        if complete.jsonCount == 0 { throw .emptyJSON }
        if complete.jsonCount > maximumJSONCount { throw .jsonTooLong(complete.jsonCount) }
        if complete.payloadCount > maximumPayloadCount { throw .payloadTooLong(complete.payloadCount) }
        header = complete
        return complete
    }

    /// Says whether the JSON is complete.
    private mutating func takeJSON(
        _ count: Int,
        from bytes: RawSpan,
        at offset: inout Int,
        room: Int
    ) throws(FrameError) -> Bool {
        if collectedJSON.count == count { return true }
        let range = offset..<min(bytes.byteCount, offset + count - collectedJSON.count)
        if range.count > room { throw .noRoom }
        offset = range.upperBound
        collectedJSON.append(bytes.extracting(range))
        return collectedJSON.count == count
    }

    private static func parse(_ bytes: RawSpan) -> Result<JSONValue, JSONError> {
        do { return .success(try JSONValue(parsing: bytes)) } catch { return .failure(error) }
    }

    /// Says whether the payload is complete.
    private mutating func takePayload(
        _ count: Int,
        from bytes: RawSpan,
        at offset: inout Int,
        room: Int
    ) throws(FrameError) -> Bool {
        if payloadCount == count { return true }
        guard offset < bytes.byteCount else { return false }
        let piece = bytes.extracting(offset..<min(bytes.byteCount, offset + count - payloadCount))
        if payloadCount == 0 && count > room { throw .noRoom }
        do throws(SecretMemoryError) {
            if payload == nil && !isPayloadWiped { payload = try SecretBytes(zeros: count) }
        } catch {
            throw .noMemory
        }
        payload?.copy(piece, to: payloadCount)
        offset += piece.byteCount
        payloadCount += piece.byteCount
        return payloadCount == count
    }
}

extension SecretBytes {
    /// Overwrites a part; traps where `bytes` reaches beyond the end.
    fileprivate mutating func copy(_ bytes: RawSpan, to offset: Int) {
        unsafe withUnsafeMutableBytes { memory in
            unsafe bytes.withUnsafeBytes { source in
                unsafe UnsafeMutableRawBufferPointer(rebasing: memory[offset...]).copyMemory(from: source)
            }
        }
    }
}
