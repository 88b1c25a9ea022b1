import CofferMemory
import CofferTestSupport
import CofferWire
import Testing

func parse(_ bytes: [UInt8]) throws(JSONError) -> JSONValue { try JSONValue(parsing: bytes.span.bytes) }

func parse(_ text: String) throws(JSONError) -> JSONValue { try parse(Array(text.utf8)) }

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// The fault of a text, or `nil` where it has none.
func fault(_ bytes: [UInt8]) -> JSONError? {
    do throws(JSONError) {
        _ = try parse(bytes)
        return nil
    } catch {
        return error
    }
}

/// Random values of every kind, at most `depth` deep.
func randomValue(depth: Int, using random: inout SeededGenerator) -> JSONValue {
    switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &random) {
    case 0: return .null
    case 1: return .bool(.random(using: &random))
    case 2: return .integer(Int64(bitPattern: random.next()) >> Int64.random(in: 0..<64, using: &random))
    case 3:
        let number = Double(bitPattern: random.next())
        return .number(number.isFinite ? number : 0.5)
    case 4, 5: return .string(randomText(using: &random))
    case 6:
        return .array(
            (0..<Int.random(in: 0...5, using: &random)).map { _ in randomValue(depth: depth - 1, using: &random) }
        )
    default:
        var object = JSONObject()
        for _ in 0..<Int.random(in: 0...20, using: &random) {
            object.set(randomText(using: &random), randomValue(depth: depth - 1, using: &random))
        }
        return .object(object)
    }
}

private func randomText(using random: inout SeededGenerator) -> String {
    let ranges: [ClosedRange<UInt32>] = [
        0...0x1F, 0x20...0x7E, 0x20...0x7E, 0x7F...0x7FF, 0x800...0xFFFF, 0x10000...0x10FFFF,
    ]
    var scalars = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...24, using: &random) {
        let number = UInt32.random(in: ranges[Int.random(in: 0..<ranges.count, using: &random)], using: &random)
        // The surrogates are no scalars.
        scalars.append(Unicode.Scalar(number) ?? "\u{FFFD}")
    }
    return String(scalars)
}

/// What a test keeps of a frame.
struct Captured: Equatable {
    let json: Result<JSONValue, JSONError>
    let payload: [UInt8]?

    init(_ frame: consuming Frame) {
        json = frame.json
        payload = frame.payload?.exposeBytes()
    }

    init?(_ frame: consuming Frame?) {
        guard let frame = consume frame else { return nil }
        self.init(frame)
    }

    init(_ json: JSONValue, _ payload: [UInt8]? = nil) {
        self.json = .success(json)
        self.payload = payload
    }
}

func encodeFrame(_ json: [UInt8], _ payload: [UInt8] = []) -> [UInt8] {
    FrameHeader.encode(jsonCount: json.count, payloadCount: payload.count) + json + payload
}

/// Feeds a decoder with one piece.
func feed(_ piece: [UInt8], to decoder: inout FrameDecoder) throws(FrameError) -> [Captured] {
    var frames: [Captured] = []
    var offset = 0
    while let frame = try decoder.decode(piece.span.bytes, at: &offset) { frames.append(Captured(frame)) }
    #expect(offset == piece.count, "nil means that everything was taken")
    return frames
}

extension SeededGenerator {
    mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) } }
}
