import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Testing

private let json = Array(#"{"jsonrpc":"2.0","id":1,"method":"read"}"#.utf8)
private let message: JSONValue = ["jsonrpc": "2.0", "id": 1, "method": "read"]

@Suite struct FrameDecoderTests {
    @Test func `a header is two big-endian counts`() {
        #expect(FrameHeader.encode(jsonCount: 0x0102_0304, payloadCount: 0xA0B0) == [1, 2, 3, 4, 0, 0, 0xA0, 0xB0])
    }

    @Test func `a frame without a payload has none`() throws {
        var decoder = FrameDecoder()
        #expect(try feed(encodeFrame(json), to: &decoder) == [Captured(message)])
    }

    @Test(arguments: [1, 31, 32, 33, 4096, 4097, 100_000])
    func `a payload arrives as it was sent`(_ count: Int) throws {
        var random = SeededGenerator(seed: 4)
        let payload = random.bytes(count)
        var decoder = FrameDecoder()
        #expect(try feed(encodeFrame(json, payload), to: &decoder) == [Captured(message, payload)])
    }

    @Test func `a frame cut at any byte is the same frame`() throws {
        let payload: [UInt8] = Array(1...40)
        let bytes = encodeFrame(json, payload)
        for cut in 0...bytes.count {
            var decoder = FrameDecoder()
            let first = try feed(Array(bytes[..<cut]), to: &decoder)
            #expect(first.isEmpty == (cut < bytes.count))
            let isBetweenFrames = decoder.isBetweenFrames
            #expect(isBetweenFrames == (cut == 0 || cut == bytes.count))
            let second = try feed(Array(bytes[cut...]), to: &decoder)
            #expect(first + second == [Captured(message, payload)])
            let isDone = decoder.isBetweenFrames
            #expect(isDone)
        }
    }

    @Test(arguments: [1, 2, 3, 5, 7, 8, 9, 13, 64, 1000])
    func `several frames are found, whatever pieces they arrive in`(_ size: Int) throws {
        let expected = [
            Captured(message), Captured(message, [1, 2, 3]), Captured(.null),
            Captured([], Array(repeating: 9, count: 300)),
            Captured(message),
        ]
        let bytes =
            encodeFrame(json) + encodeFrame(json, [1, 2, 3]) + encodeFrame(Array("null".utf8))
            + encodeFrame(Array("[]".utf8), Array(repeating: 9, count: 300)) + encodeFrame(json)
        var decoder = FrameDecoder()
        var found: [Captured] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            found += try feed(Array(bytes[start..<min(start + size, bytes.count)]), to: &decoder)
        }
        #expect(found == expected)
    }

    @Test func `frames in random pieces are the same frames`() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<200 {
            var expected: [Captured] = []
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let value = randomValue(depth: 2, using: &random)
                let payload = random.bytes(Int.random(in: 0...200, using: &random))
                expected.append(Captured(value, payload.isEmpty ? nil : payload))
                bytes += encodeFrame(value.serialized(), payload)
            }
            var decoder = FrameDecoder()
            var found: [Captured] = []
            while !bytes.isEmpty {
                let count = min(Int.random(in: 0...100, using: &random), bytes.count)
                found += try feed(Array(bytes.prefix(count)), to: &decoder)
                bytes.removeFirst(count)
            }
            #expect(found == expected)
        }
    }

    @Test func `one call takes one frame, and leaves the offset after it`() throws {
        let one = encodeFrame(json, [7])
        let bytes = one + one + [0, 0]
        var decoder = FrameDecoder()
        var offset = 0
        for round in 1...2 {
            let frame = Captured(try decoder.decode(bytes.span.bytes, at: &offset))
            #expect(frame == Captured(message, [7]))
            #expect(offset == round * one.count)
        }
        let rest = Captured(try decoder.decode(bytes.span.bytes, at: &offset))
        #expect(rest == nil)
        #expect(offset == bytes.count)
        let isBetweenFrames = decoder.isBetweenFrames
        #expect(!isBetweenFrames)
    }

    @Test(arguments: [1, 5, 1000])
    func `text that is no JSON is its frame's fault, and the stream goes on`(_ size: Int) throws {
        let bytes = encodeFrame(Array("{nonsense}".utf8), [1, 2]) + encodeFrame(json)
        var decoder = FrameDecoder()
        var found: [Captured] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            found += try feed(Array(bytes[start..<min(start + size, bytes.count)]), to: &decoder)
        }
        #expect(found.count == 2)
        #expect(found.first?.json == .failure(JSONError(offset: 1, reason: .expectedKey)))
        #expect(found.first?.payload == [1, 2])
        #expect(found.last == Captured(message))
    }
}

@Suite struct FrameLimitTests {
    /// What a decoder says to a header, fed byte by byte: nothing may be decided, or taken, before its last byte.
    private func verdict(_ header: [UInt8], maximumJSON: Int, maximumPayload: Int) -> FrameError? {
        var decoder = FrameDecoder(maximumJSONCount: maximumJSON, maximumPayloadCount: maximumPayload)
        do throws(FrameError) {
            for byte in header.dropLast() { _ = try feed([byte], to: &decoder) }
        } catch {
            Issue.record("refused before the header was complete")
        }
        do throws(FrameError) {
            _ = try feed([header[7]], to: &decoder)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [(1, 1), (10, 20), (Limits.frameJSONBytes, Limits.framePayloadBytes)])
    func `a count at its limit is taken, and one more is refused`(_ limits: (json: Int, payload: Int)) {
        func verdict(_ jsonCount: Int, _ payloadCount: Int) -> FrameError? {
            self.verdict(
                FrameHeader.encode(jsonCount: jsonCount, payloadCount: payloadCount),
                maximumJSON: limits.json,
                maximumPayload: limits.payload
            )
        }
        #expect(verdict(limits.json - 1, 0) == (limits.json == 1 ? .emptyJSON : nil))
        #expect(verdict(limits.json, 0) == nil)
        #expect(verdict(limits.json + 1, 0) == .jsonTooLong(UInt32(limits.json + 1)))
        #expect(verdict(1, limits.payload - 1) == nil)
        #expect(verdict(1, limits.payload) == nil)
        #expect(verdict(1, limits.payload + 1) == .payloadTooLong(UInt32(limits.payload + 1)))
    }

    @Test func `a count of four gigabytes is refused by the header alone`() {
        let most = Int(UInt32.max)
        func verdict(_ jsonCount: Int, _ payloadCount: Int) -> FrameError? {
            self.verdict(
                FrameHeader.encode(jsonCount: jsonCount, payloadCount: payloadCount),
                maximumJSON: Limits.frameJSONBytes,
                maximumPayload: Limits.framePayloadBytes
            )
        }
        #expect(verdict(most, 0) == .jsonTooLong(.max))
        #expect(verdict(1, most) == .payloadTooLong(.max))
        #expect(verdict(most, most) == .jsonTooLong(.max))
        #expect(verdict(0, 0) == .emptyJSON)
        #expect(verdict(0, most) == .emptyJSON)
    }

    @Test func `frames at the default limits pass`() throws {
        let longest =
            [UInt8(ascii: "\"")] + Array(repeating: 0x61, count: Limits.frameJSONBytes - 2) + [UInt8(ascii: "\"")]
        let payload = [UInt8](repeating: 0x5A, count: Limits.framePayloadBytes)
        let bytes = encodeFrame(longest, payload)
        var decoder = FrameDecoder()
        let whole = try feed(bytes, to: &decoder)
        let pieces = try feed(Array(bytes[..<700_000]), to: &decoder) + feed(Array(bytes[700_000...]), to: &decoder)
        #expect(whole.count == 1 && whole == pieces)
        #expect(whole.first?.payload == payload)
    }

    @Test func `a payload that is wiped in its middle is never delivered, and the stream goes on`() throws {
        let payload: [UInt8] = Array(1...200)
        let bytes = encodeFrame(json, payload) + encodeFrame(json, [7])
        let start = FrameHeader.byteCount + json.count
        for cut in 0...(start + payload.count) {
            var decoder = FrameDecoder()
            var offset = 0
            var piece = Array(bytes[..<cut])
            var frame = try decoder.decode(piece.span.bytes, at: &offset)
            let isComplete = frame != nil
            decoder.wipePayload()
            let held = decoder.heldPayloadCount
            #expect(held == 0)
            piece = Array(bytes[cut...])
            offset = 0
            if !isComplete { frame = try decoder.decode(piece.span.bytes, at: &offset) }
            let isWiped = frame?.isPayloadWiped
            let count = frame?.payload.byteCount
            #expect(isWiped == (cut > start && !isComplete))
            #expect(count == (isWiped == true ? 0 : payload.count))
            let next = try feed(Array(piece[offset...]), to: &decoder)
            #expect(next == [Captured(message, [7])])
        }
    }

    @Test func `after a failure every call fails alike`() {
        var decoder = FrameDecoder()
        let bad = FrameHeader.encode(jsonCount: 0, payloadCount: 0)
        for bytes in [bad, encodeFrame(json), []] {
            var offset = 0
            do throws(FrameError) {
                _ = try decoder.decode(bytes.span.bytes, at: &offset)
                Issue.record("decoded")
            } catch {
                #expect(error == .emptyJSON)
            }
        }
        let isBetweenFrames = decoder.isBetweenFrames
        #expect(!isBetweenFrames)
    }

    @Test func `each failure has words for the peer`() {
        let errors: [FrameError] = [.jsonTooLong(9), .payloadTooLong(9), .emptyJSON, .noMemory]
        #expect(errors.map(\.cofferError.code) == [.dataTooLarge, .dataTooLarge, .param, .io])
    }

    @Test func `random bytes are frames or failures, never a trap`() {
        var random = SeededGenerator(seed: 6)
        for round in 0..<20_000 {
            var decoder = FrameDecoder(maximumJSONCount: 64, maximumPayloadCount: 64)
            var bytes = random.bytes(Int.random(in: 0...200, using: &random))
            // Purely random counts are nearly always too large: make most of them small.
            if round % 4 != 0 {
                for index in bytes.indices where index % 4 != 3 { bytes[index] = 0 }
                for index in bytes.indices where index % 4 == 3 { bytes[index] %= 80 }
            }
            var rest = bytes[...]
            do throws(FrameError) {
                while !rest.isEmpty {
                    let count = min(Int.random(in: 1...50, using: &random), rest.count)
                    _ = try feed(Array(rest.prefix(count)), to: &decoder)
                    rest = rest.dropFirst(count)
                }
            } catch {
                #expect(error != .noMemory)
            }
        }
    }
}
