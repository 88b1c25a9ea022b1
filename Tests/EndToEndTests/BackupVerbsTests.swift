import CofferTestSupport
import Foundation
import Testing

/// The verbs that need a repository alone: on a copy of the frozen one, without a daemon.
@Suite struct BackupVerbsTests {
    private let directory: TemporaryDirectory
    private let place: String

    init() throws {
        directory = try TemporaryDirectory()
        place = directory.appending("repository")
        try FileManager.default.copyItem(atPath: "\(Project.root)/Tests/Vectors/backup/v1", toPath: place)
    }

    private func backup(_ arguments: String..., stored: Bool = false) throws -> CommandResult {
        try runCommand(
            "\(Project.binaries)/coffer",
            ["backup"] + arguments + (stored ? [] : ["--repository", place]),
            environment: ["XDG_CONFIG_HOME": directory.path, "HOME": directory.path]
        )
    }

    /// Changes a byte of the largest pack, in a file that each snapshot has.
    private func damagePack() throws {
        let packs = try FileManager.default.subpathsOfDirectory(atPath: "\(place)/packs").filter { $0.count > 10 }
        let contents = try packs.map { name in
            let url = URL(filePath: "\(place)/packs/\(name)")
            return (url: url, bytes: try Data(contentsOf: url))
        }
        let (url, whole) = try #require(contents.max { $0.bytes.count < $1.bytes.count })
        var bytes = whole
        bytes[2000] ^= 1
        try bytes.write(to: url)
    }

    @Test func `list prints the snapshots, and the forgotten ones if asked`() throws {
        let list = try backup("list")
        #expect(list.status == 0)
        #expect(list.text.split(separator: "\n").map { $0.first } == ["2", "3"])
        let all = try backup("list", "--all", "--json")
        #expect(all.text.split(separator: "\n").count == 3)
        #expect(all.text.contains(#""forgotten":true"#))
    }

    @Test func `inspect prints the files of a snapshot with their sizes`() throws {
        let inspect = try backup("inspect", "2")
        #expect(inspect.status == 0)
        #expect(inspect.text.contains("1707  keybag\n"))
        #expect(inspect.text.contains("4144  blobs/0a/0a000000000000000000000000000000.overlay\n"))
        #expect(try backup("inspect", "1").status == 66)
        #expect(try backup("inspect", "9").status == 66)
    }

    @Test func `status finds the stored repository`() throws {
        #expect(try backup("status").text.contains("snapshots   2\n"))
        #expect(try backup("status", stored: true).status == 64)
        try FileManager.default.createDirectory(
            atPath: directory.appending("coffer"),
            withIntermediateDirectories: false
        )
        try directory.write(Array("[Backup]\nRepository=\(place)\n".utf8), to: "coffer/backup.conf")
        let status = try backup("status", "--json", stored: true)
        #expect(status.status == 0)
        #expect(status.text.contains(#""snapshotCount":2"#))
        try directory.write(Array("[Backup]\nWarnAfter=x\n".utf8), to: "coffer/backup.conf")
        let wrong = try backup("status")
        #expect(wrong.status == 64)
        #expect(wrong.errors.contains("line 2"))
    }

    @Test func `check finds what was changed, with --read-data`() throws {
        #expect(try backup("check").status == 0)
        let whole = try backup("check", "--read-data")
        #expect(whole.status == 0)
        #expect(whole.text.contains("all of it read"))
        try damagePack()
        let damaged = try backup("check", "--read-data")
        #expect(damaged.status == 65)
        #expect(damaged.errors.contains("can't be restored: a part of it is damaged"))
        #expect(damaged.errors.contains("hint: "))
    }

    @Test func `a removed snapshot is 65, with the snapshots that are left`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(place)/snapshots").sorted()
        try FileManager.default.removeItem(atPath: "\(place)/snapshots/\(names[0])")
        let list = try backup("list")
        #expect(list.status == 65)
        #expect(list.text.hasPrefix("3"))
        #expect(list.errors.contains("snapshot 2 is missing"))
    }

    @Test func `forget and prune leave what is kept`() throws {
        #expect(try backup("forget").status == 64)
        #expect(try backup("forget", "--keep-last", "1", "--dry-run").text.hasPrefix("would forget snapshot 2 "))
        #expect(try backup("list").text.split(separator: "\n").count == 2)
        let forget = try backup("forget", "--keep-last", "1", "--prune")
        #expect(forget.status == 0)
        #expect(forget.text.contains("forgot snapshot 2 "))
        #expect(forget.text.contains("removed "))
        #expect(try backup("check", "--read-data").status == 0)
        #expect(try backup("prune").status == 0)
        #expect(try backup("forget", "3").status == 0)
        #expect(try backup("status").status == 69)
    }

    @Test func `a repository that is not there is 69, and a place that is none is 64`() throws {
        try FileManager.default.removeItem(atPath: place)
        let list = try backup("list")
        #expect(list.status == 69)
        #expect(list.errors.contains("error: there is no repository of backups at"))
        #expect(try backup("list", "--repository", "sftp://x", stored: true).status == 64)
    }
}
