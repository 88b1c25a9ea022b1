import CofferClient
import CofferCore
import CofferService
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

extension TestServer {
    /// Does something while the server does nothing: all that is sent meanwhile has come when it goes on.
    func whileStill(_ body: () throws -> Void) throws {
        let (reached, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let holding = Background {
            self.perform { _ in
                reached.signal()
                release.wait()
            }
        }
        reached.wait()
        do {
            defer { release.signal() }
            try body()
        }
        try holding.wait()
    }
}

/// Holds one operation on disk up, on whichever thread it comes.
final class DiskHold: Sendable {
    private let reached = DispatchSemaphore(value: 0)
    private let release = DispatchSemaphore(value: 0)
    private let awaited = Shared<FileSystem.Operation?>(nil)

    var fileSystem: FileSystem {
        FileSystem(intercept: { (operation) throws(SystemError) in
            guard self.awaited.value == operation else { return }
            self.awaited.value = nil
            self.reached.signal()
            self.release.wait()
        })
    }

    /// Holds up the next operation of a kind.
    func arm(_ operation: FileSystem.Operation) { awaited.value = operation }

    /// Does something while the operation is held up.
    func whileReached(_ body: () throws -> Void) rethrows {
        reached.wait()
        defer { release.signal() }
        try body()
    }
}

/// What comes between the steps of a request does not make its answer wrong.
@Suite struct InterleavingTests {
    // MARK: Opening

    @Test func `an open that was cancelled has made no file, and one that has made it is answered`() throws {
        let hold = DiskHold()
        let server = try TestServer(fileSystem: hold.fileSystem)
        try server.connect().makeVault()
        let (opener, busy) = (RawBox(try RawConnection(server)), RawBox(try RawConnection(server)))
        for box in [opener, busy] { _ = try box.raw.newsUntilAnswer() }
        hold.arm(.create)
        try server.whileStill {
            try opener.raw.send(.fileOpen, ["name": "f", "access": "write", "create": true])
            try busy.raw.send(.itemPut, ["name": "k"], payload: [1])
        }
        // The file is being made: the turn goes on, and reads this before it commits.
        try hold.whileReached { try opener.raw.send(.requestCancel, ["request": 2]) }
        var answers = [try opener.raw.answer(), try opener.raw.answer()]
        answers.sort { $0.id < $1.id }
        #expect(answers[1] == (3, nil))
        #expect(try busy.raw.refusal() == nil)
        let client = try server.connect()
        let isThere = try Outcome { _ = try client.fileInfo(try ItemName("f")) } == .done
        #expect(isThere == (answers[0].refusal == nil))
        if !isThere { #expect(answers[0].refusal == .userCanceled) }
        // A client that was answered with a handle has it.
        let other = try Outcome { _ = try client.openFile(try ItemName("f"), for: .write, .create) }
        #expect(other == (isThere ? .refused(.notAvailable) : .done))
    }

    @Test func `a client that makes a file writes it, also where another one opens it in the same turn`() throws {
        let server = try TestServer()
        try server.connect().makeVault()
        let openers = try (0..<2).map { _ in RawBox(try RawConnection(server)) }
        for box in openers { _ = try box.raw.newsUntilAnswer() }
        try server.whileStill {
            try openers[0].raw.send(.fileOpen, ["name": "f", "access": "write", "create": true, "exclusive": true])
            try openers[1].raw.send(.fileOpen, ["name": "f", "access": "write", "create": true])
        }
        let refusals = try openers.map { try $0.raw.refusal() }
        // Whose turn is first is not said. Who finds the file there is told that another one has it.
        #expect([[nil, .notAvailable], [.duplicateItem, nil]].contains(refusals))
    }

    @Test func `a connection that waits for what it writes itself is refused at once`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault()
        var raw = try RawConnection(server)
        let open: JSONObject = ["name": "f", "access": "write", "wait": true]
        var make = open
        make.set("create", true)
        // All in one write: the second open begins when the first one is answered.
        try raw.sendAtOnce([(.fileOpen, make), (.fileOpen, open), (.fileClose, ["handle": 1]), (.fileOpen, open)])
        let answers = try (0..<4).map { _ in try raw.answer() }
        #expect(answers.map(\.id) == [1, 2, 3, 4])
        #expect(answers.map(\.refusal) == [nil, .param, nil, nil])
        try raw.send(.fileOpen, open)
        let again = try raw.refusal()
        #expect(again == .param)
        try raw.send(.fileClose, ["handle": 2])
        let closed = try raw.refusal()
        #expect(closed == nil)
        #expect(try Outcome { try client.openFile(try ItemName("f"), for: .write).close() } == .done)
    }

    @Test func `also where the first of its opens has waited for another connection`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault()
        let writer = try client.openFile(try ItemName("f"), for: .write, .create)
        var raw = try RawConnection(server)
        let open: JSONObject = ["name": "f", "access": "write", "wait": true]
        try raw.sendAtOnce([(.fileOpen, open), (.fileOpen, open), (.hello, ["protocol": 1])])
        // It waits for nothing, and is behind both.
        let hello = try raw.answer()
        #expect(hello == (3, nil))
        try writer.close()
        let answers = [try raw.answer(), try raw.answer()]
        #expect(answers.map(\.id) == [1, 2])
        #expect(answers.map(\.refusal) == [nil, .param])
    }

    // MARK: Bounds

    /// Has files made and opened all at once, of which so many are still allowed.
    private func openAtOnce(_ server: TestServer, _ raw: RawBox, allowed: Int) throws {
        let count = Limits.requestsInFlight
        try server.whileStill {
            try raw.raw.sendAtOnce(
                (0..<count).map { (.fileOpen, ["name": .string("new/\($0)"), "access": "write", "create": true]) }
            )
        }
        let refusals = try (0..<count).map { _ in try raw.raw.answer().refusal }
        #expect(refusals.count { $0 == nil } == allowed)
        #expect(refusals.count { $0 == .notAvailable } == count - allowed)
        let made = try server.connect().listFiles(in: try ItemName("new")).entries
        #expect(made.count == allowed, "what was refused has made no file")
    }

    @Test func `files that are opened all at once don't pass the bound of a connection together`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault()
        try client.put("f", [1]) { $0.kind = .database }
        let raw = RawBox(try RawConnection(server))
        for _ in 0..<(Limits.handles - 6) {
            try raw.raw.send(.fileOpen, ["name": "f"])
            #expect(try raw.raw.refusal() == nil)
        }
        try openAtOnce(server, raw, allowed: 6)
    }

    @Test func `files that are opened all at once don't pass the bound of all connections together`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault()
        try client.put("f", [1]) { $0.kind = .database }
        var boxes: [RawBox] = []
        var left = Limits.openFiles / 4 * 3 - 6
        while left > 0 {
            let raw = RawBox(try RawConnection(server))
            boxes.append(raw)
            let count = min(left, Limits.handles)
            try raw.raw.sendAtOnce(Array(repeating: (.fileOpen, ["name": "f"]), count: count))
            for _ in 0..<count { #expect(try raw.raw.refusal() == nil) }
            left -= count
        }
        try openAtOnce(server, RawBox(try RawConnection(server)), allowed: 6)
    }

    // MARK: Records

    @Test func `what is answered behind a commit is recorded though nothing else comes`() throws {
        let journal = Shared<[String]>([])
        let server = try TestServer { configuration in
            configuration.journal.write = { records in journal.change { $0 += records.map(\.action) } }
        }
        try server.connect().makeVault()
        var raw = try RawConnection(server)
        try raw.send(.fileOpen, ["name": "f", "access": "write", "create": true])
        let refusal = try raw.refusal()
        #expect(refusal == nil)
        var isRecorded = false
        for _ in 0..<300 where !isRecorded {
            isRecorded = journal.value.contains("file.open")
            usleep(10_000)
        }
        #expect(isRecorded)
    }

    // MARK: Turns

    @Test func `who changes one thing waits for one change of another's, however many that one has asked for`() throws {
        let mail = HeldServer.service("mail")
        let place = try HeldServer(
            entitlements: """
                [Client]
                UserUnit=mail.service
                Groups=common
                Verbs=read write
                """
        )
        let owner = try place.connect()
        try owner.makeVault()
        let greedy = try (0..<64).map { _ in RawBox(try place.connectRaw(as: mail)) }
        var quiet = try place.connectRaw()
        try place.whileHeld {
            for (number, connection) in greedy.enumerated() {
                for other in 0..<10 {
                    try connection.raw.send(.itemPut, ["name": .string("a/\(number)/\(other)")], payload: [1])
                }
            }
            try quiet.send(.itemPut, ["name": "quiet"], payload: [1])
        }
        let refusal = try quiet.refusal()
        #expect(refusal == nil)
        for connection in greedy { for _ in 0..<10 { #expect(try connection.raw.answer().refusal == nil) } }
        let puts = try owner.auditRecords(AuditQuery(), after: 0).records.filter { $0.action == "item.put" }
        let position = try #require(puts.firstIndex { $0.items.first?.name == "quiet" })
        #expect(position <= 2, "\(position) were stored before it was its turn")
    }
}

extension RawConnection {
    /// Sends requests in one write.
    mutating func sendAtOnce(_ requests: [(CofferWire.Method, JSONObject)]) throws {
        var bytes: [UInt8] = []
        for (method, params) in requests { bytes += frame(method, params) }
        try write(bytes)
    }
}
