import CofferCore
import CofferCrypto
import CofferMemory
import Testing

private let context = Array("context".utf8)

private func unwrapped(
    _ wrapped: [UInt8],
    with key: borrowing SymmetricKey,
    _ context: [UInt8] = context
) throws(CryptoError) -> [UInt8] {
    let key = try KeyAgreement.unwrap(wrapped.span.bytes, with: key, for: "coffer class B wrap v1", context: context)
    return key.bytes.exposeBytes()
}

private func refusal(
    _ wrapped: [UInt8],
    with key: borrowing SymmetricKey,
    _ context: [UInt8] = context
) -> CryptoError? {
    do throws(CryptoError) {
        _ = try unwrapped(wrapped, with: key, context)
        return nil
    } catch {
        return error
    }
}

@Suite struct `Wrapping to a public key` {
    // RFC 7748, 6.1.
    @Test(
        arguments: [
            (
                "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a",
                "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
            ),
            (
                "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb",
                "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"
            ),
        ]
    )
    func `has the public keys of the RFC`(privateKey: String, publicKey: String) throws {
        let key = try SymmetricKey.known(bytes(privateKey))
        let found = KeyAgreement.publicKey(of: key)
        #expect(found == bytes(publicKey))
    }

    // Made with python: cryptography for X25519, hashlib for BLAKE2b, pycryptodome for XChaCha20-Poly1305.
    @Test func `opens what another program wrapped`() throws {
        let key = try SymmetricKey.known(1...32)
        let wrapped = bytes(
            """
            5714769d116bf76436ae74bc793d2c30ad1903c59ac5273805c7e2698b410c36
            c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedf
            24bfed48861fc8562a7922b560f437d817e527ec627fd41517c4f875d71a59f6
            a651e7ddfc0c876a8cede87c8b7098aa
            """
        )
        #expect(wrapped.count == 104)
        #expect(KeyAgreement.wrappedBytes == 104)
        let found = try unwrapped(wrapped, with: key)
        #expect(found == (0..<32).map { UInt8($0) })
    }

    @Test func `gives the key back to the private half`() throws {
        let pair = try SymmetricKey()
        let key = try SymmetricKey.counting()
        let wrapped = try KeyAgreement.wrap(
            key,
            to: KeyAgreement.publicKey(of: pair),
            for: "coffer class B wrap v1",
            context: context
        )
        #expect(wrapped.count == KeyAgreement.wrappedBytes)
        let found = try unwrapped(wrapped, with: pair)
        #expect(found == (0..<32).map { UInt8($0) })
    }

    @Test func `uses a new ephemeral key each time`() throws {
        let pair = try SymmetricKey()
        let key = try SymmetricKey.counting()
        var seen: Set<[UInt8]> = []
        for _ in 0..<50 {
            let wrapped = try KeyAgreement.wrap(
                key,
                to: KeyAgreement.publicKey(of: pair),
                for: "coffer class B wrap v1",
                context: context
            )
            seen.insert(Array(wrapped.prefix(32)))
        }
        #expect(seen.count == 50)
    }

    @Test func `is found out when any bit is another, the top bit of a public key among them`() throws {
        let pair = try SymmetricKey()
        let key = try SymmetricKey()
        let wrapped = try KeyAgreement.wrap(
            key,
            to: KeyAgreement.publicKey(of: pair),
            for: "coffer class B wrap v1",
            context: context
        )
        for bit in 0..<(wrapped.count * 8) {
            var changed = wrapped
            changed[bit / 8] ^= 1 << (bit % 8)
            let found = refusal(changed, with: pair)
            #expect(found == .unauthentic, "bit \(bit)")
        }
        for count in 0..<wrapped.count {
            let found = refusal(Array(wrapped.prefix(count)), with: pair)
            #expect(found == .unauthentic, "\(count) bytes")
        }
        let longer = refusal(wrapped + [0], with: pair)
        #expect(longer == .unauthentic)
    }

    @Test func `holds for its pair and its context only`() throws {
        let pair = try SymmetricKey()
        let other = try SymmetricKey()
        let key = try SymmetricKey()
        let wrapped = try KeyAgreement.wrap(
            key,
            to: KeyAgreement.publicKey(of: pair),
            for: "coffer class B wrap v1",
            context: context
        )
        let underOther = refusal(wrapped, with: other)
        #expect(underOther == .unauthentic)
        let elsewhere = refusal(wrapped, with: pair, Array("another".utf8))
        #expect(elsewhere == .unauthentic)
    }

    @Test(
        arguments: [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        ]
    )
    func `refuses a peer of low order, on both sides`(point: String) throws {
        let pair = try SymmetricKey()
        let key = try SymmetricKey()
        #expect(throws: CryptoError.unauthentic) {
            _ = try KeyAgreement.wrap(key, to: bytes(point), for: "coffer class B wrap v1", context: context)
        }
        let found = refusal(bytes(point) + Array(repeating: 0, count: 72), with: pair)
        #expect(found == .unauthentic)
    }
}

@Suite struct `Derived keys` {
    // Made with python's argon2-cffi, which is the reference implementation: Argon2id, version 19, one lane.
    @Test(
        arguments: [
            (
                Array("correct horse battery staple".utf8), Array(0..<16), 1, 8192,
                "9aeef75313e585f492c33c5e12d82e9ad253b7dd78632d537e899cd4eddd789c"
            ),
            (
                [], Array(repeating: 0xFF, count: 16), 2, 8192,
                "0dab1dd468d1952231408ba4966c6ef9e5f72c7ca3e3397ce6357101eac9b564"
            ),
            (
                (0..<1024).map { UInt8(truncatingIfNeeded: $0) }, Array("saltsaltsaltsalt".utf8), 3, 16384,
                "7b90890c7fbd64f88f47b76447dbd5e0c7ca0cbc5679c811069308e150a8e858"
            ),
        ] as [([UInt8], [UInt8], UInt32, UInt32, String)]
    )
    func `of a passcode are Argon2id's`(
        passcode: [UInt8],
        salt: [UInt8],
        operations: UInt32,
        memoryKiB: UInt32,
        expected: String
    ) throws {
        let typed = try SecretBytes(passcode)
        let key = try KeyDerivation.passcodeKey(typed, salt: salt, operations: operations, memoryKiB: memoryKiB)
        let found = key.bytes.exposeBytes()
        #expect(found == bytes(expected))
    }

    @Test(
        arguments: [(.interactive, 2, 65536), (.moderate, 3, 262_144), (.sensitive, 4, 1_048_576)]
            as [(PasscodeCost, UInt32, UInt32)]
    )
    func `cost what the names promise, within what a keybag may ask for`(
        cost: PasscodeCost,
        operations: UInt32,
        memoryKiB: UInt32
    ) {
        #expect(cost.operations == operations)
        #expect(cost.memoryKiB == memoryKiB)
        #expect(KeyDerivation.acceptedOperations.contains(operations))
        #expect(KeyDerivation.acceptedMemoryKiB.contains(memoryKiB))
    }

    // python: hashlib.blake2b(b"coffer test key v1\0" + input, digest_size=32, key=bytes(range(32)))
    @Test func `of a key and a purpose are BLAKE2b's`() throws {
        let key = try SymmetricKey.counting()
        let plain = try KeyDerivation.subkey(of: key, for: "coffer test key v1")
        let found = plain.bytes.exposeBytes()
        #expect(found == bytes("b9ee1d27316d9cbb7694e8b83cb9c7fbf8af848daf001c1b08cd0b452e751831"))
        let mixed = try KeyDerivation.subkey(
            of: key,
            for: "coffer test key v1",
            mixing: try SymmetricKey.known(repeatElement(0xAB, count: 32))
        )
        let foundMixed = mixed.bytes.exposeBytes()
        #expect(foundMixed == bytes("68c129dcbccedfed70d1844aaedfc1aedc8a9fe397c4e262677dab24d9467de6"))
    }
}

@Suite struct `A keyed tag` {
    // python: hashlib.blake2b over the purpose with its NUL behind a count of two bytes, and each field behind one of four.
    @Test(
        arguments: [
            (16, "962ca60de76d49f8a4a17cc0671bd97a"),
            (32, "7239daa42288d3205a5d3d574ff8e583b4badb95c3a247d26c96ed5e2dd49c88"),
            (
                64,
                "8760ce9d1bef3ded1053d600a625511b9211bc1311e57228794c36c3d4c3055e"
                    + "7384d4fc0a5079448064483358c43f893f9fd0510d7fcc6d943b0769289edcaf"
            ),
        ]
    )
    func `is BLAKE2b's, at each of its lengths`(count: Int, expected: String) throws {
        let key = try SymmetricKey.counting()
        let tag = KeyedHash.tag(
            under: key,
            for: "coffer test tag v1",
            byteCount: count,
            Array("default".utf8),
            [],
            Array("github.com".utf8)
        )
        #expect(tag == bytes(expected))
    }

    @Test func `needs no fields`() throws {
        let key = try SymmetricKey.counting()
        let tag = KeyedHash.tag(under: key, for: "coffer test tag v1", byteCount: 32)
        #expect(tag == bytes("de4cec8bf4cca1583e11fc3b5b8a5f8ffca223d40a09e6916a107498505faf6d"))
    }

    @Test func `is another one for every other way to cut the same bytes into fields`() throws {
        let key = try SymmetricKey.counting()
        func tag(_ one: String, _ two: String, _ three: String) -> [UInt8] {
            KeyedHash.tag(
                under: key,
                for: "t",
                byteCount: 32,
                Array(one.utf8),
                Array(two.utf8),
                Array(three.utf8)
            )
        }
        let tags = [
            tag("abc", "", ""), tag("", "abc", ""), tag("", "", "abc"), tag("a", "bc", ""), tag("a", "b", "c"),
            tag("ab", "", "c"), tag("", "a", "bc"),
            KeyedHash.tag(under: key, for: "t", byteCount: 32, Array("abc".utf8)),
            KeyedHash.tag(under: key, for: "ta", byteCount: 32, Array("bc".utf8)),
            KeyedHash.tag(under: key, for: "t", byteCount: 32, Array("abc".utf8), []),
        ]
        #expect(Set(tags).count == tags.count)
    }

    @Test func `is compared by its content`() {
        #expect(isEqualInConstantTime([], []))
        #expect(isEqualInConstantTime([1, 2], [1, 2]))
        #expect(!isEqualInConstantTime([1, 2], [1, 3]))
        #expect(!isEqualInConstantTime([1, 2], [1, 2, 0]))
        #expect(!isEqualInConstantTime([1, 2], []))
    }
}
