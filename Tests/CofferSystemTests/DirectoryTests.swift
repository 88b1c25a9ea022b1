import CofferSystem
import Foundation
import Testing

private let old = Array("the old content".utf8)
private let new = Array("the new content, which is longer".utf8)

@Suite struct `Replacing a file` {
    let temporary: TemporaryDirectory

    init() throws { temporary = try TemporaryDirectory() }

    /// Fails at every step in turn, until a run succeeds; returns the number of failures.
    private func sabotageAll(hasOld: Bool) throws -> Int {
        for step in 1...100 {
            let real = try Directory(makingPath: temporary.path)
            try real.remove("file")
            if hasOld { try real.replace("file", with: old.span.bytes) }
            let saboteur = Saboteur(failing: step)
            let directory = try Directory(makingPath: temporary.path, fileSystem: saboteur.fileSystem)
            let code = failure { () throws(SystemError) in try directory.replace("file", with: new.span.bytes) }
            let found = temporary.contents("file")
            if !saboteur.hasStruck {
                #expect(code == nil)
                #expect(found == new)
                #expect(try temporary.names == ["file"])
                return step - 1
            }
            #expect(code == ENOSPC, "step \(step)")
            #expect(found == new || found == (hasOld ? old : nil), "step \(step)")
            #expect(try temporary.names.filter { $0.hasSuffix(".new") } == [], "step \(step)")
            // After every failure, the next attempt succeeds.
            try real.replace("file", with: new.span.bytes)
            #expect(temporary.contents("file") == new)
            #expect(try temporary.names == ["file"])
        }
        return 100
    }

    @Test(arguments: [true, false])
    func `leaves the old content or the new, whichever step fails`(hasOld: Bool) throws {
        let steps = try sabotageAll(hasOld: hasOld)
        #expect(steps == 6)
    }

    @Test func `syncs the content before it renames, and the directory behind it`() throws {
        let saboteur = Saboteur(failing: .max)
        let directory = try Directory(makingPath: temporary.path, fileSystem: saboteur.fileSystem)
        try directory.replace("file", with: new.span.bytes)
        #expect(saboteur.operations == [.remove, .create, .write, .synchronize, .rename, .synchronize])
    }

    @Test func `makes files for the owner only`() throws {
        let directory = try Directory(makingPath: temporary.path)
        try directory.replace("file", with: new.span.bytes)
        let status = try directory.open("file").status()
        #expect(status.st_mode & 0o077 == 0)
        #expect(status.st_mode & 0o600 == 0o600 || geteuid() == 0)
    }

    @Test func `is not stopped by what an earlier try left`() throws {
        try temporary.write("half of somethi", to: "file.new")
        let directory = try Directory(makingPath: temporary.path)
        try directory.replace("file", with: new.span.bytes)
        #expect(temporary.contents("file") == new)
        #expect(try temporary.names == ["file"])
    }

    @Test func `replaces a symbolic link itself, and not what it points to`() throws {
        try temporary.write("outside", to: "outside")
        try FileManager.default.createSymbolicLink(
            atPath: temporary.path("file"),
            withDestinationPath: temporary.path("outside")
        )
        try FileManager.default.createSymbolicLink(
            atPath: temporary.path("file.new"),
            withDestinationPath: temporary.path("outside")
        )
        let directory = try Directory(makingPath: temporary.path)
        try directory.replace("file", with: new.span.bytes)
        #expect(temporary.contents("file") == new)
        #expect(temporary.contents("outside") == Array("outside".utf8))
        #expect(try temporary.names == ["file", "outside"])
    }

    @Test func `takes empty content`() throws {
        let directory = try Directory(makingPath: temporary.path)
        try directory.replace("file", with: [UInt8]().span.bytes)
        #expect(temporary.contents("file") == [])
        #expect(try directory.contents(of: "file", limit: 10) == [])
    }
}

@Suite struct `A directory` {
    let temporary: TemporaryDirectory

    init() throws { temporary = try TemporaryDirectory() }

    // In a separate process, because all threads share the umask.
    @Test func `is made with its parents, for the owner only`() async {
        await #expect(processExitsWith: .success) {
            umask(0)
            let temporary = try TemporaryDirectory()
            let directory = try Directory(makingPath: temporary.path("a/b/c/"))
            try directory.replace("file", with: [UInt8]([1]).span.bytes)
            for name in ["a", "a/b", "a/b/c"] {
                var status = stat()
                #expect(stat(temporary.path(name), &status) == 0)
                #expect(status.st_mode & 0o7777 == 0o700, "\(name)")
            }
            let inner = try directory.subdirectory("d")
            try inner.replace("file", with: [UInt8]([2]).span.bytes)
            var status = stat()
            #expect(stat(temporary.path("a/b/c/d"), &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o700)
            #expect(stat(temporary.path("a/b/c/d/file"), &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o600)
            #expect(temporary.contents("a/b/c/d/file") == [2])
        }
    }

    @Test func `is made by a relative path too`() async {
        await #expect(processExitsWith: .success) {
            let temporary = try TemporaryDirectory()
            try #require(chdir(temporary.path) == 0)
            let directory = try Directory(makingPath: "x/y")
            try directory.replace("file", with: [UInt8]([1]).span.bytes)
            #expect(temporary.contents("x/y/file") == [1])
        }
    }

    @Test func `is the one that is there, if one is, with all that is in it`() throws {
        try temporary.write("kept", to: "file")
        let directory = try Directory(makingPath: temporary.path)
        #expect(try directory.entries() == ["file"])
        #expect(try directory.contents(of: "file", limit: 100) == Array("kept".utf8))
    }

    @Test func `is refused where a file is`() throws {
        try temporary.write("a file", to: "file")
        #expect(failure { () throws(SystemError) in try Directory(makingPath: temporary.path("file")) } == ENOTDIR)
        #expect(failure { () throws(SystemError) in try Directory(makingPath: temporary.path("file/in")) } == ENOTDIR)
        let directory = try Directory(makingPath: temporary.path)
        #expect(failure { () throws(SystemError) in try directory.subdirectory("file") } == ENOTDIR)
    }

    @Test func `tells a file that is not there from one that can't be opened`() throws {
        let directory = try Directory(makingPath: temporary.path)
        let none = try directory.openIfPresent("none") == nil
        #expect(none)
        #expect(try directory.contents(of: "none", limit: 1) == nil)
        #expect(failure { () throws(SystemError) in try directory.open("none") } == ENOENT)
        try FileManager.default.createSymbolicLink(
            atPath: temporary.path("dangling"),
            withDestinationPath: temporary.path("nowhere")
        )
        #expect(failure { () throws(SystemError) in try directory.openIfPresent("dangling") } == ELOOP)
    }

    @Test func `follows no symbolic link out of it`() throws {
        try temporary.write("outside", to: "outside")
        try FileManager.default.createDirectory(atPath: temporary.path("inner"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: temporary.path("inner/link"),
            withDestinationPath: temporary.path("outside")
        )
        try FileManager.default.createSymbolicLink(
            atPath: temporary.path("inner/links"),
            withDestinationPath: temporary.path
        )
        let directory = try Directory(makingPath: temporary.path("inner"))
        #expect(failure { () throws(SystemError) in try directory.open("link") } == ELOOP)
        #expect(failure { () throws(SystemError) in try directory.contents(of: "link", limit: 9) } == ELOOP)
        #expect(failure { () throws(SystemError) in try directory.create("link") } == EEXIST)
        #expect(failure { () throws(SystemError) in try directory.subdirectory("links") } == ENOTDIR)
        #expect(temporary.contents("outside") == Array("outside".utf8))
    }

    @Test func `reads no more of a file than its limit`() throws {
        try temporary.write("0123456789", to: "file")
        let directory = try Directory(makingPath: temporary.path)
        #expect(try directory.contents(of: "file", limit: 4) == Array("0123".utf8))
        #expect(try directory.contents(of: "file", limit: 0) == [])
    }

    @Test func `keeps others out while it is locked, and lets them in afterwards`() throws {
        let other = try Directory(makingPath: temporary.path)
        do {
            let directory = try Directory(makingPath: temporary.path)
            #expect(try directory.lock())
            #expect(try directory.lock(), "it is ours already")
            #expect(try other.lock() == false)
        }
        #expect(try other.lock())
    }

    @Test func `creates a file once`() throws {
        let directory = try Directory(makingPath: temporary.path)
        _ = try directory.create("file")
        #expect(failure { () throws(SystemError) in try directory.create("file") } == EEXIST)
    }

    @Test func `moves a file over another one, and into another directory`() throws {
        let directory = try Directory(makingPath: temporary.path)
        try directory.replace("a", with: old.span.bytes)
        try directory.replace("b", with: new.span.bytes)
        try directory.rename("a", to: "b")
        #expect(temporary.contents("b") == old)
        let inner = try directory.subdirectory("inner")
        try directory.rename("b", to: "c", in: inner)
        #expect(try temporary.names == ["inner"])
        #expect(temporary.contents("inner/c") == old)
        #expect(failure { () throws(SystemError) in try directory.rename("b", to: "d") } == ENOENT)
    }

    @Test func `removes a file, and does not mind if it is gone`() throws {
        let directory = try Directory(makingPath: temporary.path)
        try directory.replace("a", with: old.span.bytes)
        try directory.remove("a")
        try directory.remove("a")
        #expect(try directory.entries() == [])
        _ = try directory.subdirectory("inner")
        #expect(failure { () throws(SystemError) in try directory.remove("inner") } == EISDIR)
    }

    @Test func `stays the same one when its path comes to mean another`() throws {
        let directory = try Directory(makingPath: temporary.path("one"))
        try FileManager.default.moveItem(atPath: temporary.path("one"), toPath: temporary.path("two"))
        _ = try Directory(makingPath: temporary.path("one"))
        try directory.replace("file", with: new.span.bytes)
        #expect(temporary.contents("two/file") == new)
        #expect(temporary.contents("one/file") == nil)
        let resolved = try directory.resolvedPath()
        #expect(resolved.hasSuffix("/two"))
    }

    @Test(arguments: FileSystem.Operation.allCases)
    func `asks the seam before each operation that changes the disk`(operation: FileSystem.Operation) throws {
        let real = try Directory(makingPath: temporary.path)
        try real.replace("file", with: old.span.bytes)
        let refusing = FileSystem(intercept: { (asked) throws(SystemError) in
            if asked == operation { throw SystemError("sabotage", code: EIO) }
        })
        let directory = try Directory(makingPath: temporary.path, fileSystem: refusing)
        #expect(failure { () throws(SystemError) in try directory.replace("file", with: new.span.bytes) } == EIO)
    }
}
