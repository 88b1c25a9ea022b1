import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation

/// An item as it was stored.
struct Stored {
    var content: [UInt8]
    /// `nil` if it is unknown.
    var protection: Protection?

    func fits(_ other: Stored) -> Bool {
        content == other.content && (protection == nil || other.protection == nil || protection == other.protection)
    }
}

extension Stored: CustomStringConvertible {
    var description: String { "\(content.count) bytes \(content.prefix(4)), \(protection.map { "\($0)" } ?? "?")" }
}

/// The changes of some requests; `nil` removes the item.
typealias Changes = [String: Stored?]

/// The required and the permitted state of some items.
struct Expectation {
    /// The acknowledged state.
    var known: [String: Stored] = [:]
    /// The possible changes of an unanswered request, each as a whole.
    var alternatives: [Changes] = []
    /// Further permitted states of single items.
    var open: [String: [Stored?]] = [:]

    mutating func apply(_ changes: Changes) { for (name, stored) in changes { known[name] = stored } }

    /// Compares the vault with the acknowledged state.
    ///
    /// - Parameters:
    ///   - items: The listed items.
    ///   - names: The items to read; `nil` for all.
    /// - Returns: The items that were read.
    func check(
        _ client: BlockingClient,
        _ items: [String: ItemInfo],
        reading names: Set<String>? = nil
    ) throws -> Changes {
        let uncertain = Set(alternatives.flatMap(\.keys)).union(open.keys)
        var read: Changes = [:]
        for name in (names?.union(uncertain) ?? Set(items.keys).union(uncertain)).sorted() {
            read.updateValue(nil, forKey: name)
            guard let item = items[name] else { continue }
            read[name] = Stored(content: try client.get(name), protection: item.protection)
        }
        for (name, stored) in known where !uncertain.contains(name) {
            guard let item = items[name] else { throw Fault("'\(name)' is lost") }
            let found = (read[name] ?? nil) ?? Stored(content: stored.content, protection: item.protection)
            try expect(stored.fits(found), "'\(name)' is \(found), and \(stored) was stored")
        }
        for name in items.keys where known[name] == nil && !uncertain.contains(name) {
            throw Fault("'\(name)' is there, and was not stored, or removed")
        }
        try checkUncertain(read)
        return read
    }

    private func checkUncertain(_ read: Changes) throws {
        for (name, others) in open {
            let isOne = ([known[name]] + others).contains { Self.fits($0, read[name] ?? nil) }
            try expect(isOne, "'\(name)' is neither as it was nor as it was to be")
        }
        let names = Set(alternatives.flatMap(\.keys)).subtracting(open.keys)
        let before = known.mapValues { $0 as Stored? }
        let candidates = [before] + alternatives.map { changes in before.merging(changes) { $1 } }
        let isOne = candidates.contains { candidate in
            names.allSatisfy { Self.fits(candidate[$0] ?? nil, read[$0] ?? nil) }
        }
        try expect(
            isOne,
            "half done: \(read.filter { names.contains($0.key) }), was \(known.filter { names.contains($0.key) })"
        )
    }

    /// Makes the state that was read the known one.
    mutating func settle(_ read: Changes) {
        for name in Set(alternatives.flatMap(\.keys)).union(open.keys) { known[name] = read[name] ?? nil }
        alternatives = []
        open = [:]
    }

    private static func fits(_ expected: Stored?, _ actual: Stored?) -> Bool {
        guard let expected, let actual else { return expected == nil && actual == nil }
        return expected.fits(actual)
    }
}

/// The changes of a writer, with their positions in a recording.
struct Journal {
    struct Entry {
        /// The positions before the request and after its answer.
        let start: Int64
        let end: Int64
        let changes: Changes
        let alternatives: [Changes]
        let open: [String: [Stored?]]
    }

    var entries: [Entry] = []

    /// The expectation of everything that was answered before a position.
    func expectation(at position: Int64) -> Expectation {
        var expectation = Expectation()
        for entry in entries {
            guard entry.end <= position else {
                if entry.start <= position {
                    expectation.alternatives = entry.alternatives
                    expectation.open = entry.open
                }
                break
            }
            expectation.apply(entry.changes)
        }
        return expectation
    }
}
