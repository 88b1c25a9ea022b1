import CofferBackup
import CofferCore
import CofferCrypto
import CofferTestSupport
import Foundation
import Testing

/// A repository of version 1, as it left the building: every build restores it.
@Suite struct FrozenRepositoryTests {
    private static let path = "\(Project.root)/Tests/Vectors/backup/v1"

    /// Its files; the second snapshot has another catalog.
    private static func fill(_ fixture: BackupFixture, _ number: UInt64) {
        fixture.files = [
            "anchor": pseudoRandomBytes(82, seed: 1), "keybag": pseudoRandomBytes(1707, seed: 2),
            "vault.sqlite": pseudoRandomBytes(8192, seed: 2 + number),
            "blobs/0a/0a000000000000000000000000000000": pseudoRandomBytes(48, seed: 9),
            "blobs/0a/0a000000000000000000000000000000.overlay": pseudoRandomBytes(4144, seed: 10),
        ]
    }

    @Test func `the frozen repository of version 1 is whole, and opens with its passphrase`() throws {
        // A reader locks what it can write to.
        let directory = try TemporaryDirectory()
        try FileManager.default.copyItem(atPath: Self.path, toPath: directory.appending("v1"))
        let repository = try Repository.open(DirectoryStorage(directory.appending("v1")))
        _ = try repository.configuration.backupKey(passphrase: BackupFixture.secret(BackupFixture.passphrase))
        try repository.configuration.verify(with: BackupFixture.backupKey())
        let chain = try repository.chain()
        #expect(chain.findings.isEmpty)
        #expect(chain.links.map(\.isForgotten) == [true, false, false])
        #expect(try repository.check(isReadingData: true).findings.isEmpty)
        let fixture = try BackupFixture(MemoryStorage())
        for (number, snapshot) in chain.snapshots.enumerated() {
            let target = try TemporaryDirectory()
            #expect(try repository.restore(snapshot, into: target.path).findings.isEmpty)
            Self.fill(fixture, UInt64(number + 2))
            #expect(try BackupFixture.files(in: target.path) == fixture.files)
        }
    }

    /// How it was made: never again for this version.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["COFFER_FREEZE_BACKUP"] != nil))
    func `a repository is frozen`() throws {
        let path = Self.path
        let fixture = try BackupFixture(DirectoryStorage(path))
        var snapshots: [Snapshot] = []
        for number in 1...3 {
            Self.fill(fixture, UInt64(number))
            snapshots.append(try fixture.snapshot().0)
        }
        try fixture.repository.forget([snapshots[0]])
        try FileManager.default.removeItem(atPath: path + "/locks")
    }
}
