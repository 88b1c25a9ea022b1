import CofferCore
import Testing

/// Comparing texts as bytes, eight at a time.
@Suite struct ComparedAsBytesTests {
    /// Texts of each length around the eights, and each with one byte that is another.
    private static let texts: [String] = [0, 1, 7, 8, 9, 15, 16, 17].flatMap { count -> [String] in
        let same = String(repeating: "a", count: count)
        return [same]
            + (0..<count).map { place in
                var bytes = Array(same.utf8)
                bytes[place] = place.isMultiple(of: 2) ? UInt8(ascii: "A") : UInt8(ascii: "z")
                return String(decoding: bytes, as: UTF8.self)
            }
    }

    @Test func `texts are the same if all of their bytes are`() {
        for one in Self.texts {
            for other in Self.texts { #expect(one.hasSameBytes(as: other) == one.utf8.elementsEqual(other.utf8)) }
        }
    }

    @Test func `texts are in the order of their first bytes that differ`() {
        for one in Self.texts {
            for other in Self.texts {
                #expect(one.precedes(bytesOf: other) == one.utf8.lexicographicallyPrecedes(other.utf8))
            }
        }
    }

    @Test(arguments: [("é", "e\u{301}"), ("a\u{327}\u{301}", "a\u{301}\u{327}")])
    func `texts that Unicode equates are not the same`(one: String, other: String) {
        #expect(one == other && !one.hasSameBytes(as: other))
        #expect(one.precedes(bytesOf: other) != other.precedes(bytesOf: one))
    }

    @Test(arguments: [("", nil), ("/", 0), ("a", nil), ("a/b/c", 3), ("é/", 2)] as [(String, Int?)])
    func `the last of some bytes is found by its offset`(text: String, offset: Int?) {
        #expect(text.lastOffset(ofByte: UInt8(ascii: "/")) == offset)
    }
}
