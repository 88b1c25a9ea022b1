internal import CofferCore

/// A small file whose record is replaced in place, in space that is allocated from the beginning.
///
/// So a full disk does not stop it, unless the file system never writes in place. The file has two slots, each in its
/// own disk block. A new record is written to the slot without the latest record, so that a crash during the write
/// leaves the previous record. Each slot has a sequence number, and a tag that the owner of the file computes.
package struct TwoSlotFile: Sendable {
    /// The content of the file.
    package enum Content: Equatable, Sendable {
        /// There is no file.
        case missing
        /// The latest intact record.
        case record([UInt8])
        /// No slot is intact.
        case damaged
    }

    /// The size of a slot: a unit that common disks write atomically.
    private static let slotBytes = 4096
    private static let byteCount = 2 * slotBytes

    private let name: String
    private let directory: Directory
    private let mark: [UInt8]
    private let tag: @Sendable ([UInt8]) -> [UInt8]

    /// Names a file, which may be missing.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - directory: Its directory.
    ///   - mark: The beginning of each slot: the type of the file, and its version.
    ///   - tag: Computes the tag of the bytes of a slot before it; its length never varies.
    package init(
        _ name: String,
        in directory: Directory,
        mark: [UInt8],
        tag: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) {
        self.name = name
        self.directory = directory
        self.mark = mark
        self.tag = tag
    }

    package func load() throws(SystemError) -> Content {
        guard let bytes = try directory.contents(of: name, limit: Self.byteCount + 1) else { return .missing }
        return latestSlot(of: bytes).map { .record($0.record) } ?? .damaged
    }

    /// Replaces the record; when this returns, it is synced.
    ///
    /// A missing or damaged file is created, which needs disk space.
    ///
    /// - Parameter record: The new record: with its tag, some hundred bytes less than a slot.
    /// - Throws: Why the write is not certain: the latest record is the previous or the new one.
    package func store(_ record: [UInt8]) throws(SystemError) {
        guard let file = try directory.openForWriting(name) else { return try make(record) }
        let bytes = try file.content(upTo: Self.byteCount)
        guard let latest = latestSlot(of: bytes) else { return try make(record) }
        let offset = latest.offset == 0 ? Self.slotBytes : 0
        try write(slot(record, latest.sequence &+ 1), to: file, at: offset)
        do {
            try directory.synchronize(file)
        } catch {
            // Only the other slot is sure to be on the disk, so the next record must go into this one again.
            try? write(Array(bytes[offset..<(offset + Self.slotBytes)]), to: file, at: offset)
            throw error
        }
    }

    private func write(_ slot: [UInt8], to file: borrowing OwnedDescriptor, at offset: Int) throws(SystemError) {
        try directory.fileSystem.willPerform(.write)
        unsafe try file.write(all: slot.span.bytes, at: Int64(offset))
    }

    /// Creates the file, with the record in both slots.
    private func make(_ record: [UInt8]) throws(SystemError) {
        let bytes = slot(record, 1) + slot(record, 2)
        unsafe try directory.replace(name, with: bytes.span.bytes)
    }

    // MARK: Slots

    private struct Slot {
        let offset: Int
        let sequence: UInt64
        let record: [UInt8]
    }

    private func slot(_ record: [UInt8], _ sequence: UInt64) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: mark)
        writer.write(sequence)
        writer.write(counted: record)
        let bytes = writer.bytes + tag(writer.bytes)
        precondition(bytes.count <= Self.slotBytes, "a record fits into its slot")
        return bytes + [UInt8](repeating: 0, count: Self.slotBytes - bytes.count)
    }

    /// A file of another size has another format.
    private func latestSlot(of bytes: [UInt8]) -> Slot? {
        guard bytes.count == Self.byteCount else { return nil }
        return [0, Self.slotBytes].compactMap { slot(at: $0, of: bytes) }.max { $0.sequence < $1.sequence }
    }

    private func slot(at offset: Int, of bytes: [UInt8]) -> Slot? {
        var reader = ByteReader(Array(bytes[offset..<(offset + Self.slotBytes)]))
        guard let mark = try? reader.readRaw(mark.count), mark.elementsEqual(self.mark),
            let sequence = try? reader.read(UInt64.self), let count = try? reader.read(UInt16.self),
            let record = try? reader.readRaw(Int(count))
        else { return nil }
        let head = self.mark.count + 10 + record.count
        let expected = tag(Array(bytes[offset..<(offset + head)]))
        guard let found = try? reader.readRaw(expected.count), isEqualInConstantTime(found, expected) else {
            return nil
        }
        return Slot(offset: offset, sequence: sequence, record: Array(record))
    }
}

/// Compares tags in constant time.
private func isEqualInConstantTime(_ one: some Sequence<UInt8>, _ other: [UInt8]) -> Bool {
    zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
}
