import CofferClient
import CofferCore
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Synchronization
import Testing

/// Fails the Nth operation on the disk, for N = 1, 2, 3 …, while files are changed in place.
@Suite struct HandleFailureTests {
    /// Counts the operations and fails one of them, or one and all after it.
    private final class Fault: Sendable {
        private struct State {
            var count = 0
            var failing = 0
            var code: Int32 = 0
            var lasts = false
        }

        private let state = Mutex(State())

        var fileSystem: FileSystem {
            FileSystem(intercept: { (_) throws(SystemError) in try self.next() })
        }

        private func next() throws(SystemError) {
            let code: Int32 = state.withLock { state in
                state.count += 1
                guard state.failing != 0 else { return 0 }
                return state.count == state.failing || state.lasts && state.count > state.failing ? state.code : 0
            }
            if code != 0 { throw SystemError("test", code: code) }
        }

        /// Fails the Nth operation from now; none if it is 0.
        func fail(_ number: Int, with code: Int32 = EIO, lasts: Bool = false) {
            state.withLock { $0 = State(failing: number, code: code, lasts: lasts) }
        }

        var hasFired: Bool { state.withLock { $0.failing != 0 && $0.count >= $0.failing } }
    }

    private static let chunk = Limits.chunkBytes
    private static let first = pseudoRandomBytes(3 * chunk + 500, seed: 1)
    private static let piece = pseudoRandomBytes(chunk, seed: 2)
    private static let other = pseudoRandomBytes(90_000, seed: 3)
    private static let cut = 2 * chunk + 77

    /// The possible contents of `a`, in order: each sync writes all of one step or nothing.
    private static let versions: [[UInt8]] = {
        var all = [first]
        var next = first
        next.replaceSubrange(chunk..<(2 * chunk), with: piece)
        all.append(next)
        next.replaceSubrange((2 * chunk + 10)..<(2 * chunk + 60), with: piece.prefix(50))
        all.append(next)
        all.append(Array(next.prefix(cut)))
        return all
    }()

    /// The progress of a client.
    private struct Progress {
        /// The last version whose sync was acknowledged.
        var version = 0
        var hasPut = false
        var hasCreated = false
        var hasReplaced = false
        var refusal: ErrorCode?
        /// The file that was written last; if its sync failed, it is still open.
        var file: OpenedFile?
    }

    private func run(_ client: BlockingClient) -> Progress {
        var progress = Progress()
        do {
            let file = try client.openFile(try ItemName("a"), for: .readWrite)
            progress.file = file
            try file.put(Self.piece, at: Int64(Self.chunk))
            try file.sync()
            progress.version = 1
            try file.put(Array(Self.piece.prefix(50)), at: Int64(2 * Self.chunk + 10))
            try file.truncate(to: Int64(Self.cut))
            try file.close()
            progress.version = 3
            try client.put("b", Self.other) { $0.kind = .database }
            progress.hasPut = true
            let new = try client.openFile(try ItemName("dir/c"), for: .write, [.create, .exclusive])
            progress.file = new
            try new.put(Self.other, at: 0)
            try new.close()
            progress.hasCreated = true
            try client.put("dir/c", Self.piece) { $0.kind = .database }
            progress.hasReplaced = true
            try client.remove(try ItemName("b"))
        } catch let error as CofferError {
            progress.refusal = error.code
        } catch {
            Issue.record(error)
        }
        return progress
    }

    private func content(_ path: String, with client: BlockingClient) throws -> [UInt8]? {
        do {
            return try client.openFile(try ItemName(path)).get()
        } catch let error as CofferError where error.code == .itemNotFound {
            return nil
        }
    }

    /// Expects the acknowledged state, or that after the next step.
    private func expect(_ progress: Progress, in client: BlockingClient, _ what: String) throws {
        let a = try #require(try content("a", with: client), "\(what)")
        let isOfItsTime = Self.versions[progress.version...].contains(a)
        #expect(isOfItsTime, "\(what): 'a' is the version that was synced, or a later one")
        let b = try content("b", with: client)
        let isPut = b == Self.other
        // The last step removes it.
        #expect(isPut || b == nil && (!progress.hasPut || progress.hasReplaced), "\(what): 'b' is whole")
        let c = try content("dir/c", with: client)
        let allowed: [[UInt8]?] =
            progress.hasReplaced
            ? [Self.piece]
            : progress.hasCreated
                ? [Self.other, Self.piece] : progress.hasPut ? [nil, [], Self.other] : [nil]
        let isAllowed = allowed.contains { $0 == c }
        #expect(isAllowed, "\(what): 'dir/c' is what was synced, or what came next")
    }

    /// Expects that every stored content belongs to a file.
    private func expectNoLeak(_ directory: TemporaryDirectory, _ client: BlockingClient, _ what: String) throws {
        let blobs = directory.appending("state/blobs")
        let staged = try FileManager.default.contentsOfDirectory(atPath: blobs + "/staging")
            // A content keeps its staged name for a while after it was moved.
            .filter { !FileManager.default.fileExists(atPath: "\(blobs)/\($0.prefix(2))/\($0)") }
        #expect(staged == [], "\(what)")
        let contents = try FileManager.default.subpathsOfDirectory(atPath: blobs).filter { $0.contains("/") }
            .map { ($0 as NSString).lastPathComponent }
        let ids = Set(contents.map { $0.replacing(".overlay", with: "") })
        let count = try client.list().items.count
        #expect(ids.count == count, "\(what): \(contents)")
    }

    private func makeServer(_ fault: Fault) throws -> (TestServer, BlockingClient) {
        let server = try TestServer(fileSystem: fault.fileSystem)
        let client = try server.connect()
        try client.makeVault(passcode: nil)
        try client.put("a", Self.first) { $0.kind = .database }
        return (server, client)
    }

    /// The vault as a crash would leave it now.
    private func crashed(_ server: TestServer) throws -> TemporaryDirectory {
        let directory = try TemporaryDirectory()
        let copied = try runCommand(
            "/bin/cp",
            ["-a", server.directory.appending("state"), directory.appending("state")]
        )
        try #require(copied.status == 0)
        return directory
    }

    @Test func `what is written while another handle syncs is no part of that sync`() throws {
        let hold = Shared<(reached: DispatchSemaphore, release: DispatchSemaphore)?>(nil)
        let server = try TestServer(
            fileSystem: FileSystem(intercept: { (operation) throws(SystemError) in
                guard operation == .synchronize, let held = hold.value else { return }
                held.reached.signal()
                held.release.wait()
            })
        )
        let client = try server.connect()
        try client.makeVault(passcode: nil)
        try client.put("a", Self.first) { $0.kind = .database }
        let file = try client.openFile(try ItemName("a"), for: .readWrite)
        try file.put(Array(Self.piece.prefix(10)), at: 0)
        let (reached, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        hold.value = (reached, release)
        let syncing = Background { try server.connect().openFile(try ItemName("a")).sync() }
        reached.wait()
        hold.value = nil
        let isWritten = Shared(false)
        let writing = Background {
            try file.put(Array(Self.piece.prefix(10)), at: Int64(Self.chunk))
            isWritten.value = true
        }
        // Long enough for a write, which waits here because the sync has read the rows and not committed.
        usleep(200_000)
        #expect(!isWritten.value)
        release.signal()
        try syncing.wait()
        try writing.wait()
        var expected = Self.first
        for start in [0, Self.chunk] { expected.replaceSubrange(start..<(start + 10), with: Self.piece.prefix(10)) }
        #expect(try file.get() == expected)
    }

    @Test func `a write that fails in its middle leaves what was written before, synced or not`() throws {
        let fault = Fault()
        let (server, client) = try makeServer(fault)
        let file = try client.openFile(try ItemName("a"), for: .readWrite)
        var expected = Self.first
        // Not synced, so only the daemon has it. The second time leaves a free slot in front of the one in use, so that the next
        // two chunks are not written by one call.
        for _ in 1...2 { try file.put(Array(Self.piece.prefix(100)), at: Int64(Self.chunk)) }
        expected.replaceSubrange(Self.chunk..<(Self.chunk + 100), with: Self.piece.prefix(100))
        // The same chunk again, and the next one, which fails.
        fault.fail(2)
        let outcome = try Outcome { try file.put(Self.piece, at: Int64(Self.chunk + 100)) }
        #expect(outcome == .refused(.io))
        #expect(fault.hasFired)
        fault.fail(0)
        #expect(try file.get() == expected)
        try file.close()
        #expect(try content("a", with: client) == expected)
        withExtendedLifetime(server) {}
    }

    @Test(arguments: [(EIO, ErrorCode.io), (ENOSPC, .diskFull)], [false, true])
    func `whatever fails once, or from then on, each sync is there as a whole, and nothing is left behind`(
        failure: (code: Int32, error: ErrorCode),
        lasts: Bool
    ) throws {
        var refusals = 0
        for step in 1...200 {
            let fault = Fault()
            let (server, client) = try makeServer(fault)
            fault.fail(step, with: failure.code, lasts: lasts)
            let progress = run(client)
            let hasFired = fault.hasFired
            fault.fail(0)
            if let refusal = progress.refusal {
                refusals += 1
                #expect(refusal == failure.error, "step \(step)")
            }
            // The state that a crash would leave now.
            let crash = try crashed(server)
            do {
                let after = try TestServer(in: crash)
                let later = try after.connect()
                try expect(progress, in: later, "step \(step), after a crash")
                try expectNoLeak(crash, later, "step \(step), after a crash")
            }
            // The disk works again, and the rest can be synced.
            try progress.file?.close()
            try expect(progress, in: client, "step \(step)")
            let file = try client.openFile(try ItemName("a"), for: .write, .truncate)
            try file.put(Self.other, at: 0)
            try file.close()
            let isThere = try content("a", with: client) == Self.other
            #expect(isThere, "step \(step), written anew")
            if !hasFired { break }
        }
        // Six writes of chunks, the creation of overlays and contents with their headers, and syncs.
        #expect(refusals >= 15)
    }
}
