import CofferClient
import CofferCore
import CofferSystem
import CofferTestSupport
import Glibc
import Synchronization
import CofferWire
import Testing

/// The Nth operation on disk is made to fail, for N = 1, 2, 3 …, until the request succeeds.
@Suite struct FailureTests {
    /// Counts the operations and fails one of them.
    private final class Fault: Sendable {
        private let state = Mutex<(count: Int, failing: Int, code: Int32)>((0, 0, 0))

        var fileSystem: FileSystem {
            FileSystem(intercept: { (_) throws(SystemError) in try self.next() })
        }

        private func next() throws(SystemError) {
            let code = state.withLock { state in
                state.count += 1
                return state.count == state.failing ? state.code : 0
            }
            if code != 0 { throw SystemError("test", code: code) }
        }

        /// Fails the Nth operation from now on; none if it is 0.
        func fail(_ number: Int, with code: Int32 = EIO) {
            state.withLock { $0 = (0, number, code) }
        }

        var hasFired: Bool { state.withLock { $0.failing != 0 && $0.count >= $0.failing } }
    }

    private static let old = pseudoRandomBytes(150_000, seed: 1)
    private static let new = pseudoRandomBytes(130_000, seed: 2)

    @Test(arguments: [(EIO, ErrorCode.io), (ENOSPC, .diskFull)])
    func `a put that fails at any step leaves the old file`(code: Int32, expected: ErrorCode) throws {
        let fault = Fault()
        let server = try TestServer(fileSystem: fault.fileSystem)
        let client = try server.connect()
        try client.makeVault()
        try client.put("a/file", Self.old) { $0.kind = .document }
        var failures = 0
        for step in 1...100 {
            fault.fail(step, with: code)
            let outcome = try Outcome { try client.put("a/file", Self.new) }
            let hasFired = fault.hasFired
            fault.fail(0)
            let content = try client.get("a/file")
            if outcome == .done {
                #expect(content == Self.new)
                // Moving the content to its place is the last step, and made up for later.
                if !hasFired { break }
            } else {
                #expect(outcome == .refused(expected))
                #expect(content == Self.old)
                failures += 1
            }
            try client.put("a/file", Self.old)
        }
        // Create, header, the chunks, two syncs at the least.
        #expect(failures >= 5)
        #expect(try stagedCount(server) == 0)
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
        try client.put("a/file", Self.old) { $0.kind = .document }
        fault.fail(1)
        _ = try client.protect(try ItemName("a/file"), as: .file(.complete))
        #expect(!fault.hasFired)
        fault.fail(0)
        let content = try client.get("a/file")
        #expect(content == Self.old)
    }

    @Test func `making a vault that fails at any step leaves none, or a whole one`() throws {
        var failures = 0
        for step in 1...100 {
            let fault = Fault()
            let directory = try TemporaryDirectory()
            fault.fail(step)
            var outcome: Outcome?
            do {
                let server = try TestServer(in: directory, fileSystem: fault.fileSystem)
                outcome = try Outcome { try server.connect().makeVault(passcode: nil) }
            }
            let hasFired = fault.hasFired
            let server = try TestServer(in: directory)
            let client = try server.connect()
            // A process that another test starts holds copies of our descriptors for an instant, that of the lock too.
            for _ in 0..<500 where try Outcome({ _ = try client.status() }) == .refused(.notAvailable) {
                usleep(10_000)
            }
            switch try client.status().state {
            case .noVault: try client.makeVault(passcode: nil)
            default: break
            }
            try client.put("a", [1])
            #expect(try client.get("a") == [1])
            if !hasFired { break }
            if outcome != .done { failures += 1 }
        }
        #expect(failures >= 4)
    }

    private func stagedCount(_ server: TestServer) throws -> Int {
        let blobs = try Directory(makingPath: server.directory.appending("state/blobs"))
        // A content keeps its staged name for a while when it has its place.
        return try blobs.subdirectory("staging").entries().filter { !blobs.contains("\($0.prefix(2))/\($0)") }.count
    }
}
