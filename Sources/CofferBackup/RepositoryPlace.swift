package import CofferCore

/// Where a repository is, as a person writes it.
package enum RepositoryPlace {
    /// The storage of a place.
    ///
    /// - Parameter place: A directory.
    package static func storage(at place: String) throws(CofferError) -> any RepositoryStorage {
        guard !place.isEmpty else { throw CofferError(.param, "the place of a repository is empty") }
        return DirectoryStorage(place)
    }
}
