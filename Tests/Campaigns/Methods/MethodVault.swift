import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation

/// The states in which methods are called.
enum MethodScene: String, CaseIterable {
    case noVault, noPasscode, beforeFirstUnlock, unlocked, locking, locked, lockedExpired
    /// Unlocked, with impossible values in some rows.
    case damaged
    /// Unlocked, with an extreme number in every row of some columns.
    case extreme

    var isDamaged: Bool { self == .damaged || self == .extreme }

    /// The state of the vault, as its status names it.
    var state: String { isDamaged ? "unlocked" : rawValue }

    /// Files of each class, and how they are opened.
    private static let openedFiles = [
        ("tree/file0", "read"), ("tree/file1", "write"), ("tree/file2", "read"), ("tree/file4", "readWrite"),
        ("tree/kept", "readWrite"),
    ]

    /// The calls that lead to the state, also after others.
    var way: [MethodCall] {
        if self == .noVault { return [] }
        let passcode = Array(DaemonProcess.passcode.utf8)
        var calls: [MethodCall] = []
        if self != .beforeFirstUnlock { calls.append(MethodCall("vault.unlock", [:], passcode)) }
        if self == .noPasscode { calls.append(MethodCall("passcode.remove", ["destroys": 0], passcode)) }
        for client in 0..<2 {
            calls.append(MethodCall("vault.watch", ["items": true, "audit": true], client: client))
            calls.append(MethodCall("context.authenticate", ["reuse": 60], passcode, client: client))
            for (name, access) in Self.openedFiles {
                let params: JSONObject = ["name": .string(name), "access": .string(access), "shared": true]
                calls.append(MethodCall("file.open", params, client: client))
            }
        }
        calls.append(MethodCall("backup.begin"))
        // What these list is named later.
        let all: JSONObject = ["class": "genericPassword", "limit": "all", "return": ["persistentReference"]]
        calls.append(MethodCall("keychain.find", all))
        for name in ["tree/file0", "tree/file2"] { calls.append(MethodCall("file.versions", ["name": .string(name)])) }
        for method in ["backup.contents", "trash.list", "access.list", "slot.list", "vault.quarantine"] {
            calls.append(MethodCall(method))
        }
        switch self {
        case .locking: calls.append(MethodCall("vault.lock", ["grace": 10]))
        case .locked, .lockedExpired: calls.append(MethodCall("vault.lock", ["grace": 0]))
        default: break
        }
        return calls
    }
}

/// A vault with something of everything: what a method may name is there.
struct MethodVault {
    /// The names of what is in it.
    static let present =
        ["secrets/0", "secrets/1", "secrets/2", "site/login", "tree", "tree/deep", "tree/deep/er", "tree/kept"]
        + (0..<5).map { "tree/file\($0)" } + ["tree/link", "link", "tree/hard", "tree/deep/hard"]
    /// These, and names of what is not in it, or was.
    static let names =
        present + [
            "secrets", "tree/loop", "tree/dangling", "tree/old", "tree/deep/old", "a", "b/c", "tree/a", "secrets/a",
            "tree/file0/a", "link/a",
        ]

    /// Queries that find what is in its keychain.
    static let queries: [(itemClass: String, attributes: JSONValue)] = [
        ("genericPassword", ["service": "secrets", "account": "0"]),
        ("genericPassword", ["service": "secrets", "account": "1"]),
        ("genericPassword", ["service": "secrets"]),
        ("genericPassword", [:]),
        ("internetPassword", ["server": "site", "account": "login"]),
        ("key", ["label": "ed25519"]),
        ("key", ["label": "x25519"]),
        ("certificate", [:]),
        ("identity", [:]),
    ]

    static let keyQueries = queries.filter { $0.itemClass == "key" }

    let directory: TemporaryDirectory
    /// Its state directory.
    var statePath: String { directory.appending("state") }

    init(_ launcher: (TemporaryDirectory) throws -> [String]) throws {
        directory = try TemporaryDirectory()
        let daemon = try DaemonProcess(in: directory, launchedBy: try launcher(directory))
        try daemon.connectUnchecked().makeVault()
        try Filler(try SequencePeer(daemon.socketPath)).fill()
        try expect(daemon.stop() == 0, "the daemon has not ended in order")
        // Rows of each store for the quarantine, which are found by their numbers: those may have any order.
        let tables = ["keychain_items", "file_nodes"]
        let numbers = try tables.map { try RawDatabase(statePath + "/vault.sqlite").numbers(of: $0) }
        try daemon.restart()
        let client = try daemon.connectUnchecked()
        try client.unlock()
        try client.put("zz/file", [1]) { $0.store = .file }
        try client.put("zz/secret", [1]) { $0.store = .keychain }
        try expect(daemon.stop() == 0, "the daemon has not ended in order")
        for (table, numbers) in zip(tables, numbers) {
            let isDamaged = try RawDatabase(statePath + "/vault.sqlite").run(
                "UPDATE \(table) SET metadata = zeroblob(60) WHERE rowid NOT IN (\(numbers.joined(separator: ", ")))"
            )
            try expect(isDamaged, "can't damage '\(table)'")
        }
        try repair(daemon)
    }

    private func repair(_ daemon: DaemonProcess) throws {
        try daemon.restart()
        let client = try daemon.connectUnchecked()
        try client.unlock()
        _ = try client.checkAll(repairs: true)
        try expect(try !client.quarantine().entries.isEmpty, "nothing is in quarantine")
        _ = try client.lock(graceSeconds: 0)
        try expect(daemon.stop() == 0, "the daemon has not ended in order")
    }

    /// Makes what the vault has.
    private final class Filler {
        private let peer: SequencePeer
        private var number = 0

        init(_ peer: SequencePeer) { self.peer = peer }

        @discardableResult
        private func call(_ method: String, _ params: JSONObject, _ payload: [UInt8] = []) throws -> JSONObject {
            number += 1
            try expect(peer.send(number, method, params, payload), "the daemon has ended")
            while true {
                guard let answers = try peer.receive() else { throw Fault("\(method): the daemon has ended") }
                guard let answer = answers.first(where: { $0.request == number }) else { continue }
                if let refusal = answer.refusal { throw refusal }
                return answer.result
            }
        }

        func fill() throws {
            try fillKeychain()
            try fillTree()
            try fillTrash()
            try call("context.authenticate", ["reuse": 300], Array(DaemonProcess.passcode.utf8))
            try call("access.allow", ["name": "secrets/0", "client": "uid:4000", "verbs": ["read"], "seconds": 3600])
            try call("access.allow", ["client": "uid:4001", "verbs": ["read"], "pattern": "secrets/*"])
            try call("access.deny", ["client": "unit:a.service", "verbs": ["write"], "pattern": "tree/file0"])
            try call("backup.register", ["repository": "/backup", "warnAfter": 1])
        }

        private func fillKeychain() throws {
            for (place, accessible) in ["WhenUnlocked", "AfterFirstUnlock", "Always"].enumerated() {
                for value in 0..<3 {
                    let params: JSONObject = [
                        "name": .string("secrets/\(place)"), "store": "keychain", "accessible": .string(accessible),
                        "keep": 3,
                    ]
                    try call("item.put", params, Array("value \(value)".utf8))
                }
            }
            let login: JSONValue = ["server": "site", "account": "login", "label": "Site"]
            try call(
                "keychain.add",
                ["class": "internetPassword", "attributes": login, "user": ["a": "b"]],
                [1, 2, 3]
            )
            for type in ["ed25519", "x25519"] {
                try call(
                    "keychain.add",
                    ["class": "key", "generate": .string(type), "attributes": ["label": .string(type)]]
                )
            }
            let certificate = FileManager.default.contents(
                atPath: "\(Project.root)/Tests/Vectors/fuzz/certificates/p256"
            )
            try call("keychain.add", ["class": "certificate"], Array(certificate ?? Data()))
        }

        private func fillTree() throws {
            try call("file.mkdir", ["name": "tree", "class": "complete", "keep": 2])
            try call("file.mkdir", ["name": "tree/deep/er", "parents": true])
            for (place, name) in ProtectionClass.allCases.enumerated() {
                let params: JSONObject = [
                    "name": .string("tree/file\(place)"), "store": "file", "protection": .string(name.rawValue),
                ]
                for count in [10, 70_000] { try call("item.put", params, [UInt8](repeating: 7, count: count)) }
            }
            for (name, target) in [
                ("tree/link", "file0"), ("tree/loop", "."), ("tree/dangling", "/x"), ("link", "tree"),
            ] {
                try call("file.symlink", ["name": .string(name), "target": .string(target)])
            }
            try call("file.link", ["name": "tree/file1", "to": "tree/hard"])
            try call("file.link", ["name": "tree/file1", "to": "tree/deep/hard"])
            try call("file.setExtendedAttribute", ["name": "tree/file0", "attribute": "user.a"], [1, 2])
            let handle = try call("file.open", ["name": "tree/kept", "access": "write", "create": true])["handle"] ?? 0
            for offset in [0, 200_000] {
                try call("file.write", ["handle": handle, "offset": .integer(Int64(offset))], [1])
            }
            try call("file.close", ["handle": handle])
        }

        private func fillTrash() throws {
            for name in ["tree/old", "tree/deep/old", "secrets/old"] {
                try call(
                    "item.put",
                    ["name": .string(name), "store": name.hasPrefix("tree") ? "file" : "keychain"],
                    [1, 2]
                )
                try call("item.remove", ["name": .string(name), "trash": true])
            }
        }
    }
}
