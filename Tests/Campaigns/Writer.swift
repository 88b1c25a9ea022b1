import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Foundation

/// Changes its own items until the daemon ends, and records what must be stored then.
final class Writer: @unchecked Sendable {
    // Sendable: one thread at a time.
    let prefix: String
    private(set) var expectation = Expectation()
    private(set) var journal = Journal()
    /// The current position in the recording.
    private let position: () -> Int64
    private var random: Generator
    private var touched: Set<String> = []
    private var count = 0
    /// The position before the first uncertain change.
    private var start: Int64?
    /// Whether the uncertain change was written through a handle, so that a later sync may keep it.
    private var isWriting = false

    private var known: [String: Stored] { expectation.known }

    init(_ prefix: String, _ random: Generator, position: @escaping () -> Int64 = { 0 }) {
        self.prefix = prefix
        self.random = random
        self.position = position
    }

    /// Changes items until the daemon ends.
    ///
    /// - Returns: The number of acknowledged changes.
    func work(_ client: BlockingClient) throws -> Int {
        count = 0
        while true {
            do { try step(client) } catch let error as CofferError {
                if error.code == .notAvailable { return count }
                throw Fault("\(error.code.rawValue): \(error.message)")
            }
        }
    }

    /// Makes one change, which may be refused.
    ///
    /// - Returns: The refusal.
    func attempt(_ client: BlockingClient) throws -> CofferError? {
        do {
            try step(client)
            return nil
        } catch let error as CofferError {
            // A refused change has no effect, except that writes through a handle may be synced when it
            // closes.
            if isWriting {
                for (name, stored) in expectation.alternatives.joined() {
                    expectation.open[name, default: []].append(stored)
                }
            }
            expectation.alternatives = []
            (isWriting, start) = (false, nil)
            return error
        }
    }

    /// Makes one change.
    func step(_ client: BlockingClient) throws {
        switch random.below(12) {
        case 0...2: try putSecret(client)
        case 3...4: try putFile(client)
        case 5: try putEither(client)
        case 6...7: try rewrite(client)
        case 8: try remove(client)
        case 9: try protect(client)
        case 10: try move(client)
        default: try useTree(client)
        }
    }

    /// Records the possible changes of a request, sends it, and records its answer.
    ///
    /// - Parameter request: Returns the protection of the stored items, if the daemon reports it.
    private func change(_ changes: Changes, _ request: () throws -> Protection?) throws {
        begin(changes)
        var changes = changes
        if let protection = try request() {
            for name in changes.keys { changes[name]??.protection = protection }
        }
        end(changes)
    }

    /// Makes a request that may be executed in part.
    private func changeEach(_ changes: Changes, _ request: () throws -> Void) throws {
        start = position()
        touched.formUnion(changes.keys)
        for (name, stored) in changes { expectation.open[name] = [stored] }
        try request()
        end(changes, isEach: true)
    }

    private func begin(_ changes: Changes) {
        if expectation.alternatives.isEmpty { start = position() }
        expectation.alternatives.append(changes)
        touched.formUnion(changes.keys)
    }

    private func end(_ changes: Changes, isEach: Bool = false) {
        let entry = Journal.Entry(
            start: start ?? 0,
            end: position(),
            changes: changes,
            alternatives: expectation.alternatives,
            open: isEach ? expectation.open : [:]
        )
        journal.entries.append(entry)
        expectation.apply(changes)
        expectation.alternatives = []
        if isEach { for name in changes.keys { expectation.open[name] = nil } }
        count += 1
    }

    // MARK: Puts

    private func put(
        _ client: BlockingClient,
        _ name: String,
        _ content: [UInt8],
        _ describe: @escaping (inout PlacementOptions) -> Void
    ) throws {
        try change([name: Stored(content: content)]) { try client.put(name, content, describe).protection }
    }

    private func putSecret(_ client: BlockingClient) throws {
        let accessibility = random.chance(0.6) ? nil : random.pick(accessibilities)
        try put(client, "\(prefix)k\(random.below(5))", random.content(random.size(upTo: 2000))) { wishes in
            wishes.store = .keychain
            wishes.accessibility = accessibility
        }
    }

    private func putFile(_ client: BlockingClient) throws {
        let protectionClass = random.chance(0.6) ? nil : random.pick(ProtectionClass.allCases)
        try put(client, "\(prefix)f\(random.below(4))", random.content(random.size(upTo: 256 << 10))) { wishes in
            wishes.store = .file
            wishes.protectionClass = protectionClass
        }
    }

    /// A size near the boundary between the stores.
    private func putEither(_ client: BlockingClient) throws {
        try put(client, "\(prefix)m\(random.below(2))", random.content(random.size(upTo: 9000))) { _ in }
    }

    private var accessibilities: [Accessibility] {
        Accessibility.allCases.filter { $0 != .whenPasscodeSetThisDeviceOnly }
    }

    // MARK: Handles

    private func rewrite(_ client: BlockingClient) throws {
        let name = "\(prefix)h\(random.below(2))"
        if expectation.open[name] != nil { return }
        let protection = known[name]?.protection
        var draft = known[name]?.content ?? []
        func stored() -> [String: Stored?] { [name: Stored(content: draft, protection: protection)] }
        let isEmptied = random.chance(0.15)
        if isEmptied { draft = [] }
        // The open itself creates or empties it, or the first sync.
        begin(stored())
        isWriting = true
        let file = try client.openFile(try ItemName(name), for: .write, isEmptied ? [.create, .truncate] : .create)
        for _ in 0..<(1 + random.below(3)) {
            for _ in 0..<(1 + random.below(3)) {
                if random.chance(0.2) {
                    let size = random.size(upTo: 200_000)
                    draft = Array(draft.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - draft.count))
                    // The daemon may sync the writes on its own.
                    begin(stored())
                    try file.truncate(to: Int64(size))
                } else {
                    let bytes = random.content(1 + random.size(upTo: 60_000))
                    let place = random.size(upTo: 150_000)
                    draft += [UInt8](repeating: 0, count: max(0, place + bytes.count - draft.count))
                    draft.replaceSubrange(place..<(place + bytes.count), with: bytes)
                    begin(stored())
                    try file.put(bytes, at: Int64(place))
                }
            }
            try change(stored()) {
                try file.sync()
                return nil
            }
        }
        try change(stored()) {
            try file.close()
            return nil
        }
        isWriting = false
    }

    // MARK: Changes

    /// The items whose state is certain.
    private var certain: [String] { known.keys.filter { expectation.open[$0] == nil }.sorted() }

    private func remove(_ client: BlockingClient) throws {
        guard let name = certain.randomElement(using: &random) else { return }
        try change([name: nil]) {
            try client.remove(try ItemName(name))
            return nil
        }
    }

    private func protect(_ client: BlockingClient) throws {
        guard let name = certain.randomElement(using: &random), let stored = known[name],
            let old = stored.protection
        else { return }
        let new: Protection =
            old.store == .file ? .file(random.pick(ProtectionClass.allCases)) : .keychain(random.pick(accessibilities))
        try change([name: Stored(content: stored.content, protection: new)]) {
            _ = try client.protect(try ItemName(name), as: new)
            return nil
        }
    }

    private func move(_ client: BlockingClient) throws {
        let names = known.keys.filter { $0.hasPrefix("\(prefix)k") || $0.hasPrefix("\(prefix)f") }.sorted()
        guard let name = names.randomElement(using: &random), var stored = known[name] else { return }
        let target = "\(prefix)\(stored.protection?.store == .file ? "f" : "k")\(random.below(6))"
        if target == name { return }
        // A file is never less protected than the one that it replaces.
        if case .file(let own) = stored.protection, case .file(let replaced) = known[target]?.protection {
            stored.protection = .file(own.stricter(replaced))
        }
        try change([name: nil, target: stored]) {
            try client.move(try ItemName(name), to: try ItemName(target), replace: true)
            return nil
        }
    }

    // MARK: Trees

    private func useTree(_ client: BlockingClient) throws {
        let tree = "\(prefix)t\(random.below(2))"
        let inside = known.filter { $0.key.hasPrefix(tree + "/") }
        if expectation.open.keys.contains(where: { $0.hasPrefix(tree) }) { return }
        if inside.count < 6 {
            for number in 0..<6 {
                let content = random.content(random.size(upTo: 5000))
                try put(client, "\(tree)/\(number % 2)/\(number)", content) { $0.store = .file }
            }
            return
        }
        switch random.below(3) {
        case 0:
            try changeEach(inside.mapValues { _ in nil as Stored? }) {
                try client.removeFile(try ItemName(tree), recursive: true)
            }
        case 1:
            let protectionClass = random.pick(ProtectionClass.allCases)
            let changed = inside.mapValues {
                Stored(content: $0.content, protection: .file(protectionClass)) as Stored?
            }
            try changeEach(changed) {
                _ = try client.protectFile(try ItemName(tree), as: protectionClass, .everything)
            }
        default:
            let target = "\(prefix)t\(2 + random.below(2))"
            if (Array(known.keys) + Array(expectation.open.keys)).contains(where: { $0.hasPrefix(target + "/") }) {
                return
            }
            var changes: Changes = [:]
            for (name, stored) in inside {
                changes.updateValue(nil, forKey: name)
                changes.updateValue(stored, forKey: target + name.dropFirst(tree.count))
            }
            try change(changes) {
                try client.moveFile(try ItemName(tree), to: try ItemName(target))
                return nil
            }
        }
    }

    // MARK: Checking

    /// Compares the vault with the acknowledged state.
    ///
    /// - Parameters:
    ///   - items: The listed items.
    ///   - isEverything: Whether to read items that are unchanged since the last check as well.
    ///   - settles: Whether the state that was read becomes the known one.
    func check(
        _ client: BlockingClient,
        _ items: [String: ItemInfo],
        isEverything: Bool = true,
        settles: Bool = true
    ) throws {
        let own = items.filter { $0.key.hasPrefix(prefix) }
        let read = try expectation.check(client, own, reading: isEverything ? nil : touched)
        if !settles { return }
        expectation.settle(read)
        touched = []
        (isWriting, start) = (false, nil)
    }
}
