import CofferCore
import CofferTestSupport
import CofferWire

/// A request of a client in a sequence; a handle is numbered by the request that opened it.
enum Operation {
    case put(String, Content, Protection, isPassed: Bool)
    case get(String, from: Int?)
    case list
    case status
    case remove(String)
    case move(String, to: String, replaces: Bool, method: String)
    case protect(String, Protection, method: String)
    case open(String, Opening)
    case read(Int, from: Int)
    case write(Int, Content, at: Int?)
    case truncate(Int, Int)
    case sync(Int)
    case close(Int)
    case cancel(Int)
    case lock
    case unlock
    case erase
    case initialize

    /// The options of an open.
    struct Opening {
        var isWriting = false
        var creates = false
        var truncates = false
        var waits = false
    }
}

extension Operation {
    /// The scope of a request, as in the table of `proto-docs/ORDER.md`.
    private enum Scope {
        case free
        case barrier
        case everything
        case names([String])
        case handle(Int)
    }

    private var scope: Scope {
        switch self {
        case .cancel: .free
        case .lock, .unlock, .erase, .initialize: .barrier
        case .list, .status: .everything
        case .put(let name, _, _, _), .get(let name, _), .remove(let name), .protect(let name, _, _),
            .open(let name, _):
            .names([name])
        case .move(let name, let target, _, _): .names([name, target])
        case .read(let handle, _), .write(let handle, _, _), .truncate(let handle, _), .sync(let handle),
            .close(let handle):
            .handle(handle)
        }
    }

    /// Whether it changes its scope.
    var isChange: Bool {
        switch self {
        case .get, .list, .status, .read, .cancel: false
        default: true
        }
    }

    /// The names in its scope.
    var names: [String] { if case .names(let names) = scope { names } else { [] } }

    /// The names that it changes.
    var changedNames: [String] { isChange ? names : [] }

    /// Whether it waits for another request of the same connection.
    func dependsOn(_ other: Operation) -> Bool {
        switch (scope, other.scope) {
        case (.free, _), (_, .free): false
        case (.barrier, _), (_, .barrier): true
        case (.handle(let one), .handle(let two)): one == two && (isChange || other.isChange)
        case (.names(let one), .names(let two)):
            one.contains(where: two.contains) && (isChange || other.isChange)
        default: isChange || other.isChange
        }
    }

    /// Whether a full disk may make it fail.
    ///
    /// A read waits for the commit of concurrent changes, and fails with it.
    var mayFill: Bool {
        switch self {
        case .lock, .cancel: false
        default: true
        }
    }

    /// Whether it may take effect although a full disk made it fail.
    var mayBeHalfDone: Bool {
        switch self {
        // An erasure that has destroyed some keys continues.
        case .erase: true
        default: false
        }
    }

    /// Whether it uses a class key, which a concurrent lock may revoke.
    var needsKey: Bool {
        switch self {
        case .list, .status, .cancel, .erase, .initialize, .lock, .sync, .close: false
        default: true
        }
    }

    /// Whether it does not depend on earlier requests of its connection.
    var isFree: Bool { if case .free = scope { true } else { false } }

    /// A placeholder for the last request of a client, whose number is known when it is sent.
    static let last = -1

    /// Whether it waits for another client.
    var waits: Bool { if case .open(_, let opening) = self { opening.waits } else { false } }
}

// MARK: - The wire

extension Operation {
    /// The request on the wire.
    ///
    /// - Parameter handle: Returns the daemon's number of a handle.
    func message(handle: (Int) -> Int64) -> (method: String, params: JSONObject, payload: [UInt8]) {
        switch self {
        case .put(let name, let content, let protection, let isPassed):
            ("item.put", Self.wishes(name, protection), isPassed ? [] : content.bytes)
        case .get(let name, let offset):
            ("item.get", offset.map { ["name": .string(name), "offset": .integer(Int64($0))] } ?? named(name), [])
        case .list: ("item.list", [:], [])
        case .status: ("vault.status", [:], [])
        case .remove(let name): ("item.remove", named(name), [])
        case .move(let name, let target, let replaces, let method):
            (method, ["name": .string(name), "to": .string(target), "replace": .bool(replaces)], [])
        case .protect(let name, let protection, let method): (method, Self.protection(name, protection), [])
        case .open(let name, let opening): ("file.open", Self.opening(name, opening), [])
        case .cancel(let number): ("request.cancel", ["request": .integer(Int64(number))], [])
        case .lock: ("vault.lock", ["grace": 0], [])
        case .unlock: ("vault.unlock", [:], Array(DaemonProcess.passcode.utf8))
        case .erase: ("vault.erase", ["whatever": true], [])
        case .initialize:
            ("vault.init", ["kdf": "interactive", "noRecoveryKey": true], Array(DaemonProcess.passcode.utf8))
        case .read, .write, .truncate, .sync, .close: handleMessage(handle)
        }
    }

    private func handleMessage(_ wire: (Int) -> Int64) -> (method: String, params: JSONObject, payload: [UInt8]) {
        func params(_ handle: Int, _ key: String? = nil, _ value: Int = 0) -> JSONObject {
            var params: JSONObject = ["handle": .integer(wire(handle))]
            if let key { params.set(key, .integer(Int64(value))) }
            return params
        }
        switch self {
        case .read(let handle, let offset):
            var all = params(handle, "offset", offset)
            all.set("length", .integer(Int64(Limits.framePayloadBytes)))
            return ("file.read", all, [])
        case .write(let handle, let content, let offset):
            return ("file.write", params(handle, offset == nil ? nil : "offset", offset ?? 0), content.bytes)
        case .truncate(let handle, let count): return ("file.truncate", params(handle, "bytes", count), [])
        case .sync(let handle): return ("file.sync", params(handle), [])
        case .close(let handle): return ("file.close", params(handle), [])
        default: return ("", [:], [])
        }
    }

    private func named(_ name: String) -> JSONObject { ["name": .string(name)] }

    private static func wishes(_ name: String, _ protection: Protection) -> JSONObject {
        switch protection {
        case .file(let value): ["name": .string(name), "store": "file", "protection": .string(value.rawValue)]
        case .keychain(let value): ["name": .string(name), "store": "keychain", "accessible": .string(value.rawValue)]
        }
    }

    private static func protection(_ name: String, _ protection: Protection) -> JSONObject {
        switch protection {
        case .file(let value): ["name": .string(name), "class": .string(value.rawValue)]
        case .keychain(let value): ["name": .string(name), "accessible": .string(value.rawValue)]
        }
    }

    private static func opening(_ name: String, _ opening: Opening) -> JSONObject {
        var params: JSONObject = ["name": .string(name), "access": opening.isWriting ? "readWrite" : "read"]
        // A class that can be created and used in every state.
        if opening.creates {
            params.set("create", true)
            params.set("class", .string(ProtectionClass.none.rawValue))
        }
        if opening.truncates { params.set("truncate", true) }
        if opening.waits { params.set("wait", true) }
        return params
    }
}

// MARK: - Words

extension Operation: CustomStringConvertible {
    var description: String {
        switch self {
        case .put(let name, let content, let protection, let isPassed):
            "put \(name) \(content) \(protection.word)\(isPassed ? " by descriptor" : "")"
        case .get(let name, let offset): "get \(name)\(offset.map { " from \($0)" } ?? "")"
        case .list: "list"
        case .status: "status"
        case .remove(let name): "remove \(name)"
        case .move(let name, let target, let replaces, let method):
            "\(method) \(name) to \(target)\(replaces ? ", replacing" : "")"
        case .protect(let name, let protection, let method): "\(method) \(name) \(protection.word)"
        case .open(let name, let opening):
            "open \(name)\(opening.isWriting ? " to write" : "")\(opening.creates ? ", creating" : "")"
                + "\(opening.truncates ? ", truncating" : "")\(opening.waits ? ", waiting" : "")"
        case .read(let handle, let offset): "read #\(handle) from \(offset)"
        case .write(let handle, let content, let offset):
            "write #\(handle) \(content) at \(offset.map(String.init) ?? "the end")"
        case .truncate(let handle, let count): "truncate #\(handle) to \(count)"
        case .sync(let handle): "sync #\(handle)"
        case .close(let handle): "close #\(handle)"
        case .cancel(let number): "cancel \(number)"
        case .lock: "lock"
        case .unlock: "unlock"
        case .erase: "erase"
        case .initialize: "init"
        }
    }
}
