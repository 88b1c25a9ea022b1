import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Files of a file system that never answers, for which threads of the daemon wait.
///
/// In a process of its own: a program that is started meanwhile would wait for the file when it closes it.
@Suite(.enabled(if: DeadMount.isPossible)) struct FileThreadsTests {
    private static let mail = HeldServer.service("mail")

    @Test func `the transfers of who has all its threads wait for files wait, and those of others go on`() async {
        await #expect(processExitsWith: .success) { try FileThreadsTests.fillThreads() }
    }

    fileprivate static func fillThreads() throws {
        let (place, dead) = (try HeldServer(), try DeadMount())
        defer {
            dead.end()
            // Its threads end only after that.
            withExtendedLifetime(place) {}
        }
        let owner = try place.connect()
        try owner.makeVault()
        // While it has a connection, all of its connections are of one party.
        let mail = try place.connect(as: Self.mail)
        defer { withExtendedLifetime(mail) {} }
        let content = [UInt8](repeating: 7, count: 1 << 20)
        for client in [owner, mail] { try client.put("large", content) { $0.kind = .database } }
        let file = open(dead.filePath, O_RDWR | O_CLOEXEC)
        try #require(file >= 0)
        dead.die()
        let share = Limits.peerFileThreads / 4 * 3
        for _ in 1..<share { try pass(file, to: place) }
        try finish(try beginTransfer(of: place, as: Self.mail))
        try pass(file, to: place)
        let waiting = try beginTransfer(of: place, as: Self.mail)
        try finish(try beginTransfer(of: place, as: HeldServer.owner))
        #expect(!waiting.hasArrival)
        dead.end()
        try finish(waiting)
    }

    /// Passes the file with a request that takes none: a thread waits for it when it closes it.
    private static func pass(_ file: Int32, to place: HeldServer) throws {
        var connection = try place.connectRaw(as: mail)
        try connection.send(.vaultStatus, passing: file)
        _ = try connection.answer()
    }

    /// Has a client fetch the item into a file of the machine's.
    private static func beginTransfer(of place: HeldServer, as client: ClientIdentity) throws -> RawBox {
        let connection = RawBox(try place.connectRaw(as: client))
        let output = open(place.server.directory.appending("output"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try #require(output >= 0)
        try connection.raw.send(.itemGet, ["name": "large"], passing: output)
        close(output)
        return connection
    }

    /// Waits for the end of a transfer.
    private static func finish(_ connection: RawBox) throws {
        let answer = try connection.raw.answer()
        #expect(answer.refusal == nil)
    }
}
