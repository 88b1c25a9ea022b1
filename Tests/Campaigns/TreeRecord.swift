import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire

/// The states of a tree whose syncs were deferred, and the contents of its files, each with its place among all requests.
struct TreeRecord {
    /// What has happened to the daemon or to its client.
    enum Interruption {
        /// What was not synced may be lost.
        case powerCut
        /// The tree is there, and what was written may be lost.
        case daemonEnd
        /// The daemon has all that it has answered.
        case clientEnd
    }

    /// What a name leads to.
    enum Entry: Hashable {
        case directory
        case symbolicLink(String)
        case file(Int)

        var file: Int? { if case .file(let number) = self { number } else { nil } }
    }

    /// What the catalog has of a file, beside its content.
    struct FileState: Hashable {
        var mode: Int64
        var attributes: [String: [UInt8]] = [:]
        /// The first version that the content may have.
        var least = 0
    }

    /// The tree after a request.
    struct Tree {
        var entries: [String: Entry] = [:]
        var files: [Int: FileState] = [:]

        mutating func move(_ name: String, to target: String) {
            let moved = take(name)
            entries[target] = nil
            for (rest, entry) in moved { entries[target + rest] = entry }
        }

        mutating func exchange(_ name: String, _ other: String) {
            let (one, two) = (take(name), take(other))
            for (rest, entry) in one { entries[other + rest] = entry }
            for (rest, entry) in two { entries[name + rest] = entry }
        }

        /// Takes an entry and all below it out.
        private mutating func take(_ name: String) -> [(rest: String, entry: Entry)] {
            let taken = entries.filter { $0.key == name || $0.key.hasPrefix(name + "/") }
            for key in taken.keys { entries[key] = nil }
            return taken.map { (String($0.key.dropFirst(name.count)), $0.value) }
        }
    }

    /// A change of a content.
    enum Change {
        case write([UInt8], at: Int)
        case truncate(Int)
        case punch(Range<Int>)

        /// Makes it in a content.
        ///
        /// - Parameter part: The part of a write that was made.
        func callAsFunction(_ content: [UInt8], _ part: Range<Int> = 0..<Int.max) -> [UInt8] {
            var content = content
            switch self {
            case .write(let bytes, let start):
                let range = (start..<(start + bytes.count)).clamped(to: part)
                content += [UInt8](repeating: 0, count: max(0, range.upperBound - content.count))
                content.replaceSubrange(range, with: bytes[(range.lowerBound - start)..<(range.upperBound - start)])
            case .truncate(let count):
                content = Array(content.prefix(count)) + [UInt8](repeating: 0, count: max(0, count - content.count))
            case .punch(let range):
                let part = range.clamped(to: 0..<content.count)
                content.replaceSubrange(part, with: repeatElement(0, count: part.count))
            }
            return content
        }

        /// The parts of it that may have been made: the kernel divides it between pages.
        var parts: [Range<Int>] {
            guard case .write(let bytes, let start) = self else { return [0..<Int.max] }
            let cuts = (start..<(start + bytes.count)).filter { $0 > start && $0 % 4096 == 0 }
            return [0..<Int.max] + cuts.flatMap { [0..<$0, $0..<Int.max] }
        }
    }

    private struct State {
        let tree: Tree
        let start: Int64
        let end: Int64
        /// Whether the answer says that it is on the disk.
        let isDurable: Bool
    }

    private struct Version {
        let content: [UInt8]
        let start: Int64
        /// When it was answered.
        var end: Int64
        let change: Change
    }

    private let root: String
    private var states = [State(tree: Tree(), start: 0, end: 0, isDurable: true)]
    private var contents: [[Version]] = []

    /// - Parameter root: The directory to which all names belong.
    init(root: String) { self.root = root }

    var latest: Tree { states[states.count - 1].tree }

    /// The place of each answer.
    var answers: [Int64] { states.map(\.end) }

    mutating func add(from start: Int64, to end: Int64, isDurable: Bool, _ change: (inout Tree) -> Void) {
        var tree = latest
        change(&tree)
        states.append(State(tree: tree, start: start, end: end, isDurable: isDurable))
    }

    /// A new file, which is empty.
    mutating func makeFile() -> Int {
        contents.append([Version(content: [], start: 0, end: 0, change: .truncate(0))])
        return contents.count - 1
    }

    mutating func beginVersion(of number: Int, from start: Int64, _ change: Change) {
        let content = change(content(of: number))
        contents[number].append(Version(content: content, start: start, end: .max, change: change))
    }

    mutating func endVersion(of number: Int, at end: Int64) { contents[number][contents[number].count - 1].end = end }

    func latestVersion(of number: Int) -> Int { contents[number].count - 1 }

    var latestVersions: [Int] { contents.indices.map(latestVersion) }

    func content(of number: Int) -> [UInt8] { contents[number].last?.content ?? [] }

    // MARK: Checking

    private struct Found {
        let file: FileInfo
        var content: [UInt8] = []
        var attributes: [String: [UInt8]] = [:]
    }

    /// Compares what is there after an interruption with what may be there.
    ///
    /// - Returns: How many changes that were answered are lost.
    @discardableResult
    func check(_ client: BlockingClient, after interruption: Interruption, at position: Int64 = .max - 1) throws -> Int
    {
        let found = try read(client)
        let last = states.lastIndex { $0.start <= position } ?? 0
        let least = states.lastIndex { $0.end <= position && (interruption != .powerCut || $0.isDurable) } ?? 0
        var differences: [String] = []
        for number in (least...max(least, last)).reversed() {
            let difference = difference(of: found, from: states[number].tree, after: interruption, at: position)
            guard let difference else { return states[number...].dropFirst().count { $0.end <= position } }
            differences.append(difference)
        }
        throw Fault("the tree is none of \(differences.count): \(Set(differences).sorted().joined(separator: "; "))")
    }

    /// The names of the files, and their contents.
    func contents(by client: BlockingClient) throws -> [String: [UInt8]] {
        try read(client).filter { $0.value.file.type == .file }.mapValues(\.content)
    }

    private func read(_ client: BlockingClient) throws -> [String: Found] {
        var found: [String: Found] = [:]
        let root = try ItemName(root)
        guard try Outcome({ found[root.path] = Found(file: try client.fileInfo(root)) }) == .done else { return [:] }
        var cursor: String?
        repeat {
            let page = try client.listFiles(in: root, recursive: true, cursor: cursor)
            try expect(page.damagedCount == 0, "\(page.damagedCount) entries are damaged")
            for file in page.entries { found[file.name] = try Self.read(file, client) }
            cursor = page.cursor
        } while cursor != nil
        return found
    }

    private static func read(_ file: FileInfo, _ client: BlockingClient) throws -> Found {
        guard file.type == .file else { return Found(file: file) }
        let name = try ItemName(file.name)
        var found = Found(file: file, content: try client.openFile(name).get())
        for attribute in try client.call(FileListExtendedAttributesParameters(name: name)).value.attributes {
            let params = FileGetExtendedAttributeParameters(name: name, attribute: attribute.name)
            found.attributes[attribute.name] = try client.call(params).payload.exposeBytes()
        }
        return found
    }

    /// What is different from a state; `nil` if nothing is.
    private func difference(
        of found: [String: Found],
        from tree: Tree,
        after interruption: Interruption,
        at position: Int64
    ) -> String? {
        if let name = Set(found.keys).symmetricDifference(tree.entries.keys).min() {
            return "'\(name)' is \(found[name] == nil ? "missing" : "there")"
        }
        var inodes: [Int: Int64] = [:]
        for (name, entry) in tree.entries.sorted(by: { $0.key < $1.key }) {
            guard let found = found[name] else { return "'\(name)' is missing" }
            switch entry {
            case .directory: if found.file.type != .directory { return "'\(name)' is no directory" }
            case .symbolicLink(let target):
                if found.file.type != .symbolicLink || found.file.target != target {
                    return "'\(name)' is no such link"
                }
            case .file(let number):
                if found.file.type != .file { return "'\(name)' is no file" }
                if inodes.updateValue(found.file.inode, forKey: number) ?? found.file.inode != found.file.inode {
                    return "'\(name)' is another file than its other name"
                }
                let names = tree.entries.values.count { $0 == entry }
                if Int(found.file.linkCount) != names {
                    return "'\(name)' has \(found.file.linkCount) links, not \(names)"
                }
                let state = tree.files[number]
                let difference = difference(of: found, from: state, number, after: interruption, at: position)
                if let difference { return "'\(name)' \(difference)" }
            }
        }
        return Set(inodes.values).count == inodes.count ? nil : "two files have one number"
    }

    private func difference(
        of found: Found,
        from state: FileState?,
        _ number: Int,
        after interruption: Interruption,
        at position: Int64
    ) -> String? {
        guard let state else { return "is not known" }
        if found.file.mode != state.mode { return "has mode \(found.file.mode), not \(state.mode)" }
        if found.attributes != state.attributes { return "has other attributes" }
        let versions = contents[number]
        let answered = versions.lastIndex { $0.end <= position } ?? 0
        let least = interruption == .clientEnd ? max(answered, state.least) : state.least
        let possible = versions[least...].filter { $0.start <= position }
        if possible.contains(where: { $0.content == found.content }) { return nil }
        // The last request may have come after it, on what was left then, and in part.
        if interruption != .powerCut, let last = possible.last {
            for version in possible {
                if last.change.parts.contains(where: { last.change(version.content, $0) == found.content }) {
                    return nil
                }
            }
        }
        let earlier = versions.lastIndex { $0.content == found.content }
        return "has \(earlier.map { "version \($0)" } ?? "no version") of its content, "
            + "not one of \(least) to \(least + possible.count - 1)"
    }
}
