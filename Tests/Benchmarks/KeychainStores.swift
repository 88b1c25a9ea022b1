import CBenchmarks
import CofferCore
import CofferDatabase
import CofferVault
import CofferWire
import Foundation

/// The measured daemon, or a baseline.
enum KeychainSide: String, CaseIterable {
    case coffer
    /// The daemon in C that does the same work.
    case equal
    /// The daemon in C that seals nothing.
    case floor
}

/// The operations of clients.
enum KeychainOperation: String, CaseIterable {
    case find = "keychain.find"
    case get = "item.get"
    case search = "exact search"
    case put = "item.put"
    case update
    case add
    case delete

    static let secret = Array("a secret of a usual length, 0000".utf8)

    /// The operations that change nothing.
    static let readings: [KeychainOperation] = [.find, .get, .search]

    /// The corresponding operation of a side, if there is one.
    func counterpart(_ side: KeychainSide) -> KeychainOperation? {
        switch (side, self) {
        case (.coffer, _): self
        case (_, .search): nil
        case (.floor, .get): .find
        case (.floor, .put): .update
        default: self
        }
    }

    var request: LoadRequest {
        let name = JSONValue.string("\(LoadRequest.service)/\(LoadRequest.account)")
        let item: JSONValue = ["service": .string(LoadRequest.service), "account": .string(LoadRequest.account)]
        let secret = Self.secret
        return switch self {
        case .find:
            LoadRequest(
                "keychain.find",
                ["class": "genericPassword", "attributes": item],
                answerPayloadBytes: LoadRequest.secretBytes
            )
        case .get:
            LoadRequest("item.get", ["name": name], answerPayloadBytes: LoadRequest.secretBytes)
        case .search:
            LoadRequest(
                "keychain.find",
                [
                    "class": "genericPassword", "attributes": ["service": .string(LoadRequest.service)],
                    "limit": "all", "return": ["attributes"],
                ]
            )
        case .put: LoadRequest("item.put", ["name": name], payload: secret)
        case .update:
            LoadRequest("keychain.update", ["class": "genericPassword", "attributes": item], payload: secret)
        case .add: LoadRequest("keychain.add", ["class": "genericPassword", "attributes": item], payload: secret)
        case .delete: LoadRequest("keychain.delete", ["class": "genericPassword", "attributes": item])
        }
    }
}

/// A keychain of a size, and baselines of the same size.
final class KeychainStores {
    static let fillingClients = 2000

    let items: Int
    /// The time to fill the keychain, in milliseconds.
    let fillingTime: Double
    private(set) var daemon: BenchmarkDaemon
    private let floors: [KeychainSide: BenchmarkDaemon]
    private let setting: Setting

    init(_ setting: Setting, items: Int) throws {
        self.items = items
        self.setting = setting
        tell("making a keychain and a floor of \(items.grouped) items ...")
        daemon = try BenchmarkDaemon(setting, "keychain-\(items)")
        try daemon.connect().call("vault.init", ["kdf": "interactive"], payload: BenchmarkDaemon.passcode)
        let clients = min(Self.fillingClients, items)
        let filled = try KeychainOperation.add.request
            .run(at: daemon.socketPath, clients: clients, .ascending(from: 0), until: .requests(items))
        fillingTime = filled.milliseconds
        daemon.forgetMostMemory()

        // Tables first: triggers and indexes name them. SQLite makes its own.
        let schema = KnownSchema.catalog.rows.sorted { $0.type == "table" && $1.type != "table" }
            .compactMap { $0.name.hasPrefix("sqlite_") ? nil : $0.sql }.joined(separator: ";\n")
        var floors: [KeychainSide: BenchmarkDaemon] = [:]
        for side in [KeychainSide.equal, .floor] {
            let path = "\(setting.directory)/\(side.rawValue)-\(items)"
            unsafe floor_fill(path, side == .equal ? schema : nil, UInt64(items), UInt32(LoadRequest.secretBytes))
            floors[side] = try BenchmarkDaemon(side, of: path)
        }
        self.floors = floors
    }

    private func daemon(_ side: KeychainSide) -> BenchmarkDaemon { floors[side] ?? daemon }

    /// Makes clients send requests to one of them.
    func run(
        _ operation: KeychainOperation,
        _ side: KeychainSide,
        clients: Int,
        _ order: LoadRequest.Order,
        until end: LoadRequest.End
    ) throws -> LoadRequest.Outcome {
        let asked = daemon(side)
        // A sleeping core sometimes takes longer to wake up than a request. A single client therefore shares
        // the daemon's core, where it has nothing to do before the daemon is done; several clients have the
        // other core.
        bench_keep_on_core(asked.processID, 0)
        bench_keep_on_core(0, clients == 1 ? 0 : 1)
        defer {
            bench_keep_on_core(asked.processID, -1)
            bench_keep_on_core(0, -1)
        }
        let before = asked.processorTime
        var outcome = try operation.request.run(at: asked.socketPath, clients: clients, order, until: end)
        outcome.processorTime = (asked.processorTime - before) / Double(outcome.answerCount)
        return outcome
    }

    /// Makes the baseline that seals nothing commit single INSERTs, without a socket.
    ///
    /// - Returns: The median time of one in milliseconds.
    func bareCommits(_ count: Int) throws -> Double {
        let answer = try daemon(.floor).connect().call("floor.commit", ["count": .integer(Int64(count))])
        guard let median = answer["median"]?.integerValue else { throw CofferError(.internal, "the floor failed") }
        return Double(median) / 1e6
    }

    /// Searches the accounts, page by page.
    ///
    /// - Parameter part: `prefix` or `contains`, with the text to find in the account.
    /// - Returns: The time in milliseconds.
    func lookThrough(_ part: (String, String), expecting count: Int) throws -> Double {
        var params: JSONObject = [
            "class": "genericPassword", "limit": "all", "return": ["attributes"],
        ]
        params.set(part.0, .object(["account": .string(part.1)]))
        let connection = try daemon.connect()
        var found = 0
        let taken = try milliseconds {
            while true {
                let page: JSONObject
                do {
                    page = try connection.call("keychain.find", params)
                } catch let error as CofferError where error.code == .itemNotFound && found > 0 {
                    // The last page is empty.
                    break
                }
                found += page["items"]?.arrayValue?.count ?? 0
                guard let cursor = page["cursor"] else { break }
                params.set("cursor", cursor)
            }
        }
        guard found == count else { throw CofferError(.internal, "a search found \(found) items and not \(count)") }
        return taken
    }

    /// Restarts the daemon, which is then before its first unlock.
    func restart() throws {
        daemon.stop()
        daemon = try BenchmarkDaemon(setting, "keychain-\(items)")
        try daemon.connect().call("vault.status")
    }

    /// Stops all of them.
    func stop() {
        daemon.stop()
        for floor in floors.values { floor.stop() }
    }
}

// MARK: - Whether the work is the same

extension KeychainStores {
    /// Checks that a value that is put into the floor comes back, and no other.
    func checkFloorAnswers() throws {
        let connection = try daemon(.equal).connect()
        let name = "\(LoadRequest.service)/\(LoadRequest.account)"
        let attributes: JSONValue = ["service": .string(LoadRequest.service), "account": .string(LoadRequest.account)]
        for value in ["the first value", "another one, which is longer than the first"].map({ Array($0.utf8) }) {
            try connection.call("item.put", ["name": .string(name)], payload: value)
            for (method, params): (String, JSONObject) in [
                ("item.get", ["name": .string(name)]),
                ("keychain.find", ["class": "genericPassword", "attributes": attributes]),
            ] {
                try connection.call(method, params)
                guard connection.lastPayload == value else {
                    throw CofferError(.internal, "the floor answers another value to '\(method)' than it was given")
                }
            }
        }
        // The answers of the benchmark have one size.
        try connection.call("item.put", ["name": .string(name)], payload: KeychainOperation.secret)
    }

    /// The pages of SQLite's log that a put of another value writes, the median of some items.
    func pagesOfPut(_ side: KeychainSide) throws -> Int {
        let daemon = daemon(side)
        let path = daemon.statePath + (side == .coffer ? "/vault.sqlite-mark" : "-mark")
        func frames() throws -> Int {
            // proto-docs/FORMATS.md has the mark: the frames are behind its salts.
            try Data(contentsOf: URL(filePath: path)).dropFirst(20).prefix(4).reduce(0) { $0 << 8 | Int($1) }
        }
        var pages: [Int] = []
        for item in 0..<min(items, 15) {
            let before = try frames()
            _ = try KeychainOperation.put.request
                .run(at: daemon.socketPath, clients: 1, .ascending(from: item), until: .requests(1))
            pages.append(try frames() - before)
        }
        return pages.sorted()[pages.count / 2]
    }
}
