import CofferCore
import CofferFiles
import Testing

@Suite struct `The metadata of a node` {
    /// As `proto-docs/FORMATS.md` has it, byte for byte.
    private static let written: [UInt8] =
        [1, 0, 2] + Array("me".utf8) + [0, 3] + Array("é_".utf8) + [0, 5] + Array("image".utf8)
        + [0, 0, 0, 1, 0, 0, 0, 2]  // bytes
        + [0, 0, 0, 0, 0, 0, 1, 0]  // created
        + [0, 0, 0, 0, 0x0f, 0x51, 0x82, 0x40]  // modified, in nanoseconds
        + [0, 0, 0, 0, 0, 0, 0, 9]  // base
        + [0, 0, 0, 0, 0, 0, 0, 7]  // of it visible
        + (1...16)  // tag of the chunks
        + [1, 3]  // flags, default class
        + [0, 2] + Array("R5".utf8)  // decision
        + [255, 255, 255, 255, 255, 255, 255, 255]  // accessed
        + [0, 0, 0, 0, 0, 0, 0, 5]  // changed
        + [0x0d, 0xed, 0, 0, 3, 232, 255, 255, 255, 255]  // mode, owner, no group
        + [0, 3] + Array("a/b".utf8)  // target
        + [0, 1, 0, 6] + Array("user.x".utf8) + [0, 0, 0, 2, 0, 9]  // an extended attribute

    private static func sample() -> NodeMetadata {
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
        metadata.layout.baseByteCount = 9
        metadata.layout.visibleBaseBytes = 7
        metadata.layout.chunksTag = Array(1...16)
        metadata.decision = "R5"
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
        #expect(Self.current.encoded == Self.written)
        #expect(try NodeMetadata(decoding: Self.written) == Self.current)
    }

    @Test func `ends with the last change of the log, if there was one`() throws {
        var metadata = Self.current
        metadata.layout.lastChange = ChangeNumber(boot: 1, number: 0x102)
        let end: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 2]
        #expect(metadata.encoded == Self.written + end)
        #expect(try NodeMetadata(decoding: Self.written + end) == metadata)
        for count in end.indices.dropFirst() {
            #expect(throws: ByteReader.Malformed.self) { try NodeMetadata(decoding: Self.written + end[..<count]) }
        }
    }

    @Test func `has whole milliseconds before 1970 as well`() {
        #expect(NodeTimes(accessed: 0, modified: -1, changed: 0).modifiedMilliseconds == -1)
        #expect(NodeTimes(accessed: 0, modified: -1_000_000, changed: 0).modifiedMilliseconds == -1)
        #expect(NodeTimes(accessed: 0, modified: 1_999_999, changed: 0).modifiedMilliseconds == 1)
    }

    @Test(arguments: [[0x10, 0], [0xff, 0xfe]] as [[UInt8]])
    func `is refused with a mode that has other bits than those of POSIX`(mode: [UInt8]) {
        var sample = Self.written
        sample.replaceSubrange((sample.count - 31)..<(sample.count - 29), with: mode)
        #expect(throws: ByteReader.Malformed.self) { try NodeMetadata(decoding: sample) }
    }

    @Test func `is refused with extended attributes that are not in order, or twice there`() throws {
        let one: [UInt8] = [0, 1, 98, 0, 0, 0, 0]
        for names in [one + one, one + [0, 1, 97, 0, 0, 0, 0]] {
            let sample = Array(Self.written[..<(Self.written.count - 16)]) + [0, 2] + names
            #expect(throws: ByteReader.Malformed.self) { try NodeMetadata(decoding: sample) }
        }
    }

    @Test(arguments: ProtectionClass.allCases.map(Optional.some) + [nil])
    func `keeps every default class`(protectionClass: ProtectionClass?) throws {
        let directory = NodeMetadata(group: "", name: "d", created: 1, modified: 2, defaultClass: protectionClass)
        #expect(try NodeMetadata(decoding: directory.encoded) == directory)
    }

    @Test func `is refused where it is cut anywhere, or goes on`() {
        for count in Self.written.indices {
            #expect(throws: ByteReader.Malformed.self) { try NodeMetadata(decoding: Array(Self.written[..<count])) }
        }
        #expect(throws: ByteReader.Malformed.self) { try NodeMetadata(decoding: Self.written + [0]) }
    }

    /// Each is a position from the end of the default class, and what stands there.
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
        var sample = Self.written
        let start = 75 - fromEnd
        sample.replaceSubrange(start..<start + bytes.count, with: bytes)
        #expect(throws: ByteReader.Malformed.self) { try NodeMetadata(decoding: sample) }
    }

    @Test(arguments: [0, 2, 255] as [UInt8])
    func `is refused in an unknown version`(version: UInt8) {
        #expect(throws: ByteReader.Malformed.self) {
            try NodeMetadata(decoding: [version] + Self.written.dropFirst())
        }
    }
}
