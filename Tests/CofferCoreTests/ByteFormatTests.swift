import CofferCore
import Testing

@Suite struct ByteFormatTests {
    private static let sample: [UInt8] = {
        var writer = ByteWriter()
        writer.write(UInt8(0xAB))
        writer.write(UInt16(0x0102))
        writer.write(UInt32(0xDEAD_BEEF))
        writer.write(UInt64(0x0102_0304_0506_0708))
        writer.write(Int64(-2))
        writer.write(counted: Array("ключ".utf8))
        writer.write(counted: [UInt8]())
        writer.write(raw: [1, 2, 3])
        return writer.bytes
    }()

    private struct Sample: Equatable {
        var byte: UInt8
        var short: UInt16
        var word: UInt32
        var long: UInt64
        var signed: Int64
        var text: String
        var empty: [UInt8]
        var raw: [UInt8]

        init(_ bytes: [UInt8]) throws(ByteReader.Malformed) {
            var reader = ByteReader(bytes)
            byte = try reader.read()
            short = try reader.read()
            word = try reader.read()
            long = try reader.read()
            signed = try reader.read()
            text = try reader.readText()
            empty = Array(try reader.readCounted())
            raw = Array(try reader.readRaw(3))
            guard reader.isAtEnd else { throw ByteReader.Malformed() }
        }
    }

    @Test func `the most significant byte comes first`() {
        #expect(
            Self.sample == [
                0xAB, 1, 2, 0xDE, 0xAD, 0xBE, 0xEF, 1, 2, 3, 4, 5, 6, 7, 8, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                0xFE,
                0, 8, 0xD0, 0xBA, 0xD0, 0xBB, 0xD1, 0x8E, 0xD1, 0x87, 0, 0, 1, 2, 3,
            ]
        )
    }

    @Test func `what was written is read`() throws {
        let sample = try Sample(Self.sample)
        #expect(sample.byte == 0xAB)
        #expect(sample.short == 0x0102)
        #expect(sample.word == 0xDEAD_BEEF)
        #expect(sample.long == 0x0102_0304_0506_0708)
        #expect(sample.signed == -2)
        #expect(sample.text == "ключ")
        #expect(sample.empty.isEmpty)
        #expect(sample.raw == [1, 2, 3])
    }

    @Test(arguments: 0..<38)
    func `an input cut at any byte is malformed`(count: Int) {
        #expect(Self.sample.count == 38)
        #expect(throws: ByteReader.Malformed.self) { try Sample(Array(Self.sample.prefix(count))) }
    }

    @Test func `an input with a byte too many is noticed`() {
        #expect(throws: ByteReader.Malformed.self) { try Sample(Self.sample + [0]) }
    }

    @Test(arguments: [Int64.min, -1, 0, 1, .max])
    func `signed integers survive`(value: Int64) throws {
        var writer = ByteWriter()
        writer.write(value)
        writer.write(Int8(truncatingIfNeeded: value))
        var reader = ByteReader(writer.bytes)
        #expect(try reader.read(Int64.self) == value)
        #expect(try reader.read(Int8.self) == Int8(truncatingIfNeeded: value))
        #expect(reader.isAtEnd)
    }

    @Test(arguments: [0, 1, 65534, 65535])
    func `a counted field has up to 65535 bytes`(count: Int) throws {
        let field = [UInt8](repeating: 7, count: count)
        var writer = ByteWriter()
        writer.write(counted: field)
        var reader = ByteReader(writer.bytes)
        #expect(try reader.readCounted() == field[...])
        #expect(reader.isAtEnd)
    }

    @Test func `a counted field of 65536 bytes is a fault of the program`() async {
        await #expect(processExitsWith: .failure) {
            var writer = ByteWriter()
            writer.write(counted: [UInt8](repeating: 0, count: 65536))
        }
    }

    @Test func `a failed read takes nothing`() throws {
        var reader = ByteReader([1, 2, 3])
        #expect(throws: ByteReader.Malformed.self) { try reader.read(UInt32.self) }
        #expect(throws: ByteReader.Malformed.self) { try reader.readRaw(4) }
        #expect(throws: ByteReader.Malformed.self) { try reader.readRaw(-1) }
        #expect(throws: ByteReader.Malformed.self) { try reader.readRaw(.max) }
        #expect(try reader.readRaw(3) == [1, 2, 3])
        #expect(reader.isAtEnd)
        #expect(try reader.readRaw(0).isEmpty)
    }

    @Test(arguments: [[0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80]] as [[UInt8]])
    func `text that is not UTF-8 is malformed`(bytes: [UInt8]) {
        var writer = ByteWriter()
        writer.write(counted: bytes)
        var reader = ByteReader(writer.bytes)
        #expect(throws: ByteReader.Malformed.self) { try reader.readText() }
    }
}
