import CofferCore
import CofferFiles
import Testing

@Suite struct `The metadata of a node` {
    /// As `proto-docs/FORMATS.md` has it, byte for byte.
    private static let version2: [UInt8] =
        [2, 0, 2] + Array("me".utf8) + [0, 3] + Array("é_".utf8) + [0, 5] + Array("image".utf8)
        + [0, 0, 0, 1, 0, 0, 0, 2]  // bytes
        + [0, 0, 0, 0, 0, 0, 1, 0]  // created
        + [0, 0, 0, 0, 0, 0, 1, 1]  // modified
        + [0, 0, 0, 0, 0, 0, 0, 9]  // base
        + [0, 0, 0, 0, 0, 0, 0, 7]  // of it visible
        + (1...16)  // tag of the chunks
        + [1, 3]  // flags, default class
    private static let version3: [UInt8] =
        [3] + version2.dropFirst() + [0, 2] + Array("R5".utf8)  // decision
        + [0, 0, 0, 3, 7, 8, 9]  // kept item
    private static let version4: [UInt8] =
        [4] + version3.dropFirst().prefix(32) + [0, 0, 0, 0, 0x0f, 0x51, 0x82, 0x40]  // modified, in nanoseconds
        + version3.dropFirst(41) + [255, 255, 255, 255, 255, 255, 255, 255]  // accessed
        + [0, 0, 0, 0, 0, 0, 0, 5]  // changed
        + [0x0d, 0xed, 0, 0, 3, 232, 255, 255, 255, 255]  // mode, owner, no group
        + [0, 3] + Array("a/b".utf8)  // target
        + [0, 1, 0, 6] + Array("user.x".utf8) + [0, 0, 0, 2, 0, 9]  // an extended attribute
    private static let version1: [UInt8] =
        [1, 0, 2] + Array("me".utf8) + [0, 3] + Array("é_".utf8) + [0, 0] + [0, 0, 0, 0, 0, 0, 0, 5]
        + [0, 0, 0, 0, 0, 0, 1, 0] + [0, 0, 0, 0, 0, 0, 1, 1]

    private static func sample(keeps: Bool = true) -> NodeMetadata {
        var metadata = NodeMetadata(
            group: "me",
            name: "é_",
            kind: .image,
            byteCount: 0x1_0000_0002,
            created: 256,
            modified: 257,
            flags: .stays,
            defaultClass: .completeUntilFirstUserAuthentication
        )
        metadata.baseByteCount = 9
        metadata.visibleBaseBytes = 7
        metadata.chunksTag = Array(1...16)
        if keeps { (metadata.decision, metadata.keptItem) = ("R5", [7, 8, 9]) }
        return metadata
    }

    private static var current: NodeMetadata {
        var metadata = sample()
        metadata.times = NodeTimes(accessed: -1, modified: 257_000_000, changed: 5)
        metadata.ownership = Ownership(mode: 0o6755, uid: 1000)
        metadata.target = "a/b"
        metadata.extended["user.x"] = [0, 9]
        return metadata
    }

    @Test func `is written as the page has it, and read back`() throws {
        #expect(Self.current.encoded == Self.version4)
        #expect(try NodeMetadata(decoding: Self.version4) == Self.current)
    }

    @Test func `of version 3 has its date for all times, and neither a mode nor an owner`() throws {
        let read = try NodeMetadata(decoding: Self.version3)
        #expect(read == Self.sample())
        #expect(read.modified == 257)
        #expect(read.times == NodeTimes(accessed: 257_000_000, modified: 257_000_000, changed: 257_000_000))
        #expect(read.ownership == Ownership())
    }

    @Test(arguments: [(Int64.max, Int64.max), (.min, .min), (-1, -1_000_000)])
    func `takes the nearest time for a date that nanoseconds can't represent`(date: Int64, time: Int64) throws {
        var bytes = Self.version3
        bytes.replaceSubrange(33..<41, with: (0..<8).map { UInt8(truncatingIfNeeded: date >> (56 - 8 * $0)) })
        #expect(try NodeMetadata(decoding: bytes).times.modified == time)
    }

    @Test func `has whole milliseconds before 1970 as well`() {
        #expect(NodeTimes(accessed: 0, modified: -1, changed: 0).modifiedMilliseconds == -1)
        #expect(NodeTimes(accessed: 0, modified: -1_000_000, changed: 0).modifiedMilliseconds == -1)
        #expect(NodeTimes(accessed: 0, modified: 1_999_999, changed: 0).modifiedMilliseconds == 1)
    }

    @Test(arguments: [[0x10, 0], [0xff, 0xfe]] as [[UInt8]])
    func `is refused with a mode that has other bits than those of POSIX`(mode: [UInt8]) {
        var sample = Self.version4
        sample.replaceSubrange((sample.count - 31)..<(sample.count - 29), with: mode)
        #expect(throws: ByteReader.Malformed.self) { try NodeMetadata(decoding: sample) }
    }

    @Test func `is refused with extended attributes that are not in order, or twice there`() throws {
        let one: [UInt8] = [0, 1, 98, 0, 0, 0, 0]
        for names in [one + one, one + [0, 1, 97, 0, 0, 0, 0]] {
            let sample = Array(Self.version4[..<(Self.version4.count - 16)]) + [0, 2] + names
            #expect(throws: ByteReader.Malformed.self) { try NodeMetadata(decoding: sample) }
        }
    }

    @Test func `of version 2 keeps nothing of a put`() throws {
        #expect(try NodeMetadata(decoding: Self.version2) == Self.sample(keeps: false))
    }

    @Test func `of version 1 is that of a content in one piece`() throws {
        let read = try NodeMetadata(decoding: Self.version1)
        #expect(read == NodeMetadata(group: "me", name: "é_", byteCount: 5, created: 256, modified: 257))
        #expect(read.baseByteCount == 5)
        #expect(read.visibleBaseBytes == 5)
        #expect(read.chunksTag == [UInt8](repeating: 0, count: 16))
        #expect(read.flags == [])
        #expect(read.defaultClass == nil)
        #expect(read.encoded.first == 4)
        #expect(try NodeMetadata(decoding: read.encoded) == read)
    }

    @Test(arguments: ProtectionClass.allCases.map(Optional.some) + [nil])
    func `keeps every default class`(protectionClass: ProtectionClass?) throws {
        let directory = NodeMetadata(group: "", name: "d", created: 1, modified: 2, defaultClass: protectionClass)
        #expect(try NodeMetadata(decoding: directory.encoded) == directory)
    }

    @Test func `is refused where it is cut anywhere, or goes on`() {
        for sample in [Self.version1, Self.version2, Self.version3, Self.version4] {
            for count in sample.indices {
                #expect(throws: ByteReader.Malformed.self) { try NodeMetadata(decoding: Array(sample[..<count])) }
            }
            #expect(throws: ByteReader.Malformed.self) { try NodeMetadata(decoding: sample + [0]) }
        }
    }

    /// Each is a position from the end of version 2, and what stands there.
    @Test(
        arguments: [
            (1, [6]), (1, [16]), (1, [255]),  // a default class that is none
            (2, [8]), (2, [129]),  // flags that have no meaning
            (26, [0, 0, 0, 0, 0, 0, 0, 10]), (26, [255, 0, 0, 0, 0, 0, 0, 0]),  // more is visible than there is
            (34, [128, 0, 0, 0, 0, 0, 0, 9]), (34, [0, 0, 1, 0, 0, 0, 0, 1]),  // the base is too large
            (58, [128, 0, 0, 0, 0, 0, 0, 0]), (58, [0, 0, 1, 0, 0, 0, 0, 1]),  // the file is too large
        ] as [(Int, [UInt8])]
    )
    func `is refused with a value that can't be`(fromEnd: Int, bytes: [UInt8]) {
        var sample = Self.version2
        let start = sample.count - fromEnd
        sample.replaceSubrange(start..<start + bytes.count, with: bytes)
        #expect(throws: ByteReader.Malformed.self) { try NodeMetadata(decoding: sample) }
    }

    @Test(arguments: [0, 5, 255] as [UInt8])
    func `is refused in an unknown version`(version: UInt8) {
        #expect(throws: ByteReader.Malformed.self) {
            try NodeMetadata(decoding: [version] + Self.version2.dropFirst())
        }
    }
}
