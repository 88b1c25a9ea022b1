import CofferCore
import CofferDatabase
import CofferFiles
import CofferTestSupport
import Foundation
import Testing

/// Two files that are alike: each has a base, three chunks that were rewritten, and a hole.
///
/// Chunks 1, 3 and 7 are in the overlay, chunk 6 is the hole, all others are in the base.
final class TamperedStore {
    let open: OpenStore
    let content: [UInt8]
    let base: String
    let overlay: String
    let otherBase: String
    let otherOverlay: String
    let node: Int64
    let otherNode: Int64

    static let baseCount = 5 * chunkBytes + 100

    init() throws {
        let open = try OpenStore()
        self.open = open
        content = try Self.make("file", pattern(Self.baseCount), open)
        _ = try Self.make("other", pattern(Self.baseCount + 1).suffix(Self.baseCount), open)
        base = try open.contentPath("file")
        overlay = base + ".overlay"
        otherBase = try open.contentPath("other")
        otherOverlay = otherBase + ".overlay"
        node = try open.node("file")
        otherNode = try open.node("other")
    }

    private static func make(_ name: String, _ base: some Collection<UInt8>, _ open: OpenStore) throws -> [UInt8] {
        var content = Array(base)
        try open.put(name, content)
        let file = try open.open(name, for: .write)
        for (offset, count) in [(chunkBytes, chunkBytes), (3 * chunkBytes + 5000, 10), (7 * chunkBytes, 500)] {
            let bytes = content.prefix(count).map { $0 ^ 0x5A }
            try open.write(bytes, at: Int64(offset), to: file)
            content = replacing(content, at: offset, with: bytes)
        }
        try open.sync(file)
        open.close(file)
        return content
    }

    /// The place of a byte of a chunk in the base.
    func inBase(_ chunk: Int, _ offset: Int = 0) -> Int { 32 + chunk * (chunkBytes + 16) + offset }

    /// The place of a byte of a slot.
    func inSlot(of chunk: Int64, _ offset: Int = 0) throws -> Int {
        let slot = try #require(
            try open.connection.row(
                "SELECT slot FROM file_chunks WHERE node = ? AND chunk = ?",
                .integer(node),
                .integer(chunk)
            ) { Int(try $0.integer(0)) }
        )
        return 32 + slot * (chunkBytes + 16) + offset
    }

    func flip(_ path: String, _ place: Int) throws {
        var all = try bytes(at: path)
        all[place] ^= 0x10
        try overwrite(path, all)
    }

    func exchange(_ one: String, _ two: String) throws {
        let first = try bytes(at: one)
        try overwrite(one, try bytes(at: two))
        try overwrite(two, first)
    }

    func exchange(in path: String, _ one: Int, _ two: Int, _ count: Int) throws {
        var all = try bytes(at: path)
        let first = Array(all[one..<(one + count)])
        all.replaceSubrange(one..<(one + count), with: Array(all[two..<(two + count)]))
        all.replaceSubrange(two..<(two + count), with: first)
        try overwrite(path, all)
    }

    /// Rewrites one chunk.
    func rewrite(_ chunk: Int, _ seed: UInt64) throws {
        let file = try open.open("file", for: .write)
        try open.write(pseudoRandomBytes(chunkBytes, seed: seed), at: Int64(chunk * chunkBytes), to: file)
        try open.sync(file)
        open.close(file)
    }

    /// The rows of the file's chunks.
    func rows() throws -> [[DatabaseValue]] {
        var rows: [[DatabaseValue]] = []
        try open.connection.rows(
            "SELECT chunk, slot, bytes, tag FROM file_chunks WHERE node = ? ORDER BY chunk",
            .integer(node)
        ) { row in
            let numbers = try (0..<3).map { DatabaseValue.integer(try row.integer($0)) }
            rows.append(numbers + [.blob(try row.blob(3))])
            return true
        }
        return rows
    }

    func replaceRows(by rows: [[DatabaseValue]]) throws {
        try open.connection.execute("DELETE FROM file_chunks WHERE node = ?", .integer(node))
        for row in rows {
            try open.connection.execute(
                "INSERT INTO file_chunks (node, chunk, slot, bytes, tag) VALUES (?, ?, ?, ?, ?)",
                .integer(node),
                row[0],
                row[1],
                row[2],
                row[3]
            )
        }
    }

    /// The sealed metadata of the file.
    func metadata() throws -> [UInt8] {
        try #require(
            try open.connection.row("SELECT metadata FROM file_nodes WHERE id = ?", .integer(node)) { try $0.blob(0) }
        )
    }
}

/// Tampering with a file.
struct Tampering: CustomTestStringConvertible, Sendable {
    enum Cost {
        /// Chunks that can't be read; all others can.
        case chunks([Int])
        /// The file does not open; saved of it is all but some chunks.
        case opening(lost: [Int], mayBeOlder: Bool = false)
    }

    let testDescription: String
    let cost: Cost
    /// Whether the other file had a part in it.
    let spoilsOther: Bool
    let perform: @Sendable (TamperedStore) throws -> Void

    init(
        _ description: String,
        _ cost: Cost,
        spoilsOther: Bool = false,
        _ perform: @escaping @Sendable (TamperedStore) throws -> Void
    ) {
        testDescription = description
        self.cost = cost
        self.spoilsOther = spoilsOther
        self.perform = perform
    }

    static let ofBase: [Tampering] = [
        Tampering("a byte of the header is another", .opening(lost: [])) { try $0.flip($0.base, 5) },
        Tampering("the header names another content", .opening(lost: [])) { try $0.flip($0.base, 20) },
        Tampering("the first byte of a chunk is another", .chunks([2])) { try $0.flip($0.base, $0.inBase(2)) },
        Tampering("a byte in the middle of a chunk is another", .chunks([2])) {
            try $0.flip($0.base, $0.inBase(2, 777))
        },
        Tampering("a tag is another", .chunks([2])) { try $0.flip($0.base, $0.inBase(2, chunkBytes + 3)) },
        Tampering("a chunk that was rewritten since is another", .chunks([])) { try $0.flip($0.base, $0.inBase(1)) },
        Tampering("it was cut by a byte", .opening(lost: [5])) { store in
            try overwrite(store.base, try bytes(at: store.base).dropLast())
        },
        Tampering("it was cut in the middle", .opening(lost: [2, 4, 5])) { store in
            try overwrite(store.base, Array(try bytes(at: store.base).prefix(store.inBase(2, 9))))
        },
        Tampering("it was cut to nothing", .opening(lost: [0, 2, 4, 5])) { try overwrite($0.base, []) },
        Tampering("it has grown", .opening(lost: [])) { store in
            try overwrite(store.base, try bytes(at: store.base) + [0])
        },
        Tampering("two chunks were exchanged", .chunks([0, 2])) { store in
            try store.exchange(in: store.base, store.inBase(0), store.inBase(2), chunkBytes + 16)
        },
        Tampering("it is that of another file", .opening(lost: [0, 2, 4, 5]), spoilsOther: true) { store in
            try store.exchange(store.base, store.otherBase)
        },
        Tampering("it is that of another file, under its own header", .chunks([0, 2, 4, 5])) { store in
            let own = try bytes(at: store.base)
            try overwrite(store.base, Array(own[..<32]) + (try bytes(at: store.otherBase))[32...])
        },
        Tampering("it is gone", .opening(lost: [0, 2, 4, 5])) { try removeContent($0.base) },
    ]

    static let ofOverlay: [Tampering] = [
        Tampering("a byte of the header is another", .opening(lost: [])) { try $0.flip($0.overlay, 5) },
        Tampering("the header names another content", .opening(lost: [])) { try $0.flip($0.overlay, 20) },
        Tampering("a byte of a salt is another", .chunks([3])) { try $0.flip($0.overlay, $0.inSlot(of: 3, 15)) },
        Tampering("the first byte of a chunk is another", .chunks([3])) {
            try $0.flip($0.overlay, $0.inSlot(of: 3, 16))
        },
        Tampering("the last byte of a chunk is another", .chunks([3])) { store in
            try store.flip(store.overlay, store.inSlot(of: 3, chunkBytes + 15))
        },
        Tampering("it has grown, by bytes that are never read", .chunks([])) { store in
            try overwrite(store.overlay, try bytes(at: store.overlay) + [1, 2, 3])
        },
        Tampering("it was cut by a byte", .chunks([7])) { store in
            try overwrite(store.overlay, try bytes(at: store.overlay).dropLast())
        },
        Tampering("it was cut to its header", .chunks([1, 3, 7])) { store in
            try overwrite(store.overlay, Array(try bytes(at: store.overlay).prefix(32)))
        },
        Tampering("it was cut to nothing", .opening(lost: [1, 3, 7])) { try overwrite($0.overlay, []) },
        Tampering("two slots were exchanged", .chunks([1, 3])) { store in
            try store.exchange(
                in: store.overlay,
                try store.inSlot(of: 1),
                try store.inSlot(of: 3),
                chunkBytes + 16
            )
        },
        Tampering("it is that of another file", .opening(lost: [1, 3, 7]), spoilsOther: true) { store in
            try store.exchange(store.overlay, store.otherOverlay)
        },
        Tampering("it is that of another file, under its own header", .chunks([1, 3, 7])) { store in
            let own = try bytes(at: store.overlay)
            try overwrite(store.overlay, Array(own[..<32]) + (try bytes(at: store.otherOverlay))[32...])
        },
        Tampering("it is gone", .chunks([1, 3, 7])) { try removeContent($0.overlay) },
        Tampering("it and the base changed places", .opening(lost: [0, 1, 2, 3, 4, 5, 7])) { store in
            try store.exchange(store.overlay, store.base)
        },
    ]

    static let ofRows: [Tampering] = [
        Tampering("a byte of a tag is another", .opening(lost: [3], mayBeOlder: true)) { store in
            var rows = try store.rows()
            guard case .blob(var tag) = rows[1][3] else { return }
            tag[0] ^= 1
            rows[1][3] = .blob(tag)
            try store.replaceRows(by: rows)
        },
        Tampering("one has an impossible slot", .opening(lost: [3], mayBeOlder: true)) { store in
            var rows = try store.rows()
            rows[1][1] = .integer(-1)
            try store.replaceRows(by: rows)
        },
        Tampering("one has more bytes than a chunk", .opening(lost: [3], mayBeOlder: true)) { store in
            var rows = try store.rows()
            rows[1][2] = .integer(Int64(chunkBytes) + 1)
            try store.replaceRows(by: rows)
        },
        Tampering("one has fewer bytes than it had", .opening(lost: [3], mayBeOlder: true)) { store in
            var rows = try store.rows()
            rows[1][2] = .integer(Int64(chunkBytes) - 1)
            try store.replaceRows(by: rows)
        },
        Tampering("two changed places", .opening(lost: [1, 3], mayBeOlder: true)) { store in
            var rows = try store.rows()
            (rows[0][0], rows[1][0]) = (rows[1][0], rows[0][0])
            try store.replaceRows(by: rows)
        },
        Tampering("one stands for a hole as well", .opening(lost: [6], mayBeOlder: true)) { store in
            let rows = try store.rows()
            try store.replaceRows(by: rows + [[.integer(6)] + rows[0].dropFirst()])
        },
        Tampering("one was added before the beginning", .opening(lost: [], mayBeOlder: true)) { store in
            let rows = try store.rows()
            try store.replaceRows(by: rows + [[.integer(-1)] + rows[0].dropFirst()])
        },
        Tampering("one was added behind the end", .opening(lost: [], mayBeOlder: true)) { store in
            let rows = try store.rows()
            try store.replaceRows(by: rows + [[.integer(900)] + rows[0].dropFirst()])
        },
        Tampering(
            "they are those of another file",
            .opening(lost: [1, 3, 7], mayBeOlder: true),
            spoilsOther: true
        ) { store in
            try store.open.connection.execute(
                "UPDATE file_chunks SET node = -1 WHERE node = ?",
                .integer(store.node)
            )
            try store.open.connection.execute(
                "UPDATE file_chunks SET node = ? WHERE node = ?",
                .integer(store.node),
                .integer(store.otherNode)
            )
            try store.open.connection.execute(
                "UPDATE file_chunks SET node = ? WHERE node = -1",
                .integer(store.otherNode)
            )
        },
    ]
}

/// Removes a content under both of its names: it has a staged one until its place is synced.
func removeContent(_ path: String) throws {
    let place = URL(filePath: path)
    let staged = place.deletingLastPathComponent().deletingLastPathComponent()
        .appending(components: "staging", place.lastPathComponent)
    try FileManager.default.removeItem(at: place)
    if FileManager.default.fileExists(atPath: staged.path) { try FileManager.default.removeItem(at: staged) }
}
