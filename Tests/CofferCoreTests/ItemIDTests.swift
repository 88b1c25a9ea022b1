import CofferCore
import Testing

@Suite struct ItemIDTests {
    private static let bytes = (0..<16).map { UInt8($0 * 17) }

    @Test func `an identifier keeps its bytes`() throws {
        let id = try #require(ItemID(Self.bytes))
        #expect(id.bytes == Self.bytes)
        #expect(id.hexadecimal == "00112233445566778899aabbccddeeff")
    }

    @Test(arguments: [0, 1, 15, 17, 32])
    func `another number of bytes is no identifier`(count: Int) {
        #expect(ItemID([UInt8](repeating: 1, count: count)) == nil)
    }

    @Test func `a slice whose indices do not begin at zero is read right`() throws {
        let id = try #require(ItemID(([9, 9] + Self.bytes)[2...]))
        #expect(id.bytes == Self.bytes)
    }

    @Test func `new identifiers are all different`() {
        let ids = Set((0..<1000).map { _ in ItemID() })
        #expect(ids.count == 1000)
        #expect(ids.allSatisfy { ItemID($0.bytes) == $0 })
    }

    @Test(arguments: 0..<16)
    func `identifiers differ where any byte does`(index: Int) throws {
        var other = Self.bytes
        other[index] ^= 1
        #expect(ItemID(other) != ItemID(Self.bytes))
    }

    @Test func `hexadecimal digits are lower case, two a byte`() {
        #expect(hexadecimal([UInt8]()).isEmpty)
        #expect(hexadecimal([0, 0x0F, 0xA0, 0xFF]) == "000fa0ff")
    }
}
