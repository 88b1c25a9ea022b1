import CofferClient
import CofferCore
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// A daemon that is ended in the middle of something long.
@Suite struct ShutDownTests {
    private static let count = 4000

    private static func name(_ number: Int) -> String { "d/\(number % 10)/\(number)" }

    /// Makes directories, many in a turn.
    private func makeTree(_ daemon: DaemonProcess) throws {
        let peer = try HostilePeer(daemon)
        for start in stride(from: 0, to: Self.count, by: 64) {
            for number in start..<min(start + 64, Self.count) {
                peer.send(
                    HostilePeer.frame(
                        .fileMkdir,
                        ["name": .string(Self.name(number)), "parents": true],
                        id: Int64(number)
                    )
                )
            }
        }
        // Answered in the order of their coming.
        peer.finish()
        var piece = [UInt8](repeating: 0, count: 65_536)
        while read(peer.socket.number, &piece, piece.count) > 0 {}
    }

    private func names(_ client: BlockingClient) throws -> Set<String> {
        var found: Set<String> = []
        var cursor: String?
        repeat {
            let page = try client.listFiles(recursive: true, cursor: cursor)
            found.formUnion(page.entries.map(\.name))
            cursor = page.cursor
        } while cursor != nil
        return found
    }

    @Test func `inside a removal it ends in good order, and each directory is there or gone`() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault(passcode: nil)
        try makeTree(daemon)
        let before = try names(client)
        #expect(before.count == Self.count + 11)
        let remover = try daemon.connect()
        let removal = Background { try Outcome { _ = try remover.removeFile(try ItemName("d"), recursive: true) } }
        // Something of it is removed, and on the disk.
        let isUnderWay = {
            try client.status().state == .noPasscode
                && !(try Outcome { _ = try client.fileInfo(try ItemName(Self.name(0))) } == .done)
        }
        for _ in 0..<10_000 { if try isUnderWay() { break } }
        #expect(daemon.stop() == 0)
        let outcome = try removal.wait()
        let next = try DaemonProcess(in: daemon.directory)
        let after = try next.connect()
        let left = try names(after)
        #expect(left.isSubset(of: before))
        #expect(left.count < before.count)
        #expect((outcome == .done) == left.isEmpty)
        for path in left {
            guard let slash = path.lastIndex(of: "/") else { continue }
            #expect(left.contains(String(path[..<slash])), "a directory is in what is there")
        }
        let check = try next.coffer(["doctor"])
        #expect(check.status == 0, "\(check)")
        if !left.isEmpty {
            #expect(try after.removeFile(try ItemName("d"), recursive: true) == left.count)
            #expect(try names(after).isEmpty)
        }
    }
}
