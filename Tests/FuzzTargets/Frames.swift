import CofferMemory
import CofferWire

private let maximumJSONCount = 4096
private let maximumPayloadCount = 8192

/// A stream is the same frames and the same end however it is cut, and they are those of a plain reading of the format.
func checkFrames(_ input: [UInt8]) throws(FuzzFinding) {
    let expected = plainReading(of: input)
    for size in [input.count, 1, 7, 143] where size > 0 {
        try require(decode(input, inPiecesOf: { size }) == expected, "other frames in pieces of \(size)")
    }
    var state = input.reduce(into: UInt64(5381)) { $0 = $0 &* 33 &+ UInt64($1) }
    let sizes = {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % 97
    }
    try require(decode(input, inPiecesOf: sizes) == expected, "other frames in random pieces")
}

private struct Stream: Equatable {
    struct Frame: Equatable {
        let json: Result<JSONValue, JSONError>
        let payload: [UInt8]
    }

    var frames: [Frame] = []
    var error: FrameError?
    var endsBetweenFrames = true
}

private func decode(_ input: [UInt8], inPiecesOf size: () -> Int) -> Stream {
    var decoder = FrameDecoder(maximumJSONCount: maximumJSONCount, maximumPayloadCount: maximumPayloadCount)
    var stream = Stream()
    var start = 0
    do throws(FrameError) {
        while start < input.count {
            let piece = Array(input[start..<min(input.count, start + size())])
            start += piece.count
            var offset = 0
            while let frame = try decoder.decode(piece.span.bytes, at: &offset) {
                stream.frames.append(Stream.Frame(json: frame.json, payload: frame.payload?.exposeBytes() ?? []))
            }
        }
    } catch {
        stream.error = error
    }
    stream.endsBetweenFrames = decoder.isBetweenFrames
    return stream
}

/// The format of PROTOCOL.md, read from all bytes together.
private func plainReading(of input: [UInt8]) -> Stream {
    var stream = Stream()
    var rest = input[...]
    func count(at place: Int) -> UInt32 {
        rest.dropFirst(place).prefix(4).reduce(into: UInt32(0)) { $0 = $0 << 8 | UInt32($1) }
    }
    while !rest.isEmpty {
        stream.endsBetweenFrames = false
        guard rest.count >= 8 else { break }
        let (jsonCount, payloadCount) = (count(at: 0), count(at: 4))
        if jsonCount == 0 { stream.error = .emptyJSON }
        if jsonCount > maximumJSONCount { stream.error = .jsonTooLong(jsonCount) }
        if stream.error == nil && payloadCount > maximumPayloadCount { stream.error = .payloadTooLong(payloadCount) }
        guard stream.error == nil, rest.count >= 8 + Int(jsonCount) + Int(payloadCount) else { break }
        let json = Array(rest.dropFirst(8).prefix(Int(jsonCount)))
        let payload = Array(rest.dropFirst(8 + Int(jsonCount)).prefix(Int(payloadCount)))
        stream.frames.append(Stream.Frame(json: parse(json), payload: payload))
        rest = rest.dropFirst(8 + Int(jsonCount) + Int(payloadCount))
        stream.endsBetweenFrames = true
    }
    return stream
}

/// Reads a JSON text.
func parse(_ bytes: [UInt8]) -> Result<JSONValue, JSONError> {
    do throws(JSONError) { return .success(try JSONValue(parsing: bytes.span.bytes)) } catch { return .failure(error) }
}
