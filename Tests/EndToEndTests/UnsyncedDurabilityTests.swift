import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Files that are changed by a connection that defers syncs when the daemon is killed.
@Suite struct UnsyncedDurabilityTests {
    private enum Change {
        case write([UInt8], at: Int)
        case truncate(Int)
        case sync

        static func random(_ random: inout SeededGenerator) -> Change {
            switch Int.random(in: 0...19, using: &random) {
            case 0: return .sync
            case 1, 2: return .truncate(Int.random(in: 0...200_000, using: &random))
            default:
                let count = Int.random(in: 1...(Bool.random(using: &random) ? 5000 : 90_000), using: &random)
                let bytes = pseudoRandomBytes(count, seed: random.next())
                return .write(bytes, at: Int.random(in: 0...150_000, using: &random))
            }
        }

        func make(in file: OpenedFile) throws {
            switch self {
            case .write(let bytes, let place): try file.put(bytes, at: Int64(place))
            case .truncate(let count): try file.truncate(to: Int64(count))
            case .sync: try file.sync()
            }
        }

        func callAsFunction(_ content: [UInt8]) -> [UInt8] {
            switch self {
            case .write(let bytes, let place):
                var content = content
                content += [UInt8](repeating: 0, count: max(0, place + bytes.count - content.count))
                content.replaceSubrange(place..<(place + bytes.count), with: bytes)
                return content
            case .truncate(let count):
                return Array(content.prefix(count)) + [UInt8](repeating: 0, count: max(0, count - content.count))
            case .sync: return content
            }
        }
    }

    /// A connection that defers syncs.
    private func connect(_ daemon: DaemonProcess) throws -> BlockingClient {
        let client = try daemon.connect()
        try client.call(HelloParameters(protocolNumber: Int64(Version.protocolNumber), defersSyncs: true))
        return client
    }

    @Test func `a kill of the daemon loses nothing that was answered, synced or not`() throws {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault(passcode: nil)
        let names = try ["a", "b"].map { try ItemName($0) }
        var models: [[UInt8]] = [[], pseudoRandomBytes(120_000)]
        try connect(daemon).openFile(names[0], for: .write, .create).close()
        try daemon.connect().put("b", models[1]) { $0.kind = .database }
        for round in 0..<15 {
            let client = try connect(daemon)
            let before = models
            let doneCount = Shared(0)
            let work = Background { () -> (models: [[UInt8]], next: (index: Int, content: [UInt8])) in
                var random = SeededGenerator(seed: UInt64(round))
                var models = before
                let files = try names.map { try client.openFile($0, for: .write) }
                while true {
                    let index = Int.random(in: 0...1, using: &random)
                    let change = Change.random(&random)
                    let next = change(models[index])
                    do { try change.make(in: files[index]) } catch { return (models, (index, next)) }
                    models[index] = next
                    doneCount.change { $0 += 1 }
                }
            }
            #expect(settles { doneCount.value > round * 37 % 15 * 4 })
            usleep(UInt32(round * 1000))
            daemon.kill()
            let (answered, next) = try work.wait()
            try daemon.restart()
            let later = try daemon.connect()
            #expect(try later.status().faults == [])
            models = try names.map { try later.openFile($0).get() }
            for index in models.indices {
                let isThere = models[index] == answered[index] || index == next.index && models[index] == next.content
                #expect(isThere, "round \(round), file \(index)")
            }
        }
        #expect(try daemon.coffer(["doctor"]).status == 0)
        daemon.stop()
        #expect(!FileManager.default.fileExists(atPath: daemon.statePath + "/unsynced"))
    }

    @Test func `what the passcode protects is there after the unlock that follows two kills`() throws {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault()
        let (client, names) = (try connect(daemon), try ["a", "b"].map { try ItemName($0) })
        for name in names {
            let file = try client.openFile(name, for: .write, .create)
            try file.put(Array(name.path.utf8), at: 5000)
        }
        for _ in 0..<2 { try daemon.restart() }
        let later = try daemon.connect()
        #expect(try later.status().state == .beforeFirstUnlock)
        try later.unlock(DaemonProcess.passcode)
        for name in names {
            let expected = [UInt8](repeating: 0, count: 5000) + Array(name.path.utf8)
            #expect(try later.openFile(name).get() == expected)
        }
        #expect(try later.status().faults == [])
    }
}
