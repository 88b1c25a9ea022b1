import CofferBackup
import CofferCore
import CofferCrypto
import CofferSystem
import CofferTestSupport
import Foundation
import Testing

@Suite struct RepositoryTests {
    @Test func `a snapshot is restored byte for byte, from a directory`() throws {
        let directory = try TemporaryDirectory()
        let fixture = try BackupFixture(DirectoryStorage(directory.appending("a b/repository")))
        fixture.fill()
        fixture.files["blobs/00/00000000000000000000000000000000"] = randomBytes(3 << 20)
        fixture.files["blobs/00/00000000000000000000000000000000.overlay"] = []
        let (snapshot, writer) = try fixture.snapshot()
        #expect(writer.findings.isEmpty)
        #expect(snapshot.fileCount == Int64(fixture.files.count))
        #expect(try fixture.restored(snapshot) == fixture.files)
        let outcome = try fixture.repository.check(isReadingData: true)
        #expect(outcome.findings.isEmpty)
        #expect(outcome.readByteCount == outcome.byteCount)
    }

    @Test func `a file of several packs is restored, and the packs have 16 MiB`() throws {
        let storage = MemoryStorage()
        let fixture = try BackupFixture(storage)
        fixture.files["blobs/11/11111111111111111111111111111111"] = randomBytes(40 << 20)
        let (snapshot, _) = try fixture.snapshot()
        let packs = storage.contents.filter { $0.key.hasPrefix("packs/") }.values.map(\.count).sorted()
        #expect(packs.count == 4)
        #expect(packs.suffix(2).allSatisfy { (16 << 20...17 << 20).contains($0) })
        #expect(try fixture.restored(snapshot) == fixture.files)
    }

    @Test func `an unchanged second snapshot writes some hundred bytes, and opens no content`() throws {
        let storage = MemoryStorage()
        let fixture = try BackupFixture(storage)
        fixture.fill(20)
        let (first, _) = try fixture.snapshot()
        let before = storage.contents
        let (second, writer) = try fixture.snapshot(newest: first.reference)
        let new = storage.contents.filter { before[$0.key] == nil }
        #expect(new.keys.map { $0 } == [second.name])
        #expect(new.values.allSatisfy { $0.count < 300 })
        #expect(writer.addedByteCount == 0)
        #expect(fixture.opened.sorted() == ["anchor", "keybag", "vault.sqlite"])
    }

    @Test func `all files of the snapshot before are taken over, if the repository has them`() throws {
        let storage = MemoryStorage()
        let fixture = try BackupFixture(storage)
        fixture.fill(20)
        let (first, _) = try fixture.snapshot()
        let before = storage.contents
        let writer = try fixture.repository.beginSnapshot(newest: first.reference)
        #expect(writer.base == first.reference)
        #expect(try writer.addUnchanged())
        let second = try writer.finish { BackupFixture.sign($0) }
        #expect(storage.contents.filter { before[$0.key] == nil }.keys.map { $0 } == [second.name])
        #expect((second.fileCount, second.byteCount) == (first.fileCount, first.byteCount))
        #expect(try fixture.restored(second) == fixture.files)
    }

    @Test func `without one of their parts, none is taken over, and all are read`() throws {
        let storage = MemoryStorage()
        let fixture = try BackupFixture(storage)
        let empty = try fixture.repository.beginSnapshot(newest: nil)
        #expect(try empty.base == nil && !empty.addUnchanged())
        fixture.files["vault.sqlite"] = pseudoRandomBytes(20 << 20)
        fixture.files["blobs/11/11111111111111111111111111111111"] = pseudoRandomBytes(5000, seed: 2)
        let (first, _) = try fixture.snapshot()
        let packs = storage.contents.filter { $0.key.hasPrefix("packs/") }
        let largest = try #require(packs.max { $0.value.count < $1.value.count }).key
        try storage.remove(largest)
        let writer = try fixture.repository.beginSnapshot(newest: first.reference)
        #expect(try !writer.addUnchanged())
        #expect(writer.fileCount == 0)
        for (path, bytes) in fixture.files.sorted(by: { $0.key < $1.key }) {
            let directory = try TemporaryDirectory()
            let source = try directory.write(bytes, to: "file")
            let file = SnapshotFile(
                path: path,
                byteCount: Int64(bytes.count),
                isImmutable: path.hasPrefix("blobs/")
            )
            try writer.add(file) { () throws(CofferError) in
                do { return try OwnedDescriptor.open(source, O_RDONLY) } catch { throw CofferError(.io, "\(error)") }
            }
        }
        let second = try writer.finish { BackupFixture.sign($0) }
        #expect(try fixture.restored(second) == fixture.files)
    }

    @Test func `a changed page of the catalog adds one chunk of 64 KiB, and its part of the list`() throws {
        let fixture = try BackupFixture(MemoryStorage())
        fixture.fill()
        try fixture.snapshot()
        fixture.files["vault.sqlite"]?[70_000] ^= 1
        let (snapshot, writer) = try fixture.snapshot()
        #expect((64 << 10...66 << 10).contains(writer.addedByteCount))
        #expect(try fixture.restored(snapshot) == fixture.files)
    }

    @Test func `equal parts of different files are stored once`() throws {
        let fixture = try BackupFixture(MemoryStorage())
        let bytes = pseudoRandomBytes(128 << 10)
        fixture.files = ["a": bytes, "b": bytes, "c": bytes + bytes]
        let (_, writer) = try fixture.snapshot()
        #expect(writer.addedByteCount < 130 << 10)
    }

    @Test func `a file whose identity is that of the previous snapshot is not read`() throws {
        let repository = try BackupFixture(MemoryStorage()).repository
        let directory = try TemporaryDirectory()
        let path = try directory.write(pseudoRandomBytes(5000), to: "overlay")
        var times = [timespec(tv_sec: 1_000_000, tv_nsec: 5), timespec(tv_sec: 1_000_000, tv_nsec: 5)]
        #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
        // Its change time has to be some seconds ago.
        Thread.sleep(forTimeInterval: 3.1)
        var openings = 0
        func add() throws -> Int64 {
            let writer = try repository.beginSnapshot(newest: nil)
            let file = try OwnedDescriptor.open(path, O_RDONLY)
            let entry = SnapshotFile(
                path: "blobs/a.overlay",
                byteCount: 5000,
                isImmutable: false,
                identity: try FileIdentity(of: file)
            )
            try writer.add(entry) { () throws(CofferError) in
                openings += 1
                do { return try OwnedDescriptor.open(path, O_RDONLY) } catch { throw CofferError(.io, "") }
            }
            _ = try writer.finish { BackupFixture.sign($0) }
            return writer.readByteCount
        }
        #expect(try add() == 5000)
        #expect(try add() == 0)
        #expect(openings == 1)
        try directory.write(pseudoRandomBytes(5000, seed: 2), to: "overlay")
        #expect(try add() == 5000)
    }

    @Test func `a content that became shorter fails the snapshot`() throws {
        let fixture = try BackupFixture(MemoryStorage())
        let writer = try fixture.repository.beginSnapshot(newest: nil)
        let file = SnapshotFile(path: "a", byteCount: 100, isImmutable: true)
        #expect(throws: CofferError(.io, "")) {
            try writer.add(file) { () throws(CofferError) in
                do { return try OwnedDescriptor.open("/dev/null", O_RDONLY) } catch { throw CofferError(.io, "") }
            }
        }
    }

    @Test func `the passphrase and the recovery key open the configuration, others do not`() throws {
        let configuration = BackupFixture.configuration
        let key = try configuration.backupKey(passphrase: BackupFixture.secret(BackupFixture.passphrase))
        try configuration.verify(with: key)
        let typed = try BackupKey(BackupFixture.secret(" o123 4567-89ab-cdef-ghjk-mnpq-rstv-wxyz-oooo\n"))
        try configuration.verify(with: typed)
        #expect(throws: CofferError(.authFailed, "")) {
            _ = try configuration.backupKey(passphrase: BackupFixture.secret("wrong"))
        }
        let other = try BackupKey(BackupFixture.secret("0123-4567-89AB-CDEF-GHJK-MNPQ-RSTV-WXYZ-0001"))
        #expect(throws: CofferError(.decode, "")) { try configuration.verify(with: other) }
        #expect(throws: CofferError(.param, "")) { _ = try BackupKey(BackupFixture.secret("0123")) }
    }

    @Test func `a flipped byte of the configuration is noticed by whoever has the recovery key`() throws {
        let bytes = BackupFixture.configuration.bytes
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 0x10
            #expect(throws: CofferError(.decode, ""), "byte \(place)") {
                try RepositoryConfiguration(changed).verify(with: BackupFixture.backupKey())
            }
        }
    }

    @Test func `a restore that is repeated keeps what is there, and mends what is not`() throws {
        let fixture = try BackupFixture(MemoryStorage())
        fixture.fill()
        let (snapshot, _) = try fixture.snapshot()
        let target = try TemporaryDirectory()
        #expect(try fixture.repository.restore(snapshot, into: target.path).keptFileCount == 0)
        try target.write([1, 2, 3], to: "keybag")
        let outcome = try fixture.repository.restore(snapshot, into: target.path)
        #expect(outcome.keptFileCount == outcome.fileCount - 1)
        #expect(try BackupFixture.files(in: target.path) == fixture.files)
    }

    @Test func `a restore does not follow a symbolic link in its target`() throws {
        let fixture = try BackupFixture(MemoryStorage())
        fixture.fill()
        let (snapshot, _) = try fixture.snapshot()
        let (target, outside) = (try TemporaryDirectory(), try TemporaryDirectory())
        try FileManager.default.createSymbolicLink(atPath: target.appending("blobs"), withDestinationPath: outside.path)
        #expect(throws: CofferError(.io, "")) { _ = try fixture.repository.restore(snapshot, into: target.path) }
        #expect(try BackupFixture.files(in: outside.path).isEmpty)
    }

    @Test func `a second backup at the same time is refused, and a prune during a restore`() throws {
        let directory = try TemporaryDirectory()
        let fixture = try BackupFixture(DirectoryStorage(directory.appending("r")))
        fixture.fill()
        let (snapshot, _) = try fixture.snapshot()
        let writer = try fixture.repository.beginSnapshot(newest: nil)
        let other = try Repository.open(DirectoryStorage(directory.appending("r")))
        #expect(throws: CofferError(.notAvailable, "")) { _ = try other.beginSnapshot(newest: nil) }
        #expect(throws: CofferError(.notAvailable, "")) { _ = try other.prune() }
        try other.forEachFile(of: snapshot) { _ throws(CofferError) in true }
        withExtendedLifetime(writer) {}
    }

    @Test func `a repository is free after its use, though a child that is being started has copies of the locks`()
        throws
    {
        let directory = try TemporaryDirectory()
        let fixture = try BackupFixture(DirectoryStorage(directory.appending("r")))
        var writer: SnapshotWriter? = try fixture.repository.beginSnapshot(newest: nil)
        let locked = directory.appending("r/locks/")
        let copies = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(Int32.init).filter
        {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.hasPrefix(locked)
                == true
        }.map { dup($0) }
        defer { for copy in copies { close(copy) } }
        #expect(copies.count == 2)
        withExtendedLifetime(writer) {}
        writer = nil
        #expect(throws: Never.self) { _ = try fixture.repository.beginSnapshot(newest: nil) }
    }
}
