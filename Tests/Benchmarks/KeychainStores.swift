import CBenchmarks
import CofferCore
import CofferWire
import Foundation

/// The measured daemon, or the baseline.
enum KeychainSide: CaseIterable {
    case coffer
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

    /// The operations that change nothing.
    static let readings: [KeychainOperation] = [.find, .get, .search]

    /// The corresponding operation of the baseline.
    var floorOperation: KeychainOperation? {
        switch self {
        case .find, .get: .find
        case .search: nil
        case .put: .update
        case .update, .add, .delete: self
        }
    }

    var request: LoadRequest {
        let name = JSONValue.string("\(LoadRequest.service)/\(LoadRequest.account)")
        let item: JSONValue = ["service": .string(LoadRequest.service), "account": .string(LoadRequest.account)]
        let secret = Array("a secret of a usual length, 0000".utf8)
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

/// A keychain of a size, and a baseline of the same size.
final class KeychainStores {
    static let fillingClients = 2000

    let items: Int
    /// The time to fill the keychain, in milliseconds.
    let fillingTime: Double
    private(set) var daemon: BenchmarkDaemon
    private let floor: BenchmarkDaemon
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

        let databasePath = "\(setting.directory)/floor-\(items).sqlite"
        guard unsafe floor_fill(databasePath, UInt64(items), UInt32(LoadRequest.secretBytes)) == 0 else {
            throw CofferError(.io, "the floor can't be filled")
        }
        floor = try BenchmarkDaemon(floorOf: databasePath, setting, "floor-\(items)")
    }

    /// Makes clients send requests to one of the two.
    func run(
        _ operation: KeychainOperation,
        _ side: KeychainSide,
        clients: Int,
        _ order: LoadRequest.Order,
        until end: LoadRequest.End
    ) throws -> LoadRequest.Outcome {
        let asked = side == .coffer ? daemon : floor
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

    /// Makes the baseline commit single INSERTs, without a socket.
    ///
    /// - Returns: The median time of one in milliseconds.
    func bareCommits(_ count: Int) throws -> Double {
        let answer = try floor.connect().call("floor.commit", ["count": .integer(Int64(count))])
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

    /// Stops both.
    func stop() {
        daemon.stop()
        floor.stop()
    }
}
