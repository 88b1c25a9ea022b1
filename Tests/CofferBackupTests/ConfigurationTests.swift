import CofferBackup
import CofferCore
import CofferTestSupport
import Testing

/// The object that only a restore opens: it is verified by whatever runs each day, and stands twice.
@Suite struct ConfigurationTests {
    private static let names = ["config", "config.copy"]

    private func repository() throws -> (MemoryStorage, Snapshot, [String: [UInt8]]) {
        let storage = MemoryStorage()
        let fixture = try BackupFixture(storage)
        fixture.files = ["keybag": pseudoRandomBytes(300), "blobs/00/0": pseudoRandomBytes(48)]
        return (storage, try fixture.snapshot().0, fixture.files)
    }

    @Test(arguments: names)
    func `each flipped byte of a copy is named without a key, opens by the other copy, and is written anew`(
        name: String
    ) throws {
        let (storage, _, _) = try repository()
        let bytes = try #require(storage.contents[name])
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 0x10
            storage.set(name, changed)
            let repository = try Repository.open(storage)
            let found = try repository.chain().findings.map(\.message)
            #expect(found.contains { $0.contains("'\(name)'") || $0.contains("version") }, "byte \(place): \(found)")
            #expect(try !repository.check(isReadingData: false).findings.isEmpty, "byte \(place)")
            try repository.configuration.verify(with: BackupFixture.backupKey())
            #expect(try repository.chain().links.count == 1)
            #expect(try !repository.beginSnapshot(newest: nil).findings.isEmpty)
            #expect(storage.contents[name] == bytes, "byte \(place)")
        }
        #expect(try Repository.open(storage).chain().findings.isEmpty)
    }

    @Test(arguments: names)
    func `a copy that is missing is named and written anew, and everything is restored without it`(name: String) throws
    {
        let (storage, snapshot, files) = try repository()
        let bytes = storage.contents[name]
        storage.set(name, nil)
        let repository = try Repository.open(storage)
        #expect(try repository.chain().findings.map(\.message) == ["'\(name)' is missing; the other copy is used"])
        let target = try TemporaryDirectory()
        #expect(try repository.restore(snapshot, into: target.path).findings.isEmpty)
        #expect(try BackupFixture.files(in: target.path) == files)
        _ = try repository.beginSnapshot(newest: nil)
        #expect(storage.contents[name] == bytes)
    }

    @Test func `two damaged copies are an error that names one, and none is no repository`() throws {
        let (storage, _, _) = try repository()
        for name in Self.names { storage.set(name, [1, 2, 3]) }
        #expect(throws: CofferError(.decode, "")) { _ = try Repository.open(storage) }
        for name in Self.names { storage.set(name, nil) }
        #expect(throws: CofferError(.notAvailable, "")) { _ = try Repository.open(storage) }
    }

    @Test func `of two copies that differ, the one that the vault remembers is used, and no other`() throws {
        let (storage, _, _) = try repository()
        let other = BackupFixture.makeConfiguration(isAppendOnly: false)
        storage.set("config", other.bytes)
        let right = hexadecimal(BackupFixture.configuration.digest)
        let repository = try Repository.open(storage, expecting: right)
        try repository.requireConfiguration(right)
        #expect(try repository.chain().links.count == 1)
        #expect(try !repository.chain().findings.isEmpty)
        let exchanged = try Repository.open(storage)
        #expect(throws: CofferError(.decode, "")) { try exchanged.requireConfiguration(right) }
    }

    @Test func `a snapshot that the vault has not signed stops the next one before anything is written`() throws {
        let (storage, snapshot, _) = try repository()
        var bytes = try #require(storage.contents[snapshot.name])
        bytes[180] ^= 1
        storage.set(snapshot.name, bytes)
        storage.set(nil)
        #expect(throws: CofferError(.decode, "")) { _ = try Repository.open(storage).beginSnapshot(newest: nil) }
        #expect(storage.operations == 0)
    }

    @Test func `an append-only repository gets a missing copy back, and a damaged one is only named`() throws {
        let storage = MemoryStorage()
        _ = try BackupFixture(storage, isAppendOnly: true)
        let bytes = storage.contents["config"]
        storage.set("config", nil)
        _ = try Repository.open(storage).beginSnapshot(newest: nil)
        #expect(storage.contents["config"] == bytes)
        storage.set("config", [1])
        #expect(try Repository.open(storage).beginSnapshot(newest: nil).findings.count == 1)
        #expect(storage.contents["config"] == [1])
    }
}
