import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation

/// The states in which methods are called.
enum MethodScene: String, CaseIterable {
    case noVault, beforeFirstUnlock, unlocked, locking, locked, lockedExpired, damaged
}

/// A vault with something of everything: what a method may name is there.
struct MethodVault {
    /// The names of what is in it, and of what is not.
    static let names =
        [
            "secrets/0", "secrets/1", "secrets/2", "secrets", "site/login", "tree", "tree/deep", "tree/deep/er",
            "tree/kept",
        ]
        + (0..<5).map { "tree/file\($0)" }
        + [
            "tree/link", "tree/loop", "tree/dangling", "link", "tree/hard", "tree/deep/hard", "tree/old",
            "tree/deep/old",
        ]
        + ["a", "b/c", "tree/a", "secrets/a", "tree/file0/a", "link/a"]

    let directory: TemporaryDirectory
    /// A copy without a vault, and one whose rows and contents were damaged and repaired before.
    var statePath: String { directory.appending("state") }

    init(_ launcher: (String) throws -> [String]) throws {
        directory = try TemporaryDirectory()
        let daemon = try DaemonProcess(in: directory, launchedBy: try launcher(statePath))
        try daemon.connectUnchecked().makeVault()
        let filler = Filler(try SequencePeer(daemon.socketPath))
        try filler.fill()
        try expect(daemon.stop() == 0, "the daemon has not ended in order")
        // A row of each store in quarantine.
        let database = try RawDatabase(statePath + "/vault.sqlite")
        for table in ["keychain_items", "file_nodes"] {
            let isDamaged = database.run(
                "UPDATE \(table) SET metadata = zeroblob(60) WHERE rowid = (SELECT max(rowid) FROM \(table))"
            )
            try expect(isDamaged, "can't damage '\(table)'")
        }
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
            try call("lease.grant", ["name": "secrets/0", "to": "uid:4000", "seconds": 3600])
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
            // What the repair takes away.
            try call("item.put", ["name": "zz/last", "store": "file"], [1])
            try call("item.put", ["name": "zz/secret", "store": "keychain"], [1])
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
