import CofferCore
import CofferMemory
import CofferWire
import Testing

/// Payloads that carry more than one secret.
@Suite struct CountedPayloadTests {
    private func secret(_ bytes: [UInt8]) throws -> SecretBytes { try SecretBytes(copying: bytes.span.bytes) }

    private func message(_ payload: [UInt8], taking count: Int) throws -> String? {
        var reader = CountedPayload(try secret(payload))
        do throws(CofferError) {
            for index in 0..<count { _ = try reader.next("secret \(index)") }
            try reader.finish()
            return nil
        } catch {
            #expect(error.code == .param)
            return error.message
        }
    }

    @Test(arguments: [0, 1, 44, 255, 256, 1024, 65535])
    func `two secrets come back as they were`(count: Int) throws {
        let first = [UInt8](repeating: 1, count: count)
        let second: [UInt8] = [2, 0, 3]
        let payload = try CountedPayload.encode(secret(first), secret(second))
        var reader = CountedPayload(payload)
        let readFirst = try reader.next("the first").exposeBytes()
        let readSecond = try reader.next("the second").exposeBytes()
        try reader.finish()
        #expect(readFirst == first)
        #expect(readSecond == second)
    }

    @Test func `the counts are big-endian and stand before the bytes`() throws {
        let payload = try CountedPayload.encode(secret([7, 8]), secret([UInt8](repeating: 9, count: 258)))
        let bytes = payload.exposeBytes()
        #expect(bytes == [0, 2, 7, 8, 1, 2] + [UInt8](repeating: 9, count: 258))
    }

    @Test(arguments: [[], [0], [0, 1], [0, 1, 5], [0, 1, 5, 0], [0, 1, 5, 0, 1], [255, 255, 1, 2]] as [[UInt8]])
    func `a payload that ends early is refused`(payload: [UInt8]) throws {
        let found = try message(payload, taking: 2)
        #expect(found?.hasPrefix("the payload ends before secret ") == true)
    }

    @Test func `a payload that goes on is refused`() throws {
        let found = try message([0, 1, 5, 0, 1, 6, 0], taking: 2)
        #expect(found == "the payload goes on behind its last secret")
    }

    @Test func `no payload has no secret`() {
        var reader = CountedPayload(nil)
        do throws(CofferError) {
            _ = try reader.next("the passcode")
            Issue.record("a secret was read")
        } catch {
            #expect(error.message == "the payload ends before the passcode does")
        }
    }
}
