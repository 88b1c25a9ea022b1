import CofferClient
import CofferCore
import CofferDatabase
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Directories that are so large that an operation takes many turns.
@Suite struct FileTreeLoadTests {
    private static let fileCount = 1500

    private static func many(in server: TestServer) throws -> BlockingClient {
        let client = try server.connect()
        try client.makeVault()
        // Concurrent puts share the syncs of the disk.
        let puts = try (0..<8).map { part in
            let other = try server.connect()
            return Background {
                for number in stride(from: part, to: fileCount, by: 8) {
                    try other.put("many/\(number % 7)/\(number)", [1]) { $0.kind = .cache }
                }
            }
        }
        for put in puts { try put.wait() }
        return client
    }

    /// Makes directories, many in one turn.
    private static func makeDirectories(_ paths: [String], _ server: TestServer) throws {
        var raw = try RawConnection(server)
        for start in stride(from: 0, to: paths.count, by: 64) {
            let batch = paths[start..<min(start + 64, paths.count)]
            for path in batch { try raw.send(.fileMkdir, ["name": .string(path), "parents": true]) }
            for _ in batch {
                let code = try raw.refusal()
                #expect(code == nil)
            }
        }
    }

    private static func contents(_ server: TestServer) throws -> Int {
        let blobs = server.directory.appending("state/blobs")
        // Some have a staged name as well until their directories are synced.
        let names = try FileManager.default.subpathsOfDirectory(atPath: blobs).filter { $0.utf8.count > 32 }
        return Set(names.map { $0.split(separator: "/").last }).count
    }

    private static func all(_ client: BlockingClient, limit: Int? = nil) throws -> [FileInfo] {
        var entries: [FileInfo] = []
        var cursor: String?
        repeat {
            let page = try client.listFiles(recursive: true, limit: limit, cursor: cursor)
            entries += page.entries
            cursor = page.cursor
        } while cursor != nil
        return entries
    }

    /// A client that sends small requests continuously.
    private final class Watcher {
        private struct Seen {
            var milliseconds: [Double] = []
            var isDone = false
        }

        private let seen = Shared(Seen())
        private let thread: Background<Void>

        init(_ server: TestServer) throws {
            let client = try server.connect()
            thread = Background { [seen] in
                while !seen.value.isDone {
                    let start = ContinuousClock.now
                    _ = try client.status()
                    let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
                    seen.change { $0.milliseconds.append(milliseconds) }
                }
            }
            while answers == 0 { usleep(1000) }
        }

        var answers: Int { seen.value.milliseconds.count }

        /// Stops the client.
        ///
        /// - Returns: The slowest answer in milliseconds, and the maximum of the answers that fill the first
        ///   half of the time.
        func end() throws -> (worst: Double, usual: Double) {
            seen.change { $0.isDone = true }
            try thread.wait()
            let sorted = seen.value.milliseconds.sorted()
            // Half of the time, not of the answers: most answers arrive when the server is otherwise idle.
            var left = sorted.reduce(0, +) / 2
            let usual = sorted.first { milliseconds in
                left -= milliseconds
                return left <= 0
            }
            return (try #require(sorted.last), try #require(usual))
        }
    }

    /// Generous because the machine may be busy; an operation in a single turn would take far longer.
    private static let patience = 1000.0

    // MARK: Others

    @Test func `nobody waits while many files are protected and removed`() throws {
        let server = try TestServer()
        let client = try Self.many(in: server)
        let watcher = try Watcher(server)
        let reports = Shared<[Int64]>([])
        let answersBefore = watcher.answers
        let start = ContinuousClock.now
        let change = try client.protectFile(try ItemName("many"), as: .complete, .everything) { done, _ in
            reports.change { $0.append(done) }
        }
        let lasted = ContinuousClock.now - start
        let answersWhileProtecting = watcher.answers - answersBefore
        #expect(answersWhileProtecting > 5)
        #expect(change.changedCount == Self.fileCount + 1)
        #expect(change.unchangedCount == 0)
        let files = try Self.all(client).filter { !$0.isDirectory }
        #expect(files.count == Self.fileCount)
        #expect(files.allSatisfy { $0.protectionClass == .complete })
        let answersBetween = watcher.answers
        let removed = try client.removeFile(try ItemName("many"), recursive: true)
        #expect(watcher.answers > answersBetween + 5)
        #expect(removed == Self.fileCount + 8)
        let worst = try watcher.end().worst
        #expect(worst < Self.patience, "\(worst) ms")
        let empty = try client.listFiles()
        #expect(empty.entries.isEmpty)
        let progress = reports.value
        // At most ten reports a second, so a faster operation reports nothing.
        #expect(!progress.isEmpty || lasted < .milliseconds(300))
        #expect(progress == progress.sorted())
        #expect(try Self.contents(server) == 0)
    }

    @Test func `ten thousand entries come in bounded pages, and others are answered meanwhile`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault(passcode: nil)
        let paths = (0..<10_000).map { "d/\($0 % 3)/\($0)" }
        try Self.makeDirectories(paths, server)
        let watcher = try Watcher(server)
        let answersBefore = watcher.answers
        var found: [String] = []
        var cursor: String?
        repeat {
            let page = try client.listFiles(recursive: true, cursor: cursor)
            #expect(page.entries.count <= Limits.pageItems)
            found += page.entries.map(\.name)
            cursor = page.cursor
        } while cursor != nil
        #expect(watcher.answers > answersBefore + 20)
        let worst = try watcher.end().worst
        #expect(worst < Self.patience, "\(worst) ms")
        #expect(found.sortedByBytes() == (paths + ["d", "d/0", "d/1", "d/2"]).sortedByBytes())
    }

    @Test func `works that are under way at once share a turn, and each comes to its end`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault(passcode: nil)
        try Self.makeDirectories((0..<2000).map { "d/\($0)" }, server)
        let watcher = try Watcher(server)
        let listings = try (0..<40).map { _ in
            let other = try server.connect()
            return Background { try Self.all(other).count }
        }
        for listing in listings {
            let count = try listing.wait()
            #expect(count == 2001)
        }
        let (worst, usual) = try watcher.end()
        #expect(worst < Self.patience, "\(worst) ms")
        // Three milliseconds for each of them would be 120 a turn, also on a machine that nothing else uses.
        #expect(usual < 90, "\(usual) ms")
    }

    @Test func `a work comes to its end while others ask without a pause`() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.makeVault(passcode: nil)
        try Self.makeDirectories((0..<3000).map { "d/\($0)" }, server)
        let isDone = Shared(false)
        let others = (0..<3).map { _ in
            Background {
                var raw = try RawConnection(server)
                while !isDone.value {
                    for _ in 0..<64 { try raw.send(.vaultStatus) }
                    for _ in 0..<64 { _ = try raw.refusal() }
                }
            }
        }
        let removed = try client.removeFile(try ItemName("d"), recursive: true)
        #expect(removed == 3001)
        isDone.value = true
        for other in others { try other.wait() }
    }

    @Test func `a file with many chunks is gone at once, and what is left of it goes, also after a restart`() throws {
        let directory = try TemporaryDirectory()
        do {
            let server = try TestServer(in: directory)
            let client = try server.connect()
            try client.makeVault(passcode: nil)
            try client.put("f", [1]) { $0.kind = .cache }
        }
        let count = 40 * Limits.chunkRowsAtOnce
        try Connection(path: directory.appending("state/vault.sqlite")).execute(
            """
            WITH RECURSIVE numbers (number) AS (VALUES (1) UNION ALL SELECT number + 1 FROM numbers WHERE number < ?)
            INSERT INTO file_chunks (node, chunk, slot, bytes, tag)
            SELECT id, number, number, 0, zeroblob(16) FROM file_nodes, numbers WHERE kind = 2
            """,
            .integer(Int64(count))
        )
        #expect(try Self.chunkRows(directory) == count)
        do {
            let server = try TestServer(in: directory)
            let client = try server.connect()
            let removed = try client.removeFile(try ItemName("f"))
            #expect(removed == 1)
            let left = try client.status().fileCount
            #expect(left == 0)
        }
        // Each daemon goes on where the one before it has ended.
        let areGone = try settles {
            do {
                let server = try TestServer(in: directory)
                let client = try server.connect()
                for _ in 0..<20 { _ = try client.status() }
            }
            return try Self.chunkRows(directory) == 0
        }
        #expect(areGone)
    }

    /// The rows of chunks of a vault without a daemon.
    private static func chunkRows(_ directory: TemporaryDirectory) throws -> Int? {
        try Connection(path: directory.appending("state/vault.sqlite")).row("SELECT count(*) FROM file_chunks") { row in
            Int(try row.integer(0))
        }
    }

    // MARK: Ends

    @Test func `a client that goes away ends what it has begun`() throws {
        let server = try TestServer()
        let client = try Self.many(in: server)
        do {
            var raw = try RawConnection(server)
            try raw.send(.fileRemove, ["name": "many", "recursive": true])
            while try client.status().fileCount == Self.fileCount {}
        }
        // The operation is not continued, so the rest stays unchanged.
        var before = -1
        let isAtRest = becomesTrue {
            let count = try client.status().fileCount ?? 0
            defer { before = count }
            return count == before
        }
        #expect(isAtRest)
        let rest = try Self.all(client)
        let files = rest.count { !$0.isDirectory }
        #expect(files > 0)
        #expect(files < Self.fileCount)
        let page = try client.listFiles(recursive: true)
        #expect(page.damagedCount == 0)
        let contents = try Self.contents(server)
        #expect(contents == files)
        let removed = try client.removeFile(try ItemName("many"), recursive: true)
        #expect(removed == rest.count)
        #expect(try Self.contents(server) == 0)
    }

    @Test func `a lock in the middle of a change of class is why the rest keeps its own`() throws {
        let server = try TestServer()
        let client = try Self.many(in: server)
        var raw = try RawConnection(server)
        var locker = try RawConnection(server)
        for news in [try raw.newsUntilAnswer(), try locker.newsUntilAnswer()] { #expect(news == []) }
        // Both are there when the change begins, so that the lock comes behind its first part, or its second.
        try server.whileStill {
            try raw.send(.fileProtect, ["name": "many", "class": "complete", "recursive": true])
            try locker.send(.vaultLock, ["grace": 0])
        }
        var result: JSONObject?
        while result == nil, let message = try raw.next() {
            if case .response(_, .success(.object(let object))) = message { result = object }
        }
        let answer = try #require(result)
        guard case .integer(let changed)? = answer["changed"], case .integer(let unchanged)? = answer["unchangedCount"],
            case .array(let reasons)? = answer["unchanged"]
        else {
            Issue.record("the answer has another form")
            return
        }
        #expect(changed > 0)
        #expect(unchanged > 0)
        #expect(changed + unchanged == Int64(Self.fileCount + 1))
        #expect(reasons.count == 100)
        let files = try Self.all(client).filter { !$0.isDirectory }
        #expect(files.count { $0.protectionClass == .complete } == Int(changed) - 1)
    }
}
