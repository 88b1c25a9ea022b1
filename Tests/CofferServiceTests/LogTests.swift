import CofferClient
import CofferCore
import CofferService
import CofferTestSupport
import CofferWire
import Foundation
import Synchronization
import Testing

/// The reports of a vault whose database log was damaged or lost.
@Suite struct LogTests {
    private static let names = (0..<8).map { "service/\($0)" }
    private static let log = "state/vault.sqlite-wal"
    private static let frameBytes = CatalogLog.frameBytes

    /// The state directory after a kill, with each item acknowledged separately.
    private static let killed = Result {
        let clock = ManualClock()
        let server = try TestServer(clock: clock.clock)
        let client = try server.connect()
        try client.makeVault(passcode: nil)
        for name in names { try client.put(name, Array(name.utf8)) }
        return (log: try #require(server.directory.contents(log)), directory: try copy(of: server.directory))
    }

    private static func copy(of directory: TemporaryDirectory) throws -> TemporaryDirectory {
        var copy = try TemporaryDirectory()
        // The daemon writes its anchor and records of reads behind an answer: a copy is made again if it was then.
        let isCopied = becomesTrue {
            let (original, target) = (directory.appending("state"), copy.appending("state"))
            do {
                try FileManager.default.copyItem(atPath: original, toPath: target)
                if FileManager.default.contentsEqual(atPath: original, andPath: target) { return true }
            } catch CocoaError.fileNoSuchFile {}
            copy = try TemporaryDirectory()
            return false
        }
        try #require(isCopied)
        return copy
    }

    /// A server on a killed vault whose log was changed.
    private struct Damaged {
        let directory: TemporaryDirectory
        let server: TestServer
        let client: BlockingClient
        let told: Told

        init(_ change: (TemporaryDirectory) throws -> Void) throws {
            let directory = try LogTests.copy(of: try LogTests.killed.get().directory)
            try change(directory)
            try self.init(in: directory)
        }

        init(in directory: TemporaryDirectory) throws {
            let told = Told()
            self.told = told
            self.directory = directory
            server = try TestServer(in: directory, clock: ManualClock().clock) { $0.reportFault = { told.take($0) } }
            client = try server.connect()
        }

        var names: [String] { get throws { try client.list().items.map(\.name).sortedByBytes() } }
        var faults: [VaultFault] { get throws { try client.status().faults } }
        /// Without the faults of the audit, whose end is lost as well.
        var faultsOfLog: [VaultFault] {
            get throws { try faults.filter { $0.hint.contains("--acknowledge") } }
        }
    }

    /// The faults that a server reported at its start.
    private final class Told: Sendable {
        private let faults = Mutex<[VaultFault]>([])
        var all: [VaultFault] { faults.withLock { $0 } }
        func take(_ fault: VaultFault) { faults.withLock { $0.append(fault) } }
    }

    private static func flip(_ directory: TemporaryDirectory, _ offset: Int) throws {
        var bytes = try #require(directory.contents(log))
        bytes[offset] ^= 1
        try directory.write(bytes, to: log)
    }

    private static func keptNames(_ directory: TemporaryDirectory) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.appending("state"))
            .filter { $0.contains("damaged") }.sorted()
    }

    @Test func `a vault that was killed has all that was acknowledged, and no fault`() throws {
        let whole = try Damaged { _ in }
        #expect(try whole.names == Self.names)
        #expect(try whole.faults == [])
        #expect(whole.told.all == [])
    }

    /// The header, and fields of the first frame, of a middle one and of the last.
    private static let places: [(frame: Int, offset: Int)] =
        [0, 9, 17, 21, 28].map { (0, $0) }
        + [1, 9, 0].flatMap { frame in [2, 6, 8, 13, 18, 22, 40, 4000].map { (frame, 32 + $0) } }

    @Test(arguments: places.indices)
    func `a byte changed in the log is named in the status, when the vault starts, and nothing behind it is served`(
        index: Int
    ) throws {
        let (frame, offset) = Self.places[index]
        let frames = (CatalogLog.end(of: try Self.killed.get().log) - 32) / Self.frameBytes
        let isHeader = index < 5
        let number = isHeader ? 0 : (frame == 0 ? frames : frame) - 1
        let damaged = try Damaged { try Self.flip($0, number * Self.frameBytes + offset) }
        let faults = try damaged.faultsOfLog
        #expect(faults.count == 1)
        #expect(try damaged.told.all == damaged.faults)
        #expect(faults.first?.what.contains("'vault.sqlite-wal.damaged'") == true)
        #expect(faults.first?.hint.contains("coffer doctor --acknowledge") == true)
        let served = try damaged.names
        #expect(served == Array(Self.names.prefix(served.count)))
        // The last commit may hold only the audit record of the last change.
        if number + 1 < frames { #expect(served.count < Self.names.count) }
    }

    @Test func `a damaged log is kept whole for its owner, and each further one beside it`() throws {
        let damaged = try Damaged { try Self.flip($0, Self.frameBytes * 12 + 100) }
        var expected = try Self.killed.get().log
        expected[Self.frameBytes * 12 + 100] ^= 1
        let kept = "state/vault.sqlite-wal.damaged"
        #expect(damaged.directory.contents(kept) == expected)
        let attributes = try FileManager.default.attributesOfItem(atPath: damaged.directory.appending(kept))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        try damaged.client.put("service/another", [1])
        let again = try Self.copy(of: damaged.directory)
        try Self.flip(again, 40)
        let second = try Damaged(in: again)
        #expect(try second.faultsOfLog.count == 2)
        #expect(again.contents(kept) == expected)
        #expect(try Self.keptNames(again) == ["vault.sqlite-wal.damaged", "vault.sqlite-wal.damaged-2"])
    }

    @Test func `the fault outlives restarts and ends when it is acknowledged`() throws {
        let damaged = try Damaged { try Self.flip($0, 40) }
        #expect(try damaged.client.checkVault().findings == [])
        let restarted = try Damaged(in: try Self.copy(of: damaged.directory))
        #expect(try restarted.faultsOfLog == damaged.faultsOfLog)
        try restarted.client.acknowledgeFaults()
        #expect(try restarted.faults == [])
        #expect(try Self.keptNames(restarted.directory) == [])
        let after = try Damaged(in: try Self.copy(of: restarted.directory))
        #expect(try after.faults == [])
    }

    @Test(arguments: ["missing", "empty", "header only", "half", "older"])
    func `a log that is lost, or ends too soon, is named`(change: String) throws {
        let log = try Self.killed.get().log
        let damaged = try Damaged { directory in
            switch change {
            case "missing": try directory.remove(Self.log)
            case "empty": try directory.write([], to: Self.log)
            case "header only": try directory.write(log.prefix(32), to: Self.log)
            case "half": try directory.write(log.prefix(32 + 10 * Self.frameBytes), to: Self.log)
            default:
                // An intact log of another database.
                let other = try TestServer(clock: ManualClock().clock)
                try other.connect().makeVault(passcode: nil)
                try directory.write(try #require(other.directory.contents(Self.log)).prefix(32), to: Self.log)
            }
        }
        let faults = try damaged.faultsOfLog
        #expect(faults.count == 1)
        #expect(try damaged.names.count < Self.names.count)
        let after = try Damaged(in: try Self.copy(of: damaged.directory))
        #expect(try after.faultsOfLog == faults)
    }

    @Test func `a change that was cut off before it was acknowledged is no fault`() throws {
        let (log, directory) = try Self.killed.get()
        let mark = try #require(directory.contents("state/vault.sqlite-mark"))
        let server = try Damaged { _ in }
        try server.client.put("service/late", [1])
        let longer = try #require(server.directory.contents(Self.log))
        let ends = (CatalogLog.end(of: log), CatalogLog.end(of: longer))
        try #require(ends.1 > ends.0)
        for end in stride(from: ends.0, to: ends.1 - 1, by: 1777) {
            let torn = try Damaged { directory in
                try directory.write(longer.prefix(end), to: Self.log)
                #expect(directory.contents("state/vault.sqlite-mark") == mark)
            }
            #expect(try torn.faults == [], "cut at \(end)")
            // The last item may be there: it is committed before its audit record.
            #expect(try torn.names.filter { $0 != "service/late" } == Self.names, "cut at \(end)")
        }
    }

    @Test(arguments: [true, false])
    func `a moment after the last change, or with a lock, nothing depends on the log any more`(locks: Bool) throws {
        let clock = ManualClock()
        let server = try TestServer(graceSeconds: 0, clock: clock.clock)
        let client = try server.connect()
        try client.makeVault()
        for name in Self.names { try client.put(name, [1]) { $0.accessibility = .always } }
        if locks {
            #expect(try client.lock(graceSeconds: 0).state == .locked)
            #expect(becomesTrue { server.directory.contents(Self.log)?.isEmpty == true })
        } else {
            let mark = server.directory.contents("state/vault.sqlite-mark")
            // The turn of the answer may still have to set its timer.
            let isWrittenBack = becomesTrue {
                clock.advance(by: 2)
                return server.directory.contents("state/vault.sqlite-mark") != mark
            }
            #expect(isWrittenBack)
        }
        let copy = try Self.copy(of: server.directory)
        if locks { try copy.remove(Self.log) } else { try Self.flip(copy, Self.frameBytes * 2 + 100) }
        let after = try Damaged(in: copy)
        #expect(try after.names == Self.names)
        #expect(try after.faults == [])
    }

    @Test func `nothing is left of marks and kept logs when the vault is erased`() throws {
        let damaged = try Damaged { try Self.flip($0, 40) }
        try damaged.client.erase(vaultID: try #require(try damaged.client.status().vaultID))
        #expect(
            becomesTrue {
                try FileManager.default.contentsOfDirectory(atPath: damaged.directory.appending("state")).isEmpty
            }
        )
        try damaged.client.makeVault(passcode: nil)
        #expect(try damaged.faults == [])
    }
}
