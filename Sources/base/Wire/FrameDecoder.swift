internal import CofferCore
internal import CofferMemory

/// Splits a stream of bytes, arriving in pieces of any size, into frames.
///
/// JSON that is complete inside one piece is parsed in place. Otherwise it is collected in an array that grows with the
/// bytes received, not with the announced size, and parsed when the frame is complete. A payload is copied directly
/// into its locked memory, which is allocated at the announced size when its first byte arrives.
package struct FrameDecoder: ~Copyable, Sendable {
    private let maximumJSONCount: Int
    private let maximumPayloadCount: Int

    private var failure: FrameError?
    private var headerWord: UInt64 = 0
    private var headerCount = 0
    /// The header, once it is complete and within the limits.
    private var header: FrameHeader?
    private var collectedJSON: [UInt8] = []
    /// The payload, once it has begun.
    private var payload: SecretBytes?
    private var payloadCount = 0
    /// Whether a lock wiped the payload: its remaining bytes are counted, and not stored.
    private var isPayloadWiped = false

    /// Begins to decode a stream.
    package init(
        maximumJSONCount: Int = Limits.frameJSONBytes,
        maximumPayloadCount: Int = Limits.framePayloadBytes
    ) {
        self.maximumJSONCount = maximumJSONCount
        self.maximumPayloadCount = maximumPayloadCount
    }

    /// Whether no frame is incomplete: a stream that ends anywhere else was cut off.
    package var isBetweenFrames: Bool { headerCount == 0 && failure == nil }

    /// The bytes of JSON that are buffered for an incomplete frame.
    package var heldJSONCount: Int { collectedJSON.count }
    /// The size of the locked memory that is allocated for its payload.
    package var heldPayloadCount: Int { payload.byteCount }

    /// Wipes an incomplete payload: its frame is completed without it, and marked.
    package mutating func wipePayload() {
        guard payload != nil else { return }
        payload = nil
        isPayloadWiped = true
    }

    /// Consumes bytes of the stream up to the end of a frame, or all of them.
    ///
    /// Call it again with the same bytes until it returns `nil`: they may contain several frames.
    ///
    /// - Parameters:
    ///   - bytes: A piece of the stream.
    ///   - offset: Where to begin; afterwards, the first byte that was not consumed. After `nil`, that is the end.
    ///   - room: The quota for an incomplete frame, in addition to the bytes that are buffered already.
    /// - Returns: A frame, once it is complete.
    /// - Throws: ``FrameError`` if the stream can't be read any further; every later call throws it again.
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
                // Complete frames are handled in the same turn: they need no quota.
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
    /// The quota for bytes of incomplete frames.
    package struct Room: Sendable {
        /// For their JSON.
        package let json: Int
        /// For their payloads, in locked memory.
        package let payload: Int

        /// Creates a quota.
        package init(json: Int, payload: Int) {
            self.json = json
            self.payload = payload
        }

        /// A quota that only the limits of a frame bound.
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

    /// Returns whether the JSON is complete.
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

    /// Returns whether the payload is complete.
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
