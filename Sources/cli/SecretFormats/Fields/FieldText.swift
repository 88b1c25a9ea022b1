internal import CofferClient

/// The spelling of the values of fields, in locked memory.
enum FieldText {
    // MARK: JSON

    /// The text of a string of JSON, without its quotes and escapes.
    static func unescapedJSON(_ raw: RawSpan, of name: String) throws(CofferError) -> Secret {
        try Secret(capacity: raw.byteCount) { (output) throws(CofferError) in
            var place = 1
            while place < raw.byteCount - 1 {
                let byte = raw.byte(at: place)
                place += 1
                guard byte == .backslash else {
                    output.append(byte)
                    continue
                }
                guard let scalar = raw.jsonEscape(at: &place, before: raw.byteCount - 1) else {
                    throw .unreadable(name, "it is not valid JSON")
                }
                for unit in UTF8.encode(scalar).map(Array.init) ?? [] { output.append(unit) }
            }
        }
    }

    /// The text as a string of JSON, with its quotes.
    static func escapedJSON(_ text: Secret) throws(CofferError) -> Secret {
        try text.withBytes { (bytes) throws(CofferError) in
            try Secret(capacity: 6 * bytes.byteCount + 2) { (output) throws(CofferError) in
                output.append(.quote)
                for place in 0..<bytes.byteCount {
                    let byte = bytes.byte(at: place)
                    switch byte {
                    case .quote, .backslash: output.append([.backslash, byte])
                    case 10: output.append([.backslash, UInt8(ascii: "n")])
                    case 9: output.append([.backslash, UInt8(ascii: "t")])
                    case 13: output.append([.backslash, UInt8(ascii: "r")])
                    case 0..<0x20, 0x7F: output.append(Array("\\u00".utf8) + [byte >> 4, byte & 15].map(\.digit))
                    default: output.append(byte)
                    }
                }
                output.append(.quote)
            }
        }
    }

    /// Whether the text is a number of JSON, `true`, `false` or `null`.
    static func isJSONLiteral(_ bytes: RawSpan) -> Bool {
        if ["true", "false", "null"].contains(where: { bytes.has($0.utf8, at: 0..<bytes.byteCount) }) { return true }
        var place = 0
        func digits() -> Int {
            let start = place
            while place < bytes.byteCount, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes.byte(at: place)) {
                place += 1
            }
            return place - start
        }
        func takes(_ choices: String) -> Bool {
            guard place < bytes.byteCount, choices.utf8.contains(bytes.byte(at: place)) else { return false }
            place += 1
            return true
        }
        _ = takes("-")
        let start = place
        let whole = digits()
        guard whole == 1 || whole > 1 && bytes.byte(at: start) != UInt8(ascii: "0") else { return false }
        if takes("."), digits() == 0 { return false }
        if takes("eE") {
            _ = takes("+-")
            if digits() == 0 { return false }
        }
        return place == bytes.byteCount
    }

    // MARK: Shell

    /// The value of an assignment, without its quotes and a comment behind it.
    static func unquoted(_ raw: RawSpan, of name: String) throws(CofferError) -> Secret {
        let range = try shellValue(raw, of: name)
        let quote = range.isEmpty ? 0 : raw.byte(at: 0)
        guard quote == .quote || quote == .apostrophe else { return try Secret(copying: raw.extracting(range)) }
        return try Secret(capacity: range.count) { (output) throws(CofferError) in
            var place = 1
            while place < range.upperBound - 1 {
                var byte = raw.byte(at: place)
                place += 1
                if byte == .backslash && quote == .quote {
                    byte = raw.byte(at: place)
                    place += 1
                    switch byte {
                    case UInt8(ascii: "n"): byte = 10
                    case UInt8(ascii: "t"): byte = 9
                    case UInt8(ascii: "r"): byte = 13
                    case .quote, .backslash, UInt8(ascii: "$"), UInt8(ascii: "`"): break
                    default: output.append(.backslash)
                    }
                }
                output.append(byte)
            }
        }
    }

    /// The place of the value with its quotes, without a comment behind it.
    static func shellValue(_ raw: RawSpan, of name: String) throws(CofferError) -> Range<Int> {
        let quote = raw.byteCount == 0 ? 0 : raw.byte(at: 0)
        guard quote == .quote || quote == .apostrophe else {
            var end = 0
            while end < raw.byteCount {
                let isComment = raw.byte(at: end) == UInt8(ascii: "#") && (end == 0 || raw.byte(at: end - 1).isSpace)
                if isComment { break }
                end += 1
            }
            return raw.trimmed(0..<end)
        }
        var place = 1
        while place < raw.byteCount {
            let byte = raw.byte(at: place)
            if byte == quote { return 0..<(place + 1) }
            place += byte == .backslash && quote == .quote ? 2 : 1
        }
        throw .unreadable(name, "its quotes do not end on its line")
    }

    /// The value as a shell reads it, in the quotes of the former one as far as possible.
    static func quoted(_ value: Secret, as former: UInt8?) throws(CofferError) -> Secret {
        try value.withBytes { (bytes) throws(CofferError) in
            let isPlain = (0..<bytes.byteCount).allSatisfy { bytes.byte(at: $0).isPlainInShell }
            let isLiteral = !bytes.contains([.apostrophe]) && !bytes.contains([10]) && !bytes.contains([13])
            if isPlain && former != .quote && former != .apostrophe { return value }
            let quote: UInt8 = isLiteral && (former == .apostrophe || former != .quote) ? .apostrophe : .quote
            return try Secret(capacity: 2 * bytes.byteCount + 2) { (output) throws(CofferError) in
                output.append(quote)
                for place in 0..<bytes.byteCount {
                    let byte = bytes.byte(at: place)
                    switch byte {
                    case 10 where quote == .quote: output.append([.backslash, UInt8(ascii: "n")])
                    case 13 where quote == .quote: output.append([.backslash, UInt8(ascii: "r")])
                    case .quote, .backslash, UInt8(ascii: "$"), UInt8(ascii: "`"):
                        if quote == .quote { output.append(.backslash) }
                        output.append(byte)
                    default: output.append(byte)
                    }
                }
                output.append(quote)
            }
        }
    }
}

extension CofferError {
    fileprivate static func unreadable(_ name: String, _ reason: String) -> CofferError {
        CofferError(.param, "can't read the field \(quotedForDisplay(name)): \(reason)")
    }
}

extension OutputRawSpan {
    package mutating func append(_ bytes: RawSpan) {
        for place in 0..<bytes.byteCount { append(bytes.byte(at: place)) }
    }

    package mutating func append(_ bytes: [UInt8]) {
        for byte in bytes { append(byte) }
    }
}

extension RawSpan {
    /// A range without the white space around it.
    package func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end && byte(at: start).isSpace { start += 1 }
        while end > start && byte(at: end - 1).isSpace { end -= 1 }
        return start..<end
    }

    /// A line without the carriage return at its end.
    package func withoutReturn(_ line: Range<Int>) -> Range<Int> {
        line.isEmpty || byte(at: line.upperBound - 1) != 13 ? line : line.dropLast()
    }

    /// The character of an escape of JSON.
    ///
    /// - Parameters:
    ///   - place: The place behind the backslash; then the one behind the escape.
    ///   - end: The end of the string.
    /// - Returns: `nil` if JSON has no such escape.
    package func jsonEscape(at place: inout Int, before end: Int) -> Unicode.Scalar? {
        guard place < end else { return nil }
        let byte = byte(at: place)
        place += 1
        switch byte {
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case .quote, .backslash, UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "u"): break
        default: return nil
        }
        guard let high = unit(at: &place, before: end) else { return nil }
        guard (0xD800..<0xDC00).contains(high) else { return Unicode.Scalar(high) }
        guard place + 1 < end, has("\\u".utf8, at: place..<(place + 2)) else { return nil }
        place += 2
        guard let low = unit(at: &place, before: end), (0xDC00..<0xE000).contains(low) else { return nil }
        return Unicode.Scalar(0x1_0000 + (high - 0xD800) << 10 + low - 0xDC00)
    }

    private func unit(at place: inout Int, before end: Int) -> UInt32? {
        guard place + 4 <= end else { return nil }
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Unicode.Scalar(byte(at: place)).hexadecimalValue else { return nil }
            value = value << 4 | digit
            place += 1
        }
        return value
    }

    /// A part that is not secret, such as a name.
    func text(_ range: Range<Int>) -> String { String(decoding: range.map { byte(at: $0) }, as: UTF8.self) }
}

extension String {
    var trimmingBlanks: String { String(reversed().drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " }) }
}

extension Unicode.Scalar {
    package var hexadecimalValue: UInt32? { Character(self).hexDigitValue.map { UInt32($0) } }
}

extension UInt8 {
    static let quote = UInt8(ascii: "\"")
    package static let apostrophe = UInt8(ascii: "'")
    package static let backslash = UInt8(ascii: "\\")
    static let colon = UInt8(ascii: ":")
    static let comma = UInt8(ascii: ",")
    package static let equals = UInt8(ascii: "=")
    package static let space = UInt8(ascii: " ")

    var isSpace: Bool { self == 32 || (9...13).contains(self) }
    /// The digit of a number below 16.
    fileprivate var digit: UInt8 { self < 10 ? self + 48 : self + 87 }
    fileprivate var isPlainInShell: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "+")...UInt8(ascii: ":"),
            UInt8(ascii: "@"), UInt8(ascii: "_"), UInt8(ascii: "%"), UInt8(ascii: "="):
            true
        default: false
        }
    }
}
