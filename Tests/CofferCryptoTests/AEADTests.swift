import CofferCrypto
import CofferMemory
import Testing

private func open(
    _ sealed: [UInt8],
    under key: borrowing SymmetricKey,
    _ context: [UInt8] = Array("context".utf8)
) throws(CryptoError) -> [UInt8] {
    let opened = try AEAD.open(sealed.span.bytes, under: key, context: context)
    return opened.exposeBytes()
}

private func seal(
    _ plaintext: [UInt8],
    under key: borrowing SymmetricKey,
    _ context: [UInt8] = Array("context".utf8)
) -> [UInt8] {
    AEAD.seal(plaintext.span.bytes, under: key, context: context)
}

/// How opening ends, where it does not succeed.
private func refusal(
    _ sealed: [UInt8],
    under key: borrowing SymmetricKey,
    _ context: [UInt8] = Array("context".utf8)
) -> CryptoError? {
    do throws(CryptoError) {
        _ = try open(sealed, under: key, context)
        return nil
    } catch {
        return error
    }
}

@Suite struct `Sealing` {
    // draft-irtf-cfrg-xchacha-03, A.3.1.
    @Test func `opens the known answer of the draft that defines the cipher`() throws {
        let key = try SymmetricKey.known(0x80..<0xA0)
        let sealed = bytes(
            """
            404142434445464748494a4b4c4d4e4f5051525354555657
            bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb
            731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b452
            2f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9
            21f9664c97637da9768812f615c68b13b52e
            c0875924c1c7987947deafd8780acf49
            """
        )
        let plaintext = try open(sealed, under: key, bytes("50515253c0c1c2c3c4c5c6c7"))
        #expect(
            String(decoding: plaintext, as: UTF8.self)
                == "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it."
        )
    }

    @Test(arguments: [0, 1, 15, 16, 17, 64, 1000, 65536])
    func `gives back what went in, 40 bytes longer on the way`(count: Int) throws {
        let key = try SymmetricKey()
        let plaintext = randomBytes(count)
        let sealed = seal(plaintext, under: key)
        #expect(sealed.count == count + 40)
        #expect(AEAD.overhead == 40)
        let opened = try open(sealed, under: key)
        #expect(opened == plaintext)
        if count >= 16 {
            #expect(!sealed.indices.dropLast(15).contains { sealed[$0..<($0 + 16)] == plaintext[0..<16] })
        }
    }

    @Test func `never gives the same bytes twice`() throws {
        let key = try SymmetricKey()
        var seen: Set<[UInt8]> = []
        var nonces: Set<[UInt8]> = []
        for _ in 0..<500 {
            let sealed = seal([1, 2, 3], under: key)
            seen.insert(sealed)
            nonces.insert(Array(sealed.prefix(24)))
        }
        #expect(seen.count == 500)
        #expect(nonces.count == 500)
    }

    @Test func `is found out when any bit of the result is another`() throws {
        let key = try SymmetricKey()
        let sealed = seal(Array("the secret".utf8), under: key)
        for bit in 0..<(sealed.count * 8) {
            var changed = sealed
            changed[bit / 8] ^= 1 << (bit % 8)
            let found = refusal(changed, under: key)
            #expect(found == .unauthentic, "bit \(bit)")
        }
    }

    @Test func `is found out at every shorter and at any greater length`() throws {
        let key = try SymmetricKey()
        let sealed = seal(Array("the secret".utf8), under: key)
        for count in 0..<sealed.count {
            let found = refusal(Array(sealed.prefix(count)), under: key)
            #expect(found == .unauthentic, "\(count) bytes")
            let foundBehind = refusal(Array(sealed.suffix(count)), under: key)
            #expect(foundBehind == .unauthentic, "the last \(count) bytes")
        }
        for extra in [1, 16, 40] {
            let found = refusal(sealed + Array(repeating: 0, count: extra), under: key)
            #expect(found == .unauthentic)
        }
    }

    @Test(arguments: ["", "Context", "contex", "context ", "context\0"])
    func `holds in its context only`(other: String) throws {
        let key = try SymmetricKey()
        let sealed = seal([1, 2, 3], under: key)
        let found = refusal(sealed, under: key, Array(other.utf8))
        #expect(found == .unauthentic)
    }

    @Test func `holds under its key only, whichever bit differs`() throws {
        let key = try SymmetricKey.counting()
        let sealed = seal([1, 2, 3], under: key)
        for bit in 0..<256 {
            var changed = (0..<32).map { UInt8($0) }
            changed[bit / 8] ^= 1 << (bit % 8)
            let other = try SymmetricKey.known(changed)
            let found = refusal(sealed, under: other)
            #expect(found == .unauthentic, "bit \(bit)")
        }
    }
}

@Suite struct `Wrapping a key` {
    @Test func `gives the key back under the same key and context only`() throws {
        let wrapping = try SymmetricKey()
        let key = try SymmetricKey.counting()
        let wrapped = KeyWrap.wrap(key, under: wrapping, context: [1])
        #expect(wrapped.count == 72)
        #expect(KeyWrap.wrappedBytes == 72)
        let unwrapped = try KeyWrap.unwrap(wrapped.span.bytes, under: wrapping, context: [1])
        let content = unwrapped.bytes.exposeBytes()
        #expect(content == (0..<32).map { UInt8($0) })
        #expect(throws: CryptoError.unauthentic) {
            _ = try KeyWrap.unwrap(wrapped.span.bytes, under: wrapping, context: [2])
        }
        let other = try SymmetricKey()
        #expect(throws: CryptoError.unauthentic) {
            _ = try KeyWrap.unwrap(wrapped.span.bytes, under: other, context: [1])
        }
    }

    @Test(arguments: [0, 31, 33])
    func `takes nothing for a key that has another length, authentic or not`(count: Int) throws {
        let wrapping = try SymmetricKey()
        let sealed = seal(Array(repeating: 7, count: count), under: wrapping)
        #expect(throws: CryptoError.unauthentic) {
            _ = try KeyWrap.unwrap(sealed.span.bytes, under: wrapping, context: Array("context".utf8))
        }
    }
}
