package import CofferCore
internal import CofferDatabase

/// The reason why a row of a store is in the past.
enum PastReason: Int64 {
    /// Another secret or content replaced it: it is a former one.
    case replaced = 1
    /// It was removed, and is an entry of the trash.
    case removed = 2
    /// It was replaced before the first unlock, and is restored after it.
    case aside = 3
}

/// The content of a file outside of the tree, which stays on the disk.
package struct KeptContent: Sendable {
    /// The number of the file.
    package let node: Int64
    package let content: ItemID

    package init(node: Int64, content: ItemID) {
        self.node = node
        self.content = content
    }
}

/// A row of the past, as far as it says without a key.
package struct PastRow: Sendable {
    /// Its number: later ones have higher numbers, and none is used again.
    package let number: Int64
    /// Why it is in the past; `nil` in a damaged row.
    let reason: PastReason?
    /// The persistent reference of an item, the history of a file, or the trash of a group.
    let owner: [UInt8]
    /// The entry of the trash that holds it, with its item.
    let entry: Int64?
    /// The number of the file whose content is kept for it.
    package let node: Int64?
    /// The time in the trash at which it was removed, in milliseconds.
    let time: Int64
    /// The space that it takes, in bytes.
    package let byteCount: Int64

    /// Impossible values of a damaged row become others: then its context is another, and nothing of it opens.
    ///
    /// - Parameter row: `number`, `reason`, `owner`, `entry`, `node`, `time` and `bytes`, in this order.
    init(in row: borrowing Row) throws {
        number = try row.integer(0)
        reason = (try? row.integer(1)).flatMap(PastReason.init)
        owner = (try? row.blob(2)) ?? []
        entry = (try? row.optionalInteger(3)) ?? nil
        node = (try? row.optionalInteger(4)) ?? nil
        time = (try? row.integer(5)) ?? -1
        byteCount = (try? row.integer(6)) ?? -1
    }

    init(
        number: Int64,
        _ reason: PastReason,
        owner: [UInt8],
        node: Int64? = nil,
        time: Int64 = 0,
        byteCount: Int64
    ) {
        self.number = number
        self.reason = reason
        self.owner = owner
        entry = nil
        self.node = node
        self.time = time
        self.byteCount = byteCount
    }

    /// Whether it is a former row, which can be opened.
    package var isFormer: Bool { reason == .replaced }

    /// The same row, of another owner.
    func owned(by owner: ItemID) -> PastRow {
        PastRow(number: number, .replaced, owner: owner.bytes, node: node, time: time, byteCount: byteCount)
    }

    /// The contexts of its sealed parts.
    var context: [UInt8] { context("coffer past v1") }
    var labelContext: [UInt8] { context("coffer past label v1") }
    /// The context in the trash, of a row that went there with its item.
    var heldContext: [UInt8] { context("coffer past held v1") }

    /// The row as an entry of the trash, for an error.
    var entrySubject: String { "entry \(number) of the trash" }

    private func context(_ name: StaticString) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: name)
        for value in [number, reason?.rawValue ?? 0, node ?? 0, time, byteCount] { writer.write(value) }
        writer.write(raw: owner)
        return writer.bytes
    }
}

/// A former row of an item, opened.
package struct FormerRow: Sendable {
    private static let version: UInt8 = 1

    /// When another secret or content replaced it, in milliseconds since 1970.
    package let replaced: Int64
    /// Whether the passcode does not protect the name of the item.
    package let isNamedInEveryState: Bool
    package let image: RowImage

    package init(replaced: Int64, isNamedInEveryState: Bool, image: RowImage) {
        self.replaced = replaced
        self.isNamedInEveryState = isNamedInEveryState
        self.image = image
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.version)
        writer.write(replaced)
        writer.write(UInt8(isNamedInEveryState ? 1 : 0))
        writer.write(raw: image.encoded)
        return writer.bytes
    }

    /// - Throws: `Malformed` if they are truncated, too long, or of an unknown version.
    init(decoding bytes: [UInt8]) throws(ByteReader.Malformed) {
        var reader = ByteReader(bytes)
        guard try reader.read(UInt8.self) == Self.version else { throw ByteReader.Malformed() }
        replaced = try reader.read()
        isNamedInEveryState = try reader.read(UInt8.self) == 1
        image = try RowImage(from: &reader)
    }
}
