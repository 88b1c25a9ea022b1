import CofferBackup
import CofferCore
import CofferCrypto
import CofferMemory
import CofferSystem
import CofferTestSupport
import Foundation

/// A vault's files, and a repository for their snapshots.
final class BackupFixture {
    static let vaultID = ItemID(0..<16) ?? ItemID()
    static let passphrase = "correct horse battery staple"
    static let recoveryKey = "0123-4567-89AB-CDEF-GHJK-MNPQ-RSTV-WXYZ-0000"

    /// They take a while to make.
    static let configuration = makeConfiguration(isAppendOnly: false)
    static let appendOnlyConfiguration = makeConfiguration(isAppendOnly: true)

    static func makeConfiguration(isAppendOnly: Bool) -> RepositoryConfiguration {
        do {
            return try RepositoryConfiguration(
                vaultID: vaultID,
                verificationKey: signingKey().publicKey,
                isAppendOnly: isAppendOnly,
                key: backupKey(),
                passphrase: secret(passphrase),
                cost: .interactive
            )
        } catch { fatalError("\(error)") }
    }

    static func secret(_ text: String) -> SecretBytes {
        do { return try SecretBytes(copying: Array(text.utf8).span.bytes) } catch { fatalError("\(error)") }
    }

    static func backupKey() -> BackupKey {
        do { return try BackupKey(secret(recoveryKey)) } catch { fatalError("\(error)") }
    }

    static func signingKey(_ seed: UInt8 = 7) -> SigningKey {
        do {
            let seed = try SecretBytes(copying: [UInt8](repeating: seed, count: SigningKey.seedBytes).span.bytes)
            guard let key = try SigningKey(seed: seed) else { fatalError("a seed has 32 bytes") }
            return key
        } catch { fatalError("\(error)") }
    }

    static func sign(_ reference: SnapshotReference) -> [UInt8] {
        signingKey().signature(of: reference.signedMessage.span.bytes)
    }

    let storage: any RepositoryStorage
    let repository: Repository
    /// The state directory: paths and contents.
    var files: [String: [UInt8]] = [:]
    /// The paths that were opened by the last snapshot.
    private(set) var opened: [String] = []
    private let directory: TemporaryDirectory

    init(_ storage: any RepositoryStorage, isAppendOnly: Bool = false) throws {
        self.storage = storage
        directory = try TemporaryDirectory()
        repository = try Repository.create(
            storage,
            isAppendOnly ? Self.appendOnlyConfiguration : Self.configuration
        )
    }

    /// Some files of each kind.
    func fill(_ contentCount: Int = 3, seed: UInt64 = 1) {
        files["anchor"] = pseudoRandomBytes(82, seed: seed)
        files["keybag"] = pseudoRandomBytes(1707, seed: seed + 1)
        files["vault.sqlite"] = pseudoRandomBytes(150_000, seed: seed + 2)
        for number in 0..<contentCount {
            let id = hexadecimal(pseudoRandomBytes(16, seed: seed + 10 + UInt64(number)))
            files["blobs/\(id.prefix(2))/\(id)"] = pseudoRandomBytes(48 + 20_000 * number, seed: UInt64(number) + 50)
        }
    }

    /// Adds a snapshot.
    @discardableResult
    func snapshot(newest: SnapshotReference? = nil, signedBy seed: UInt8 = 7) throws -> (Snapshot, SnapshotWriter) {
        let writer = try repository.beginSnapshot(newest: newest)
        opened = []
        for path in files.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
            let bytes = files[path] ?? []
            let file = SnapshotFile(
                path: path,
                byteCount: Int64(bytes.count),
                isImmutable: path.hasPrefix("blobs/") && !path.hasSuffix(".overlay")
            )
            try writer.add(file) { () throws(CofferError) in
                opened.append(path)
                return try Self.open(bytes, directory)
            }
        }
        let snapshot = try writer.finish { Self.signingKey(seed).signature(of: $0.signedMessage.span.bytes) }
        return (snapshot, writer)
    }

    private static func open(_ bytes: [UInt8], _ directory: TemporaryDirectory) throws(CofferError) -> OwnedDescriptor {
        do {
            let path = try directory.write(bytes, to: "file")
            return try OwnedDescriptor.open(path, O_RDONLY)
        } catch { throw CofferError(.io, "\(error)") }
    }

    /// The files of a snapshot, restored into an empty directory.
    func restored(_ snapshot: Snapshot) throws -> [String: [UInt8]] {
        let target = try TemporaryDirectory()
        let outcome = try repository.restore(snapshot, into: target.path)
        guard outcome.findings.isEmpty else { throw CofferError(.decode, outcome.findings[0].message) }
        return try Self.files(in: target.path)
    }

    static func files(in path: String) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
            var isDirectory: ObjCBool = false
            _ = FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isDirectory)
            if isDirectory.boolValue { continue }
            files[name] = Array(FileManager.default.contents(atPath: "\(path)/\(name)") ?? Data())
        }
        return files
    }
}
