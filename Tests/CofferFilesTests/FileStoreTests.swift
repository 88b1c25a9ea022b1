import CofferFileContent
import CofferCore
import CofferDatabase
import CofferFiles
import CofferMemory
import CofferSystem
import CofferTestSupport
import Foundation
import Testing

@Suite struct `The file store` {
    @Test(
        arguments: [(0, 48), (1, 49), (65535, 65583), (65536, 65584), (65537, 65601), (1_048_579, 1_048_883)]
            as [(Int, Int)]
    )
    func `gives back what was put, of any size`(count: Int, onDisk: Int) throws {
        let open = try OpenStore()
        let content = pattern(count)
        try open.put("dir/file", content, now: 77)
        let file = try #require(try open.find("dir/file"))
        #expect(file.byteCount == Int64(count))
        #expect(file.path == "dir/file")
        #expect(file.group == "default")
        #expect(file.created == 77)
        #expect(file.modified == 77)
        #expect(file.protectionClass == .completeUntilFirstUserAuthentication)
        #expect(try open.read("dir/file") == content)
        let stored = try bytes(at: open.contentPath("dir/file"))
        #expect(stored.count == onDisk)
        #expect(Array(stored.prefix(8)) == Array("COFFERFS".utf8))
        if count > 32 {
            #expect(Data(stored).range(of: Data(content.prefix(16))) == nil)
            #expect(Data(stored).range(of: Data(content.suffix(16))) == nil)
        }
        #expect(try open.vault.staged == [])
        try open.remove("dir/file")
        #expect(try open.find("dir/file") == nil)
        #expect(try open.vault.placed == [])
    }

    @Test(
        arguments: [0, 1, 65535, 65536, 65537],
        [0, 1, 65535, 65536, 131_072, 200_000]
    )
    func `puts what came with the request before what a descriptor gives`(first: Int, rest: Int) throws {
        let open = try OpenStore()
        let content = pattern(first + rest)
        let source = open.vault.temporary.path("source")
        try overwrite(source, Array(content.dropFirst(first)))
        let name = try ItemName("file")
        let write = try open.store.prepareWrite(name, in: "default", as: .none)
        let stream: PeerStream? = try PeerStream(
            PeerDescriptor(owning: Foundation.open(source, O_RDONLY)),
            for: O_RDONLY,
            cancellation: try Cancellation()
        )
        let prefix = try SecretBytes(copying: Array(content.prefix(first)).span.bytes)
        let count = try write.perform(prefix: prefix, rest: stream)
        #expect(count == Int64(content.count))
        try open.store.commit(write, at: name, in: "default", byteCount: count, kind: nil, created: nil, now: 0)
        open.store.settleDurably()
        #expect(try open.read("file") == content)
    }

    @Test(
        arguments: [
            0..<0, 0..<1, 1..<1, 0..<200_000, 65535..<65536, 65535..<65537, 65536..<65536, 65536..<131_072,
            65537..<65538, 131_071..<131_073, 10..<199_990, 199_999..<200_000, 200_000..<200_000,
        ] as [Range<Int64>]
    )
    func `reads any range`(range: Range<Int64>) throws {
        let open = try OpenStore()
        let content = pattern(200_000)
        try open.put("file", content)
        #expect(try open.read("file", range) == Array(content[Int(range.lowerBound)..<Int(range.upperBound)]))
    }

    @Test(
        arguments: [
            0..<0, 0..<1, 65535..<65537, 65536..<131_072, 131_071..<400_001, 10..<699_990, 0..<700_000,
            700_000..<700_000,
        ] as [Range<Int64>]
    )
    func `streams any range`(range: Range<Int64>) throws {
        let open = try OpenStore()
        let content = pattern(700_000)
        try open.put("file", content)
        let read = try open.store.prepareRead(try #require(try open.find("file")))
        let path = open.vault.temporary.path("output")
        let output = try PeerStream(
            PeerDescriptor(owning: Foundation.open(path, O_WRONLY | O_CREAT, 0o600)),
            for: O_WRONLY,
            cancellation: try Cancellation()
        )
        try read.perform(range, to: output)
        let found = try [UInt8](Data(contentsOf: URL(filePath: path)))
        #expect(found == Array(content[Int(range.lowerBound)..<Int(range.upperBound)]))
    }

    @Test(arguments: [0..<0, 0..<1, 65535..<65537, 1..<131_072, 131_071..<200_000] as [Range<Int64>])
    func `reads a small range in the page cache without waiting`(range: Range<Int64>) throws {
        let open = try OpenStore()
        let content = pattern(200_000)
        try open.put("file", content)
        let read = try open.store.prepareRead(try #require(try open.find("file")))
        let cached = try read.collectIfCached(range)
        // A file system that can't tell what is in memory has everything read elsewhere.
        if let cached { #expect(cached.exposeBytes() == Array(content[Int(range.lowerBound)..<Int(range.upperBound)])) }
        let isMuchRefused = try read.collectIfCached(0..<131_073) == nil
        #expect(isMuchRefused)
    }

    @Test(arguments: [0, 1, 65535, 65537])
    func `reads the empty range at its end`(count: Int) throws {
        let open = try OpenStore()
        try open.put("file", pattern(count))
        #expect(try open.read("file", Int64(count)..<Int64(count)) == [])
    }

    @Test(arguments: [65536, 131_072])
    func `reads the empty range at its end, where a chunk ends too`(count: Int) throws {
        let open = try OpenStore()
        try open.put("file", pattern(count))
        let found = try open.read("file", Int64(count)..<Int64(count))
        #expect(found == [])
    }

    @Test func `reports how far a transfer has come`() throws {
        let open = try OpenStore()
        let name = try ItemName("file")
        let write = try open.store.prepareWrite(name, in: "default", as: .none)
        let reports = Reports()
        let content = try SecretBytes(zeros: 70 * 65536)
        let count = try write.perform(prefix: content, rest: nil, progress: { reports.add($0) })
        #expect(reports.values == [64 * 65536])
        try open.store.commit(write, at: name, in: "default", byteCount: count, kind: nil, created: nil, now: 0)
        open.store.settleDurably()
        let read = try open.store.prepareRead(try #require(try open.find("file")))
        let readings = Reports()
        var total = 0
        try read.perform(0..<count, to: { total += $0.byteCount }, progress: { readings.add($0) })
        #expect(total == 70 * 65536)
        #expect(readings.values == [64 * 65536])
    }

    @Test func `replaces a content, and keeps what belongs to the file`() throws {
        let open = try OpenStore()
        let name = try ItemName("file")
        for (index, kind) in [ItemKind.document, nil, .image].enumerated() {
            let write = try open.store.prepareWrite(name, in: "default", as: .complete)
            let count = try write.perform(prefix: try SecretBytes("content \(index)"), rest: nil)
            try open.store.commit(
                write,
                at: name,
                in: "default",
                byteCount: count,
                kind: kind,
                created: 5,
                now: Int64(100 + index)
            )
            open.store.settleDurably()
            open.store.openContents.finished(write)
            let file = try #require(try open.find("file"))
            #expect(file.created == 5)
            #expect(file.modified == Int64(100 + index))
            #expect(file.kind == [.document, .document, .image][index])
            #expect(try open.text("file") == "content \(index)")
            #expect(try open.vault.placed.count == 1, "the old content is gone")
        }
        #expect(try open.store.count() == 1)
        try open.put("file", pattern(3), .none)
        #expect(try open.find("file")?.protectionClass == ProtectionClass.none)
    }

    @Test func `seals every content under a key of its own`() throws {
        let open = try OpenStore()
        try open.put("one", "the same")
        try open.put("two", "the same")
        let one = try bytes(at: open.contentPath("one"))
        let two = try bytes(at: open.contentPath("two"))
        #expect(one.dropFirst(32) != two.dropFirst(32))
    }

    @Test func `makes directories as they are needed, and removes them as they are not`() throws {
        let open = try OpenStore()
        func directories() throws -> Int { try open.count("SELECT count(*) FROM file_nodes WHERE kind = 1") }
        try open.put("a/b/c/one", "1")
        #expect(try directories() == 3)
        try open.put("a/b/two", "2")
        try open.put("three", "3")
        #expect(try directories() == 3)
        #expect(try open.survey().paths == ["a/b/c/one", "a/b/two", "three"])
        #expect(try open.store.count() == 3)
        for path in ["a", "a/b", "a/b/c", "a/b/one", "b", "a/b/c/one/x"] {
            #expect(try open.find(path) == nil, "\(path)")
        }
        // Replacing the only file of a directory keeps the directory.
        try open.put("a/b/c/one", "1 again")
        #expect(try directories() == 3)
        try open.remove("a/b/c/one")
        #expect(try directories() == 2)
        try open.remove("a/b/two")
        #expect(try directories() == 0)
        #expect(try open.text("three") == "3")
        #expect(try open.survey().paths == ["three"])
    }

    @Test func `keeps groups apart`() throws {
        let open = try OpenStore()
        let name = try ItemName("dir/file")
        for group in ["one", "two"] {
            let write = try open.store.prepareWrite(name, in: group, as: .none)
            let count = try write.perform(prefix: try SecretBytes("of \(group)"), rest: nil)
            try open.store.commit(write, at: name, in: group, byteCount: count, kind: nil, created: nil, now: 0)
        }
        open.store.settleDurably()
        for group in ["one", "two"] {
            let file = try #require(try open.store.find(name, in: group))
            #expect(file.group == group)
            let content = try open.store.prepareRead(file).collect(0..<file.byteCount)
            let text = String(decoding: content.exposeBytes(), as: UTF8.self)
            #expect(text == "of \(group)")
        }
        #expect(try open.find("dir/file") == nil)
        #expect(try open.store.count() == 2)
    }

    @Test(arguments: [("a", "a/b"), ("a", "a/b/c"), ("a/b", "a/b/c"), ("a/b", "a"), ("a/b/c", "a/b")])
    func `refuses a path that a file or a directory is in the way of`(first: String, second: String) throws {
        let open = try OpenStore()
        try open.put(first, "first")
        #expect(code { try open.put(second, "second") } == .param)
        #expect(try open.survey().paths == [first])
        #expect(try open.vault.staged == [])
        // Also where it came into the way while the content was on its way.
        let other = try OpenStore()
        let name = try ItemName(second)
        let write = try other.store.prepareWrite(name, in: "default", as: .none)
        let count = try write.perform(prefix: try SecretBytes("second"), rest: nil)
        try other.put(first, "first")
        let found = code {
            try other.store.commit(write, at: name, in: "default", byteCount: count, kind: nil, created: nil, now: 0)
        }
        #expect(found == .param)
        #expect(try other.survey().paths == [first])
        try other.remove(first)
        try other.put(second, "second")
        #expect(try other.text(second) == "second")
    }

    @Test func `shows nothing of a write before it is committed, and nothing ever of one that is given up`() throws {
        let open = try OpenStore()
        try open.put("file", "old")
        let name = try ItemName("file")
        let write = try open.store.prepareWrite(name, in: "default", as: .none)
        _ = try write.perform(prefix: try SecretBytes("new"), rest: nil)
        #expect(try open.text("file") == "old")
        #expect(try open.vault.staged.count == 1)
        open.store.discard(write)
        open.store.openContents.finished(write)
        #expect(try open.vault.staged == [])
        #expect(try open.text("file") == "old")
    }

    @Test func `follows a catalog that was undone`() throws {
        let open = try OpenStore()
        try open.put("file", "old")
        try open.put("other", "other")
        try open.connection.beginBatch()
        try open.put("file", Array("new".utf8), settles: false)
        try open.put("third", Array("third".utf8), settles: false)
        try open.store.remove(try #require(try open.find("other")), now: 3)
        try open.connection.rollbackBatch()
        open.store.abandon(isCertain: true)
        open.store.settleDurably()
        #expect(try open.survey().paths == ["file", "other"])
        #expect(try open.text("file") == "old")
        #expect(try open.text("other") == "other")
        #expect(try open.vault.staged == [])
        #expect(try open.vault.placed.count == 2)
    }

    @Test func `takes several changes of one file in one transaction`() throws {
        let open = try OpenStore()
        try open.connection.beginBatch()
        for text in ["one", "two", "three"] { try open.put("file", Array(text.utf8), settles: false) }
        try open.connection.commitBatch()
        open.store.settleDurably()
        #expect(try open.text("file") == "three")
        #expect(try open.vault.placed.count == 1)
        #expect(try open.vault.staged == [])
    }

    @Test func `forgets dead contents with the next change`() throws {
        let open = try OpenStore()
        func dead() throws -> Int { try open.count("SELECT count(*) FROM file_dead_contents") }
        try open.put("file", "1")
        #expect(try dead() == 0)
        try open.put("file", "2")
        #expect(try dead() == 1)
        try open.put("file", "3")
        #expect(try dead() == 1)
        try open.put("other", "4")
        #expect(try dead() == 0)
    }

    @Test func `shows nothing of names and contents on the disk`() throws {
        let vault = try Vault()
        do {
            let open = try OpenStore(vault, try vault.open(.unlocked))
            for protectionClass in ProtectionClass.allCases {
                try open.put(
                    "needle-directory/needle-\(protectionClass)",
                    Array("needle-content".utf8),
                    protectionClass
                )
            }
            #expect(try open.survey().paths.count == 5)
        }
        var bytesSeen = 0
        for name in try FileManager.default.subpathsOfDirectory(atPath: vault.temporary.path) {
            #expect(!name.contains("needle"))
            guard let content = FileManager.default.contents(atPath: vault.temporary.path(name)) else { continue }
            bytesSeen += content.count
            #expect(content.range(of: Data("needle".utf8)) == nil, "\(name)")
            #expect(content.range(of: Data("default".utf8)) == nil, "the group, in \(name)")
        }
        #expect(bytesSeen > 10_000)
        #expect(try vault.placed.allSatisfy { $0.utf8.count == 35 })
    }
}

/// The reports of a transfer.
final class Reports: Sendable {
    private let log = Shared<[Int64]>([])
    var values: [Int64] { log.value }
    func add(_ value: Int64) { log.change { $0.append(value) } }
}
