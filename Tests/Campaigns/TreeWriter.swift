import CofferTestSupport
import Foundation

/// Changes a tree whose syncs are deferred, as by a mount, and records what an interruption may leave of it.
final class TreeWriter: @unchecked Sendable {
    // Sendable: one thread at a time.
    private(set) var record: TreeRecord
    private let root: String
    private let calls: any TreeCalls
    private let position: () -> Int64
    private let isEnding: () -> Bool
    private var random: Generator
    /// How many requests were answered.
    private(set) var answerCount = 0

    private var tree: TreeRecord.Tree { record.latest }

    /// It was told to end.
    struct Ended: Error {}

    /// - Parameters:
    ///   - root: The directory that it makes, and in which it changes everything.
    ///   - calls: By what it changes it.
    ///   - random: What the changes depend on.
    ///   - position: The place of now among all requests.
    ///   - isEnding: Whether no further request may be made.
    init(
        _ root: String,
        by calls: any TreeCalls,
        _ random: Generator,
        position: @escaping () -> Int64,
        isEnding: @escaping () -> Bool = { false }
    ) {
        self.root = root
        self.calls = calls
        self.random = random
        self.position = position
        self.isEnding = isEnding
        record = TreeRecord(root: root)
    }

    /// Makes one change, of one or several requests.
    func step() throws {
        if tree.entries[root] == nil { return try makeDirectory(root) }
        switch random.below(100) {
        case 0..<18: try create(newName)
        case 18..<42: if let name = files.randomElement(using: &random) { try rewrite(name) }
        case 42..<48: try saveBeside()
        case 48..<52: try renameInTurn()
        case 52..<66: try rename()
        case 66..<71: try link()
        case 71..<75: try makeSymbolicLink()
        case 75..<79: try makeDirectory(newName)
        case 79..<85: try remove()
        case 85..<90: try changeAttributes()
        case 90..<95: try syncFile()
        case 95..<99: try syncTree()
        // The daemon syncs by itself what has waited for a second.
        default: usleep(1_200_000)
        }
    }

    // MARK: Requests

    /// Makes a request, and records what it changes.
    @discardableResult private func request<Value>(
        isDurable: Bool = false,
        isAlwaysMade: Bool = false,
        changes: (inout TreeRecord.Tree) -> Void = { _ in },
        body: () throws -> Value
    ) throws -> Value {
        if isEnding() && !isAlwaysMade { throw Ended() }
        let start = position()
        let value: Value
        do {
            value = try body()
        } catch {
            // It may have been made, or not.
            record.add(from: start, to: .max, isDurable: isDurable, changes)
            throw error
        }
        record.add(from: start, to: position(), isDurable: isDurable, changes)
        answerCount += 1
        return value
    }

    // MARK: Choosing

    private var directories: [String] { tree.entries.filter { $0.value == .directory }.keys.sorted() }

    private var files: [String] { tree.entries.filter { $0.value.file != nil }.keys.sorted() }

    private var names: [String] { tree.entries.keys.filter { $0 != root }.sorted() }

    private var newName: String { "\(random.pick(directories))/\(random.below(40))" }

    private func isFree(_ name: String) -> Bool { tree.entries[name] == nil }

    // MARK: Contents

    private func create(_ name: String) throws {
        guard isFree(name) else { return }
        let number = record.makeFile()
        let handle = try request { tree in
            tree.entries[name] = .file(number)
            tree.files[number] = TreeRecord.FileState(mode: 0o600)
        } body: {
            try calls.create(name)
        }
        try write(to: handle, number)
    }

    private func rewrite(_ name: String) throws {
        guard let number = tree.entries[name]?.file else { return }
        if isEnding() { throw Ended() }
        try write(to: try calls.open(name), number)
    }

    /// Changes the content of an open file, and closes it.
    private func write(to handle: Int64, _ number: Int) throws {
        do {
            for _ in 0..<(1 + random.below(3)) {
                try writeOnce(to: handle, number)
                if random.chance(0.08) { try sync(handle, number) }
            }
        } catch {
            try? calls.close(handle)
            throw error
        }
        // Also at the end: an open file would be missed later.
        try request(isAlwaysMade: true) { try calls.close(handle) }
    }

    /// Makes a request that changes a content.
    private func edit(_ number: Int, _ change: TreeRecord.Change, _ body: () throws -> Void) throws {
        if isEnding() { throw Ended() }
        record.beginVersion(of: number, from: position(), change)
        try body()
        record.endVersion(of: number, at: position())
        answerCount += 1
    }

    private func writeOnce(to handle: Int64, _ number: Int) throws {
        let count = record.content(of: number).count
        switch random.below(6) {
        case 0:
            let size = random.size(upTo: 20_000)
            try edit(number, .truncate(size)) { try calls.truncate(handle, to: size) }
        case 1 where count > 0:
            let start = random.below(count)
            let range = start..<min(count, start + 1 + random.below(12_000))
            try edit(number, .punch(range)) { try calls.punch(range, of: handle) }
        default:
            let bytes = random.content(1 + random.below(random.chance(0.8) ? 4096 : 30_000))
            let start = random.chance(0.5) ? 0 : random.below(20_000)
            try edit(number, .write(bytes, at: start)) { try calls.write(bytes, to: handle, at: start) }
        }
    }

    /// Writes beside a file and renames over it, as editors do.
    private func saveBeside() throws {
        guard let name = files.randomElement(using: &random) else { return }
        let other = name + ".new"
        try create(other)
        try rename(other, to: name)
    }

    // MARK: Syncing

    private func sync(_ handle: Int64, _ number: Int) throws {
        let version = record.latestVersion(of: number)
        try request(isDurable: true, changes: { $0.files[number]?.least = version }) { try calls.sync(handle) }
    }

    private func syncFile() throws {
        guard let name = files.randomElement(using: &random), let number = tree.entries[name]?.file else { return }
        if isEnding() { throw Ended() }
        let handle = try calls.open(name)
        defer { try? calls.close(handle) }
        try sync(handle, number)
    }

    private func syncTree() throws {
        let includesFiles = calls.syncsClosedFiles && random.chance(0.5)
        let versions = record.latestVersions
        try request(isDurable: true) { tree in
            if includesFiles { for number in tree.files.keys { tree.files[number]?.least = versions[number] } }
        } body: {
            try calls.syncTree(includesClosedFiles: includesFiles)
        }
    }

    // MARK: The tree

    private func rename() throws {
        guard let name = names.randomElement(using: &random) else { return }
        if random.chance(0.2), let other = names.randomElement(using: &random) { return try exchange(name, other) }
        try rename(name, to: newName)
    }

    /// Rewrites a file and renames it, in turn: each rename syncs what was written before.
    private func renameInTurn() throws {
        guard var name = files.randomElement(using: &random) else { return }
        for _ in 0..<4 {
            let target = newName
            try rewrite(name)
            try rename(name, to: target)
            if tree.entries[target]?.file != nil { name = target }
        }
    }

    private func rename(_ name: String, to target: String) throws {
        guard let entry = tree.entries[name], name != target, !target.hasPrefix(name + "/") else { return }
        let other = tree.entries[target]
        // POSIX leaves two names of one file as they are.
        guard other == nil || entry != .directory && other != .directory && entry != other else { return }
        let version = entry.file.map { record.latestVersion(of: $0) }
        try request { tree in
            tree.move(name, to: target)
            // A new name never leads to less than what was closed.
            if let number = entry.file, let version { tree.files[number]?.least = version }
        } body: {
            try calls.rename(name, to: target)
        }
    }

    private func exchange(_ name: String, _ other: String) throws {
        guard name != other, !other.hasPrefix(name + "/"), !name.hasPrefix(other + "/"),
            let one = tree.entries[name], let two = tree.entries[other], one == .directory || one != two
        else { return }
        try request(changes: { $0.exchange(name, other) }) { try calls.exchange(name, with: other) }
    }

    private func link() throws {
        let target = newName
        guard let name = files.randomElement(using: &random), isFree(target), let number = tree.entries[name]?.file
        else { return }
        let version = record.latestVersion(of: number)
        try request { tree in
            tree.entries[target] = .file(number)
            tree.files[number]?.least = version
        } body: {
            try calls.link(name, as: target)
        }
    }

    private func makeSymbolicLink() throws {
        let (name, target) = (newName, "to \(random.below(1000))")
        guard isFree(name) else { return }
        try request(changes: { $0.entries[name] = .symbolicLink(target) }) {
            try calls.makeSymbolicLink(name, to: target)
        }
    }

    private func makeDirectory(_ name: String) throws {
        guard isFree(name), name.split(separator: "/").count < 5 else { return }
        try request(changes: { $0.entries[name] = .directory }) { try calls.makeDirectory(name) }
    }

    private func remove() throws {
        guard let name = names.randomElement(using: &random), !names.contains(where: { $0.hasPrefix(name + "/") })
        else { return }
        let isDirectory = tree.entries[name] == .directory
        try request(changes: { $0.entries[name] = nil }) { try calls.remove(name, isDirectory: isDirectory) }
    }

    private func changeAttributes() throws {
        guard let name = files.randomElement(using: &random), let number = tree.entries[name]?.file else { return }
        let attribute = "user.a\(random.below(3))"
        switch random.below(3) {
        case 0:
            let mode = Int64(0o600 | random.below(0o200))
            try request(changes: { $0.files[number]?.mode = mode }) { try calls.setMode(mode, of: name) }
        case 1 where tree.files[number]?.attributes[attribute] != nil:
            try request(changes: { $0.files[number]?.attributes[attribute] = nil }) {
                try calls.removeAttribute(attribute, of: name)
            }
        default:
            let value = random.content(1 + random.below(300))
            try request(changes: { $0.files[number]?.attributes[attribute] = value }) {
                try calls.setAttribute(attribute, to: value, of: name)
            }
        }
    }
}
