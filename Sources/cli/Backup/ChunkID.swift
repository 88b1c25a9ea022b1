internal import CofferCore
internal import CofferCrypto
internal import CofferMemory

/// The keyed hash of a chunk, by which it is found and verified.
package struct ChunkID: Hashable, Sendable {
    /// 192 bits: two different chunks with one hash are not found by chance nor by work.
    static let byteCount = 24

    let high: UInt64
    let middle: UInt64
    let low: UInt64

    /// Reads an identifier.
    init(_ reader: inout ByteReader) throws(ByteReader.Malformed) {
        high = try reader.read()
        middle = try reader.read()
        low = try reader.read()
    }

    /// Hashes a chunk.
    init(of chunk: RawSpan, under key: borrowing SymmetricKey) {
        let hash = KeyedHash.hash(of: chunk, under: key, byteCount: Self.byteCount)
        func word(_ place: Int) -> UInt64 { hash[place..<place + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        high = word(0)
        middle = word(8)
        low = word(16)
    }
}

extension ByteWriter {
    mutating func write(_ id: ChunkID) {
        write(id.high)
        write(id.middle)
        write(id.low)
    }
}
