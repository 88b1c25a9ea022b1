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

    @Test func `files of connections that have ended count for their identity until they are synced`() throws {
        let hold = Shared<(reached: DispatchSemaphore, release: DispatchSemaphore)?>(nil)
        let serverThread = Shared<pthread_t?>(nil)
        let place = try HeldServer(
            entitlements: """
                [Client]
                UserUnit=mail.service
                Groups=common
                Verbs=read write
                [Client]
                UserUnit=backup.service
                Groups=common
                Verbs=read
                """,
            fileSystem: FileSystem(intercept: { (operation) throws(SystemError) in
                let isWorker = pthread_self() != serverThread.value
                guard operation == .synchronize, isWorker, let held = hold.value else { return }
                held.reached.signal()
                held.release.wait()
            })
        )
        place.server.perform { _ in serverThread.value = pthread_self() }
        let owner = try place.connect()
        try owner.makeVault(passcode: nil)
        let writer = RawBox(try place.connectRaw())
        var open: JSONObject = ["name": "f", "access": "readWrite", "shared": true, "group": "common"]
        open.set("create", true)
        try writer.raw.send(.fileOpen, open)
        #expect(try writer.raw.refusal() == nil)
        open.set("create", false)
        let mail = HeldServer.service("mail")
        var boxes = try (0..<(Limits.openFiles / 4 * 3 / Limits.handles)).map { _ in
            RawBox(try place.connectRaw(as: mail))
        }
        var refusedCount = 0
        for box in boxes {
            try box.raw.sendAtOnce(Array(repeating: (.fileOpen, open), count: Limits.handles))
            let refusals = try (0..<Limits.handles).map { _ in try box.raw.refusal() }
            refusedCount += refusals.count { $0 == .notAvailable }
        }
        #expect(refusedCount > 0, "it has all that it may have")
        // The sync of the writer has the file, for which those of the others wait.
        try writer.raw.send(.fileWrite, ["handle": 1, "offset": 0], payload: [7])
        #expect(try writer.raw.refusal() == nil)
        let (reached, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        hold.value = (reached, release)
        try writer.raw.send(.fileSync, ["handle": 1])
        reached.wait()
        hold.value = nil
        withExtendedLifetime(boxes) {}
        boxes = []
        for _ in 0..<2 { _ = try owner.status() }
        // When an identity comes for the first time, those without connections may be forgotten.
        _ = try place.connect(as: HeldServer.service("backup"))
        let last = RawBox(try place.connectRaw(as: mail))
        try last.raw.send(.fileOpen, open)
        #expect(try last.raw.refusal() == .notAvailable)
        release.signal()
        #expect(try writer.raw.refusal() == nil)
        let isRoom = try settles {
            try last.raw.send(.fileOpen, open)
            return try last.raw.refusal() == nil
        }
        #expect(isRoom)
    }
}
