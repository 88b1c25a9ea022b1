import CofferClient
import CofferCore
import CofferMemory
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Glibc
import Synchronization
import Testing

/// Erasure destroys the keys first, and is never incomplete.
@Suite struct ErasureTests {
    private static func names(_ server: TestServer) throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: server.directory.appending("state")))
    }

    @Test func `nothing of the vault is left, and the next one in its place knows nothing of it`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault()
        try client.put("a", [1])
        try client.put("b/file", pseudoRandomBytes(200_000)) { $0.kind = .database }
        let first = try #require(try client.status().vaultID)
        try client.erase(vaultID: first)
        #expect(try client.status().state == .noVault)
        #expect(becomesTrue { try Self.names(server).subtracting(["erased"]).isEmpty })
        #expect(becomesTrue { try Self.names(server).isEmpty })
        try client.makeVault(passcode: nil)
        #expect(try client.list().items.isEmpty)
        #expect(try client.status().vaultID != first)
        try client.put("a", [2])
        #expect(try client.get("a") == [2])
    }

    @Test func `another vault's id erases nothing`() throws {
        let server = try TestServer()
        let client = try server.connect()
        #expect(try Outcome { try client.erase(vaultID: ItemID()) } == .refused(.notAvailable))
        try client.makeVault()
        try client.put("a", [1])
        #expect(try Outcome { try client.erase(vaultID: ItemID()) } == .refused(.param))
        #expect(try client.get("a") == [1])
    }

    @Test func `a transfer that is under way ends, and puts nothing into the next vault`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault()
        let pipe = Pipe()
        let writer = try server.connect()
        let put = Background { () throws -> ErrorCode? in
            do {
                var wishes = PlacementOptions()
                wishes.kind = .document
                wishes.protectionClass = ProtectionClass.none
                _ = try writer.put(
                    try ItemName("late"),
                    wishes,
                    content: nil,
                    rest: pipe.fileHandleForReading.fileDescriptor
                )
                return nil
            } catch let error as CofferError {
                return error.code
            }
        }
        try pipe.fileHandleForWriting.write(contentsOf: pseudoRandomBytes(60_000))
        #expect(
            becomesTrue {
                try FileManager.default.subpathsOfDirectory(atPath: server.directory.appending("state")).contains {
                    $0.contains("staging/")
                }
            }
        )
        try client.erase(vaultID: try #require(try client.status().vaultID))
        try client.makeVault(passcode: nil)
        try? pipe.fileHandleForWriting.close()
        #expect(try put.wait() != nil)
        #expect(try client.list().items.isEmpty)
    }

    @Test func `what a put was still waiting for does not go into the next vault`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault()
        let pipe = Pipe()
        let writer = try server.connect()
        let put = Background {
            try Outcome {
                _ = try writer.put(
                    try ItemName("late"),
                    PlacementOptions(),
                    content: nil,
                    rest: pipe.fileHandleForReading.fileDescriptor
                )
            }
        }
        try pipe.fileHandleForWriting.write(contentsOf: [1, 2, 3])
        usleep(100_000)
        try client.erase(vaultID: try #require(try client.status().vaultID))
        try client.makeVault(passcode: nil)
        try pipe.fileHandleForWriting.close()
        #expect(try put.wait() == .refused(.notAvailable))
        #expect(try client.list().items.isEmpty)
    }

    @Test(arguments: ["keybag", "vault.sqlite"])
    func `a vault that can't be read can be erased all the same`(name: String) throws {
        let directory = try TemporaryDirectory()
        do {
            let server = try TestServer(in: directory)
            try server.connect().makeVault()
            withExtendedLifetime(server) {}
        }
        let path = directory.appending("state/\(name)")
        var bytes = Array(try Data(contentsOf: URL(filePath: path)))
        for place in 0..<min(64, bytes.count) { bytes[place] ^= 0xFF }
        try Data(bytes).write(to: URL(filePath: path))
        let server = try TestServer(in: directory)
        let client = try server.connect()
        #expect(becomesTrue { try Outcome { _ = try client.status() } == .refused(.decode) })
        #expect(try Outcome { try client.erase(vaultID: ItemID()) } != .done, "not by a name that nobody can check")
        try client.eraseWhateverIsThere()
        #expect(try client.status().state == .noVault)
        #expect(!(try Self.names(server)).contains("device.key"))
        try client.makeVault(passcode: nil)
    }

    @Test func `an erasure that failed half-way goes on with the next request`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault()
        let id = try #require(try client.status().vaultID)
        // Blocks the directory to which the contents are moved.
        let obstacle = server.directory.appending("state/erased")
        try Data().write(to: URL(filePath: obstacle))
        #expect(try Outcome { try client.erase(vaultID: id) } == .refused(.io))
        #expect(!(try Self.names(server)).contains("keybag"))
        #expect(try Outcome { _ = try client.status() } == .refused(.io))
        try FileManager.default.removeItem(atPath: obstacle)
        #expect(try client.status().state == .noVault)
        try client.makeVault(passcode: nil)
    }

    /// Fails every operation on the disk from the Nth on, as in a power cut.
    private final class PowerCut: Sendable {
        private let left = Mutex<Int?>(nil)

        var fileSystem: FileSystem {
            FileSystem(intercept: { (_) throws(SystemError) in
                let isOff = self.left.withLock { left in
                    guard let count = left else { return false }
                    left = count - 1
                    return count <= 0
                }
                if isOff { throw SystemError("test", code: EIO) }
            })
        }

        func strike(after count: Int) { left.withLock { $0 = count } }
        var hasStruck: Bool { left.withLock { ($0 ?? 1) < 0 } }
    }

    @Test(arguments: [true, false])
    func `an erasure that is cut off at any step has erased nothing, or is finished at the next start`(
        hasPasscode: Bool
    ) throws {
        var outcomes: [VaultState] = []
        for step in 0..<60 {
            let power = PowerCut()
            let directory = try TemporaryDirectory()
            var isDone = false
            do {
                let server = try TestServer(in: directory, fileSystem: power.fileSystem)
                let client = try server.connect()
                try client.makeVault(passcode: hasPasscode ? DaemonProcess.passcode : nil)
                try client.put("a", [1])
                let id = try #require(try client.status().vaultID)
                power.strike(after: step)
                isDone = try Outcome { try client.erase(vaultID: id) } == .done
            }
            let server = try TestServer(in: directory)
            let client = try server.connect()
            #expect(becomesTrue { try client.status().protocolNumber > 0 })
            let state = try client.status().state
            outcomes.append(state)
            if state == .noVault {
                try client.makeVault(passcode: nil)
                #expect(try client.list().items.isEmpty)
            } else {
                #expect(!isDone, "step \(step)")
                if hasPasscode { try client.unlock() }
                #expect(try client.get("a") == [1])
            }
            if isDone && !power.hasStruck { break }
        }
        // Before the mark nothing is erased, and after it the vault never comes back.
        let first = try #require(outcomes.firstIndex(of: .noVault))
        #expect(first > 0)
        #expect(outcomes[first...].allSatisfy { $0 == .noVault })
        #expect(outcomes.count > first + 4)
    }
}
