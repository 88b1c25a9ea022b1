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

    @Test func `is written as the page has it, and read back`() throws {
        #expect(Self.sample().encoded == Self.version3)
        #expect(try NodeMetadata(decoding: Self.version3) == Self.sample())
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
        #expect(read.encoded.first == 3)
        #expect(try NodeMetadata(decoding: read.encoded) == read)
    }

    @Test(arguments: ProtectionClass.allCases.map(Optional.some) + [nil])
    func `keeps every default class`(protectionClass: ProtectionClass?) throws {
        let directory = NodeMetadata(group: "", name: "d", created: 1, modified: 2, defaultClass: protectionClass)
        #expect(try NodeMetadata(decoding: directory.encoded) == directory)
    }

    @Test func `is refused where it is cut anywhere, or goes on`() {
        for sample in [Self.version1, Self.version2, Self.version3] {
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

    @Test(arguments: [0, 4, 255] as [UInt8])
    func `is refused in an unknown version`(version: UInt8) {
        #expect(throws: ByteReader.Malformed.self) {
            try NodeMetadata(decoding: [version] + Self.version2.dropFirst())
        }
    }
}
