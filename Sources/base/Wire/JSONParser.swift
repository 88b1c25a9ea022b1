internal import CofferCore

extension JSONValue {
    /// Parses exactly one JSON value of RFC 8259, and nothing after it.
    ///
    /// It is stricter than the RFC where parsers differ, because a difference between two parsers can circumvent a
    /// check: well-formed UTF-8 only, no byte order mark, no duplicate keys, no lone surrogates, at most
    /// `Limits.jsonDepth` nested containers, no number beyond the range of a double.
    ///
    /// - Throws: ``JSONError`` with the place and the reason.
    package init(parsing bytes: RawSpan) throws(JSONError) {
        var parser = JSONParser()
        self = try parser.document(in: bytes)
    }
}

/// A recursive descent over the bytes, which are an argument because a span can't be stored.
private struct JSONParser {
    /// Requests and most of what they contain have no more.
    private static let usualMembers = 4

    private var position = 0

    mutating func document(in bytes: RawSpan) throws(JSONError) -> JSONValue {
        if bytes.byteCount >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF {
            throw JSONError(offset: 0, reason: .byteOrderMark)
        }
        skipWhitespace(in: bytes)
        let result = try value(in: bytes, depth: 0)
        skipWhitespace(in: bytes)
        guard position == bytes.byteCount else { throw JSONError(offset: position, reason: .trailingBytes) }
        return result
    }

    private mutating func value(in bytes: RawSpan, depth: Int) throws(JSONError) -> JSONValue {
        switch peek(in: bytes) {
        case UInt8(ascii: "\""): return .string(try string(in: bytes))
        case UInt8(ascii: "{"): return .object(try object(in: bytes, depth: depth + 1))
        case UInt8(ascii: "["): return .array(try array(in: bytes, depth: depth + 1))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number(in: bytes)
        case UInt8(ascii: "t"): return try literal("true", .bool(true), in: bytes)
        case UInt8(ascii: "f"): return try literal("false", .bool(false), in: bytes)
        case UInt8(ascii: "n"): return try literal("null", .null, in: bytes)
        default: throw fault(.unexpectedByte, in: bytes)
        }
    }

    private mutating func literal(
        _ word: StaticString,
        _ value: JSONValue,
        in bytes: RawSpan
    ) throws(JSONError) -> JSONValue {
        for index in 0..<word.utf8CodeUnitCount {
            guard peek(in: bytes) == (unsafe word.utf8Start[index]) else { throw fault(.badLiteral, in: bytes) }
            position += 1
        }
        return value
    }

    private mutating func array(in bytes: RawSpan, depth: Int) throws(JSONError) -> [JSONValue] {
        try open(depth, in: bytes)
        var elements: [JSONValue] = []
        if close(UInt8(ascii: "]"), in: bytes) { return elements }
        repeat {
            skipWhitespace(in: bytes)
            elements.append(try value(in: bytes, depth: depth))
        } while try separator(before: UInt8(ascii: "]"), in: bytes)
        return elements
    }

    private mutating func object(in bytes: RawSpan, depth: Int) throws(JSONError) -> JSONObject {
        try open(depth, in: bytes)
        if close(UInt8(ascii: "}"), in: bytes) { return JSONObject() }
        var object = JSONObject(capacity: Self.usualMembers)
        var keys = KeyIndex()
        repeat {
            skipWhitespace(in: bytes)
            guard peek(in: bytes) == UInt8(ascii: "\"") else { throw fault(.expectedKey, in: bytes) }
            let start = position
            let key = try string(in: bytes)
            guard keys.insert(key, into: object) else { throw JSONError(offset: start, reason: .duplicateKey) }
            skipWhitespace(in: bytes)
            guard peek(in: bytes) == UInt8(ascii: ":") else { throw fault(.expectedColon, in: bytes) }
            position += 1
            skipWhitespace(in: bytes)
            object.append(uniqueKey: key, try value(in: bytes, depth: depth))
        } while try separator(before: UInt8(ascii: "}"), in: bytes)
        return object
    }
}

// MARK: - Between the values

extension JSONParser {
    private mutating func open(_ depth: Int, in bytes: RawSpan) throws(JSONError) {
        guard depth <= Limits.jsonDepth else { throw fault(.tooDeep, in: bytes) }
        position += 1
        skipWhitespace(in: bytes)
    }

    /// Consumes the end of an empty container.
    private mutating func close(_ bracket: UInt8, in bytes: RawSpan) -> Bool {
        guard peek(in: bytes) == bracket else { return false }
        position += 1
        return true
    }

    /// Consumes a comma and returns `true`, or the end of the container and returns `false`.
    private mutating func separator(before bracket: UInt8, in bytes: RawSpan) throws(JSONError) -> Bool {
        skipWhitespace(in: bytes)
        let byte = peek(in: bytes)
        guard byte == UInt8(ascii: ",") || byte == bracket else { throw fault(.expectedSeparator, in: bytes) }
        position += 1
        return byte != bracket
    }

    private mutating func skipWhitespace(in bytes: RawSpan) {
        while position < bytes.byteCount {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    /// The next byte, or 0 at the end: JSON contains no 0, so that no caller misinterprets the end.
    private func peek(in bytes: RawSpan) -> UInt8 { position < bytes.byteCount ? bytes[position] : 0 }

    private func fault(_ reason: JSONError.Reason, in bytes: RawSpan) -> JSONError {
        JSONError(offset: position, reason: position < bytes.byteCount ? reason : .unexpectedEnd)
    }
}

// MARK: - Numbers

extension JSONParser {
    private mutating func number(in bytes: RawSpan) throws(JSONError) -> JSONValue {
        let start = position
        if peek(in: bytes) == UInt8(ascii: "-") { position += 1 }
        // A leading zero has no further digits; one that follows is refused as data after a value.
        if peek(in: bytes) == UInt8(ascii: "0") { position += 1 } else { try digits(in: bytes) }
        let wholeEnd = position
        if peek(in: bytes) == UInt8(ascii: ".") {
            position += 1
            try digits(in: bytes)
        }
        if peek(in: bytes) | 0x20 == UInt8(ascii: "e") {
            position += 1
            if peek(in: bytes) == UInt8(ascii: "+") || peek(in: bytes) == UInt8(ascii: "-") { position += 1 }
            try digits(in: bytes)
        }
        let text = bytes.text(in: start..<position) ?? ""
        if position == wholeEnd, let integer = Int64(text) { return .integer(integer) }
        guard let value = Double(text), value.isFinite else {
            throw JSONError(offset: start, reason: .numberOutOfRange)
        }
        return .number(value)
    }

    /// Consumes one or more digits.
    private mutating func digits(in bytes: RawSpan) throws(JSONError) {
        let start = position
        while (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(peek(in: bytes)) { position += 1 }
        guard position > start else { throw fault(.badNumber, in: bytes) }
    }
}

// MARK: - Strings

extension JSONParser {
    private mutating func string(in bytes: RawSpan) throws(JSONError) -> String {
        position += 1
        let start = position
        try skipPlainCharacters(in: bytes)
        guard peek(in: bytes) == UInt8(ascii: "\"") else { return try escapedString(from: start, in: bytes) }
        guard let text = bytes.text(in: start..<position) else { throw JSONError(offset: start, reason: .badUTF8) }
        position += 1
        return text
    }

    /// Continues with a string at its first escape.
    private mutating func escapedString(from start: Int, in bytes: RawSpan) throws(JSONError) -> String {
        var text: [UInt8] = []
        var runStart = start
        while true {
            text.append(bytes.extracting(runStart..<position))
            let isEnd = peek(in: bytes) == UInt8(ascii: "\"")
            position += 1
            if isEnd { break }
            try appendEscape(to: &text, in: bytes)
            runStart = position
            try skipPlainCharacters(in: bytes)
        }
        guard let string = String(checking: text.span) else {
            throw JSONError(offset: start, reason: .badUTF8)
        }
        return string
    }

    /// Stops at a quote or a backslash.
    private mutating func skipPlainCharacters(in bytes: RawSpan) throws(JSONError) {
        position = bytes.endOfPlainText(from: position)
        guard position < bytes.byteCount else { throw JSONError(offset: position, reason: .unexpectedEnd) }
        if bytes[position] < 0x20 { throw JSONError(offset: position, reason: .controlCharacter) }
    }

    /// Consumes an escape after its backslash.
    private mutating func appendEscape(to text: inout [UInt8], in bytes: RawSpan) throws(JSONError) {
        let byte = peek(in: bytes)
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            position += 1
            text.append(contentsOf: String(try escapedScalar(in: bytes)).utf8)
            return
        default: throw fault(.badEscape, in: bytes)
        }
        position += 1
    }

    /// Consumes four digits, and the escape of the second half if they are the first half of a pair.
    private mutating func escapedScalar(in bytes: RawSpan) throws(JSONError) -> Unicode.Scalar {
        let start = position
        let first = try codeUnit(in: bytes)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard UTF16.isLeadSurrogate(first), peek(in: bytes) == UInt8(ascii: "\\") else {
            throw position < bytes.byteCount
                ? JSONError(offset: start, reason: .loneSurrogate) : fault(.unexpectedEnd, in: bytes)
        }
        position += 1
        guard peek(in: bytes) == UInt8(ascii: "u") else { throw fault(.loneSurrogate, in: bytes) }
        position += 1
        let second = try codeUnit(in: bytes)
        guard UTF16.isTrailSurrogate(second),
            let scalar = Unicode.Scalar(0x10000 + (UInt32(first) & 0x3FF) << 10 + UInt32(second) & 0x3FF)
        else { throw JSONError(offset: start, reason: .loneSurrogate) }
        return scalar
    }

    private mutating func codeUnit(in bytes: RawSpan) throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = Character(Unicode.Scalar(peek(in: bytes))).hexDigitValue else {
                throw fault(.badEscape, in: bytes)
            }
            unit = unit << 4 | UInt16(digit)
            position += 1
        }
        return unit
    }
}
