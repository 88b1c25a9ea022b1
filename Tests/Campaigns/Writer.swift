import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Foundation

/// An item as it was stored.
struct Stored {
    var content: [UInt8]
    /// `nil` where that is not known.
    var protection: Protection?

    func fits(_ other: Stored) -> Bool {
        content == other.content && (protection == nil || other.protection == nil || protection == other.protection)
    }
}

/// Changes items of its own until the daemon goes, and knows what has to be there then.
final class Writer: @unchecked Sendable {
    // Sendable: one thread at a time.
    let prefix: String
    /// What was acknowledged.
    private(set) var known: [String: Stored] = [:]
    private var random: Generator
    /// What a request without an answer may have done: any of these changes, as a whole.
    private var alternatives: [[String: Stored?]] = []
    /// Items of which a request without an answer may have removed or protected each by itself.
    private var loose: [String: Stored?] = [:]
    private var touched: Set<String> = []
    private var count = 0

    init(_ prefix: String, _ random: Generator) {
        self.prefix = prefix
        self.random = random
    }

    /// Changes items until the daemon goes.
    ///
    /// - Returns: How many changes were acknowledged.
    func work(_ client: BlockingClient) throws -> Int {
        count = 0
        while true {
            do { try step(client) } catch let error as CofferError {
                if error.code == .notAvailable { return count }
                throw Fault("\(error.code.rawValue): \(error.message)")
            }
        }
    }

    private func step(_ client: BlockingClient) throws {
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

    /// Remembers what a request may do, sends it, and takes its answer down.
    private func change(_ changes: [String: Stored?], _ request: () throws -> Void) throws {
        alternatives.append(changes)
        touched.formUnion(changes.keys)
        try request()
        apply(changes)
        alternatives = []
        count += 1
    }

    private func apply(_ changes: [String: Stored?]) { for (name, stored) in changes { known[name] = stored } }

    // MARK: Puts

    private func put(
        _ client: BlockingClient,
        _ name: String,
        _ content: [UInt8],
        _ describe: @escaping (inout ItemWishes) -> Void
    ) throws {
        var placement: Placement?
        try change([name: Stored(content: content)]) { placement = try client.put(name, content, describe) }
        known[name]?.protection = placement?.protection
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

    /// Of a size that belongs into one store or the other.
    private func putEither(_ client: BlockingClient) throws {
        try put(client, "\(prefix)m\(random.below(2))", random.content(random.size(upTo: 9000))) { _ in }
    }

    private var accessibilities: [Accessibility] {
        Accessibility.allCases.filter { $0 != .whenPasscodeSetThisDeviceOnly }
    }

    // MARK: Handles

    private func rewrite(_ client: BlockingClient) throws {
        let name = "\(prefix)h\(random.below(2))"
        let protection = known[name]?.protection
        var draft = known[name]?.content ?? []
        func stored() -> [String: Stored?] { [name: Stored(content: draft, protection: protection)] }
        let isEmptied = random.chance(0.15)
        if isEmptied { draft = [] }
        // It is made, or emptied, by the opening, or with the first sync.
        alternatives = [stored()]
        touched.insert(name)
        let file = try client.openFile(try ItemName(name), for: .write, isEmptied ? [.create, .truncate] : .create)
        for _ in 0..<(1 + random.below(3)) {
            for _ in 0..<(1 + random.below(3)) {
                if random.chance(0.2) {
                    let size = random.size(upTo: 200_000)
                    draft = Array(draft.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - draft.count))
                    // The daemon may sync by itself what was written.
                    alternatives.append(stored())
                    try file.truncate(to: Int64(size))
                } else {
                    let bytes = random.content(1 + random.size(upTo: 60_000))
                    let place = random.size(upTo: 150_000)
                    draft += [UInt8](repeating: 0, count: max(0, place + bytes.count - draft.count))
                    draft.replaceSubrange(place..<(place + bytes.count), with: bytes)
                    alternatives.append(stored())
                    try file.put(bytes, at: Int64(place))
                }
            }
            try change(stored()) { try file.sync() }
        }
        try change(stored()) { try file.close() }
    }

    // MARK: Changes

    private func remove(_ client: BlockingClient) throws {
        guard let name = known.keys.sorted().randomElement(using: &random) else { return }
        try change([name: nil]) { try client.remove(try ItemName(name)) }
    }

    private func protect(_ client: BlockingClient) throws {
        guard let name = known.keys.sorted().randomElement(using: &random), let stored = known[name],
            let old = stored.protection
        else { return }
        let new: Protection =
            old.store == .file ? .file(random.pick(ProtectionClass.allCases)) : .keychain(random.pick(accessibilities))
        try change([name: Stored(content: stored.content, protection: new)]) {
            _ = try client.protect(try ItemName(name), as: new)
        }
    }

    private func move(_ client: BlockingClient) throws {
        let names = known.keys.filter { $0.hasPrefix("\(prefix)k") || $0.hasPrefix("\(prefix)f") }.sorted()
        guard let name = names.randomElement(using: &random), let stored = known[name] else { return }
        let target = "\(prefix)\(stored.protection?.store == .file ? "f" : "k")\(random.below(6))"
        if target == name { return }
        try change([name: nil, target: stored]) {
            try client.move(try ItemName(name), to: try ItemName(target), replace: true)
        }
    }

    // MARK: Trees

    private func useTree(_ client: BlockingClient) throws {
        let tree = "\(prefix)t\(random.below(2))"
        let inside = known.filter { $0.key.hasPrefix(tree + "/") }
        if inside.count < 6 {
            for number in 0..<6 {
                let content = random.content(random.size(upTo: 5000))
                try put(client, "\(tree)/\(number % 2)/\(number)", content) { $0.store = .file }
            }
            return
        }
        switch random.below(3) {
        case 0:
            try changeEach(inside.mapValues { _ in nil }) { try client.removeFile(try ItemName(tree), recursive: true) }
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
            if known.keys.contains(where: { $0.hasPrefix(target + "/") }) { return }
            var changes: [String: Stored?] = [:]
            for (name, stored) in inside {
                changes.updateValue(nil, forKey: name)
                changes[target + name.dropFirst(tree.count)] = stored
            }
            try change(changes) { _ = try client.moveFile(try ItemName(tree), to: try ItemName(target)) }
        }
    }

    /// A request that may have done a part when it ends.
    private func changeEach(_ changes: [String: Stored?], _ request: () throws -> Void) throws {
        loose = changes
        touched.formUnion(changes.keys)
        try request()
        apply(changes)
        loose = [:]
        count += 1
    }

    // MARK: Checking

    /// Compares what is there with what was acknowledged, and goes on from there.
    ///
    /// - Parameters:
    ///   - items: The listed items of this writer.
    ///   - isEverything: Whether also what was not touched since the last time is read.
    func check(_ client: BlockingClient, _ items: [String: ItemInfo], isEverything: Bool) throws {
        let uncertain = Set(alternatives.flatMap(\.keys)).union(loose.keys)
        var read: [String: Stored] = [:]
        for name in (isEverything ? Set(items.keys) : touched).sorted() {
            guard let item = items[name] else { continue }
            read[name] = Stored(content: try client.get(name), protection: item.protection)
        }
        for (name, stored) in known where !uncertain.contains(name) {
            guard let item = items[name] else { throw Fault("'\(name)' is lost") }
            let isRight = stored.fits(read[name] ?? Stored(content: stored.content, protection: item.protection))
            try expect(
                isRight,
                "'\(name)' is another: \(stored) was stored, and is \(read[name].map { "\($0)" } ?? "")"
            )
        }
        try settle(read)
        alternatives = []
        loose = [:]
        touched = []
    }

    private func settle(_ read: [String: Stored]) throws {
        for (name, new) in loose {
            let isOld = Self.fits(known[name], read[name])
            try expect(isOld || Self.fits(new, read[name]), "'\(name)' is neither as it was nor as it was to be")
            known[name] = read[name]
        }
        let names = Set(alternatives.flatMap(\.keys))
        let before = known.mapValues { $0 as Stored? }
        let candidates = [before] + alternatives.map { changes in before.merging(changes) { $1 } }
        let isOne = candidates.contains { candidate in
            names.allSatisfy { Self.fits(candidate[$0] ?? nil, read[$0]) }
        }
        try expect(isOne, "\(names.sorted()) are half done: \(read.filter { names.contains($0.key) })")
        for name in names { known[name] = read[name] }
    }

    private static func fits(_ expected: Stored?, _ actual: Stored?) -> Bool {
        guard let expected, let actual else { return expected == nil && actual == nil }
        return expected.fits(actual)
    }
}

extension Stored: CustomStringConvertible {
    var description: String { "\(content.count) bytes \(content.prefix(4)), \(protection.map { "\($0)" } ?? "?")" }
}
