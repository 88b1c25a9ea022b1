import CofferClient
import CofferCore
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Descriptors of a file system that never answers: they hold up nobody but who has passed them.
///
/// In separate processes: a program that is started meanwhile would wait for the file when it closes it.
@Suite(.enabled(if: DeadMount.isPossible)) struct DeadFileTests {
    private static func vault() throws -> DaemonProcess {
        // A hello takes one of who may act on behalf of others.
        let directory = try TemporaryDirectory()
        let folder = directory.appending("entitled")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let verbs = Verb.allCases.map(\.rawValue).joined(separator: " ")
        let section = "[Client]\nUID=\(geteuid())\nGroups=default\nVerbs=\(verbs)\nOnBehalfOf=yes\n"
        try directory.write(Array(section.utf8), to: "entitled/a.conf")
        let daemon = try DaemonProcess(in: directory, ["--entitlements", folder])
        try daemon.connect().makeVault()
        try daemon.connect().put("secret", [1, 2, 3])
        try daemon.connect().put("large", [UInt8](repeating: 7, count: 1 << 20))
        return daemon
    }

    /// Checks that another client is answered.
    private static func expectService(of daemon: DaemonProcess, after what: String) throws {
        let client = try BlockingClient(socketPath: daemon.socketPath, timeout: .seconds(60))
        #expect(try client.get("secret") == [1, 2, 3], "\(what)")
    }

    private static let takers = Method.allCases.filter { $0.descriptor != nil }

    private static func params(of method: Method) -> JSONObject {
        switch method {
        case .itemPut: ["name": "x", "kind": "document", "asFile": true]
        case .backupRead: ["part": "catalog"]
        case .hello: ["protocol": 1]
        case .mountServe: ["place": "/mnt"]
        default: ["name": "large"]
        }
    }

    @Test func `none of the methods that take one holds up another client, a lock or the end`() async {
        await #expect(processExitsWith: .success) { try DeadFileTests.passToAll() }
    }

    fileprivate static func passToAll() throws {
        let (daemon, dead) = (try vault(), try DeadMount())
        defer {
            dead.end()
            // Its process ends only after that.
            withExtendedLifetime(daemon) {}
        }
        let file = open(dead.filePath, O_RDWR)
        try #require(file >= 0)
        dead.die()
        #expect(Self.takers.count >= 4)
        var peers: [PeerBox] = []
        for method in Self.takers {
            let peer = PeerBox(try HostilePeer(daemon))
            let isSent = peer.peer.send(HostilePeer.frame(method, params(of: method)), passing: [file])
            #expect(isSent)
            try expectService(of: daemon, after: method.rawValue)
            peers.append(peer)
        }
        let client = try BlockingClient(socketPath: daemon.socketPath, timeout: .seconds(60))
        _ = try client.lock(graceSeconds: 0)
        #expect(try client.status().state == .locked)
        try client.unlock()
        try expectService(of: daemon, after: "a lock")
        peers = []
        try expectService(of: daemon, after: "the end of the clients")
        // The file is closed only when the file system is gone; so the process may stay for that long.
        Foundation.kill(daemon.processID, SIGTERM)
        #expect(settles { (try? UnixSocket.connect(to: daemon.socketPath)) == nil })
    }

    @Test func `nor does one that no request uses`() async {
        await #expect(processExitsWith: .success) { try DeadFileTests.passInVain() }
    }

    fileprivate static func passInVain() throws {
        let (daemon, dead) = (try vault(), try DeadMount())
        defer {
            dead.end()
            // Its process ends only after that.
            withExtendedLifetime(daemon) {}
        }
        let file = open(dead.filePath, O_RDWR)
        try #require(file >= 0)
        dead.die()
        let get = HostilePeer.frame(.itemGet, ["name": "secret"])
        let frames: [(String, [UInt8], Int)] = [
            ("a method that takes none", HostilePeer.frame(.vaultStatus), 1),
            ("a secret, which is in the answer", get, 1),
            ("no such item", HostilePeer.frame(.itemGet, ["name": "nothing"]), 1),
            ("wrong parameters", HostilePeer.frame(.itemGet, ["name": 1]), 1),
            ("no such method", Array("\0\0\0\u{2}\0\0\0\0{}".utf8), 1),
            ("half a frame", Array(get.prefix(9)), 1),
            ("no frame", [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], 1),
            ("two", get, 2),
            ("many", get, 200),
        ]
        for (what, bytes, count) in frames {
            do {
                let peer = try HostilePeer(daemon)
                let isSent = peer.send(bytes, passing: Array(repeating: file, count: count))
                #expect(isSent)
                try expectService(of: daemon, after: what)
            }
            try expectService(of: daemon, after: "\(what), and the end of the client")
        }
    }

    @Test func `beyond a bound no more of them are accepted, and a client without one is still served`() async {
        await #expect(processExitsWith: .success) { try DeadFileTests.passMany() }
    }

    fileprivate static func passMany() throws {
        let (daemon, dead) = (try vault(), try DeadMount())
        defer {
            dead.end()
            // Its process ends only after that.
            withExtendedLifetime(daemon) {}
        }
        let file = open(dead.filePath, O_RDWR)
        try #require(file >= 0)
        dead.die()
        var refusals = 0
        for _ in 0..<(Limits.peerDescriptors + 8) where refusals < 3 {
            let peer = try HostilePeer(daemon)
            _ = peer.send(HostilePeer.frame(.vaultStatus), passing: [file])
            if try peer.replies(1).first?.errorCode == "notAvailable" { refusals += 1 }
        }
        #expect(refusals == 3)
        try expectService(of: daemon, after: "all of them")
    }

    private final class PeerBox {
        let peer: HostilePeer
        init(_ peer: consuming HostilePeer) { self.peer = peer }
    }
}
