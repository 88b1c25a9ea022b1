import CofferCore
import CofferDatabase
import CofferFiles
import CofferKeys
import CofferMemory
import CofferTestSupport
import Foundation
import Testing

/// The chunks of an overlay, whose size the first write chooses, and those that stay opened.
@Suite struct ChunkSizeTests {
    private static let page = 4096

    private let open: OpenStore

    init() throws { open = try OpenStore() }

    /// The path of the only overlay.
    private func overlay() throws -> String {
        let paths = try open.vault.placed.filter { $0.hasSuffix(".overlay") }
        return open.vault.temporary.path("blobs/\(try #require(paths.first))")
    }

    private func readAtOnce(_ file: OpenFile, _ range: Range<Int64>) throws -> [UInt8]? {
        let plan = try open.store.plans.reading(range, of: file)
        defer { file.endRead() }
        return try open.store.plans.collectIfCached(plan)?.exposeBytes()
    }

    @Test(
        arguments: [
            (1, 4096), (4096, 4096), (4097, 8192), (10_000, 16_384), (32_769, 65_536), (65_536, 65_536),
            (200_000, 65_536),
        ]
    )
    func `the first write chooses the size of the chunks`(count: Int, chunk: Int) throws {
        try open.put("file", pattern(3 * chunkBytes))
        let file = try open.open("file", for: .write)
        try open.write(pattern(count), at: 0, to: file)
        try open.write([1], at: 2 * Int64(chunkBytes), to: file)
        try open.sync(file)
        open.close(file)
        let stored = try bytes(at: overlay())
        let copy = chunk == 65_536 ? 0 : UInt8(chunk.trailingZeroBitCount)
        #expect(Array(stored[11..<16]) == [UInt8(chunk.trailingZeroBitCount), copy, copy, copy, copy])
        let chunks = (count + chunk - 1) / chunk + 1
        #expect(stored.count == 32 + chunks * (16 + chunk))
        let expected = replacing(
            replacing(pattern(3 * chunkBytes), at: 0, with: pattern(count)),
            at: 2 * chunkBytes,
            with: [1]
        )
        #expect(try open.contents("file") == expected)
    }

    @Test func `a later write keeps the size, also after all chunks were cut off`() throws {
        let file = try open.create("file")
        try open.write(pattern(100), at: 0, to: file)
        try open.sync(file)
        try open.truncate(file, to: 0)
        try open.sync(file)
        try open.write(pattern(150_000), at: 0, to: file)
        try open.sync(file)
        open.close(file)
        #expect(try bytes(at: overlay())[11] == 12)
        #expect(try open.contents("file") == pattern(150_000))
    }

    @Test func `the size is chosen anew when a file was truncated before its first write`() throws {
        try open.put("file", pattern(3 * chunkBytes))
        let file = try open.open("file", for: .write)
        try open.truncate(file, to: Int64(2 * chunkBytes + 5000))
        try open.write(pattern(50), at: Int64(chunkBytes) + 4090, to: file)
        try open.truncate(file, to: Int64(3 * chunkBytes))
        try open.sync(file)
        open.close(file)
        let cut = Array(pattern(3 * chunkBytes).prefix(2 * chunkBytes + 5000))
        let whole = cut + [UInt8](repeating: 0, count: chunkBytes - 5000)
        #expect(try open.contents("file") == replacing(whole, at: chunkBytes + 4090, with: pattern(50)))
    }

    @Test(arguments: [1, 2, 3], [true, false])
    func `small chunks read as they were written, whatever is cut, grown and synced`(seed: Int, hasBase: Bool) throws {
        var random = Steps(seed: UInt64(seed))
        var content = hasBase ? pattern(5 * chunkBytes / 2) : []
        if hasBase { try open.put("file", content) }
        var file = hasBase ? try open.open("file", for: .write) : try open.create("file")
        try open.write([7], at: 0, to: file)
        content = replacing(content, at: 0, with: [7])
        for _ in 0..<200 {
            let place = Int(random.next() % UInt64(3 * chunkBytes))
            switch random.next() % 8 {
            case 0:
                try open.truncate(file, to: Int64(place))
                content = Array(content.prefix(place)) + [UInt8](repeating: 0, count: max(0, place - content.count))
            case 1:
                try open.sync(file)
                open.close(file)
                file = try open.open("file", for: .write)
            case 2:
                let range = Int64(place)..<Int64(place + 9000)
                let expected = place < content.count ? Array(content[place..<min(place + 9000, content.count)]) : []
                #expect(try readAtOnce(file, range) == expected)
            default:
                let piece = pattern(Int(random.next() % 9000) + 1)
                try open.write(piece, at: Int64(place), to: file)
                content = replacing(content, at: place, with: piece)
            }
        }
        #expect(try open.read(file, 0..<file.byteCount) == content)
        try open.sync(file)
        open.close(file)
        #expect(try open.contents("file") == content)
        #expect(try bytes(at: overlay())[11] == 12)
    }

    @Test(arguments: 0..<32)
    func `salvage finds the size whichever byte of the header is damaged`(place: Int) throws {
        try open.put("file", pattern(2 * chunkBytes))
        let file = try open.open("file", for: .write)
        try open.write(pattern(300), at: 5000, to: file)
        try open.sync(file)
        open.close(file)
        var stored = try bytes(at: overlay())
        stored[place] ^= 1
        try overwrite(try overlay(), stored)
        #expect(code { _ = try open.contents("file") } == .decode)
        let saved = try open.salvage("file")
        #expect(saved.damaged == [])
        #expect(saved.bytes == replacing(pattern(2 * chunkBytes), at: 5000, with: pattern(300)))
    }

    @Test func `a row with more bytes than a chunk of its overlay is damage, and no overflow`() throws {
        let file = try open.create("file")
        try open.write(pattern(3 * Self.page), at: 0, to: file)
        try open.write(pattern(Self.page), at: Int64(3 * Self.page), to: file)
        try open.sync(file)
        open.close(file)
        try open.connection.execute("UPDATE file_chunks SET bytes = 65536")
        #expect(code { _ = try open.contents("file") } == .decode)
        let saved = try open.salvage("file")
        #expect(saved.damaged == [0])
        #expect(saved.bytes.allSatisfy { $0 == 0 })
    }

    @Test func `small chunks whose overlay is gone are missed, though their size is unknown`() throws {
        try open.put("file", pattern(2 * chunkBytes))
        let file = try open.open("file", for: .write)
        try open.write(pattern(300), at: 100_000, to: file)
        try open.sync(file)
        open.close(file)
        try removeContent(try overlay())
        #expect(code { _ = try open.contents("file") } == .decode)
        let saved = try open.salvage("file")
        #expect(saved.mayBeOlder)
    }

    // MARK: Chunks that stay opened

    @Test func `a chunk is opened once for several small reads, until it is rewritten`() throws {
        try open.put("file", pattern(2 * chunkBytes))
        let file = try open.open("file", for: .write)
        #expect(try readAtOnce(file, 0..<100) == Array(pattern(100)))
        // What is on the disk is not read again.
        let path = try open.contentPath("file")
        let stored = try bytes(at: path)
        let descriptor = try FileHandle(forWritingTo: URL(filePath: path))
        try descriptor.seek(toOffset: 40)
        try descriptor.write(contentsOf: [stored[40] ^ 1])
        #expect(try readAtOnce(file, 5000..<5100) == Array(pattern(5100)[5000...]))
        try open.write(pattern(Self.page).reversed(), at: 0, to: file)
        #expect(try readAtOnce(file, 0..<100) == Array(pattern(Self.page).reversed()[..<100]))
        open.close(file)
        // A handle that is opened later finds the damage.
        let again = try open.open("file")
        #expect(code { _ = try readAtOnce(again, 5000..<5100) } == .decode)
        open.close(again)
    }

    @Test func `a lock wipes what stays opened, of files of every class`() throws {
        let open = try OpenStore(.unlocked)
        try open.put("a", pattern(2 * chunkBytes), .complete)
        try open.put("c", pattern(2 * chunkBytes), .completeUntilFirstUserAuthentication)
        let (a, c) = (try open.open("a"), try open.open("c"))
        func read(_ file: OpenFile) throws -> [UInt8]? {
            let plan = try open.store.plans.reading(10..<20, of: file)
            defer { file.endRead() }
            return try open.store.plans.collectIfCached(plan)?.exposeBytes()
        }
        #expect(try read(a) == Array(pattern(20)[10...]))
        #expect(try read(c) == Array(pattern(20)[10...]))
        open.keys.lock()
        open.store.openContents.revoke(in: open.keys.state)
        #expect(code { _ = try read(a) } == .interactionNotAllowed)
        #expect(open.store.plans.openedChunkCount == 0)
        #expect(try read(c) == Array(pattern(20)[10...]))
        open.close(a)
        open.close(c)
        #expect(open.store.plans.openedChunkCount == 0)
    }

    @Test func `no more chunks stay opened than the bound, of however many files`() throws {
        try open.put("file", pattern(20 * chunkBytes))
        let file = try open.open("file")
        for chunk in 0..<20 { _ = try readAtOnce(file, Int64(chunk * chunkBytes)..<Int64(chunk * chunkBytes + 1)) }
        #expect(open.store.plans.openedChunkCount == Limits.openedChunks)
        open.close(file)
        #expect(open.store.plans.openedChunkCount == 0)
    }
}

/// Numbers that are the same in every run.
private struct Steps {
    private var state: UInt64
    init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }
}
