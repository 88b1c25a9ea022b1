/// Writes JSON as UTF-8, without white space.
package struct JSONWriter: Sendable {
    /// The bytes written so far.
    package private(set) var bytes: [UInt8]

    /// Creates an empty writer.
    ///
    /// - Parameter capacity: The approximate size of the output.
    package init(capacity: Int = 0) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// Creates a writer of a frame, whose header comes before the JSON.
    init(frameCapacity: Int) {
        self.init(capacity: frameCapacity)
        for _ in 0..<FrameHeader.byteCount { bytes.append(0) }
    }

    /// Completes a frame.
    ///
    /// - Parameter payloadCount: The size of its payload.
    /// - Returns: The header and the JSON.
    mutating func finishFrame(payloadCount: Int) -> [UInt8] {
        let sizes = UInt64(UInt32(bytes.count - FrameHeader.byteCount)) << 32 | UInt64(UInt32(payloadCount))
        for index in 0..<FrameHeader.byteCount { bytes[index] = UInt8(truncatingIfNeeded: sizes >> (56 - 8 * index)) }
        return bytes
    }

    /// Appends a value.
    ///
    /// - Parameter value: The value. A number that is not finite becomes `null`, because JSON can't represent it.
    package mutating func write(_ value: JSONValue) {
        switch value {
        case .null: write(raw: "null")
        case .bool(let value): write(raw: value ? "true" : "false")
        case .integer(let value): write(value)
        // The description of a double is the shortest text that parses as the same number, and is valid JSON.
        case .number(let value): bytes.append(contentsOf: (value.isFinite ? value.description : "null").utf8)
        case .string(let value): write(value)
        case .array(let elements): write(elements)
        case .object(let object): write(object)
        }
    }

    /// Appends an integer: into place, because a page of a listing has thousands.
    private mutating func write(_ value: Int64) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var (first, rest) = (digits.count, value.magnitude)
        repeat {
            first -= 1
            digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        } while rest > 0
        for index in first..<digits.count { bytes.append(digits[index]) }
    }

    /// Appends a list.
    package mutating func write(_ elements: [JSONValue]) {
        bytes.append(UInt8(ascii: "["))
        for (index, element) in elements.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            write(element)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Appends an object.
    package mutating func write(_ object: JSONObject) {
        bytes.append(UInt8(ascii: "{"))
        let members = object.list.span
        for index in members.indices {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            write(members[index].key)
            bytes.append(UInt8(ascii: ":"))
            write(members[index].value)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    /// Appends a text in double quotes, with escapes if necessary.
    package mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        let utf8 = text.utf8
        let text = unsafe utf8.span.bytes
        if text.endOfPlainText(from: 0) == text.byteCount {
            bytes.append(text)
        } else {
            for offset in 0..<text.byteCount { writeEscaped(text[offset]) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Appends text that is JSON already: the fixed parts of a message.
    mutating func write(raw text: StaticString) { text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) } }

    private mutating func writeEscaped(_ byte: UInt8) {
        guard byte.isToEscape else { return bytes.append(byte) }
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0A: bytes.append(UInt8(ascii: "n"))
        case 0x0C: bytes.append(UInt8(ascii: "f"))
        case 0x0D: bytes.append(UInt8(ascii: "r"))
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
        default:
            write(raw: byte < 0x10 ? "u000" : "u00")
            bytes.append(contentsOf: String(byte, radix: 16).utf8)
        }
    }
}

extension JSONValue {
    /// The value as UTF-8 JSON, without white space.
    package func serialized() -> [UInt8] {
        var writer = JSONWriter(capacity: 128)
        writer.write(self)
        return writer.bytes
    }
}
