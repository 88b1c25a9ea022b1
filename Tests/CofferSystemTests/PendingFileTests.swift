import CofferSystem
import Foundation
import Testing

private let oldText = "the old content"
private let old = Array(oldText.utf8)
private let new = Array("the new content".utf8)

/// Serialized, because a process has at most one pending file with a name.
@Suite(.serialized) struct PendingFileTests {
    private let folder: TemporaryDirectory
    private var path: String { folder.path("file") }
    private var names: [String] { get throws { try folder.names } }

    init() throws { folder = try TemporaryDirectory() }

    private func isRefused(with code: Int32, _ body: () throws(SystemError) -> Void) -> Bool {
        do throws(SystemError) { try body() } catch { return error.code == code }
        return false
    }

    @Test func `has no name where the file system can do that`() throws {
        let file = try PendingFile(at: path, .isReplaced)
        try file.write(all: new.span.bytes)
        #expect(try names.isEmpty)
    }

    @Test(arguments: [PendingFile.Existing.isReplaced, .isKept], [true, false])
    func `is in its place when it is finished, for its owner only`(
        existing: PendingFile.Existing,
        canBeNameless: Bool
    ) throws {
        let file = try PendingFile(at: path, existing, canBeNameless: canBeNameless)
        try file.write(all: new.span.bytes)
        #expect(folder.contents("file") == nil)
        try file.finish()
        #expect(folder.contents("file") == new)
        #expect(try names == ["file"])
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test(arguments: [true, false])
    func `replaces a file, and a link but not what it leads to`(canBeNameless: Bool) throws {
        try folder.write(oldText, to: "target")
        for isLink in [false, true] {
            if isLink {
                #expect(symlink("target", folder.path("other")) == 0)
            } else {
                try folder.write(oldText, to: "other")
            }
            let file = try PendingFile(at: folder.path("other"), .isReplaced, canBeNameless: canBeNameless)
            try file.write(all: new.span.bytes)
            try file.finish()
            #expect(folder.contents("other") == new)
            #expect(unlink(folder.path("other")) == 0)
        }
        #expect(folder.contents("target") == old)
        #expect(try names == ["target"])
    }

    @Test(arguments: [true, false], [true, false])
    func `never replaces a pipe or a device, nor a link to one`(canBeNameless: Bool, isLink: Bool) throws {
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        #expect(symlink(isLink ? "pipe" : "/dev/null", path) == 0)
        for name in isLink ? ["file", "pipe"] : ["file"] {
            let isRefused = isRefused(with: ENXIO) { () throws(SystemError) in
                _ = try PendingFile(at: folder.path(name), .isReplaced, canBeNameless: canBeNameless)
            }
            #expect(isRefused, "\(name)")
        }
        #expect(try names.sorted() == ["file", "pipe"])
    }

    @Test(arguments: [true, false])
    func `keeps a file that is there, or comes meanwhile`(canBeNameless: Bool) throws {
        do {
            let file = try PendingFile(at: path, .isKept, canBeNameless: canBeNameless)
            try file.write(all: new.span.bytes)
            try folder.write(oldText, to: "file")
            let isRefused = isRefused(with: EEXIST) { () throws(SystemError) in try file.finish() }
            #expect(isRefused)
        }
        let isRefused = isRefused(with: EEXIST) { () throws(SystemError) in
            _ = try PendingFile(at: path, .isKept, canBeNameless: canBeNameless)
        }
        #expect(isRefused)
        #expect(folder.contents("file") == old)
        #expect(try names == ["file"])
    }

    @Test(arguments: [true, false])
    func `leaves what was there, and nothing else, where it is not finished`(canBeNameless: Bool) throws {
        try folder.write(oldText, to: "file")
        do {
            let file = try PendingFile(at: path, .isReplaced, canBeNameless: canBeNameless)
            try file.write(all: new.span.bytes)
            #expect(try names.count == (canBeNameless ? 1 : 2))
        }
        #expect(folder.contents("file") == old)
        #expect(try names == ["file"])
    }

    @Test(arguments: [("", EISDIR), ("folder", EISDIR), ("folder/", EISDIR), ("none/file", ENOENT)])
    func `is refused before anything is written`(name: String, code: Int32) throws {
        #expect(mkdir(folder.path("folder"), 0o700) == 0)
        let isRefused = isRefused(with: code) { () throws(SystemError) in
            _ = try PendingFile(at: folder.path(name), .isReplaced)
        }
        #expect(isRefused)
        #expect(try names == ["folder"])
    }

    @Test func `with a name, is removed by SIGTERM, which ends the process`() async throws {
        await #expect(processExitsWith: .signal(SIGTERM)) { [path = folder.path as String] in
            try Self.endWhileWriting(in: path, SIGTERM)
        }
        #expect(try names == ["written"])
    }

    @Test func `with a name, is removed by SIGINT, which ends the process`() async throws {
        await #expect(processExitsWith: .signal(SIGINT)) { [path = folder.path as String] in
            try Self.endWhileWriting(in: path, SIGINT)
        }
        #expect(try names == ["written"])
    }

    @Test func `with a name, is removed by SIGHUP, which ends the process`() async throws {
        await #expect(processExitsWith: .signal(SIGHUP)) { [path = folder.path as String] in
            try Self.endWhileWriting(in: path, SIGHUP)
        }
        #expect(try names == ["written"])
    }

    private static func endWhileWriting(in folder: String, _ number: Int32) throws {
        signal(number, SIG_DFL)
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_UNBLOCK, &all, nil)
        let file = try PendingFile(at: "\(folder)/file", .isReplaced, canBeNameless: false)
        try file.write(all: new.span.bytes)
        // Shows that there was something to remove.
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        if names.count == 1 { try Data().write(to: URL(filePath: "\(folder)/written")) }
        kill(getpid(), number)
        while true { pause() }
    }
}
