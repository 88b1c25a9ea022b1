import CofferClient
import CofferCore
import CofferMemory
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Peers that hold on to the daemon's memory: there is little that is locked, and everybody else still needs it.
@Suite struct HostileMemoryTests {
    /// The limit of locked memory is the default of a service, regardless of who runs the tests.
    private func vault() throws -> DaemonProcess {
        let daemon = try DaemonProcess(launchedBy: ["/usr/bin/prlimit", "--memlock=8388608:8388608", "--"])
        let client = try daemon.connect()
        try client.makeVault()
        try client.put("secret", [1, 2, 3])
        try client.put("file", pseudoRandomBytes(Limits.framePayloadBytes)) { $0.kind = .database }
        return daemon
    }

    /// Locked memory is needed by each of these; a client that should try again in a moment does.
    private func expectServed(_ daemon: DaemonProcess, hasWorkers: Bool = true) throws {
        let connected = try daemon.connect()
        _ = try connected.lock(graceSeconds: 0)
        let isServed = try settles {
            do {
                let client = try daemon.connect()
                try client.unlock()
                try client.put("other", [4])
                let secret = try client.get("secret")
                let isRead = try !hasWorkers || client.get("file") == pseudoRandomBytes(Limits.framePayloadBytes)
                return isRead && secret == [1, 2, 3]
            } catch let error as CofferError where [.notAvailable, .io].contains(error.code) {
                sleepSeconds(0.2)
                return false
            }
        }
        #expect(isServed)
    }

    @Test func `payloads that are announced and not sent delay no other client`() throws {
        let daemon = try vault()
        let start = HostilePeer.beginning(.itemPut, ["name": "x"], payloadCount: Limits.framePayloadBytes)
        var sockets: [Int32] = []
        for _ in 0..<200 {
            let peer = try HostilePeer(daemon)
            peer.send(start)
            sockets.append(try peer.socket.duplicate().release())
        }
        try expectServed(daemon)
        #expect(try Footprint(of: daemon).lockedKiB < 8192)
        for socket in sockets { close(socket) }
        #expect(try daemon.connect().list().items.count == 3)
    }

    @Test func `peers that request payloads and never read delay no other client`() throws {
        let daemon = try vault()
        var sockets: [Int32] = []
        let requests = (0..<32).flatMap { HostilePeer.frame(.itemGet, ["name": "file"], id: $0) }
        for _ in 0..<50 {
            let peer = try HostilePeer(daemon)
            try peer.flood(requests)
            sockets.append(try peer.socket.duplicate().release())
        }
        try expectServed(daemon)
        for socket in sockets { close(socket) }
    }

    @Test func `peers that send more after a request that waits delay no other client`() throws {
        let daemon = try vault()
        let pipe = try PipeEnds()
        var sockets: [Int32] = []
        let tail = HostilePeer.frame(.itemPut, ["name": "y"], payload: Array(repeating: 7, count: 60_000))
        for _ in 0..<200 {
            let peer = try HostilePeer(daemon)
            let request = HostilePeer.frame(.itemPut, ["name": "x", "kind": "document"])
            _ = peer.send(request + tail, passing: [pipe.reading])
            sockets.append(try peer.socket.duplicate().release())
        }
        try expectServed(daemon, hasWorkers: false)
        for socket in sockets { close(socket) }
        close(pipe.reading)
        close(pipe.writing)
    }

    @Test func `answers that are not read are bounded, however often they are requested, and are dropped`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        for number in 0..<200 { try client.put("\(number)/" + String(repeating: "x", count: 200), [1]) }
        let before = try Footprint(of: daemon)
        let requests = (0..<100).flatMap { HostilePeer.frame(.itemList, id: $0) }
        for _ in 0..<3 {
            var sockets: [Int32] = []
            for _ in 0..<60 {
                let peer = try HostilePeer(daemon)
                try peer.flood(requests)
                sockets.append(try peer.socket.duplicate().release())
            }
            try expectServed(daemon)
            // An allocator keeps up to three times of it, in pieces that are too small for the next frame.
            let grown = try Footprint(of: daemon).residentKiB - before.residentKiB
            #expect(grown < 4 * Limits.transitBytes >> 10, "\(grown) KiB")
            for socket in sockets { close(socket) }
            let isForgotten = settles {
                (try? daemon.connect().status()) != nil
                    && (try? Footprint(of: daemon).residentKiB < before.residentKiB + 16 << 10) == true
            }
            let after = try Footprint(of: daemon)
            #expect(isForgotten, "\(after)")
        }
    }

    @Test func `what large requests take is given back`() throws {
        let daemon = try vault()
        let client = try daemon.connect()
        // Many small pieces of memory, of which the allocator keeps what it can.
        let members = (0..<60_000).map { "\"\($0)\":{\"a\":1}" }.joined(separator: ",")
        let json = Array("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"vault.status\",\"params\":{\(members)}}".utf8)
        try #require(json.count < Limits.frameJSONBytes)
        let before = try Footprint(of: daemon)
        for round in 0..<8 {
            let peer = try HostilePeer(daemon)
            peer.send(FrameHeader.encode(jsonCount: json.count, payloadCount: 0) + json)
            let answers = try peer.replies(1)
            #expect(answers.map(\.errorCode) == ["param"])
            // It is given back at the end of the turn, which may answer others before.
            let isGivenBack = settles {
                (try? client.status()) != nil
                    && (try? Footprint(of: daemon).residentKiB < before.residentKiB + 4 << 10) == true
            }
            let after = try Footprint(of: daemon)
            #expect(isGivenBack, "round \(round): \(after)")
        }
    }

    @Test func `the JSON of many unfinished frames has a bound`() throws {
        let daemon = try vault()
        let before = try Footprint(of: daemon)
        let start =
            FrameHeader.encode(jsonCount: Limits.frameJSONBytes, payloadCount: 0)
            + Array(repeating: UInt8(ascii: " "), count: Limits.frameJSONBytes - 1)
        var sockets: [Int32] = []
        for _ in 0..<200 {
            let peer = try HostilePeer(daemon)
            peer.send(start)
            sockets.append(try peer.socket.duplicate().release())
        }
        try expectServed(daemon)
        let grown = try Footprint(of: daemon).residentKiB - before.residentKiB
        #expect(grown < 160 << 10, "\(grown) KiB")
        for socket in sockets { close(socket) }
    }
}
