package import CofferCore

/// What is wrong in a repository.
package struct RepositoryFinding: Equatable, Sendable {
    /// A sentence that names the object, the snapshot or the file.
    package let message: String

    init(_ message: String) { self.message = message }
}

/// The snapshots of a repository in their order, and what is wrong with it.
package struct SnapshotChain: Sendable {
    /// Every snapshot that the vault signed, the forgotten ones included, the oldest first.
    package private(set) var links: [Snapshot] = []
    /// Removed, exchanged, reordered and damaged snapshots; none if the chain is whole.
    package private(set) var findings: [RepositoryFinding] = []

    /// Objects that are no snapshot of the vault, or no longer.
    package private(set) var unreadable: [String] = []

    /// Findings that no damage explains: a snapshot must not be added to what another one than the vault has made.
    package private(set) var forgeries: [RepositoryFinding] = []

    /// The snapshots that have files, the oldest first.
    package var snapshots: [Snapshot] { links.filter { !$0.isForgotten } }

    /// Reads and verifies the chain.
    ///
    /// - Parameters:
    ///   - storage: The repository.
    ///   - configuration: Its configuration.
    ///   - newest: The newest snapshot that the vault remembers: a repository without it is an older copy.
    init(
        _ storage: any RepositoryStorage,
        _ configuration: RepositoryConfiguration,
        newest: SnapshotReference?,
        _ configurationFindings: [RepositoryFinding] = []
    ) throws(CofferError) {
        findings = configurationFindings
        var found: [Snapshot] = []
        for folder in [BackupFormat.snapshots, BackupFormat.forgotten] {
            for object in try storage.objects(in: folder) {
                let name = "\(folder)/\(object.name)"
                do throws(CofferError) {
                    let snapshot = try Self.read(name, object.byteCount, storage, configuration)
                    if snapshot.isSigned { found.append(snapshot) } else { addUnsigned(name) }
                } catch  where error == CofferError(.decode, "") {
                    findings.append(RepositoryFinding(error.message))
                    unreadable.append(name)
                }
            }
        }
        guard found.count <= Limits.snapshots else {
            throw CofferError(.dataTooLarge, "the repository has more than \(Limits.snapshots) snapshots")
        }
        // Of a snapshot that was being forgotten, the files are still there.
        found.sort { ($0.reference.number, $0.isForgotten ? 1 : 0) < ($1.reference.number, $1.isForgotten ? 1 : 0) }
        for snapshot in found { add(snapshot) }
        checkEnd(newest)
        checkConfiguration(configuration)
    }

    private mutating func addUnsigned(_ name: String) {
        let error = CofferError.damaged(object: name, "the vault has not signed it")
        findings.append(RepositoryFinding(error.message))
        forgeries.append(RepositoryFinding(error.message))
        unreadable.append(name)
    }

    /// Compares the configuration with the one that the vault has signed in each snapshot.
    private mutating func checkConfiguration(_ configuration: RepositoryConfiguration) {
        let other = links.last { link in link.configurationDigest.map { $0 != configuration.digest } ?? false }
        guard let other else { return }
        let error = CofferError.damaged(
            object: BackupFormat.configurationName,
            "snapshot \(other.reference.number) was signed for another one"
        )
        findings.append(RepositoryFinding(error.message))
        forgeries.append(RepositoryFinding(error.message))
    }

    private static func read(
        _ name: String,
        _ byteCount: Int64,
        _ storage: any RepositoryStorage,
        _ configuration: RepositoryConfiguration
    ) throws(CofferError) -> Snapshot {
        guard byteCount <= Limits.snapshotBytes else { throw .damaged(object: name, "it is too large") }
        return try Snapshot(try storage.whole(name, upTo: Limits.snapshotBytes), named: name, configuration)
    }

    private mutating func add(_ snapshot: Snapshot) {
        let number = snapshot.reference.number
        if let last = links.last, last.reference.number == number {
            if last.reference != snapshot.reference {
                let names = "\(last.reference.shortName) and \(snapshot.reference.shortName)"
                findings.append(RepositoryFinding("there are two snapshots \(number), \(names)"))
            }
            return
        }
        let before = links.last?.reference.number ?? 0
        if number > before + 1 {
            findings.append(.removed(before + 1, number - 1))
        } else if let last = links.last?.reference.digest ?? Self.none, last != snapshot.previousDigest {
            findings.append(
                RepositoryFinding("snapshot \(number) does not continue snapshot \(before): one of them was exchanged")
            )
        }
        links.append(snapshot)
    }

    private static let none: [UInt8]? = [UInt8](repeating: 0, count: BackupFormat.digestBytes)

    /// Compares the end with what the vault remembers.
    private mutating func checkEnd(_ newest: SnapshotReference?) {
        guard let newest else { return }
        let last = links.last?.reference
        if (last?.number ?? 0) < newest.number {
            findings.append(.removed((last?.number ?? 0) + 1, newest.number))
        } else if let link = links.first(where: { $0.reference.number == newest.number }), link.reference != newest {
            findings.append(
                RepositoryFinding("snapshot \(newest.number) is not the one that the vault remembers: it was exchanged")
            )
        }
    }

    /// Finds a snapshot as a person names it.
    ///
    /// - Parameter name: Its number, the beginning of its digest, or `latest`.
    /// - Throws: `itemNotFound` if there is none, or if it was forgotten.
    package func snapshot(named name: String) throws(CofferError) -> Snapshot {
        let found =
            name == "latest"
            ? snapshots.last
            : links.first { String($0.reference.number) == name }
                ?? links.first { name.utf8.count >= 4 && hexadecimal($0.reference.digest).hasPrefix(name) }
        guard let found else {
            throw CofferError(
                .itemNotFound,
                name == "latest" ? "the repository has no snapshot" : "there is no snapshot \(quotedForDisplay(name))",
                hint: "'coffer backup list' has all of them"
            )
        }
        guard !found.isForgotten else {
            throw CofferError(.itemNotFound, "snapshot \(found.reference.number) was forgotten")
        }
        return found
    }
}

extension RepositoryFinding {
    fileprivate static func removed(_ first: Int64, _ last: Int64) -> RepositoryFinding {
        RepositoryFinding(
            first == last
                ? "snapshot \(first) is missing: it was removed, or the repository is an older copy"
                : "snapshots \(first) to \(last) are missing: they were removed, or the repository is an older copy"
        )
    }
}
