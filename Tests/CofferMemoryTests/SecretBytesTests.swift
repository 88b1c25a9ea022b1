import CofferMemory
import Testing

@Suite struct `Secret bytes` {
    @Test(arguments: [0, 1, 31, 32, 33, 128, 129, 512, 4095, 4096, 4097, 65536, 1 << 20])
    func `are zero when they are given, also where others were before`(count: Int) throws {
        let arena = SecretArena()
        for _ in 0..<3 {
            var bytes = try SecretBytes(zeros: count, in: arena)
            #expect(bytes.count == count)
            let content = bytes.exposeBytes()
            #expect(content == Array(repeating: 0, count: count))
            bytes.fill(with: 0xA5)
        }
    }

    @Test(arguments: [1, 32, 33, 128, 500, 4096, 4097, 65536, 300_000])
    func `are wiped when their owner releases them`(count: Int) throws {
        let log = ReleaseLog()
        let arena = log.makeArena()
        do {
            var bytes = try SecretBytes(zeros: count, in: arena)
            bytes.fill(with: 0xA5)
            #expect(log.pieces.isEmpty)
        }
        let pieces = log.pieces
        #expect(pieces.count == 1)
        let piece = try #require(pieces.first)
        #expect(piece.count >= count)
        #expect(piece.allSatisfy { $0 == 0 })
    }

    @Test(arguments: [1, 32, 128, 4096])
    func `are gone from where they lay, which stays mapped`(count: Int) throws {
        let arena = SecretArena()
        var place: UInt = 0
        do {
            var bytes = try SecretBytes(Array(repeating: 0x5A, count: count), in: arena)
            place = bytes.address
            let before = memory(at: place, count: count)
            #expect(before == Array(repeating: 0x5A, count: count))
        }
        let after = memory(at: place, count: count)
        #expect(after == Array(repeating: 0, count: count))
    }

    @Test(arguments: [(100, 0), (100, 1), (100, 99), (100, 100), (5000, 17), (0, 0)])
    func `are wiped after the place where they are truncated`(count: Int, kept: Int) throws {
        var bytes = try SecretBytes(Array(repeating: 0x77, count: count))
        let place = bytes.address
        bytes.truncate(to: kept)
        #expect(bytes.count == kept)
        let content = bytes.exposeBytes()
        #expect(content == Array(repeating: 0x77, count: kept))
        let behind = memory(at: place, count: count)
        #expect(behind == Array(repeating: 0x77, count: kept) + Array(repeating: 0, count: count - kept))
    }

    @Test func `are wiped to their first size, also after they were cut`() throws {
        let log = ReleaseLog()
        let arena = log.makeArena()
        do {
            var bytes = try SecretBytes(Array(repeating: 0x77, count: 6000), in: arena)
            bytes.truncate(to: 10)
        }
        let pieces = log.pieces
        #expect(pieces.map(\.count) == [6000])
        #expect(pieces.joined().allSatisfy { $0 == 0 })
    }

    @Test(arguments: [(64, 0), (64, 20), (64, 64)])
    func `are wiped at their beginning only as far as was asked for`(count: Int, wiped: Int) throws {
        var bytes = try SecretBytes(Array(repeating: 9, count: count))
        bytes.wipe(first: wiped)
        let content = bytes.exposeBytes()
        #expect(content == Array(repeating: 0, count: wiped) + Array(repeating: 9, count: count - wiped))
    }

    @Test func `take over exactly what they are given`() throws {
        let source = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let bytes = try SecretBytes(source)
        let content = bytes.exposeBytes()
        #expect(content == source)
        let last = bytes.withBytes { $0.unsafeLoad(fromByteOffset: $0.byteCount - 1, as: UInt8.self) }
        #expect(last == source.last)
    }

    @Test(
        arguments: [
            ([], [], true), ([1], [1], true), ([1, 2, 3], [1, 2, 3], true), ([1], [], false), ([], [1], false),
            ([1, 2, 3], [1, 2, 4], false), ([0, 2, 3], [1, 2, 3], false), ([1, 2], [1, 2, 0], false),
        ] as [([UInt8], [UInt8], Bool)]
    )
    func `are equal when count and content are`(one: [UInt8], other: [UInt8], expected: Bool) throws {
        let first = try SecretBytes(one)
        let second = try SecretBytes(other)
        let isEqual = first.isEqual(to: second)
        #expect(isEqual == expected)
        let isEqualBackwards = second.isEqual(to: first)
        #expect(isEqualBackwards == expected)
    }

    @Test func `differ when one bit does, whichever it is`() throws {
        let content = (0..<40).map { UInt8($0) }
        let bytes = try SecretBytes(content)
        for bit in 0..<(content.count * 8) {
            var changed = content
            changed[bit / 8] ^= 1 << (bit % 8)
            let other = try SecretBytes(changed)
            let isEqual = bytes.isEqual(to: other)
            #expect(!isEqual, "bit \(bit)")
        }
    }

    @Test(arguments: [0, 5, 5000])
    func `have duplicates of their own`(count: Int) throws {
        var original = try SecretBytes(Array(repeating: 1, count: count))
        var copy = try original.duplicate()
        #expect(copy.count == count)
        let (one, other) = (original.address, copy.address)
        #expect(one != other)
        copy.fill(with: 2)
        original.truncate(to: count / 2)
        let left = original.exposeBytes()
        #expect(left == Array(repeating: 1, count: count / 2))
        let copied = copy.exposeBytes()
        #expect(copied == Array(repeating: 2, count: count))
    }

    @Test func `may be none`() throws {
        var bytes = try SecretBytes(zeros: 0)
        bytes.truncate(to: 0)
        bytes.wipe(first: 0)
        #expect(bytes.count == 0)
        let content = bytes.exposeBytes()
        #expect(content.isEmpty)
        let span = bytes.withBytes { $0.byteCount }
        #expect(span == 0)
    }

    @Test func `are counted, present or not`() throws {
        let none: SecretBytes? = nil
        #expect(none.byteCount == 0)
        let some: SecretBytes? = try SecretBytes(zeros: 7)
        #expect(some.byteCount == 7)
    }

    @Test func `are random where that is asked for`() throws {
        var seen: Set<[UInt8]> = []
        for _ in 0..<200 {
            let bytes = try SecretBytes(random: 16)
            seen.insert(bytes.exposeBytes())
        }
        #expect(seen.count == 200)
    }

    @Test func `can't be cut to more than they are`() async {
        await #expect(processExitsWith: .failure) {
            var bytes = try SecretBytes(zeros: 3)
            bytes.truncate(to: 4)
        }
    }

    @Test func `can't be read past their end where a region is their own`() async {
        await #expect(processExitsWith: .failure) {
            var bytes = try SecretBytes(zeros: 5000)
            let place = bytes.address
            _ = memory(at: place, count: 5001)
        }
    }

    @Test func `can be read to their end, where the guard page begins`() async {
        await #expect(processExitsWith: .success) {
            var bytes = try SecretBytes(zeros: 5000)
            let place = bytes.address
            _ = memory(at: place, count: 5000)
        }
    }
}

@Suite struct `A symmetric key` {
    @Test(arguments: [0, 16, 31, 33, 64])
    func `has 32 bytes and no other number`(count: Int) throws {
        let key = SymmetricKey(try SecretBytes(zeros: count))
        let isNone = key == nil
        #expect(isNone)
    }

    @Test func `keeps the bytes it is given`() throws {
        let content = (0..<32).map { UInt8($0) }
        guard let key = SymmetricKey(try SecretBytes(content)) else {
            Issue.record("32 bytes are a key")
            return
        }
        let bytes = key.bytes.exposeBytes()
        #expect(bytes == content)
    }

    @Test func `is a new one each time`() throws {
        let one = try SymmetricKey()
        let other = try SymmetricKey()
        let isEqual = one.bytes.isEqual(to: other.bytes)
        #expect(!isEqual)
    }
}
