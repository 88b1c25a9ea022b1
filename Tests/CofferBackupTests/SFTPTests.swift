import CofferBackup
import CofferCore
import CofferTestSupport
import Foundation
import Testing

/// Over OpenSSH's own programs, without a network.
@Suite struct SFTPTests {
    private static let server = "/usr/lib/openssh/sftp-server"

    private func storage(_ path: String, denying: String? = nil) -> SFTPStorage {
        let command = Self.server + (denying.map { " -P \($0)" } ?? "")
        return SFTPStorage("host:\(path)", path: path, connecting: ["-D", command])
    }

    @Test func `a repository on another machine is backed up to, restored from, forgotten and pruned`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.appending("a \"b\" [c]")
        let fixture = try BackupFixture(storage(path))
        fixture.fill()
        let (first, _) = try fixture.snapshot()
        fixture.files["vault.sqlite"]?[5] ^= 1
        let (second, writer) = try fixture.snapshot(newest: first.reference)
        #expect(writer.findings.isEmpty)
        #expect(try fixture.restored(first)["keybag"] == fixture.files["keybag"])
        #expect(try fixture.restored(second) == fixture.files)
        try fixture.repository.forget([first])
        _ = try fixture.repository.prune()
        #expect(try fixture.restored(second) == fixture.files)
        // What is there is what a directory has.
        let local = try Repository.open(DirectoryStorage(path))
        #expect(try local.check(isReadingData: true).findings.isEmpty)
        #expect(try local.chain().snapshots.count == 1)
    }

    @Test(arguments: ["exec sleep 60", "\(server) | head -c 1000; exec sleep 60"])
    func `a server that is silent, or stops in the middle, ends the command and is named`(script: String) throws {
        let directory = try TemporaryDirectory()
        try directory.write(Array("#!/bin/sh\n\(script)\n".utf8), to: "server")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.appending("server"))
        let path = directory.appending("r")
        let silent = SFTPStorage(
            "backup@nas:r",
            path: path,
            connecting: ["-D", directory.appending("server")],
            silenceSeconds: 1
        )
        do {
            let fixture = try BackupFixture(silent)
            fixture.fill(8)
            try fixture.snapshot()
            Issue.record("the server was silent")
        } catch let error as CofferError {
            #expect(error.code == .notAvailable)
            #expect(error.message.contains("'backup@nas:r'") && error.message.contains("silent"))
        }
    }

    @Test func `an append-only repository needs neither a rename nor a removal`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.appending("r")
        let fixture = try BackupFixture(
            storage(path, denying: "remove,rmdir,rename,posix-rename,setstat,fsetstat"),
            isAppendOnly: true
        )
        fixture.fill()
        let (first, _) = try fixture.snapshot()
        let (second, _) = try fixture.snapshot(newest: first.reference)
        #expect(try fixture.restored(second) == fixture.files)
        #expect(try fixture.repository.check(isReadingData: true, newest: second.reference).findings.isEmpty)
    }

    @Test func `a second backup at the same time is refused, and a lock that a crash left is not heeded`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.appending("r")
        let fixture = try BackupFixture(storage(path))
        var writer: SnapshotWriter? = try fixture.repository.beginSnapshot(newest: nil)
        #expect(writer != nil)
        let other = try Repository.open(storage(path))
        #expect(throws: CofferError(.notAvailable, "")) { _ = try other.beginSnapshot(newest: nil) }
        writer = nil
        try directory.write([], to: "r/locks/remove-1000000000000-00000000000000000000000000000000")
        _ = try other.prune()
    }

    @Test func `a machine that does not answer, and a directory that may not be written, are named`() throws {
        let gone = SFTPStorage("host:/r", path: "/r", connecting: ["-D", "/bin/false"])
        #expect(throws: CofferError(.io, "")) { _ = try Repository.open(gone) }
        let missing = storage("/nowhere/at/all")
        #expect(throws: CofferError(.notAvailable, "")) { _ = try Repository.open(missing) }
        #expect(throws: CofferError(.io, "")) { _ = try BackupFixture(missing) }
    }

    @Test(arguments: ["sftp://", "sftp://host", "sftp://host:x/path", "-host:path", "", "ho st:path", "a\nb"])
    func `a place that is none is refused`(place: String) {
        #expect(throws: CofferError(.param, "")) { _ = try RepositoryPlace.storage(at: place) }
    }

    @Test(
        arguments: [
            ("/mnt/backup", true), ("./a:b", true), ("backup", true), ("host:path", false),
            ("user@host:", false), ("sftp://user@host:22/path", false),
        ]
    )
    func `a place is a directory, or on another machine`(place: String, isDirectory: Bool) throws {
        #expect((try RepositoryPlace.storage(at: place) is DirectoryStorage) == isDirectory)
    }
}
