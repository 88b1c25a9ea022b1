internal import CofferCore
internal import CofferCrypto
internal import CofferFileContent

/// A record of the log of unsynced changes.
struct UnsyncedRecord {
    enum Body {
        /// A change of a file, with the number of its row, and the layout that it leads to.
        case change(UnsyncedState, of: Int64)
        /// The records of the content up to a number count no longer: their slots may be written again.
        case end(UInt64)
    }

    let content: ItemID
    let body: Body

    init(_ content: ItemID, _ body: Body) { (self.content, self.body) = (content, body) }

    private static let (changeCode, endCode): (UInt8, UInt8) = (1, 2)
    /// The bytes of a record of one chunk.
    private static let usualBytes = 97
    private static let noCut: Int64 = -1

    /// The plaintext of the record.
    var encoded: [UInt8] {
        var writer = ByteWriter(capacity: Self.usualBytes)
        writer.write(content)
        switch body {
        case .end(let number):
            writer.write(Self.endCode)
            writer.write(number)
        case .change(let state, let node):
            writer.write(Self.changeCode)
            writer.write(node)
            writer.write(state.byteCount)
            writer.write(state.visibleBaseBytes)
            writer.write(state.changes.time ?? 0)
            writer.write(state.changes.cutFrom ?? Self.noCut)
            writer.write(UInt32(state.changes.chunks.count))
            for (chunk, slot) in state.changes.chunks {
                writer.write(chunk)
                writer.write(slot.number)
                writer.write(UInt32(slot.byteCount))
                writer.write(raw: slot.tag)
            }
            for chunk in state.changes.holes { writer.write(chunk) }
        }
        return writer.bytes
    }

    /// Parses a plaintext, which is authentic.
    init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard let content = ItemID(try reader.readRaw(ItemID.byteCount)) else { throw ByteReader.Malformed() }
        self.content = content
        switch try reader.read(UInt8.self) {
        case Self.endCode:
            body = .end(try reader.read())
        case Self.changeCode:
            let node = try reader.read(Int64.self)
            var state = UnsyncedState(byteCount: try reader.read(), visibleBaseBytes: try reader.read())
            state.changes.changesSize = true
            state.changes.time = try reader.read()
            let cutFrom = try reader.read(Int64.self)
            state.changes.cutFrom = cutFrom == Self.noCut ? nil : cutFrom
            for _ in 0..<(try reader.read(UInt32.self)) {
                state.changes.chunks[try reader.read()] = ChunkSlot(
                    number: try reader.read(),
                    byteCount: Int(try reader.read(UInt32.self)),
                    tag: Array(try reader.readRaw(CipherSuite.tagBytes))
                )
            }
            while !reader.isAtEnd { state.changes.holes.insert(try reader.read()) }
            body = .change(state, of: node)
        default:
            throw ByteReader.Malformed()
        }
        guard reader.isAtEnd else { throw ByteReader.Malformed() }
    }
}
