import CofferBackup
import CofferCore
import CofferTestSupport
import Synchronization
import Testing

/// What an attacker can do who writes to the repository.
@Suite struct ChainTests {
    private func fixture() throws -> (BackupFixture, MemoryStorage, [Snapshot]) {
        let storage = MemoryStorage()
        let fixture = try BackupFixture(storage)
        fixture.fill(1)
        var snapshots: [Snapshot] = []
        for _ in 0..<4 { snapshots.append(try fixture.snapshot().0) }
        return (fixture, storage, snapshots)
    }

    private func messages(_ fixture: BackupFixture, newest: SnapshotReference? = nil) throws -> [String] {
        try fixture.repository.chain(newest: newest).findings.map(\.message)
    }

    @Test(arguments: [0, 1, 2])
    func `a removed snapshot is noticed`(index: Int) throws {
        let (fixture, storage, snapshots) = try fixture()
        storage.set(snapshots[index].name, nil)
        let messages = try messages(fixture)
        #expect(messages == ["snapshot \(index + 1) is missing: it was removed, or the repository is an older copy"])
    }

    @Test func `removed newest snapshots are noticed by the vault, and never get their numbers again`() throws {
        let (fixture, storage, snapshots) = try fixture()
        storage.set(snapshots[2].name, nil)
        storage.set(snapshots[3].name, nil)
        #expect(try messages(fixture).isEmpty)
        let expected = "snapshots 3 to 4 are missing: they were removed, or the repository is an older copy"
        #expect(try messages(fixture, newest: snapshots[3].reference) == [expected])
        let (next, writer) = try fixture.snapshot(newest: snapshots[3].reference)
        #expect(next.reference.number == 5)
        #expect(writer.findings.map(\.message) == [expected])
        #expect(try messages(fixture) == [expected])
    }

    @Test func `there is no snapshot after the last number, which a client may have had signed`() throws {
        let (fixture, _, _) = try fixture()
        let digest = [UInt8](repeating: 7, count: Limits.snapshotDigestBytes)
        let code = #expect(throws: CofferError.self) {
            _ = try fixture.snapshot(newest: SnapshotReference(number: .max, digest: digest))
        }?.code
        #expect(code == .notAvailable)
    }

    @Test(arguments: [Int64.min, -1, .max])
    func `a server may list any sizes, which are damage`(byteCount: Int64) throws {
        let (fixture, storage, snapshots) = try fixture()
        storage.state.withLock { $0.listedByteCount = byteCount }
        #expect(try !fixture.repository.check(isReadingData: true).findings.isEmpty)
        storage.state.withLock { $0.listedByteCount = nil }
        #expect(try fixture.restored(try #require(snapshots.last)) == fixture.files)
    }

    @Test func `exchanged and reordered snapshots are noticed`() throws {
        let (fixture, storage, snapshots) = try fixture()
        let (one, two) = (storage.contents[snapshots[1].name], storage.contents[snapshots[2].name])
        storage.set(snapshots[1].name, two)
        storage.set(snapshots[2].name, one)
        let messages = try messages(fixture)
        #expect(messages.contains { $0.contains(snapshots[1].name) && $0.contains("exchanged") })
        #expect(messages.contains { $0.contains(snapshots[2].name) && $0.contains("exchanged") })
    }

    @Test func `a snapshot that another key signed is noticed, and is none`() throws {
        let (fixture, _, _) = try fixture()
        #expect(throws: CofferError(.decode, "")) { try fixture.snapshot(signedBy: 8) }
    }

    @Test func `a snapshot of another repository of the same vault is noticed`() throws {
        let (fixture, storage, snapshots) = try fixture()
        let other = MemoryStorage()
        let configuration = BackupFixture.makeConfiguration(isAppendOnly: false)
        let repository = try Repository.create(other, configuration)
        let writer = try repository.beginSnapshot(newest: nil)
        let foreign = try writer.finish { BackupFixture.sign($0) }
        storage.set(foreign.name, other.contents[foreign.name])
        #expect(try messages(fixture).contains { $0.contains(foreign.name) })
        #expect(try fixture.repository.chain().links.count == snapshots.count)
    }

    @Test func `two snapshots of one number are noticed`() throws {
        let (fixture, storage, _) = try fixture()
        let before = storage.contents
        let (one, _) = try fixture.snapshot()
        let first = storage.contents[one.name]
        storage.state.withLock { $0.objects = before }
        fixture.fill(2, seed: 9)
        try fixture.snapshot()
        storage.set(one.name, first)
        #expect(try messages(fixture).contains { $0.hasPrefix("there are two snapshots 5") })
    }

    @Test func `a truncated snapshot is noticed at each length`() throws {
        let (fixture, storage, snapshots) = try fixture()
        let bytes = try #require(storage.contents[snapshots[3].name])
        for count in bytes.indices {
            storage.set(snapshots[3].name, Array(bytes[..<count]))
            #expect(try messages(fixture).contains { $0.contains(snapshots[3].name) }, "\(count) bytes")
        }
    }

    @Test func `each flipped byte of each object is noticed, and its object named`() throws {
        let storage = MemoryStorage()
        let fixture = try BackupFixture(storage)
        fixture.files = ["keybag": pseudoRandomBytes(300), "blobs/00/0": pseudoRandomBytes(48), "anchor": [1]]
        try fixture.snapshot()
        fixture.files["anchor"] = [2]
        try fixture.snapshot()
        for (name, bytes) in storage.contents where !name.hasPrefix("config") {
            for place in bytes.indices {
                var changed = bytes
                changed[place] ^= 0x20
                storage.set(name, changed)
                let findings = try fixture.repository.check(isReadingData: true).findings
                #expect(findings.contains { $0.message.contains(name) }, "\(name), byte \(place)")
            }
            storage.set(name, bytes)
        }
        #expect(try fixture.repository.check(isReadingData: true).findings.isEmpty)
    }

    @Test func `nothing is restored of a file of which a byte was flipped, and the others are`() throws {
        let storage = MemoryStorage()
        let fixture = try BackupFixture(storage)
        fixture.fill(4)
        let (snapshot, _) = try fixture.snapshot()
        let packs = storage.contents.filter { $0.key.hasPrefix("packs/") }
        let pack = try #require(packs.max { $0.value.count < $1.value.count })
        var changed = pack.value
        changed[changed.count / 2] ^= 1
        storage.set(pack.key, changed)
        let target = try TemporaryDirectory()
        let outcome = try fixture.repository.restore(snapshot, into: target.path)
        #expect(outcome.findings.count == 1)
        let files = try BackupFixture.files(in: target.path)
        #expect(files.count == fixture.files.count - 1)
        #expect(files.allSatisfy { fixture.files[$0.key] == $0.value })
    }

    @Test func `snapshots are named by number, by digest and as the latest`() throws {
        let (fixture, _, snapshots) = try fixture()
        let chain = try fixture.repository.chain()
        #expect(try chain.snapshot(named: "latest").reference == snapshots[3].reference)
        #expect(try chain.snapshot(named: "2").reference == snapshots[1].reference)
        #expect(try chain.snapshot(named: snapshots[2].reference.shortName).reference == snapshots[2].reference)
        #expect(throws: CofferError(.itemNotFound, "")) { try chain.snapshot(named: "9") }
    }
}
