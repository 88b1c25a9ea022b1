internal import CofferClient
internal import CofferSecretFormats

/// A text with backslashes before or in place of some characters: JSON, the literals of most languages, and what shells
/// write for a word with `\`, `"` or `$'`.
enum EscapedText {
    /// What comes next in a text.
    private enum Piece {
        /// A byte of the text, and how many bytes stand for it.
        case byte(UInt8, count: Int)
        /// A character, and how many bytes stand for it.
        case scalar(Unicode.Scalar, count: Int)
        /// The text ends before that is known.
        case cut
        case malformed
    }

    /// Whether a text has bytes that may be written with a backslash.
    static func canDiffer(_ text: Secret) -> Bool {
        text.withBytes { bytes in (0..<bytes.byteCount).contains { !bytes.byte(at: $0).isLetterOrDigit } }
    }

    /// Compares the bytes from a place on with a text.
    static func match(_ wanted: RawSpan, _ bytes: RawSpan, _ start: Int) -> MaskPattern.Match {
        var (index, place) = (0, start)
        while index < wanted.byteCount {
            let expected = wanted.byte(at: index)
            switch piece(of: bytes, at: place) {
            case .cut: return .open
            case .malformed: return .none
            case .byte(let byte, let count):
                guard byte == expected else { return .none }
                (index, place) = (index + 1, place + count)
            case .scalar(let scalar, let count):
                let encoded = UTF8.encode(scalar).map(Array.init) ?? []
                if wanted.has(encoded, atPlace: index) {
                    index += encoded.count
                } else if scalar.value < 256, UInt8(scalar.value) == expected {
                    // It stands for a byte of a longer character.
                    index += 1
                } else {
                    return .none
                }
                place += count
            }
        }
        return MaskPattern.Match(end: place)
    }

    private static func piece(of bytes: RawSpan, at place: Int) -> Piece {
        guard place < bytes.byteCount else { return .cut }
        guard bytes.byte(at: place) == .backslash else { return .byte(bytes.byte(at: place), count: 1) }
        guard place + 1 < bytes.byteCount else { return .cut }
        let next = bytes.byte(at: place + 1)
        switch next {
        case UInt8(ascii: "u"): return character(bytes, place)
        case UInt8(ascii: "x"): return number(bytes, place + 2, digits: 2, base: 16).map { piece($0, count: 4) } ?? .cut
        case UInt8(ascii: "0")...UInt8(ascii: "3"):
            return number(bytes, place + 1, digits: 3, base: 8).map { piece($0, count: 4) } ?? .cut
        default:
            if let control = controls[next] { return .byte(control, count: 2) }
            return next.isLetterOrDigit ? .malformed : .byte(next, count: 2)
        }
    }

    private static let controls: [UInt8: UInt8] = [
        UInt8(ascii: "a"): 7, UInt8(ascii: "b"): 8, UInt8(ascii: "t"): 9, UInt8(ascii: "n"): 10,
        UInt8(ascii: "v"): 11, UInt8(ascii: "f"): 12, UInt8(ascii: "r"): 13, UInt8(ascii: "e"): 27,
        UInt8(ascii: "E"): 27,
    ]

    private static func piece(_ value: UInt32, count: Int) -> Piece {
        Unicode.Scalar(value).map { .scalar($0, count: count) } ?? .malformed
    }

    /// `\uXXXX`, or two of them for a character beyond the first 65536.
    private static func character(_ bytes: RawSpan, _ place: Int) -> Piece {
        guard let first = number(bytes, place + 2, digits: 4, base: 16) else { return .cut }
        guard 0xD800..<0xDC00 ~= first else { return piece(first, count: 6) }
        guard place + 12 <= bytes.byteCount else { return .cut }
        guard let second = number(bytes, place + 8, digits: 4, base: 16), 0xDC00..<0xE000 ~= second else {
            return .malformed
        }
        return piece(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00), count: 12)
    }

    /// Some digits, whose value is too large for a character if one of them is none; `nil` if the text ends before.
    private static func number(_ bytes: RawSpan, _ place: Int, digits: Int, base: UInt32) -> UInt32? {
        guard place + digits <= bytes.byteCount else { return nil }
        return (place..<place + digits).reduce(0) { value, index in
            guard let digit = bytes.byte(at: index).hexadecimalDigit, digit < base, value <= 0x10FFFF else {
                return .max
            }
            return value * base + UInt32(digit)
        }
    }
}

extension RawSpan {
    /// Whether some bytes are at a place, which may be the end.
    func has(_ expected: some Collection<UInt8>, atPlace place: Int) -> Bool {
        place + expected.count <= byteCount && has(expected, at: place..<(place + expected.count))
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
