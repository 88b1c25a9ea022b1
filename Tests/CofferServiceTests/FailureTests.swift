import CofferClient
import CofferCore
import CofferSystem
import CofferTestSupport
import Glibc
import Synchronization
import CofferWire
import Foundation
import Testing

/// Fails the Nth operation on the disk, for N = 1, 2, 3 …, until the request succeeds.
@Suite struct FailureTests {
    /// Counts the operations and fails one of them.
    private final class Fault: Sendable {
        private let state = Mutex<(count: Int, failing: Int, code: Int32, isLasting: Bool)>((0, 0, 0, false))

        var fileSystem: FileSystem {
            FileSystem(intercept: { (_) throws(SystemError) in try self.next() })
        }

        private func next() throws(SystemError) {
            let code = state.withLock { state -> Int32 in
                state.count += 1
                if state.failing == 0 || state.count < state.failing { return 0 }
                return state.count == state.failing || state.isLasting ? state.code : 0
            }
            if code != 0 { throw SystemError("test", code: code) }
        }

        /// Fails the Nth operation from now, or all from there on; none if it is 0.
        func fail(_ number: Int, with code: Int32 = EIO, isLasting: Bool = false) {
            state.withLock { $0 = (0, number, code, isLasting) }
        }

        var hasFired: Bool { state.withLock { $0.failing != 0 && $0.count >= $0.failing } }
    }

    private static let old = pseudoRandomBytes(150_000, seed: 1)
    private static let new = pseudoRandomBytes(130_000, seed: 2)

    @Test(arguments: [(EIO, ErrorCode.io), (ENOSPC, .diskFull)])
    func `a put that fails at any step leaves the old file`(code: Int32, expected: ErrorCode) throws {
        let fault = Fault()
        let directory = try TemporaryDirectory()
        var failures = 0
        do {
            let server = try TestServer(in: directory, fileSystem: fault.fileSystem)
            try putUntilNothingFails(fault, server, code, expected, &failures)
        }
        // Creation, header, chunks, and at least two syncs.
        #expect(failures >= 5)
        // Files that could not be removed are removed at the next start.
        let server = try TestServer(in: directory)
        let client = try server.connect()
        #expect(becomesTrue { try Outcome { _ = try client.status() } != .refused(.notAvailable) })
        #expect(try stagedCount(server) == 0)
    }

    private func putUntilNothingFails(
        _ fault: Fault,
        _ server: TestServer,
        _ code: Int32,
        _ expected: ErrorCode,
        _ failures: inout Int
    ) throws {
        let client = try server.connect()
        try client.makeVault()
        try client.put("a/file", Self.old) { $0.kind = .database }
        for step in 1...100 {
            fault.fail(step, with: code)
            let outcome = try Outcome { try client.put("a/file", Self.new) }
            let hasFired = fault.hasFired
            fault.fail(0)
            let content = try client.get("a/file")
            if outcome == .done {
                #expect(content == Self.new)
                // Moving the content to its path is the last step, and a restart repeats it.
                if !hasFired { break }
            } else {
                #expect(outcome == .refused(expected))
                #expect(content == Self.old)
                failures += 1
            }
            try client.put("a/file", Self.old)
        }
    }

    @Test
    func
        `a change of class does nothing on disk but in the catalog, so that a disk which fails elsewhere is no matter`()
        throws
    {
        let fault = Fault()
        let server = try TestServer(fileSystem: fault.fileSystem)
        let client = try server.connect()
        try client.makeVault()
        try client.put("a/file", Self.old) { $0.kind = .database }
        fault.fail(1)
        _ = try client.protect(try ItemName("a/file"), as: .file(.complete))
        #expect(!fault.hasFired)
        fault.fail(0)
        let content = try client.get("a/file")
        #expect(content == Self.old)
    }

    @Test(arguments: [false, true])
    func `making a vault that fails at any step leaves none, and one that succeeds is whole`(isLasting: Bool) throws {
        var failures = 0
        for step in 1...200 {
            let fault = Fault()
            let server = try TestServer(fileSystem: fault.fileSystem)
            let client = try server.connect()
            fault.fail(step, isLasting: isLasting)
            let outcome = try Outcome { try client.makeVault(passcode: nil) }
            let hasFired = fault.hasFired
            fault.fail(0)
            #expect(outcome == .done || outcome == .refused(.io), "step \(step)")
            if outcome != .done {
                failures += 1
                #expect(try client.status().state == .noVault, "step \(step)")
                try client.makeVault(passcode: nil)
            }
            try client.put("a", [1])
            #expect(try client.get("a") == [1])
            #expect(try !client.auditRecords().records.isEmpty)
            if !hasFired { break }
        }
        #expect(failures >= 10)
    }

    @Test func `a vault whose making was cut off is not there when the daemon comes up again`() throws {
        let fault = Fault()
        var outcomes: [Outcome] = []
        var kept: [Int] = []
        for step in 1...200 {
            let failing = try TestServer(fileSystem: fault.fileSystem)
            let failingClient = try failing.connect()
            fault.fail(step, isLasting: true)
            outcomes.append(try Outcome { try failingClient.makeVault(passcode: nil) })
            // The disk fails until the daemon ends, so the daemon changes nothing more.
            let directory = try TemporaryDirectory()
            try FileManager.default.copyItem(
                atPath: failing.directory.appending("state"),
                toPath: directory.appending("state")
            )
            fault.fail(0)
            if outcomes.last == .done { break }
            let server = try TestServer(in: directory)
            let client = try server.connect()
            // The last sync: the mark in memory is already gone, and can't be restored.
            if try client.status().state != .noVault { kept.append(step) }
            if kept.last == step { try client.eraseWhateverIsThere() }
            let key = directory.contents("state/device.key")
            try client.makeVault(passcode: nil)
            if let key { #expect(directory.contents("state/device.key") == key) }
        }
        #expect(outcomes.count >= 10 && outcomes.last == .done, "\(outcomes.count): \(outcomes.suffix(3)), \(kept)")
        #expect(kept.allSatisfy { $0 == outcomes.count - 1 })
    }

    private func stagedCount(_ server: TestServer) throws -> Int {
        let blobs = try Directory(makingPath: server.directory.appending("state/blobs"))
        // A content keeps its staged name for a while after it was moved.
        return try blobs.subdirectory("staging").entries().filter { !blobs.contains("\($0.prefix(2))/\($0)") }.count
    }
}
