import Foundation

/// The operations of a daemon on its state directory, in order.
struct RecordedDisk {
    /// How much of the unsynced data is lost.
    enum Loss: CaseIterable {
        case everything
        case byChance
    }

    /// When an entry of a directory is on the disk.
    enum Entries: CaseIterable {
        /// In order, and all of them with the sync of any directory: a journal.
        case journaled
        /// With the sync of its own directory: the minimum of POSIX.
        case eachDirectory
    }

    private enum Kind: UInt32 {
        case write = 1
        case resize, grow, sync, create, mkdir, rename, unlink, link
    }

    private struct Record {
        let kind: Kind
        let flags: UInt32
        let first: UInt64
        let second: UInt64
        let offset: Int64
        let name: String
        let rest: Range<Int>
        let end: Int
    }

    private let bytes: [UInt8]
    private let records: [Record]
    private let root: UInt64

    /// The size of the recording in bytes.
    var byteCount: Int { bytes.count }

    /// The positions between two records.
    var ends: [Int] { records.map(\.end) }

    /// Reads a recording.
    ///
    /// - Parameter root: The inode of the state directory.
    init(_ path: String, root: UInt64) throws {
        bytes = Array(try Data(contentsOf: URL(filePath: path)))
        self.root = root
        records = try Self.records(in: bytes)
    }

    private static func records(in bytes: [UInt8]) throws -> [Record] {
        var records: [Record] = []
        var place = 0
        try bytes.withUnsafeBytes { raw in
            func load<Value: BitwiseCopyable>(_ offset: Int, _: Value.Type) -> Value {
                raw.loadUnaligned(fromByteOffset: place + offset, as: Value.self)
            }
            while place < raw.count {
                let (nameCount, restCount) = (Int(load(32, UInt32.self)), Int(load(36, UInt32.self)))
                guard let kind = Kind(rawValue: load(0, UInt32.self)) else { throw Fault("no recording") }
                let (name, end) = (place + 40, place + 40 + nameCount + restCount)
                let record = Record(
                    kind: kind,
                    flags: load(4, UInt32.self),
                    first: load(8, UInt64.self),
                    second: load(16, UInt64.self),
                    offset: load(24, Int64.self),
                    name: String(decoding: raw[name..<(name + nameCount)], as: UTF8.self),
                    rest: (name + nameCount)..<end,
                    end: end
                )
                records.append(record)
                place = end
            }
        }
        return records
    }

    // MARK: A power cut

    /// A file or a directory, and the operations on it.
    private final class Node {
        var changes: [Record] = []
        /// The number of synced changes.
        var syncedCount = 0
        /// The current entries of a directory.
        var live: [String: Node] = [:]
        var entryChanges: [EntryChange] = []
        var syncedEntryCount = 0
        /// The entries of a directory after the cut.
        var kept: [String: Node] = [:]
        let isDirectory: Bool

        init(isDirectory: Bool) { self.isDirectory = isDirectory }
    }

    /// An atomic change of the entries of one directory.
    private struct EntryChange {
        let directory: Node
        let entries: [String: Node?]
    }

    /// Makes the state directory after a power cut.
    ///
    /// - Parameters:
    ///   - position: The position of the cut in the recording.
    ///   - path: The path of the new directory, which must not exist.
    func cut(at position: Int, _ loss: Loss, _ entries: Entries, _ random: inout Generator, into path: String) throws {
        let keep = loss == .everything ? 0 : random.pick([0.3, 0.5, 0.7])
        var history = History(root: root, bytes: bytes)
        for record in records.prefix(while: { $0.end <= position }) { try history.add(record) }
        switch entries {
        case .journaled: history.keepOrdered(keep, &random)
        case .eachDirectory: history.keepEach(keep, &random)
        }
        try history.write(history.root, to: path, keep, &random)
    }

    private struct History {
        let root = Node(isDirectory: true)
        private var nodes: [UInt64: Node]
        private var directories: [Node] = []
        /// The changes of entries, in order; a rename between two directories is two changes at once.
        private var journal: [[EntryChange]] = []
        private var journaledCount = 0
        private let bytes: [UInt8]

        init(root inode: UInt64, bytes: [UInt8]) {
            nodes = [inode: root]
            directories = [root]
            self.bytes = bytes
        }

        mutating func add(_ record: Record) throws {
            guard let node = nodes[record.first] else { throw Fault("a recording of a file that was not made") }
            switch record.kind {
            case .write, .resize, .grow: node.changes.append(record)
            case .sync:
                // By syncfs, all of them.
                for node in record.flags == 1 ? Array(nodes.values) : [node] {
                    node.syncedCount = node.changes.count
                    node.syncedEntryCount = node.entryChanges.count
                }
                if node.isDirectory { journaledCount = journal.count }
            case .create, .mkdir:
                let made = Node(isDirectory: record.kind == .mkdir)
                nodes[record.second] = made
                if made.isDirectory { directories.append(made) }
                change([(node, [record.name: made])])
            case .unlink: change([(node, [record.name: nil])])
            case .rename: try rename(record, from: node)
            case .link: try link(record, from: node)
            }
        }

        private mutating func link(_ record: Record, from: Node) throws {
            guard let to = nodes[record.second], let linked = from.live[record.name] else {
                throw Fault("a recording of a link to what is not there: '\(record.name)'")
            }
            change([(to, [String(decoding: bytes[record.rest], as: UTF8.self): linked])])
        }

        private mutating func rename(_ record: Record, from: Node) throws {
            let newName = String(decoding: bytes[record.rest], as: UTF8.self)
            guard let to = nodes[record.second], let moved = from.live[record.name] else {
                throw Fault("a recording of a rename of what is not there: '\(record.name)' to '\(newName)'")
            }
            // RENAME_EXCHANGE.
            let left = record.flags & 2 == 0 ? nil : to.live[newName]
            if from === to {
                change([(from, [record.name: left, newName: moved])])
            } else {
                change([(from, [record.name: left]), (to, [newName: moved])])
            }
        }

        private mutating func change(_ changes: [(Node, [String: Node?])]) {
            journal.append(
                changes.map { directory, entries in
                    let change = EntryChange(directory: directory, entries: entries)
                    for (name, node) in entries { directory.live[name] = node }
                    directory.entryChanges.append(change)
                    return change
                }
            )
        }

        private func keep(_ change: EntryChange) {
            for (name, node) in change.entries { change.directory.kept[name] = node }
        }

        /// Keeps the journal and some of the following changes, in order.
        func keepOrdered(_ part: Double, _ random: inout Generator) {
            var count = journaledCount
            while count < journal.count, random.chance(part) { count += 1 }
            for changes in journal.prefix(count) { changes.forEach(keep) }
        }

        /// Keeps the synced changes of each directory, and some of the others.
        func keepEach(_ part: Double, _ random: inout Generator) {
            for directory in directories {
                for (number, change) in directory.entryChanges.enumerated()
                where number < directory.syncedEntryCount || random.chance(part) { keep(change) }
            }
        }

        func write(_ directory: Node, to path: String, _ part: Double, _ random: inout Generator) throws {
            guard mkdir(path, 0o700) == 0 else { throw Fault("mkdir: \(errno)") }
            for (name, node) in directory.kept.sorted(by: { $0.key < $1.key }) {
                if node.isDirectory {
                    try write(node, to: "\(path)/\(name)", part, &random)
                } else {
                    let content = content(of: node, part, &random)
                    let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
                    let isMade = FileManager.default.createFile(
                        atPath: "\(path)/\(name)",
                        contents: Data(content),
                        attributes: attributes
                    )
                    try expect(isMade, "can't make '\(path)/\(name)'")
                }
            }
        }

        /// The content of a file: the synced data, and some of the rest.
        private func content(of node: Node, _ part: Double, _ random: inout Generator) -> [UInt8] {
            var content: [UInt8] = []
            for (number, change) in node.changes.enumerated() {
                let isSynced = number < node.syncedCount
                guard isSynced || random.chance(part) else { continue }
                switch change.kind {
                case .write:
                    // Some sectors of an unsynced write may be on the disk.
                    let sectors = (change.rest.count + 511) / 512
                    let isTorn = !isSynced && random.chance(0.3)
                    let count = isTorn ? min(random.below(sectors + 1) * 512, change.rest.count) : change.rest.count
                    put(change.rest.prefix(count), at: Int(change.offset), into: &content)
                case .resize:
                    if content.count > change.offset { content.removeLast(content.count - Int(change.offset)) }
                    grow(&content, to: Int(change.offset))
                default: grow(&content, to: Int(change.offset))
                }
            }
            return content
        }

        private func grow(_ content: inout [UInt8], to count: Int) {
            if content.count < count { content += [UInt8](repeating: 0, count: count - content.count) }
        }

        private func put(_ range: Range<Int>, at offset: Int, into content: inout [UInt8]) {
            grow(&content, to: offset + range.count)
            content.withUnsafeMutableBytes { target in
                bytes.withUnsafeBytes { source in
                    target[offset..<(offset + range.count)].copyBytes(from: source[range])
                }
            }
        }
    }
}
