internal import CofferCore

/// The configuration of a repository as it is stored, twice: the object that only a restore opens has to survive damage.
struct StoredConfiguration {
    /// The copy that is whole.
    let configuration: RepositoryConfiguration
    /// Damaged and missing copies.
    private(set) var findings: [RepositoryFinding] = []
    /// Their names.
    private(set) var damaged: [String] = []

    private enum Copy {
        case whole(RepositoryConfiguration)
        case damaged(CofferError)
        case missing
    }

    /// Reads both copies.
    ///
    /// - Parameter digest: The digest that the vault remembers, which decides between two that differ.
    /// - Throws: `notAvailable` if there is no repository; `decode` if both copies are damaged.
    init(_ storage: any RepositoryStorage, expecting digest: String?) throws(CofferError) {
        let names = [BackupFormat.configurationName, BackupFormat.configurationCopyName]
        let copies = [try Self.read(names[0], storage), try Self.read(names[1], storage)]
        configuration = try Self.choose(copies, digest, storage)
        // Without a checksum there was no copy.
        if !configuration.hasChecksum { return }
        for (name, copy) in zip(names, copies) {
            switch copy {
            case .whole(let found) where found.digest == configuration.digest: continue
            case .whole: add(name, "\(quotedForDisplay(name)) is not the configuration that the other copy has")
            case .damaged(let error): add(name, "\(error.message); the other copy is used")
            case .missing: add(name, "\(quotedForDisplay(name)) is missing; the other copy is used")
            }
        }
    }

    private mutating func add(_ name: String, _ message: String) {
        damaged.append(name)
        findings.append(RepositoryFinding(message))
    }

    private static func choose(
        _ copies: [Copy],
        _ digest: String?,
        _ storage: any RepositoryStorage
    ) throws(CofferError) -> RepositoryConfiguration {
        let whole = copies.compactMap { (copy) -> RepositoryConfiguration? in
            if case .whole(let configuration) = copy { return configuration }
            return nil
        }
        if let found = whole.first(where: { hexadecimal($0.digest) == digest }) ?? whole.first { return found }
        for case .damaged(let error) in copies { throw error }
        throw CofferError(
            .notAvailable,
            "there is no repository of backups at \(quotedForDisplay(storage.place))",
            hint: "mount its file system, name another place by --repository, or make one with 'coffer backup init'"
        )
    }

    private static func read(_ name: String, _ storage: any RepositoryStorage) throws(CofferError) -> Copy {
        guard let bytes = try storage.read(name, at: 0, Limits.backupConfigurationBytes + 1) else { return .missing }
        do throws(CofferError) {
            return .whole(try RepositoryConfiguration(bytes, named: name))
        } catch  where error == CofferError(.decode, "") {
            return .damaged(error)
        }
    }
}
