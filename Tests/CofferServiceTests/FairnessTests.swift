import CofferClient
import CofferCore
import CofferService
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// The requests of one identity do not delay those of another.
@Suite struct FairnessTests {
    private static let mail = HeldServer.service("mail")
    private static let backup = HeldServer.service("backup")

    @Test func `who asks for one thing waits for one of another's, however many that one has asked for`() throws {
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
                """
        )
        try place.connect().makeVault()
        let greedy = try (0..<64).map { _ in RawBox(try place.connectRaw(as: Self.mail)) }
        var quiet = try place.connectRaw(as: Self.backup)
        try place.whileHeld {
            for (number, connection) in greedy.enumerated() {
                for other in 0..<20 {
                    try connection.raw.send(.itemPut, ["name": .string("a/\(number)/\(other)")], payload: [1])
                }
            }
            try quiet.send(.itemList)
        }
        guard case .response(_, let outcome)? = try quiet.next() else { throw POSIXError(.ECONNRESET) }
        let items = try #require(try outcome.get().objectValue?["items"]?.arrayValue)
        #expect(items.count <= 2, "\(items.count) were stored before it was its turn")
        for connection in greedy {
            for _ in 0..<20 {
                let answer = try connection.raw.answer()
                #expect(answer.refusal == nil)
            }
        }
    }

    @Test func `an identity whose transfers are stuck leaves threads for another's`() throws {
        let place = try HeldServer()
        let owner = try place.connect()
        try owner.makeVault()
        let mail = try place.connect(as: Self.mail)
        let content = Array(repeating: UInt8(7), count: 1 << 20)
        for client in [owner, mail] { try client.put("big", content) { $0.kind = .database } }
        var stuck: [(RawBox, TransferPipe)] = []
        for _ in 0..<(Limits.workerThreads / Limits.transfersPerConnection) {
            let connection = RawBox(try place.connectRaw(as: Self.mail))
            for _ in 0..<Limits.transfersPerConnection {
                let pipe = try TransferPipe()
                try connection.raw.send(.itemGet, ["name": "big"], passing: pipe.writing)
                pipe.closeWriting()
                stuck.append((connection, pipe))
            }
        }
        // The pipes are not read, so each started transfer occupies a thread.
        for (_, pipe) in stuck.prefix(Limits.workerThreads / 2) { #expect(pipe.readByte() == [7]) }
        let pipe = try TransferPipe()
        var raw = try place.connectRaw()
        try raw.send(.itemGet, ["name": "big"], passing: pipe.writing)
        pipe.closeWriting()
        #expect(pipe.drain() == content)
        let answer = try raw.answer()
        #expect(answer.refusal == nil)
        for (_, pipe) in stuck { pipe.closeReading() }
    }

    @Test func `an identity has so many connections as its entitlement says, and others connect still`() throws {
        let place = try HeldServer(
            entitlements: """
                [Client]
                UserUnit=mail.service
                Groups=mail
                Verbs=read
                MaxConnections=3
                """
        )
        var open = try (0..<3).map { _ in try place.connect(as: Self.mail) }
        let refused = try Outcome { _ = try place.connect(as: Self.mail) }
        #expect(refused == .refused(.notAvailable))
        _ = try place.connect(as: Self.backup)
        _ = try place.connect()
        open.removeLast()
        #expect(becomesTrue { (try? place.connect(as: Self.mail)) != nil })
    }

    @Test func `an identity asks so often as its entitlement says, and then waits`() throws {
        let clock = ManualClock()
        let place = try HeldServer(
            entitlements: """
                [Client]
                UserUnit=mail.service
                Groups=mail
                Verbs=read
                MaxRequestsPerSecond=4
                """,
            clock: clock.clock
        )
        // The first request makes the server admit the connection.
        var mail = try place.connectRaw(as: Self.mail)
        for _ in 0..<8 { try mail.send(.hello, ["protocol": 1]) }
        for _ in 0..<3 { _ = try mail.answer() }
        let owner = try place.connect()
        for _ in 0..<10 { _ = try owner.status() }
        let isEarly = hasArrival(mail)
        #expect(!isEarly)
        clock.advance(by: 0.25)
        _ = try mail.answer()
        for _ in 0..<10 { _ = try owner.status() }
        let isEarlier = hasArrival(mail)
        #expect(!isEarlier)
        clock.advance(by: 10)
        for _ in 0..<4 { _ = try mail.answer() }
    }

    @Test func `who is refused over and over waits, and nobody else does`() throws {
        let clock = ManualClock()
        let place = try HeldServer(clock: clock.clock)
        let mail = try place.connect(as: Self.mail)
        var waiting = try place.connectRaw(as: Self.mail)
        for _ in 0..<Limits.refusals {
            let outcome = try Outcome { _ = try mail.keyslots() }
            #expect(outcome == .refused(.missingEntitlement))
        }
        try waiting.send(.hello, ["protocol": 1])
        let (owner, backup) = (try place.connect(), try place.connect(as: Self.backup))
        for _ in 0..<10 {
            _ = try owner.status()
            _ = try backup.status()
        }
        let isAnswered = hasArrival(waiting)
        #expect(!isAnswered)
        clock.advance(by: 1)
        let refusal = try waiting.refusal()
        #expect(refusal == nil)
        #expect(try mail.status().state == .noVault)
    }

    @Test func `that something is not there is no refusal`() throws {
        let place = try HeldServer(clock: ManualClock().clock)
        let owner = try place.connect()
        try owner.makeVault()
        let name = try ItemName("none")
        for _ in 0...(2 * Limits.refusals) {
            let outcome = try Outcome { _ = try owner.show(name) }
            #expect(outcome == .refused(.itemNotFound))
        }
    }
}
