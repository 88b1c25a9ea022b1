import CofferMemory
import Testing

@Suite struct Base64Tests {
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `the vectors of RFC 4648 hold both ways`(bytes: String, text: String) {
        #expect(Base64.encode(Array(bytes.utf8)) == text)
        #expect(Base64.decode(text) == Array(bytes.utf8))
    }

    @Test func `every symbol of the alphabet is read and written`() {
        let text = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        #expect(Base64.decode(text).map(Base64.encode) == text)
    }

    @Test func `what was written is read, whatever it was`() {
        var random = SeededGenerator(seed: 4648)
        for count in 0..<200 {
            let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        }
    }

    @Test(arguments: [
        "Z", "Zg", "Zg=", "Zg===", "Zm9vYg=", "Zm9v=", "=", "==", "====", "Z===", "Zg==Zg==", "Zm=v", "Zm9v\n", " Zm9v",
        "Zm 9v", "Zm9-", "Zm9_", "Zm9é", "Zm9\u{0}",
    ])
    func `another form is refused`(text: String) { #expect(Base64.decode(text) == nil) }

    @Test(arguments: ["Zh==", "Zm9=", "//==", "///="])
    func `bits that mean nothing are refused`(text: String) { #expect(Base64.decode(text) == nil) }

    @Test func `secret bytes have the same text, and are decoded into secret bytes`() throws {
        for count in 0..<200 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 73) }
            let text = try Base64.encode(bytes.span.bytes)
            let isSame = text.withBytes { $0.withUnsafeBytes { Array($0) } } == Array(Base64.encode(bytes).utf8)
            #expect(isSame)
            let decoded = try text.withBytes { text throws in try Base64.decode(text) }
            let isWhole = try decoded.isEqual(to: SecretBytes(bytes))
            #expect(isWhole)
        }
    }

    @Test(arguments: [
        ("Zm9v!m9v", 4), ("Zg=v", 3), ("Z", 1), ("Zm9", 3), ("Zg==Zg==", 4), ("Zh==", 2), ("\u{0}AAA", 0),
    ])
    func `a secret text in another form is refused, with the place`(text: String, place: Int) {
        #expect(throws: Base64.DecodingError.malformed(place: place)) {
            _ = try Base64.decode(Array(text.utf8).span.bytes)
        }
    }
}
