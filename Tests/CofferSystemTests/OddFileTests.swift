import CofferSystem
import Foundation
import Testing

/// What may exist in place of a regular file.
enum OddFile: String, CaseIterable {
    case pipe, socket, device, directory, link

    /// Creates it.
    ///
    /// - Returns: Whether this machine permits it.
    func make(at path: String) throws -> Bool {
        switch self {
        case .pipe: return mkfifo(path, 0o600) == 0
        case .socket:
            _ = try UnixSocket.listen(at: path)
            return true
        // The device of the controlling terminal, which is not opened.
        case .device: return mknod(path, S_IFCHR | 0o600, 0x500) == 0
        case .directory: return mkdir(path, 0o700) == 0
        case .link: return symlink("/etc/hostname", path) == 0
        }
    }
}

@Suite struct `What is no file` {
    @Test(.timeLimit(.minutes(1)), arguments: OddFile.allCases)
    func `is refused at once in the place of one, with what mends it`(kind: OddFile) throws {
        let temporary = try TemporaryDirectory()
        let directory = try Directory(makingPath: temporary.path)
        guard try kind.make(at: temporary.path("it's odd")) else { return }
        let path = try directory.resolvedPath() + "/it's odd"
        func finding(_ body: () throws(SystemError) -> Void) -> FileFinding? {
            do throws(SystemError) { try body() } catch { return error.finding }
            return nil
        }
        let found = [
            finding { () throws(SystemError) in _ = try directory.open("it's odd") },
            finding { () throws(SystemError) in _ = try directory.contents(of: "it's odd", limit: 10) },
            finding { () throws(SystemError) in try directory.requireOwnFile("it's odd") },
            finding { () throws(SystemError) in
                // An open for writing ignores a link.
                if kind == .link, try directory.openForWriting("it's odd") == nil {
                    try directory.requireOwnFile("it's odd")
                } else {
                    _ = try directory.openForWriting("it's odd")
                }
            },
        ]
        for finding in found { #expect(finding?.reason == .noFile && finding?.path == path) }
        let hint = try #require(found[0]?.hint)
        let shell = try Process.run(URL(filePath: "/bin/sh"), arguments: ["-c", hint])
        shell.waitUntilExit()
        #expect(shell.terminationStatus == 0)
        #expect(try temporary.names == ["it's odd.away"])
    }

    @Test(.timeLimit(.minutes(1)), arguments: OddFile.allCases.filter { $0 != .directory })
    func `is removed in the place of what an interrupted replacement left`(kind: OddFile) throws {
        let temporary = try TemporaryDirectory()
        let directory = try Directory(makingPath: temporary.path)
        guard try kind.make(at: temporary.path("file.new")) else { return }
        try directory.shredLeftovers(of: "file")
        #expect(try temporary.names == [])
    }
}

@Suite struct `What others can write` {
    let temporary: TemporaryDirectory
    let directory: Directory

    init() throws {
        temporary = try TemporaryDirectory()
        directory = try Directory(makingPath: temporary.path)
        try directory.replace("file", with: [UInt8]([1]).span.bytes)
        _ = try directory.subdirectory("inner")
    }

    /// Whether a file and a directory with a mode are accepted.
    private func isUsed(_ mode: mode_t, isSecret: Bool = false) throws -> Bool {
        try #require(chmod(temporary.path("file"), mode) == 0)
        return failure { () throws(SystemError) in try directory.open("file", isSecret: isSecret) } == nil
    }

    @Test(arguments: [0o600, 0o640, 0o644, 0o700, 0o620, 0o602, 0o660, 0o666, 0o777] as [mode_t])
    func `is refused, and what others can read is where it is secret`(mode: mode_t) throws {
        let isWritable = mode & 0o022 != 0
        #expect(try isUsed(mode) == !isWritable)
        #expect(try isUsed(mode, isSecret: true) == (mode & 0o077 == 0))
        let code = failure { () throws(SystemError) in try directory.requireOwnFile("file") }
        #expect((code == nil) == !isWritable)
        try #require(chmod(temporary.path("inner"), mode | 0o100) == 0)
        let inner = failure { () throws(SystemError) in _ = try directory.subdirectory("inner") }
        #expect((inner == nil) == !isWritable)
        try #require(chmod(temporary.path, mode | 0o100) == 0)
        let own = failure { () throws(SystemError) in try directory.requireOwn() }
        #expect((own == nil) == !isWritable)
        try #require(chmod(temporary.path, 0o700) == 0)
    }

    @Test(arguments: [(0o777, false), (0o1777, true), (0o775, true), (0o755, true)] as [(mode_t, Bool)])
    func `is refused above a directory where everybody may rename it`(mode: mode_t, isUsed: Bool) throws {
        let below = try Directory(makingPath: temporary.path("inner/deep/state"))
        try #require(chmod(temporary.path("inner"), mode) == 0)
        let code = failure { () throws(SystemError) in try below.requireOwn() }
        #expect((code == nil) == isUsed)
    }

    @Test(.enabled(if: geteuid() == 0)) func `is refused where it belongs to another user`() throws {
        func refusals() -> [Bool] {
            [
                failure { () throws(SystemError) in _ = try directory.open("file") } != nil,
                failure { () throws(SystemError) in try directory.requireOwnFile("file") } != nil,
                failure { () throws(SystemError) in _ = try directory.subdirectory("inner") } != nil,
                failure { () throws(SystemError) in try directory.requireOwn() } != nil,
            ]
        }
        #expect(refusals() == [false, false, false, false])
        for name in ["file", "inner", "."] { try #require(chown(temporary.path(name), 4242, 4242) == 0) }
        #expect(refusals() == [true, true, true, true])
        // Files of a service manager belong to it.
        let theirs = try Directory(openingPath: temporary.path)
        #expect(failure { () throws(SystemError) in _ = try theirs.open("file", isSecret: true) } == nil)
    }

    @Test func `is shredded all the same`() throws {
        try #require(chmod(temporary.path("file"), 0o666) == 0)
        try directory.shred("file")
        #expect(try temporary.names == ["inner"])
    }
}
