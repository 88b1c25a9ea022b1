import CofferBackup
import CofferCore
import CofferCrypto
import CofferTestSupport
import Synchronization
import Testing

/// Every operation fails once, and the process is killed before each.
@Suite struct FaultTests {
    @Test(arguments: [true, false])
    func `a backup that fails or is killed at any operation leaves every snapshot whole`(isKilled: Bool) throws {
        for number in 1... {
            let storage = MemoryStorage()
            let fixture = try BackupFixture(storage)
            fixture.fill()
            let (first, _) = try fixture.snapshot()
            let old = fixture.files
            fixture.fill(5, seed: 2)
            storage.set(isKilled ? .killed(number) : .failing(number))
            let isDone = (try? fixture.snapshot()) != nil
            storage.set(nil)
            #expect(try fixture.restored(first) == old)
            #expect(try fixture.repository.check(isReadingData: true).findings.isEmpty, "operation \(number)")
            let (last, writer) = try fixture.snapshot(newest: first.reference)
            #expect(writer.findings.isEmpty)
            #expect(try fixture.restored(last) == fixture.files)
            if isDone { return }
        }
    }

    @Test func `what an interrupted backup has stored, the next one uses`() throws {
        let storage = MemoryStorage()
        let fixture = try BackupFixture(storage)
        fixture.files["blobs/11/11111111111111111111111111111111"] = randomBytes(40 << 20)
        storage.set(.killed(50))
        #expect(throws: CofferError(.io, "")) { try fixture.snapshot() }
        storage.set(nil)
        let stored = storage.contents.values.reduce(0) { $0 + $1.count }
        #expect(stored > 30 << 20)
        let (_, writer) = try fixture.snapshot()
        #expect(writer.addedByteCount < 9 << 20)
    }

    @Test func `forgetting and pruning that are killed at any operation lose nothing that is kept`() throws {
        for number in 1... {
            let storage = MemoryStorage()
            let fixture = try BackupFixture(storage)
            var kept: [(Snapshot, [String: [UInt8]])] = []
            for seed in 1...4 {
                fixture.fill(4, seed: UInt64(seed * 100))
                kept.append((try fixture.snapshot().0, fixture.files))
                if seed == 2 { fixture.files = [:] }
            }
            storage.set(.killed(number))
            let isDone: Void? = try? { () throws in
                try fixture.repository.forget([kept[0].0, kept[1].0])
                _ = try fixture.repository.prune()
            }()
            storage.set(nil)
            for (snapshot, files) in kept[2...] { #expect(try fixture.restored(snapshot) == files) }
            let chain = try fixture.repository.chain(newest: kept[3].0.reference)
            #expect(chain.findings.isEmpty)
            #expect(chain.links.count == 4)
            // It goes on.
            try fixture.repository.forget(chain.snapshots.dropLast(2))
            _ = try fixture.repository.prune()
            #expect(try fixture.repository.check(isReadingData: true).findings.isEmpty)
            for (snapshot, files) in kept[2...] { #expect(try fixture.restored(snapshot) == files) }
            try fixture.snapshot()
            if isDone != nil { return }
        }
    }

    @Test func `a prune frees what only forgotten snapshots had, and a second one has nothing to do`() throws {
        let storage = MemoryStorage()
        let fixture = try BackupFixture(storage)
        fixture.fill()
        let (first, _) = try fixture.snapshot()
        fixture.files = [:]
        fixture.fill(seed: 500)
        let (second, _) = try fixture.snapshot()
        try fixture.repository.forget([first])
        let before = storage.contents.values.reduce(0) { $0 + $1.count }
        #expect(try fixture.repository.prune().removedByteCount > 150_000)
        #expect(storage.contents.values.reduce(0) { $0 + $1.count } < before - 150_000)
        #expect(try fixture.repository.prune().removedPackCount == 0)
        #expect(try fixture.restored(second) == fixture.files)
        #expect(throws: CofferError(.itemNotFound, "")) { try fixture.repository.chain().snapshot(named: "1") }
    }

    /// A repository of several packs, one of which only a forgotten snapshot needs: its file is longer than two.
    private func fullRepository() throws -> (MemoryStorage, Snapshot, [String: [UInt8]]) {
        let storage = MemoryStorage()
        let fixture = try BackupFixture(storage)
        fixture.fill()
        fixture.files["blobs/11/11111111111111111111111111111111"] = randomBytes(34 << 20)
        let (first, _) = try fixture.snapshot()
        fixture.files["blobs/11/11111111111111111111111111111111"] = nil
        let (second, _) = try fixture.snapshot()
        try fixture.repository.forget([first])
        storage.state.withLock { [count = storage.byteCount] in $0.capacity = count }
        return (storage, second, fixture.files)
    }

    @Test func `on a full disk, a prune frees what no snapshot needs, and can be killed at any operation`() throws {
        let (storage, kept, files) = try fullRepository()
        let before = storage.contents
        for number in 1... {
            storage.state.withLock { $0.objects = before }
            storage.set(.killed(number))
            var isDone = true
            do throws(CofferError) {
                _ = try Repository.open(storage).prune()
            } catch {
                try #require(error.code == .io, "operation \(number): \(error)")
                isDone = false
            }
            storage.set(nil)
            let repository = try Repository.open(storage)
            let findings = try repository.check(isReadingData: isDone).findings
            #expect(findings.isEmpty, "operation \(number): \(findings)")
            let target = try TemporaryDirectory()
            #expect(try repository.restore(kept, into: target.path).findings.isEmpty)
            #expect(try BackupFixture.files(in: target.path) == files)
            if isDone { break }
        }
        #expect(storage.byteCount < 4 << 20)
    }

    @Test func `an append-only repository forgets and prunes nothing, and needs no removal`() throws {
        let fixture = try BackupFixture(MemoryStorage(), isAppendOnly: true)
        fixture.fill()
        let (first, _) = try fixture.snapshot()
        #expect(throws: CofferError(.param, "")) { try fixture.repository.forget([first]) }
        #expect(throws: CofferError(.param, "")) { _ = try fixture.repository.prune() }
        #expect(try fixture.restored(first) == fixture.files)
    }

    @Test func `a pack that is lost is named, and the next backup stores its chunks again`() throws {
        let storage = MemoryStorage()
        let fixture = try BackupFixture(storage)
        fixture.fill()
        let (first, _) = try fixture.snapshot()
        for name in storage.contents.keys where name.hasPrefix("packs/") { storage.set(name, nil) }
        let outcome = try fixture.repository.check(isReadingData: false)
        #expect(outcome.findings.contains { $0.message.contains("packs/") && $0.message.contains("missing") })
        let (second, writer) = try fixture.snapshot()
        #expect(!writer.findings.isEmpty)
        #expect(try fixture.restored(second) == fixture.files)
        #expect(try fixture.restored(first) == fixture.files)
    }

    @Test func `lost or damaged indexes cost nothing: the packs say what they have`() throws {
        let storage = MemoryStorage()
        let fixture = try BackupFixture(storage)
        fixture.fill()
        let (first, _) = try fixture.snapshot()
        for name in storage.contents.keys where name.hasPrefix("index/") { storage.set(name, [1, 2, 3]) }
        #expect(try fixture.restored(first) == fixture.files)
        for name in storage.contents.keys where name.hasPrefix("index/") { storage.set(name, nil) }
        #expect(try fixture.restored(first) == fixture.files)
    }
}
