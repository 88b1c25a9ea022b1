import CofferClient
import CofferCore
import CofferService
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// The buffer budget of all connections together, with the clock of the test.
@Suite struct RoomTests {
    /// The incomplete frames of so many peers that the budget runs short, in the order of their arrival.
    private func debtors(of timed: TimedServer) throws -> [Int32] {
        let json = Request(id: .integer(1), method: "item.put", params: ["name": "x"]).serialized()
        let count = Limits.framePayloadBytes
        let frame =
            FrameHeader.encode(jsonCount: json.count, payloadCount: count) + json
            + Array(repeating: 7, count: count - 1)
        let needed = Limits.transitSecretBytes / 2 / count + 1
        var sockets: [Int32] = []
        for _ in 0..<needed {
            let socket = try UnixSocket.connect(to: timed.server.directory.appending("socket")).release()
            sockets.append(socket)
            var rest = frame[...]
            while !rest.isEmpty {
                let sent = rest.withUnsafeBytes { Foundation.write(socket, $0.baseAddress, $0.count) }
                try #require(sent > 0)
                rest = rest.dropFirst(sent)
            }
        }
        // Each turn reads 64 KiB of each connection, so everything has arrived after these turns.
        for _ in 0..<(2 * count / 65_536 + 8) { _ = try timed.state() }
        return sockets
    }

    private func isCutOff(_ socket: Int32) -> Bool {
        var poller = pollfd(fd: socket, events: 0, revents: 0)
        return poll(&poller, 1, 0) == 1 && poller.revents & Int16(POLLHUP) != 0
    }

    @Test func `where room is short, peers that owe the rest of a frame for long give way, and not before`() throws {
        let timed = try TimedServer()
        let sockets = try debtors(of: timed)
        defer { for socket in sockets { close(socket) } }
        timed.clock.advance(by: Double(Limits.stallSeconds) - 0.2)
        for _ in 0..<4 { _ = try timed.state() }
        #expect(!sockets.contains(where: isCutOff))
        timed.clock.advance(by: 0.3)
        _ = try timed.state()
        #expect(becomesTrue { sockets.allSatisfy(isCutOff) })
        try timed.client.put("k", [1])
        #expect(try timed.client.get("k") == [1])
    }

    @Test func `where there is room, who owes the rest of a frame may take its time`() throws {
        let timed = try TimedServer()
        let socket = try UnixSocket.connect(to: timed.server.directory.appending("socket")).release()
        defer { close(socket) }
        let half: [UInt8] = [0, 0, 0, 60, 0]
        #expect(half.withUnsafeBytes { Foundation.write(socket, $0.baseAddress, $0.count) } == half.count)
        for _ in 0..<4 { _ = try timed.state() }
        timed.clock.advance(by: 1_000_000)
        for _ in 0..<4 { _ = try timed.state() }
        #expect(!isCutOff(socket))
    }

    @Test func `an identity has three quarters of the open files that there may be, and one more when one is closed`()
        throws
    {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault()
        try client.put("f", [1]) { $0.store = .file }
        let name = try ItemName("f")
        var files: [OpenedFile] = []
        for _ in 0..<(Limits.openFiles / 4 * 3 / Limits.handles) {
            let other = try server.connect()
            for _ in 0..<Limits.handles { files.append(try other.openFile(name)) }
        }
        #expect(files.count == Limits.openFiles / 4 * 3)
        let refused = try Outcome { _ = try client.openFile(name) }
        #expect(refused == .refused(.notAvailable))
        try files[0].close()
        let last = try client.openFile(name)
        #expect(try last.get() == [1])
    }
}
