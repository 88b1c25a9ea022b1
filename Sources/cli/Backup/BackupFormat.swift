internal import CofferCore

/// The constants of the format that proto-docs/BACKUP.md describes.
enum BackupFormat {
    static let version: UInt16 = 1
    /// The versions of a configuration and of a snapshot: the second ones have a digest of the configuration.
    static let describedVersions: ClosedRange<UInt16> = 1...2
    static let configurationName = "config"
    /// The second copy, which is used when the first one is damaged.
    static let configurationCopyName = "config.copy"
    static let packs = "packs"
    static let indexes = "index"
    static let snapshots = "snapshots"
    static let forgotten = "forgotten"
    static let locks = "locks"

    /// The bytes of a digest of a snapshot, of a tag, and of the key that chunks are hashed under.
    static let digestBytes = 32

    /// The name of a pack.
    static func name(ofPack id: ItemID) -> String {
        let digits = id.hexadecimal
        return "\(packs)/\(digits.prefix(2))/\(digits)"
    }

    /// The folders of packs.
    static let packFolders = (0..<256).map { "\(packs)/\(hexadecimal([UInt8($0)]))" }

    /// The name of an index.
    static func name(ofIndex id: ItemID) -> String { "\(indexes)/\(id.hexadecimal)" }
}

extension CofferError {
    /// The error for an object of a repository that is not as it was written.
    ///
    /// - Parameters:
    ///   - object: Its name in the repository.
    ///   - finding: What is wrong.
    static func damaged(object: String, _ finding: String) -> CofferError {
        CofferError(
            .decode,
            "\(quotedForDisplay(object)) of the repository is damaged or was exchanged: \(finding)",
            hint: "'coffer backup check --read-data' says what can still be restored"
        )
    }
}
