import CofferCore
import CofferCrypto
import CofferMemory
import Testing

private let header = Array("COFFERFS".utf8) + [0, 1, 1, 16] + Array(repeating: 0, count: 20)

extension ChunkCipher {
    fileprivate func sealed(
        _ chunk: [UInt8],
        at index: UInt64,
        isLast: Bool,
        under key: borrowing SymmetricKey
    ) -> [UInt8] {
        var output = [UInt8](repeating: 0xEE, count: chunk.count + CipherSuite.tagBytes)
        output.withUnsafeMutableBytes { seal(chunk.span.bytes, at: index, isLast: isLast, under: key, into: $0) }
        return output
    }

    /// The plaintext; `nil` where the chunk is not authentic.
    fileprivate func opened(
        _ sealed: [UInt8],
        at index: UInt64,
        isLast: Bool,
        under key: borrowing SymmetricKey
    ) -> [UInt8]? {
        var output = [UInt8](repeating: 0xEE, count: max(0, sealed.count - CipherSuite.tagBytes))
        let isAuthentic = output.withUnsafeMutableBytes { buffer in
            do throws(CryptoError) {
                try open(sealed.span.bytes, at: index, isLast: isLast, under: key, into: buffer)
                return true
            } catch {
                return false
            }
        }
        if isAuthentic { return output }
        #expect(sealed.count < 16 || output.allSatisfy { $0 == 0 }, "nothing of a false chunk may get out")
        return nil
    }
}

@Suite struct `A chunk of a file` {
    // Made with pycryptodome. The nonce: 1 for the last chunk, zeros, the place as eight bytes.
    @Test(
        arguments: [
            (.aes256GCM, 0, false, "6dd4c0b0de0cecdb28c989537140f4ea8ac0fadcde2375052d6f12e5177247"),
            (.aes256GCM, 1, true, "64bd1b5a615adbf77ba59550a3b3039b00be241879a44ceab187cdcaca1a79"),
            (
                .aes256GCM, 0x0102_0304_0506_0708, false,
                "67391060b6c166f823fedd89770b5cc4280363ca9d89aca2d15ef2cda72026"
            ),
            (.xChaCha20Poly1305, 0, false, "f66ef9a987a88a7f36ef5f5f857a5b03733ae69ef68c0230adfa44ec4096ba"),
            (.xChaCha20Poly1305, 1, true, "98c4e6927a65cd28f21ebe4601117c44ec464ada44ca4b41ad707255284bd0"),
            (
                .xChaCha20Poly1305, 0x0102_0304_0506_0708, false,
                "c78b88f49013755d3bc092e6df276e951092e1feb33cd1c5cd57fb91d4cac7"
            ),
        ] as [(CipherSuite, UInt64, Bool, String)]
    )
    func `is sealed to the known answer`(suite: CipherSuite, index: UInt64, isLast: Bool, expected: String) throws {
        if !suite.isAvailable { return }
        let key = try SymmetricKey.counting()
        let cipher = ChunkCipher(suite: suite, header: header)
        let chunk = Array("chunk of a file".utf8)
        let sealed = cipher.sealed(chunk, at: index, isLast: isLast, under: key)
        #expect(sealed == bytes(expected))
        let opened = cipher.opened(sealed, at: index, isLast: isLast, under: key)
        #expect(opened == chunk)
    }

    @Test(arguments: CipherSuite.allCases.filter(\.isAvailable), [0, 1, 16, 4096, 65536])
    func `of any size comes back, sixteen bytes longer on the way`(suite: CipherSuite, count: Int) throws {
        let key = try SymmetricKey()
        let cipher = ChunkCipher(suite: suite, header: header)
        let chunk = randomBytes(count)
        let sealed = cipher.sealed(chunk, at: 7, isLast: true, under: key)
        #expect(sealed.count == count + 16)
        let opened = cipher.opened(sealed, at: 7, isLast: true, under: key)
        #expect(opened == chunk)
    }

    @Test(arguments: CipherSuite.allCases.filter(\.isAvailable))
    func `opens in its own place only, with its own mark`(suite: CipherSuite) throws {
        let key = try SymmetricKey()
        let cipher = ChunkCipher(suite: suite, header: header)
        let places: [(UInt64, Bool)] = [0, 1, 2, 255, 256, 1 << 32, .max].flatMap { [($0, false), ($0, true)] }
        for (index, isLast) in places {
            let sealed = cipher.sealed([1, 2, 3], at: index, isLast: isLast, under: key)
            for (otherIndex, otherIsLast) in places {
                let opened = cipher.opened(sealed, at: otherIndex, isLast: otherIsLast, under: key)
                #expect((opened != nil) == (index == otherIndex && isLast == otherIsLast))
            }
        }
    }

    @Test(arguments: CipherSuite.allCases.filter(\.isAvailable))
    func `does not open with a bit changed in it, at either end or in its middle`(suite: CipherSuite) throws {
        let key = try SymmetricKey()
        let cipher = ChunkCipher(suite: suite, header: header)
        let sealed = cipher.sealed(randomBytes(65536), at: 0, isLast: false, under: key)
        for place in [0, 1, 15, 16, 4095, 4096, 32768, 65535, 65536, 65543, 65551] {
            for bit in 0..<8 {
                var changed = sealed
                changed[place] ^= 1 << bit
                let opened = cipher.opened(changed, at: 0, isLast: false, under: key)
                #expect(opened == nil, "bit \(bit) of byte \(place)")
            }
        }
    }

    @Test(arguments: CipherSuite.allCases.filter(\.isAvailable))
    func `does not open under the header of another file, or under another key`(suite: CipherSuite) throws {
        let key = try SymmetricKey()
        let other = try SymmetricKey()
        let cipher = ChunkCipher(suite: suite, header: header)
        let sealed = cipher.sealed([1, 2, 3], at: 0, isLast: true, under: key)
        for bit in 0..<(header.count * 8) {
            var changed = header
            changed[bit / 8] ^= 1 << (bit % 8)
            let opened = ChunkCipher(suite: suite, header: changed).opened(sealed, at: 0, isLast: true, under: key)
            #expect(opened == nil, "bit \(bit)")
        }
        let underOther = cipher.opened(sealed, at: 0, isLast: true, under: other)
        #expect(underOther == nil)
    }

    @Test(arguments: CipherSuite.allCases.filter(\.isAvailable))
    func `does not open at another length`(suite: CipherSuite) throws {
        let key = try SymmetricKey()
        let cipher = ChunkCipher(suite: suite, header: header)
        let sealed = cipher.sealed([1, 2, 3, 4, 5], at: 0, isLast: true, under: key)
        for count in 0..<sealed.count {
            let opened = cipher.opened(Array(sealed.prefix(count)), at: 0, isLast: true, under: key)
            #expect(opened == nil, "\(count) bytes")
        }
        let longer = cipher.opened(sealed + [0], at: 0, isLast: true, under: key)
        #expect(longer == nil)
    }

    @Test func `of one suite does not open as one of the other`() throws {
        try #require(CipherSuite.aes256GCM.isAvailable, "nothing to tell apart on this machine")
        let key = try SymmetricKey()
        let aes = ChunkCipher(suite: .aes256GCM, header: header)
        let chaCha = ChunkCipher(suite: .xChaCha20Poly1305, header: header)
        let sealed = aes.sealed([1, 2, 3], at: 0, isLast: true, under: key)
        let opened = chaCha.opened(sealed, at: 0, isLast: true, under: key)
        #expect(opened == nil)
    }

    @Test func `has a suite on every machine, with the codes of the format`() {
        #expect(CipherSuite.xChaCha20Poly1305.isAvailable)
        #expect(CipherSuite.preferred.isAvailable)
        #expect(CipherSuite.aes256GCM.rawValue == 1)
        #expect(CipherSuite.xChaCha20Poly1305.rawValue == 2)
        #expect(CipherSuite.tagBytes == 16)
    }
}
