import CofferFileContent
import CofferCore
import CofferDatabase
import CofferFiles
import CofferTestSupport
import Foundation
import Testing

/// Syncs of few chunks, which the catalog logs.
@Suite struct LoggedChunkTests {
    private let open: OpenStore

    init() throws { open = try OpenStore() }

    @Test func `a sync of the overlay drops what was logged`() throws {
        let file = try open.synced()
        try open.write(bytes, at: 0, to: file)
        try open.log(file)
        #expect(try open.loggedCount() == 1)
        #expect(file.hasUnsyncedChunks)
        try open.sync(file)
        #expect(try open.loggedCount() == 0)
        #expect(!file.hasUnsyncedChunks)
    }

    @Test func `a slot that becomes free is logged no more`() throws {
        let file = try open.synced()
        for _ in 0..<3 {
            try open.write(bytes, at: 0, to: file)
            try open.log(file)
        }
        #expect(try open.loggedCount() == 1)
        try open.truncate(file, to: 0)
        try open.log(file)
        #expect(try open.loggedCount() == 0)
    }

    @Test func `a file that is removed leaves no row`() throws {
        let file = try open.synced()
        try open.write(bytes, at: 0, to: file)
        try open.log(file)
        try open.remove("file")
        #expect(try open.loggedCount() == 0)
        open.close(file)
    }

    @Test func `a chunk that was refused by the disk stays logged`() throws {
        let file = try open.synced()
        try open.write(bytes, at: 0, to: file)
        try open.log(file)
        open.store.openFiles.log.noteFailedSync(of: file)
        try open.write(bytes, at: 4096, to: file)
        #expect(open.store.openFiles.log.plan(file) == nil)
        try open.sync(file)
        #expect(try open.loggedCount() == 1)
        open.close(file)
    }

    @Test func `many chunks, and those of a new overlay, are synced in their slots`() throws {
        let file = try open.create("file")
        try open.write(pattern(4096), at: 0, to: file)
        #expect(open.store.openFiles.log.plan(file) == nil)
        try open.sync(file)
        let most = Limits.loggedChunks
        for chunk in 0..<most { try open.write(bytes, at: Int64(chunk * 4096), to: file) }
        #expect(open.store.openFiles.log.plan(file)?.count == most)
        try open.write(bytes, at: Int64(most * 4096), to: file)
        #expect(open.store.openFiles.log.plan(file) == nil)
        open.close(file)
    }

    @Test func `so many bytes of a file are logged, and then it is synced`() throws {
        let file = try open.synced()
        var byteCount = 0
        while true {
            try open.write(bytes, at: 0, to: file)
            guard open.store.openFiles.log.plan(file) != nil else { break }
            try open.log(file)
            byteCount += bytes.count
        }
        #expect((Limits.loggedBytesOfFile - 8192..<Limits.loggedBytesOfFile).contains(byteCount))
        try open.sync(file)
        try open.write(bytes, at: 0, to: file)
        #expect(open.store.openFiles.log.plan(file) != nil)
        open.close(file)
    }
}

/// What was logged, after a power cut.
@Suite struct LoggedChunkRecoveryTests {
    private let vault: Vault

    init() throws { vault = try Vault(hasPasscode: false) }

    private func open() throws -> OpenStore { try OpenStore(vault, try vault.open(.noPasscode)) }

    private func overlay() throws -> URL {
        let paths = try FileManager.default.subpathsOfDirectory(atPath: vault.temporary.path)
        let name = try #require(paths.first { $0.hasSuffix(".overlay") && !$0.contains("staging") })
        return URL(filePath: "\(vault.temporary.path)/\(name)")
    }

    @Test func `a chunk that is logged is there after a power cut that its slot has not survived`() throws {
        let expected: [UInt8]
        do {
            let open = try open()
            let file = try open.synced()
            let before = try Data(contentsOf: try overlay())
            try open.write(bytes, at: 4096, to: file)
            try open.log(file)
            expected = try open.read(file, 0..<16_384)
            open.close(file)
            try before.write(to: try overlay(), options: [])
        }
        #expect(Array(expected[4096..<8192]) == bytes)
        let open = try open()
        try open.store.recover()
        #expect(try open.contents("file") == expected)
        #expect(try open.loggedCount() == 0)
    }

    @Test(arguments: [Int64.max, -1, 1 << 50]) func `a row of an impossible slot is dropped`(slot: Int64) throws {
        let expected: [UInt8]
        do {
            let open = try open()
            let file = try open.synced()
            expected = try open.read(file, 0..<16_384)
            try open.connection.execute(
                "INSERT INTO file_logged_chunks SELECT content, ?, zeroblob(4112) FROM file_nodes WHERE kind = 2",
                .integer(slot)
            )
            open.close(file)
        }
        let open = try open()
        try open.store.recover()
        #expect(try open.loggedCount() == 0)
        #expect(try open.contents("file") == expected)
    }
}

private let bytes = (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 7) }

extension OpenStore {
    fileprivate func loggedCount() throws -> Int { try count("SELECT count(*) FROM file_logged_chunks") }

    /// A file of four synced chunks.
    fileprivate func synced() throws -> OpenFile {
        let file = try create("file")
        for chunk in 0..<4 { try write(pattern(4096), at: Int64(chunk * 4096), to: file) }
        try sync(file)
        return file
    }

    /// Syncs by the catalog's log.
    fileprivate func log(_ file: OpenFile) throws {
        let logged = try #require(store.openFiles.log.plan(file))
        try store.openFiles.commit(file, logging: logged, now: 2000)
        store.settleDurably()
    }
}
