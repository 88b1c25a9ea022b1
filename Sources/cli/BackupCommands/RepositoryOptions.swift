package import ArgumentParser
package import CofferBackup
package import CofferCore

/// The repository that a verb is about.
package struct RepositoryOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The repository: a directory, sftp://user@host/path or user@host:path; by default that of 'backup init'.",
            valueName: "place"
        ),
        completion: .directory
    )
    package var repository: String?

    package init() {}

    /// The place.
    ///
    /// - Throws: `param` if none is given, and none was made.
    package func place() throws(CofferError) -> String {
        if let repository { return repository }
        if let stored = try BackupSettings.load().repository { return stored }
        throw CofferError(
            .param,
            "no repository is given, and none was made with 'coffer backup init'",
            hint: "name one by --repository PLACE"
        )
    }

    /// Opens it.
    package func open() throws(CofferError) -> Repository {
        try Repository.open(try RepositoryPlace.storage(at: try place()))
    }
}
