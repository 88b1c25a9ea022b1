import CofferSystem
import Foundation
import Testing

private let old = Array("the old content".utf8)
private let new = Array("the new content, which is longer".utf8)

extension TemporaryDirectory {
    /// Gives a file a second link, which shows what happens to its content.
    fileprivate func watch(_ name: String, as other: String) throws {
        try FileManager.default.linkItem(atPath: path(name), toPath: path(other))
    }

    /// Replaces the file, and returns the error.
    fileprivate func replace(_ saboteur: Saboteur? = nil) throws -> Directory.ReplacementError? {
        let directory = try Directory(makingPath: path, fileSystem: saboteur?.fileSystem ?? .real)
        do throws(Directory.ReplacementError) {
            try directory.replace("file", shreddingOldFor: new.span.bytes)
            return nil
        } catch {
            return error
        }
    }
}

@Suite struct `Replacing a file whose old content must not stay` {
    @Test(arguments: [true, false])
    func `leaves what was there where any step fails, and the new content where it says nothing`(hasOld: Bool) throws {
        var failures = 0
        for step in 1...100 {
            let temporary = try TemporaryDirectory()
            if hasOld { try temporary.write("the old content", to: "file") }
            let saboteur = Saboteur(failing: step)
            let error = try temporary.replace(saboteur)
            if let error {
                failures += 1
                #expect(!error.mayHaveHappened, "step \(step)")
                #expect(temporary.contents("file") == (hasOld ? old : nil), "step \(step)")
            } else {
                #expect(temporary.contents("file") == new, "step \(step)")
            }
            try Directory(makingPath: temporary.path).shredLeftovers(of: "file")
            #expect(try temporary.names == (error == nil || hasOld ? ["file"] : []), "step \(step)")
            if !saboteur.hasStruck { break }
        }
        #expect(failures == 6, "up to the sync of the directory; what comes behind it is no failure to replace")
    }

    @Test(arguments: [true, false])
    func `says that it may have happened where it can't be taken back`(hasOld: Bool) throws {
        var unsure: [Int] = []
        for step in 1...100 {
            let temporary = try TemporaryDirectory()
            if hasOld { try temporary.write("the old content", to: "file") }
            let saboteur = Saboteur(failing: step, forGood: true)
            guard let error = try temporary.replace(saboteur) else { break }
            if error.mayHaveHappened { unsure.append(step) }
            let expected = error.mayHaveHappened ? new : hasOld ? old : nil
            #expect(temporary.contents("file") == expected, "step \(step)")
        }
        #expect(unsure == [6])
    }

    @Test func `overwrites the old content where it succeeds, and the new where it is taken back`() throws {
        for (step, shredded) in [(Int.max, "old"), (6, "new")] {
            let temporary = try TemporaryDirectory()
            try temporary.write("the old content", to: "file")
            try temporary.watch("file", as: "old")
            let saboteur = Saboteur(failing: step)
            _ = try temporary.replace(saboteur)
            #expect(try temporary.names == ["file", "old"])
            let remains = try #require(temporary.contents("old"))
            #expect(remains == (shredded == "old" ? Array(repeating: 0, count: old.count) : old))
        }
    }

    @Test func `syncs the directory before it overwrites what an interruption left`() throws {
        let temporary = try TemporaryDirectory()
        try temporary.write("in its place, but perhaps not on the disk", to: "file")
        try temporary.write("the old content", to: "file.new")
        let saboteur = Saboteur(failing: 1)
        let directory = try Directory(makingPath: temporary.path, fileSystem: saboteur.fileSystem)
        let code = failure { () throws(SystemError) in try directory.shredLeftovers(of: "file") }
        #expect(code == ENOSPC)
        #expect(saboteur.operations == [.synchronize])
        #expect(temporary.contents("file.new") == old)
    }
}

@Suite struct `Shredding` {
    // In a separate process, as user nobody: the superuser may write to every file.
    @Test(arguments: [mode_t(0o400), 0o000])
    func `overwrites a file that its owner may not write to`(mode: mode_t) async {
        await #expect(processExitsWith: .success) { [mode] in
            if geteuid() == 0 { try #require(setuid(65534) == 0) }
            let temporary = try TemporaryDirectory()
            try temporary.write("the old content", to: "file")
            try temporary.watch("file", as: "seen")
            try #require(chmod(temporary.path("file"), mode) == 0)
            try #require(open(temporary.path("file"), O_RDWR) < 0, "or it would show nothing")
            try Directory(makingPath: temporary.path).shred("file")
            #expect(temporary.contents("seen") == Array(repeating: 0, count: old.count))
            #expect(try temporary.names == ["seen"])
        }
    }

    @Test func `overwrites what a file with a huge hole has, in little memory and on a small disk`() throws {
        let temporary = try TemporaryDirectory()
        try temporary.write("the old content", to: "file")
        try temporary.watch("file", as: "seen")
        try #require(truncate(temporary.path("file"), 1 << 40) == 0)
        try Directory(makingPath: temporary.path).shred("file")
        #expect(try temporary.names == ["seen"])
        let seen = try FileHandle(forReadingFrom: URL(filePath: temporary.path("seen")))
        #expect(try seen.read(upToCount: old.count) == Data(repeating: 0, count: old.count))
        var status = stat()
        try #require(stat(temporary.path("seen"), &status) == 0)
        #expect(status.st_blocks * 512 < 8 << 20)
    }

    @Test(arguments: [1, 300_000, 2_000_000])
    func `overwrites a file of any size to its end`(count: Int) throws {
        let temporary = try TemporaryDirectory()
        try temporary.write(String(repeating: "x", count: count), to: "file")
        try temporary.watch("file", as: "seen")
        try Directory(makingPath: temporary.path).shred("file")
        #expect(temporary.contents("seen") == Array(repeating: 0, count: count))
    }

    @Test func `removes a symbolic link itself, and leaves what it points to`() throws {
        let temporary = try TemporaryDirectory()
        try temporary.write("the old content", to: "outside")
        try FileManager.default.createSymbolicLink(
            atPath: temporary.path("file"),
            withDestinationPath: temporary.path("outside")
        )
        try Directory(makingPath: temporary.path).shred("file")
        #expect(temporary.contents("outside") == old)
        #expect(try temporary.names == ["outside"])
    }
}
