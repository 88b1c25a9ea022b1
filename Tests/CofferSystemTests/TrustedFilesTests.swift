import CofferCore
import CofferSystem
import Foundation
import Testing

/// Files that other users could have written are not trusted.
@Suite struct TrustedFilesTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.path("d")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    private func read() throws(CofferError) -> [TrustedFiles.Content] {
        try TrustedFiles.read(in: path, suffix: ".conf", upTo: 10)
    }

    @Test func `they are read in the order of their names, and no others`() throws {
        for name in ["20-b.conf", "10-a.conf", "3.conf", "a.conf~", ".hidden.conf", "b"] {
            try directory.write(String(name.prefix(4)), to: "d/\(name)")
        }
        let found = try read()
        #expect(found.map(\.path) == ["10-a.conf", "20-b.conf", "3.conf"].map { "\(path)/\($0)" })
        #expect(found.map(\.bytes) == ["10-a", "20-b", "3.co"].map { Array($0.utf8) })
    }

    @Test func `of one that is too long, a byte more is read than it may have`() throws {
        try directory.write(String(repeating: "a", count: 11), to: "d/a.conf")
        #expect(try read().first?.bytes.count == 11)
        try directory.write(String(repeating: "a", count: 100), to: "d/a.conf")
        #expect(try read().first?.bytes.count == 11)
    }

    @Test func `without a directory there are none`() throws {
        try FileManager.default.removeItem(atPath: path)
        #expect(try read().isEmpty)
    }

    @Test(arguments: [0o666, 0o664, 0o646])
    func `a file that others can write is refused`(mode: Int) throws {
        try directory.write("a", to: "d/a.conf")
        chmod(path + "/a.conf", mode_t(mode))
        #expect(throws: CofferError(.param, "")) { try read() }
        #expect(throws: CofferError(.param, "")) { try TrustedFiles.read(at: path + "/a.conf", upTo: 10) }
        chmod(path + "/a.conf", 0o644)
        #expect(try read().count == 1)
    }

    @Test(arguments: [0o777, 0o775, 0o1777])
    func `a directory that others can write is refused, whatever is in it`(mode: Int) throws {
        chmod(path, mode_t(mode))
        #expect(throws: CofferError(.param, "")) { try read() }
    }

    @Test(.enabled(if: geteuid() == 0)) func `a file of another user is refused`() throws {
        try directory.write("a", to: "d/a.conf")
        chown(path + "/a.conf", 4242, 4242)
        #expect(throws: CofferError(.param, "")) { try read() }
        chown(path + "/a.conf", 0, 0)
        chown(path, 4242, 4242)
        #expect(throws: CofferError(.param, "")) { try read() }
    }

    @Test func `a link counts as what it leads to`() throws {
        try directory.write("a", to: "elsewhere")
        try FileManager.default.createSymbolicLink(
            atPath: path + "/a.conf",
            withDestinationPath: directory.path("elsewhere")
        )
        #expect(try read().first?.bytes == Array("a".utf8))
        chmod(directory.path("elsewhere"), 0o666)
        #expect(throws: CofferError(.param, "")) { try read() }
    }

    @Test func `what is no file keeps nobody waiting`() throws {
        mkfifo(path + "/a.conf", 0o600)
        #expect(throws: CofferError(.param, "")) { try read() }
        unlink(path + "/a.conf")
        mkdir(path + "/a.conf", 0o700)
        #expect(throws: CofferError(.param, "")) { try read() }
    }

    @Test func `a link to nothing is told`() throws {
        symlink("nowhere", path + "/a.conf")
        #expect(throws: CofferError(.io, "")) { try read() }
    }
}
