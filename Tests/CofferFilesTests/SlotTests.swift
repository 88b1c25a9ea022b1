import CofferFileContent
import CofferCore
import CofferFiles
import CofferTestSupport
import Foundation
import Testing

/// The slots of an overlay, while a commit is not on the disk yet.
@Suite struct SlotTests {
    private let open: OpenStore

    init() throws { open = try OpenStore() }

    /// The slot to which the next write of a chunk would go.
    private func nextSlot(_ file: OpenFile) throws -> Int64 {
        let plan = try open.store.plans.writing(10, at: 0, of: file)
        defer { file.giveBack(plan) }
        return try #require(plan.pieces.first).slot
    }

    /// Commits, as a request does whose sync is deferred.
    private func commitWithoutSync(_ file: OpenFile) throws {
        try open.store.plans.syncing(file).perform()
        try open.store.openFiles.commit(file, now: 2000)
        open.store.settle()
    }

    @Test func `a slot that a power cut would bring back is not written, also after the file was closed`() throws {
        let file = try open.create("file")
        try open.write(pattern(100), at: 0, to: file)
        try open.sync(file)
        #expect(try nextSlot(file) == 1)
        try open.write(pattern(50), at: 0, to: file)
        try commitWithoutSync(file)
        #expect(try nextSlot(file) == 2)
        open.close(file)
        let again = try open.open("file", for: .write)
        #expect(try nextSlot(again) == 2)
        open.store.settleSynced()
        #expect(try nextSlot(again) == 0)
        open.close(again)
        #expect(try open.contents("file") == replacing(pattern(100), at: 0, with: pattern(50)))
    }

    @Test func `an overlay that is larger than any is damage while a backup needs its slots`() throws {
        try open.put("file", pattern(50))
        let file = try open.open("file", for: .write)
        try open.write(pattern(100), at: 0, to: file)
        try open.sync(file)
        open.close(file)
        let overlay = try open.contentPath("file") + ".overlay"
        open.store.pin()
        #expect(try open.contents("file") == pattern(100))
        try #require(truncate(overlay, 8 << 40) == 0)
        #expect(code { _ = try open.open("file", for: .write) } == .decode)
        #expect(try open.salvage("file").bytes == pattern(100))
        try #require(truncate(overlay, 1 << 20) == 0)
        let again = try open.open("file", for: .write)
        #expect(try nextSlot(again) > 1)
        open.close(again)
    }

    @Test func `a chunk that was punched has no row, and its slot is free`() throws {
        let file = try open.create("file")
        for chunk in 0..<4 { try open.write(pattern(4096), at: Int64(chunk * 4096), to: file) }
        try open.sync(file)
        let plan = try open.store.plans.zeroing(4096..<12_288, of: file)
        #expect(plan.writes.pieces.isEmpty)
        #expect(plan.holes == [1, 2])
        try open.punch(plan, file)
        let zeros = [UInt8](repeating: 0, count: 8192)
        let expected = replacing(Array(repeating: pattern(4096), count: 4).flatMap(\.self), at: 4096, with: zeros)
        #expect(try open.read(file, 0..<16_384) == expected)
        try open.sync(file)
        #expect(try open.count("SELECT count(*) FROM file_chunks") == 2)
        #expect(open.store.plans.returning(of: file) != nil)
        #expect(open.store.plans.returning(of: file) == nil)
        #expect(try open.read(file, 0..<16_384) == expected)
        open.close(file)
        #expect(try open.contents("file") == expected)
    }
}
