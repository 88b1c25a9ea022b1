import CofferCore
import CofferDatabase
import CofferFiles
import CofferTestSupport
import Testing

/// The scan of a file's rows, for which an opening waits.
@Suite struct OpeningTests {
    private static let page = 4096

    private let open: OpenStore
    private let content: [UInt8]

    /// Makes a file of chunks of a page, of one more than a step scans.
    init() throws {
        open = try OpenStore()
        content = pattern((Limits.openingRows + 1) * Self.page)
        let file = try open.create("file")
        try open.write(Array(content.prefix(Self.page)), at: 0, to: file)
        try open.write(Array(content.dropFirst(Self.page)), at: Int64(Self.page), to: file)
        try open.sync(file)
        open.close(file)
    }

    /// How many steps an opening takes.
    private func steps(scansAnew: Bool = false) throws -> Int {
        let item = try #require(try open.find("file"))
        let opening = try open.store.openFiles.beginOpening(item, for: .read, scansAnew: scansAnew)
        var count = 1
        while try open.store.openFiles.resume(opening, limit: Limits.openingRows) { count += 1 }
        let file = try #require(try open.store.openFiles.finish(opening))
        file.use.handleCount += 1
        open.close(file)
        return count
    }

    @Test func `the rows of a large file are scanned once, until one of them changes`() throws {
        #expect(try steps() == 2)
        #expect(try steps() == 1)
        #expect(try open.contents("file") == content)
        let file = try open.open("file", for: .write)
        try open.write([9], at: 5, to: file)
        try open.sync(file)
        open.close(file)
        #expect(try steps() == 2)
        #expect(try steps() == 1)
        #expect(try open.contents("file") == replacing(content, at: 5, with: [9]))
    }

    @Test func `a file that was emptied has what was written to it since, and nothing of before`() throws {
        let file = try open.open("file", for: .write)
        try open.truncate(file, to: 0)
        try open.write(Array(content.suffix(Self.page)), at: Int64(2 * Self.page), to: file)
        try open.sync(file)
        open.close(file)
        #expect(try open.count("SELECT count(*) FROM file_chunks") == 1)
        let expected = [UInt8](repeating: 0, count: 2 * Self.page) + content.suffix(Self.page)
        #expect(try open.contents("file") == expected)
        let again = try open.open("file", for: .write)
        try open.truncate(again, to: 0)
        try open.sync(again)
        open.close(again)
        #expect(try open.count("SELECT count(*) FROM file_chunks") == 0)
        #expect(try open.contents("file") == [])
        // What was freed is written again, and nothing else.
        let last = try open.open("file", for: .write)
        try open.write(content, at: 0, to: last)
        try open.sync(last)
        open.close(last)
        #expect(try open.contents("file") == content)
    }

    @Test func `a check scans the rows of a file that are known`() throws {
        #expect(try steps() == 2)
        try open.connection.execute("DELETE FROM file_chunks WHERE chunk = 7")
        #expect(try steps() == 1)
        #expect(throws: CofferError.self) { try steps(scansAnew: true) }
    }
}
