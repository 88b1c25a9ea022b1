/// Writes a binary format: big-endian integers and length-prefixed strings.
public struct ByteWriter: Sendable {
    /// The bytes written so far.
    public private(set) var bytes: [UInt8] = []

    /// Creates an empty writer.
    public init() {}

    /// Appends a byte.
    ///
    /// - Parameter value: The byte.
    public mutating func write(_ value: UInt8) { bytes.append(value) }

    /// Appends bytes as they are.
    ///
    /// - Parameter value: The bytes.
    public mutating func write(raw value: [UInt8]) { bytes.append(contentsOf: value) }

    /// Appends an integer, the most significant byte first.
    ///
    /// - Parameter value: The integer, of at most 64 bits.
    public mutating func write(_ value: some FixedWidthInteger) {
        // By way of one word: each operation on a generic type is a call.
        let word = UInt64(truncatingIfNeeded: value)
        for shift in stride(from: value.bitWidth - 8, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
        }
    }

    /// Appends bytes as they are.
    ///
    /// - Parameter value: The bytes.
    public mutating func write(raw value: some Sequence<UInt8>) { bytes.append(contentsOf: value) }

    /// Appends bytes after their 16-bit length.
    ///
    /// - Parameter value: At most 65,535 bytes.
    public mutating func write(counted value: some Collection<UInt8>) {
        precondition(value.count <= Int(UInt16.max), "a counted field has at most 65,535 bytes")
        write(UInt16(value.count))
        write(raw: value)
    }
}

/// Reads what ``ByteWriter`` wrote, and anything else without a trap.
public struct ByteReader: Sendable {
    /// The input ended inside a field, or a field has a value that the format does not know.
    public struct Malformed: Error, Sendable {
        /// Creates the error.
        public init() {}
    }

    private var rest: ArraySlice<UInt8>

    /// Reads from the beginning of some bytes.
    public init(_ bytes: [UInt8]) { rest = bytes[...] }

    /// Whether all bytes were read.
    public var isAtEnd: Bool { rest.isEmpty }

    /// Takes an integer of at most 64 bits, the most significant byte first.
    public mutating func read<Value: FixedWidthInteger>(_: Value.Type = Value.self) throws(Malformed) -> Value {
        // By way of one word: each operation on a generic type is a call.
        var word: UInt64 = 0
        for byte in try readRaw(Value.bitWidth / 8) { word = word << 8 | UInt64(byte) }
        return Value(truncatingIfNeeded: word)
    }

    /// Takes a number of bytes.
    public mutating func readRaw(_ count: Int) throws(Malformed) -> ArraySlice<UInt8> {
        guard count >= 0, rest.count >= count else { throw Malformed() }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// Takes bytes that follow their 16-bit length.
    public mutating func readCounted() throws(Malformed) -> ArraySlice<UInt8> {
        try readRaw(Int(try read(UInt16.self)))
    }

    /// Takes UTF-8 text that follows its 16-bit length.
    public mutating func readText() throws(Malformed) -> String {
        guard let text = String(validating: try readCounted(), as: UTF8.self) else { throw Malformed() }
        return text
    }
}
