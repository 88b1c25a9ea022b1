/// Writes a binary format: big-endian integers and length-prefixed strings.
public struct ByteWriter: Sendable {
    /// The bytes written so far.
    public var bytes: [UInt8] { written }

    @usableFromInline var written: [UInt8] = []

    /// Creates an empty writer.
    ///
    /// - Parameter capacity: The size of what will be written, if it is known; most has no more than the default.
    public init(capacity: Int = 128) { written.reserveCapacity(capacity) }

    // What is generic here is inlined into other modules: not specialized, each operation on a type is a call.

    /// Appends a byte.
    ///
    /// - Parameter value: The byte.
    @inlinable
    public mutating func write(_ value: UInt8) { written.append(value) }

    /// Appends bytes as they are.
    ///
    /// - Parameter value: The bytes.
    @inlinable
    public mutating func write(raw value: [UInt8]) { written.append(contentsOf: value) }

    /// Appends an integer, the most significant byte first.
    ///
    /// - Parameter value: The integer, of at most 64 bits.
    @inlinable
    public mutating func write(_ value: some FixedWidthInteger) {
        let count = value.bitWidth / 8
        written.append(addingCapacity: count) { span in
            for index in 1...count { span.append(UInt8(truncatingIfNeeded: value >> (8 * (count - index)))) }
        }
    }

    /// Appends a constant text, without its length.
    ///
    /// - Parameter text: The text.
    public mutating func write(raw text: StaticString) {
        text.withUTF8Buffer { unsafe written.append(contentsOf: $0) }
    }

    /// Appends the bytes of an identifier.
    ///
    /// - Parameter id: The identifier.
    public mutating func write(_ id: ItemID) {
        write(id.high)
        write(id.low)
    }

    /// Appends bytes as they are.
    ///
    /// - Parameter value: The bytes.
    @inlinable
    public mutating func write(raw value: some Sequence<UInt8>) { written.append(contentsOf: value) }

    /// Appends bytes as they are.
    ///
    /// - Parameter value: The bytes.
    public mutating func write(raw value: RawSpan) {
        unsafe value.withUnsafeBytes { unsafe written.append(contentsOf: $0) }
    }

    /// Appends bytes after their 16-bit length.
    ///
    /// - Parameter value: At most 65,535 bytes.
    package mutating func write(counted value: String.UTF8View) {
        let bytes = value.span
        write(count: bytes.count)
        unsafe bytes.withUnsafeBufferPointer { unsafe written.append(contentsOf: $0) }
    }

    /// Appends bytes after their 16-bit length.
    ///
    /// - Parameter value: At most 65,535 bytes.
    @inlinable
    public mutating func write(counted value: some Collection<UInt8>) {
        write(count: value.count)
        write(raw: value)
    }

    /// Appends a 16-bit length.
    @usableFromInline
    mutating func write(count: Int) {
        precondition(count <= Int(UInt16.max), "a counted field has at most 65,535 bytes")
        write(UInt16(count))
    }
}

/// Reads what ``ByteWriter`` wrote, and anything else without a trap.
public struct ByteReader: Sendable {
    /// The input ended inside a field, or a field has a value that the format does not know.
    public struct Malformed: Error, Sendable {
        /// Creates the error.
        public init() {}
    }

    @usableFromInline let bytes: [UInt8]
    /// How many were read.
    @usableFromInline var position = 0

    /// Reads from the beginning of some bytes.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Whether all bytes were read.
    public var isAtEnd: Bool { position == bytes.count }

    /// Takes an integer of at most 64 bits, the most significant byte first.
    @inlinable
    public mutating func read<Value: FixedWidthInteger>(_: Value.Type = Value.self) throws(Malformed) -> Value {
        var word: UInt64 = 0
        for index in try take(Value.bitWidth / 8) { word = word << 8 | UInt64(bytes[index]) }
        return Value(truncatingIfNeeded: word)
    }

    /// Takes a number of bytes.
    public mutating func readRaw(_ count: Int) throws(Malformed) -> ArraySlice<UInt8> { bytes[try take(count)] }

    /// The next indices.
    @usableFromInline
    mutating func take(_ count: Int) throws(Malformed) -> Range<Int> {
        guard count >= 0, bytes.count - position >= count else { throw Malformed() }
        defer { position += count }
        return position..<position + count
    }

    /// Takes bytes that follow their 16-bit length.
    public mutating func readCounted() throws(Malformed) -> ArraySlice<UInt8> {
        try readRaw(Int(try read(UInt16.self)))
    }

    /// Takes UTF-8 text that follows its 16-bit length.
    public mutating func readText() throws(Malformed) -> String {
        let range = try take(Int(try read(UInt16.self)))
        guard let text = String(checking: bytes.span.extracting(range)) else { throw Malformed() }
        return text
    }
}
