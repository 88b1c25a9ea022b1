internal import CofferClient
internal import CofferSecretFormats
internal import CofferMemory

/// One way in which a program may print a secret.
package struct MaskPattern {
    /// How the secret is written.
    enum Form: CaseIterable {
        /// Byte for byte.
        case plain
        /// With `%XX` for some of its bytes, or `+` for a space.
        case urlEncoded
        /// As ``EscapedText`` has it.
        case escaped
        /// As ``SingleQuotedText`` has it.
        case singleQuoted
        /// The characters of base64 that the secret alone determines, at one of three offsets in what is encoded.
        ///
        /// Both alphabets are the same, and so are lines that end between characters.
        case base64
    }

    /// What the bytes from some place on are.
    struct Match {
        /// The end of the secret, if they are it.
        var end: Int?
        /// Whether further bytes may make them the secret, or a longer part of it.
        var isOpen = false

        static let none = Match()
        static let open = Match(isOpen: true)
    }

    private let form: Form
    /// The secret, or its characters.
    private let text: Secret
    /// Whether the character behind the text has bits of the secret.
    private let hasTail: Bool

    /// The patterns of a secret.
    static func all(of secret: Secret) throws(CofferError) -> [MaskPattern] {
        var patterns = [
            MaskPattern(form: .plain, text: secret, hasTail: false),
            MaskPattern(form: .urlEncoded, text: secret, hasTail: false),
        ]
        if EscapedText.canDiffer(secret) { patterns.append(MaskPattern(form: .escaped, text: secret, hasTail: false)) }
        if SingleQuotedText.canDiffer(secret) {
            patterns.append(MaskPattern(form: .singleQuoted, text: secret, hasTail: false))
        }
        // `echo` adds a line end before base64 encodes it, and the last characters would say so of the secret.
        for text in [secret] + (try ["\n", "\r\n"].map { (end) throws(CofferError) in try ended(secret, end) }) {
            for offset in 0..<3 {
                let hasTail = !((offset + text.count) * 8).isMultiple(of: 6)
                patterns.append(MaskPattern(form: .base64, text: try base64(text, offset), hasTail: hasTail))
            }
        }
        return patterns
    }

    private static func ended(_ secret: Secret, _ end: String) throws(CofferError) -> Secret {
        try Secret(capacity: secret.count + end.utf8.count) { (output) throws(CofferError) in
            secret.withBytes { output.append($0) }
            output.append(Array(end.utf8))
        }
    }

    /// The characters of base64 behind some unknown bytes that no unknown bit has a part in.
    private static func base64(_ secret: Secret, _ offset: Int) throws(CofferError) -> Secret {
        try secret.withBytes { (bytes) throws(CofferError) in
            try Secret(capacity: 2 * bytes.byteCount + 4) { (output) throws(CofferError) in
                // Of 8 or 16 unknown bits, the first two or three characters have some.
                let first = (offset * 8 + 5) / 6
                for index in first..<((offset + bytes.byteCount) * 8 / 6) {
                    var value: UInt8 = 0
                    for bit in (index * 6 - offset * 8)..<(index * 6 - offset * 8 + 6) {
                        value = value << 1 | bytes.byte(at: bit / 8) >> UInt8(7 - bit % 8) & 1
                    }
                    output.append(base64Character(value))
                }
            }
        }
    }

    private static func base64Character(_ value: UInt8) -> UInt8 {
        switch value {
        case 0..<26: UInt8(ascii: "A") + value
        case 26..<52: UInt8(ascii: "a") + value - 26
        case 52..<62: UInt8(ascii: "0") + value - 52
        case 62: UInt8(ascii: "+")
        default: UInt8(ascii: "/")
        }
    }

    /// How many bytes it has, as far as they are written as they are.
    var byteCount: Int { text.count }

    /// The bytes with which it may begin.
    var firstBytes: [UInt8] {
        let first = text.withBytes { $0.byte(at: 0) }
        switch form {
        case .plain, .singleQuoted: return [first]
        case .escaped: return [first, .backslash]
        case .urlEncoded: return [first, .percent] + (first == .space ? [.plus] : [])
        case .base64: return [first] + (first == .plus ? [.minus] : first == .slash ? [.underscore] : [])
        }
    }

    /// Compares the bytes from a place on.
    func match(_ bytes: RawSpan, at place: Int) -> Match {
        text.withBytes { wanted in
            switch form {
            case .plain: Self.plain(wanted, bytes, place)
            case .urlEncoded: Self.urlEncoded(wanted, bytes, place)
            case .escaped: EscapedText.match(wanted, bytes, place)
            case .singleQuoted: SingleQuotedText.match(wanted, bytes, place)
            case .base64: base64(wanted, bytes, place)
            }
        }
    }

    private static func plain(_ wanted: RawSpan, _ bytes: RawSpan, _ start: Int) -> Match {
        for index in 0..<wanted.byteCount {
            guard start + index < bytes.byteCount else { return .open }
            guard bytes.byte(at: start + index) == wanted.byte(at: index) else { return .none }
        }
        return Match(end: start + wanted.byteCount)
    }

    private static func urlEncoded(_ wanted: RawSpan, _ bytes: RawSpan, _ start: Int) -> Match {
        var place = start
        for index in 0..<wanted.byteCount {
            guard place < bytes.byteCount else { return .open }
            let (byte, expected) = (bytes.byte(at: place), wanted.byte(at: index))
            if byte == .percent {
                for (digit, expected) in [expected >> 4, expected & 15].enumerated() {
                    guard place + 1 + digit < bytes.byteCount else { return .open }
                    guard bytes.byte(at: place + 1 + digit).hexadecimalDigit == expected else { return .none }
                }
                place += 3
            } else {
                guard byte == expected || byte == .plus && expected == .space else { return .none }
                place += 1
            }
        }
        return Match(end: place)
    }

    private func base64(_ wanted: RawSpan, _ bytes: RawSpan, _ start: Int) -> Match {
        var place = start
        for index in 0..<wanted.byteCount {
            if index > 0 {
                for end: UInt8 in [13, 10] where place < bytes.byteCount && bytes.byte(at: place) == end { place += 1 }
            }
            guard place < bytes.byteCount else { return .open }
            guard bytes.byte(at: place).inStandardAlphabet == wanted.byte(at: index) else { return .none }
            place += 1
        }
        guard hasTail else { return Match(end: place) }
        guard place < bytes.byteCount else { return Match(end: place, isOpen: true) }
        if bytes.byte(at: place).isBase64 { place += 1 }
        for _ in 0..<2 {
            guard place < bytes.byteCount else { return Match(end: place, isOpen: true) }
            if bytes.byte(at: place) == .equals { place += 1 }
        }
        return Match(end: place)
    }
}

extension UInt8 {
    fileprivate static let percent = UInt8(ascii: "%")
    fileprivate static let plus = UInt8(ascii: "+")
    fileprivate static let minus = UInt8(ascii: "-")
    fileprivate static let slash = UInt8(ascii: "/")
    fileprivate static let underscore = UInt8(ascii: "_")

    var hexadecimalDigit: UInt8? {
        Unicode.Scalar(self).hexadecimalValue.map { UInt8(truncatingIfNeeded: $0) }
    }
    fileprivate var inStandardAlphabet: UInt8 { self == .minus ? .plus : self == .underscore ? .slash : self }
    fileprivate var isBase64: Bool {
        switch inStandardAlphabet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), .plus, .slash:
            true
        default: false
        }
    }
}
