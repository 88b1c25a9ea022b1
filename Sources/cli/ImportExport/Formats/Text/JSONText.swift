package import CofferClient

/// JSON with secrets in it, in memory that is wiped.
package struct JSONText: ~Copyable {
    private var buffer: SecretBuffer
    /// Whether a value stands before the next one, on each level.
    private var isBehind: [Bool] = [false]

    package init() throws(CofferError) { buffer = try SecretBuffer(capacity: 4096) }

    /// One object on one line, of texts.
    ///
    /// - Parameter members: The names and the values.
    package static func object(_ members: [(name: String, value: Secret)]) throws(CofferError) -> Secret {
        var text = try JSONText()
        try text.buffer.append("{")
        for (index, member) in members.enumerated() {
            if index > 0 { try text.buffer.append(", ") }
            try text.append(string: try Secret(bulk: member.name))
            try text.buffer.append(": ")
            try text.append(string: member.value)
        }
        try text.buffer.append("}")
        return try text.buffer.finish()
    }

    /// The text, with a line end.
    consuming func finish() throws(CofferError) -> Secret {
        try buffer.append("\n")
        return try buffer.finish()
    }

    // MARK: Containers

    /// Writes an object, whose members the closure writes.
    mutating func object(
        _ key: String? = nil,
        _ body: (inout JSONText) throws(CofferError) -> Void
    ) throws(CofferError) {
        try container("{", "}", key, body)
    }

    /// Writes a list, whose elements the closure writes.
    mutating func list(
        _ key: String? = nil,
        _ body: (inout JSONText) throws(CofferError) -> Void
    ) throws(CofferError) {
        try container("[", "]", key, body)
    }

    private mutating func container(
        _ start: String,
        _ end: String,
        _ key: String?,
        _ body: (inout JSONText) throws(CofferError) -> Void
    ) throws(CofferError) {
        try begin(key)
        try buffer.append(start)
        isBehind.append(false)
        try body(&self)
        let isEmpty = isBehind.removeLast() == false
        if !isEmpty { try newLine() }
        try buffer.append(end)
    }

    // MARK: Values

    /// Writes a text; `null` for none.
    mutating func value(_ key: String? = nil, _ secret: Secret?) throws(CofferError) {
        try begin(key)
        guard let secret else { return try buffer.append("null") }
        try append(string: secret)
    }

    /// Writes a text that is not secret.
    mutating func text(_ key: String? = nil, _ text: String) throws(CofferError) {
        try value(key, try Secret(bulk: text))
    }

    /// Writes a number, a truth value or `null`, as it is given.
    mutating func literal(_ key: String? = nil, _ text: String) throws(CofferError) {
        try begin(key)
        try buffer.append(text)
    }

    private mutating func begin(_ key: String?) throws(CofferError) {
        if isBehind[isBehind.count - 1] { try buffer.append(",") }
        isBehind[isBehind.count - 1] = true
        if isBehind.count > 1 { try newLine() }
        guard let key else { return }
        try append(string: try Secret(bulk: key))
        try buffer.append(": ")
    }

    private mutating func newLine() throws(CofferError) {
        try buffer.append("\n" + String(repeating: "  ", count: isBehind.count - 1))
    }

    private mutating func append(string: Secret) throws(CofferError) {
        try string.withBytes { (bytes) throws(CofferError) in
            try buffer.append(UInt8(ascii: "\""))
            for place in 0..<bytes.byteCount {
                let byte = bytes.byte(at: place)
                switch byte {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                    try buffer.append(UInt8(ascii: "\\"))
                    try buffer.append(byte)
                case 10: try buffer.append("\\n")
                case 9: try buffer.append("\\t")
                case 13: try buffer.append("\\r")
                case 0..<0x20, 0x7F: try buffer.append("\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))")
                default: try buffer.append(byte)
                }
            }
            try buffer.append(UInt8(ascii: "\""))
        }
    }
}
