import CofferCore
import CofferCrypto
import CofferMemory
import Testing

private let header = Array("COFFERFS".utf8) + [0, 1, 1, 16] + Array(repeating: 7, count: 20)

/// libcrypto beside libsodium; without libcrypto, libsodium beside itself.
@Suite(.enabled(if: CipherSuite.aes256GCM.isAvailable, "this machine has no AES"))
final class LibCryptoTests: Sendable {
    private let fast = ChunkCipher(suite: .aes256GCM, header: header)
    private let slow = ChunkCipher(suite: .aes256GCM, header: header, usesLibcrypto: false)
    private let key: SymmetricKey

    init() throws {
        key = try SymmetricKey()
        LibCrypto.load()
    }

    private func sealed(_ chunk: [UInt8], _ index: UInt64, _ isLast: Bool, by cipher: ChunkCipher) -> [UInt8] {
        var output = [UInt8](repeating: 0xEE, count: chunk.count + CipherSuite.tagBytes)
        output.withUnsafeMutableBytes {
            cipher.seal(chunk.span.bytes, at: index, isLast: isLast, under: key, into: $0)
        }
        return output
    }

    /// The plaintext; `nil` if the chunk is not authentic.
    private func opened(_ sealed: [UInt8], _ index: UInt64, _ isLast: Bool, by cipher: ChunkCipher) -> [UInt8]? {
        var output = [UInt8](repeating: 0xEE, count: sealed.count - CipherSuite.tagBytes)
        let isAuthentic = output.withUnsafeMutableBytes { buffer in
            do throws(CryptoError) {
                try cipher.open(sealed.span.bytes, at: index, isLast: isLast, under: key, into: buffer)
                return true
            } catch {
                return false
            }
        }
        if !isAuthentic { #expect(output.allSatisfy { $0 == 0 }, "nothing of a false chunk may get out") }
        return isAuthentic ? output : nil
    }

    @Test func `it is loaded once, and stays so`() {
        let isThere = LibCrypto.load()
        #expect(LibCrypto.isReady == isThere)
        #expect(LibCrypto.load() == isThere)
    }

    @Test(arguments: [0, 1, 4095, 4096, 4097, 16_384, 65_535, 65_536], [false, true])
    func `both seal the same bytes, and open each other's`(count: Int, isLast: Bool) {
        let chunk = randomBytes(count)
        for index: UInt64 in [0, 1, 0x0102_0304_0506_0708, .max] {
            let (one, other) = (sealed(chunk, index, isLast, by: fast), sealed(chunk, index, isLast, by: slow))
            #expect(one == other)
            #expect(opened(other, index, isLast, by: fast) == chunk)
            #expect(opened(one, index, isLast, by: slow) == chunk)
        }
    }

    @Test(arguments: [4096, 65_536])
    func `neither opens what was changed, renumbered or marked as the last one`(count: Int) {
        let whole = sealed(randomBytes(count), 5, false, by: fast)
        for place in [0, 1, 17, count / 2, count - 1, count, count + 15] {
            var changed = whole
            changed[place] ^= 0x10
            #expect(opened(changed, 5, false, by: fast) == nil, "byte \(place)")
        }
        #expect(opened(whole, 6, false, by: fast) == nil)
        #expect(opened(whole, 5, true, by: fast) == nil)
        #expect(opened(whole, 5, false, by: fast) != nil)
    }

    @Test func `threads use it at the same time`() async {
        let chunk = randomBytes(65_536)
        let expected = sealed(chunk, 9, false, by: slow)
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask { (0..<50).allSatisfy { _ in self.isSealed(chunk, as: expected) } }
            }
            for await isRight in group { #expect(isRight) }
        }
    }

    private func isSealed(_ chunk: [UInt8], as expected: [UInt8]) -> Bool {
        sealed(chunk, 9, false, by: fast) == expected && opened(expected, 9, false, by: fast) == chunk
    }
}
