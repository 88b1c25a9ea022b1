import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Watchers that read nothing.
@Suite struct UnreadEventsTests {
    private final class Watcher {
        let peer: HostilePeer

        init(_ daemon: DaemonProcess) throws {
            peer = try HostilePeer(daemon)
            peer.send(HostilePeer.frame(.vaultWatch, ["items": true, "audit": true]))
        }
    }

    @Test func `the events of many of them take the memory of one bound, and those who read miss none of it`() throws {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault(passcode: nil)
        let before = try Footprint(of: daemon)
        let watchers = try (0..<400).map { _ in try Watcher(daemon) }
        for watcher in watchers { #expect(try watcher.peer.replies(1).count == 1) }
        let reader = try daemon.connect()
        try reader.watch(.items)
        let part = String(repeating: "n", count: 200)
        var seen = 0
        for number in 0..<400 {
            try client.put("\(part)/\(part)/\(part)/\(number)", [1])
            while seen <= number {
                guard case .itemsDidChange(let changes) = try reader.nextEvent() else { continue }
                seen += changes.count
            }
        }
        #expect(seen >= 400)
        let after = try Footprint(of: daemon)
        #expect(after.residentKiB - before.residentKiB < 60 << 10, "\(before), and then \(after)")
        // One that reads after all learns that it has missed some.
        let news = try watchers[0].peer.replies { $0.objectValue?["method"]?.stringValue == "eventsMissed" }
        #expect(news.last?.objectValue?["method"]?.stringValue == "eventsMissed")
    }
}
