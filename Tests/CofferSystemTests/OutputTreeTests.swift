import CofferSystem
import Foundation
import Synchronization
import Testing

/// What is written below a directory that others may write.
@Suite struct OutputTreeTests {
    private func write(_ components: [String], in tree: OutputTree) throws {
        let file = try tree.file(components, .isReplaced)
        try file.write(all: [UInt8]([1, 2, 3]).span.bytes)
        try file.finish()
    }

    private func finding(_ body: () throws(SystemError) -> Void) -> FileFinding? {
        do throws(SystemError) { try body() } catch { return error.finding }
        return nil
    }

    private func files(in path: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path)
    }

    @Test func `a link in the tree is not followed, neither one to a directory nor one that leads nowhere`() throws {
        let (directory, outside) = (try TemporaryDirectory(), try TemporaryDirectory())
        for (name, target) in [("a", outside.path), ("b", outside.path("new"))] {
            try FileManager.default.createSymbolicLink(
                atPath: directory.path(name),
                withDestinationPath: target
            )
        }
        let tree = try OutputTree(making: directory.path)
        for name in ["a", "b", ".."] {
            #expect(throws: SystemError.self) { try write([name, "file"], in: tree) }
        }
        #expect(throws: SystemError.self) { _ = try OutputTree(making: directory.path("b/c")) }
        #expect(try tree.fileIfPresent(["a", "file"]) == nil)
        #expect(try files(in: outside.path).isEmpty)
    }

    @Test func `a directory that is exchanged for a link after it was opened is written all the same`() throws {
        let (directory, outside) = (try TemporaryDirectory(), try TemporaryDirectory())
        let tree = try OutputTree(making: directory.path("top/new"))
        try FileManager.default.moveItem(atPath: directory.path("top"), toPath: directory.path("moved"))
        try FileManager.default.createSymbolicLink(
            atPath: directory.path("top"),
            withDestinationPath: outside.path
        )
        try write(["x", "y"], in: tree)
        #expect(directory.contents("moved/new/x/y") == [1, 2, 3])
        #expect(try files(in: outside.path).isEmpty)
    }

    @Test(
        arguments: [(0o700, true), (0o755, true), (0o775, false), (0o777, false), (0o1777, false)] as [(mode_t, Bool)]
    )
    func `a directory that others can write is told from one of its owner's`(mode: mode_t, isOwn: Bool) throws {
        let directory = try TemporaryDirectory()
        let tree = try OutputTree(making: directory.path("top"))
        try #require(chmod(directory.path("top"), mode) == 0)
        let expected: FileFinding.Reason? = isOwn ? nil : .writable(S_IFDIR | mode)
        #expect(finding { () throws(SystemError) in try tree.requireUnshared() }?.reason == expected)
        let path = directory.path("top")
        #expect(finding { () throws(SystemError) in try OutputTree.requireUnshared(path) }?.reason == expected)
    }

    @Test(arguments: [(0o700, true), (0o775, true), (0o1777, true), (0o777, false)] as [(mode_t, Bool)])
    func `a directory is shared if others can replace one above it, be it there or not`(
        mode: mode_t,
        isOwn: Bool
    ) throws {
        let directory = try TemporaryDirectory()
        let tree = try OutputTree(making: directory.path("top/there"))
        try #require(chmod(directory.path("top"), mode) == 0)
        func isRefused(_ check: () throws -> Void) -> Bool { (try? check()) == nil }
        #expect(isRefused { try tree.requireUnshared() } == !isOwn)
        for path in ["top/there", "top/missing", "top/missing/deep", "top/there/missing"] {
            #expect(isRefused { try OutputTree.requireUnshared(directory.path(path)) } == !isOwn, "\(path)")
        }
        #expect(!FileManager.default.fileExists(atPath: directory.path("top/missing")))
    }

    @Test(.enabled(if: geteuid() == 0)) func `a directory of another user is shared`() throws {
        let directory = try TemporaryDirectory()
        _ = try OutputTree(making: directory.path("top"))
        try #require(chown(directory.path("top"), 4242, 4242) == 0)
        #expect(throws: SystemError.self) { try OutputTree.requireUnshared(directory.path("top")) }
    }

    @Test func `no file gets outside while a directory and a link change places all the time`() throws {
        let (directory, outside) = (try TemporaryDirectory(), try TemporaryDirectory())
        try FileManager.default.createDirectory(atPath: directory.path("to/f"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: directory.path("link"),
            withDestinationPath: outside.path
        )
        let isDone = Mutex(false)
        let (one, other, spare) = (directory.path("to/f"), directory.path("link"), directory.path("f"))
        let thread = Thread {
            while !isDone.withLock({ $0 }) {
                for (from, to) in [(one, spare), (other, one), (one, other), (spare, one)] { _ = rename(from, to) }
            }
        }
        thread.start()
        let tree = try OutputTree(making: directory.path("to"))
        for number in 0..<2000 { try? write(["f", "\(number)"], in: tree) }
        isDone.withLock { $0 = true }
        #expect(try files(in: outside.path).isEmpty)
    }
}
