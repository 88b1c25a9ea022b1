internal import CofferCore
package import CofferSystem
internal import Glibc

/// Where contents lie: `blobs/ab/<id>` and `blobs/ab/<id>.overlay`, and the same in `blobs/staging` until the catalog names
/// them.
///
/// A content is staged and synced, then named in the catalog, then moved to its place. Whatever a crash leaves is in
/// `staging`, which is small; so coming up costs the same for any number of files.
package final class ContentDirectory: Sendable {
    /// Its name in the state directory.
    package static let directoryName = "blobs"
    private static let stagingName = "staging"
    static let overlaySuffix = ".overlay"

    private let root: Directory
    private let staging: Directory

    /// Opens the directory, made if it is not there.
    ///
    /// - Parameter stateDirectory: The vault's state directory.
    package init(in stateDirectory: Directory) throws(SystemError) {
        root = try stateDirectory.subdirectory(Self.directoryName)
        staging = try root.subdirectory(Self.stagingName)
    }

    var fileSystem: FileSystem { root.fileSystem }

    func create(_ id: ItemID) throws(SystemError) -> OwnedDescriptor { try staging.create(id.hexadecimal) }

    /// Makes a staged content survive a power cut.
    func synchronize(_ content: borrowing OwnedDescriptor) throws(SystemError) {
        try staging.synchronize(content)
        try staging.synchronize()
    }

    /// Opens a content for reading, wherever it lies.
    func open(_ id: ItemID) throws(SystemError) -> OwnedDescriptor? {
        if let placed = try root.openIfPresent(Self.place(of: id)) { return placed }
        return try staging.openIfPresent(id.hexadecimal)
    }

    /// Opens the overlay of a content, wherever it lies.
    func openOverlay(_ id: ItemID) throws(SystemError) -> (file: ContentFile, isStaged: Bool)? {
        if let placed = try root.openForWriting(Self.place(of: id) + Self.overlaySuffix) {
            return (ContentFile(placed), false)
        }
        guard let staged = try staging.openForWriting(id.hexadecimal + Self.overlaySuffix) else { return nil }
        return (ContentFile(staged), true)
    }

    /// Makes the overlay of a content, in place of one that is of no use.
    func createOverlay(_ id: ItemID) throws(SystemError) -> ContentFile {
        if try openOverlay(id) != nil { try removeOverlay(id) }
        return ContentFile(try staging.create(id.hexadecimal + Self.overlaySuffix))
    }

    func synchronizeOverlay(_ overlay: borrowing OwnedDescriptor, isStaged: Bool) throws(SystemError) {
        try staging.synchronize(overlay)
        if isStaged { try staging.synchronize() }
    }

    func placeOverlay(_ id: ItemID) throws(SystemError) {
        let name = id.hexadecimal
        let directory = try root.subdirectory(String(name.prefix(2)))
        try staging.rename(name + Self.overlaySuffix, to: name + Self.overlaySuffix, in: directory)
    }

    func discardStagedOverlay(_ id: ItemID) { try? staging.remove(id.hexadecimal + Self.overlaySuffix) }

    /// Moves a staged content to its place.
    func place(_ id: ItemID) throws(SystemError) {
        let name = id.hexadecimal
        let directory = try root.subdirectory(String(name.prefix(2)))
        try staging.rename(name, to: name, in: directory)
    }

    func remove(_ id: ItemID) throws(SystemError) {
        try root.remove(Self.place(of: id))
        try staging.remove(id.hexadecimal)
        try removeOverlay(id)
    }

    private func removeOverlay(_ id: ItemID) throws(SystemError) {
        try root.remove(Self.place(of: id) + Self.overlaySuffix)
        try staging.remove(id.hexadecimal + Self.overlaySuffix)
    }

    func discardStaged(_ id: ItemID) { try? staging.remove(id.hexadecimal) }

    /// The contents that a crash left on the way, and the names of what is none.
    func stagedNames() throws(SystemError) -> [String] { try staging.entries() }

    func discardStaged(named name: String) { try? staging.remove(name) }

    private static func place(of id: ItemID) -> String { "\(id.hexadecimal.prefix(2))/\(id.hexadecimal)" }
}
