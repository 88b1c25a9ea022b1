package import CofferCore
package import CofferSystem
internal import Glibc
internal import Synchronization

/// The directory of contents: `blobs/ab/<id>` and `blobs/ab/<id>.overlay`, and the same in `blobs/staging` until the
/// catalog names them.
///
/// A name is on the disk when its directory was synced, and not before: a sync of the file alone does not suffice. So each
/// step waits for the one before it, and from the first commit on, one of the two names is on the disk at any instant:
///
/// 1. A content, or the overlay of a file that is written, is staged.
/// 2. The file is synced, then `staging`.
/// 3. The catalog names the content, or the chunks of the overlay, and the commit is synced.
/// 4. It is linked to its final path.
/// 5. The directory of the final path is synced, then `blobs`, which names that directory.
/// 6. The staged name is removed. If it comes back after a power cut, it is another name of the same file.
///
/// What a crash leaves staged starts at step 2 again, since the sync may not have happened. An overlay that is replaced is
/// removed from its final path, synced, before the next one is staged. Other names that are removed need no sync: nothing in
/// the catalog leads to them.
///
/// Whatever is incomplete after a crash is in `staging`, which is small: so the start of the daemon takes the same time for any
/// number of files.
package final class ContentDirectory: Sendable {
    /// Its name in the state directory.
    package static let directoryName = "blobs"
    private static let stagingName = "staging"
    package static let overlaySuffix = ".overlay"

    private let root: Directory
    private let staging: Directory
    /// The staged names of contents whose final paths may not be synced yet, and when they were linked.
    private let placed = Mutex<[String: UInt64]>([:])
    private let clock = Atomic<UInt64>(0)

    /// Opens the directory, and creates it if it does not exist.
    ///
    /// - Parameter stateDirectory: The vault's state directory.
    package init(in stateDirectory: Directory) throws(SystemError) {
        root = try stateDirectory.subdirectory(Self.directoryName)
        staging = try root.subdirectory(Self.stagingName)
    }

    /// The space of the disk.
    package func space() throws(SystemError) -> DiskSpace { try root.diskSpace() }

    package var fileSystem: FileSystem { root.fileSystem }

    func create(_ id: ItemID) throws(SystemError) -> OwnedDescriptor { try staging.create(id.hexadecimal) }

    /// Syncs a staged content.
    func synchronize(_ content: borrowing OwnedDescriptor) throws(SystemError) {
        try staging.synchronize(content)
        sweep(from: Limits.stagedPlaces)
        try staging.synchronize()
    }

    /// Opens a content for reading, in either place.
    package func open(_ id: ItemID) throws(SystemError) -> OwnedDescriptor? {
        try find(id.hexadecimal, of: id)
    }

    /// Opens a name for reading, in either place.
    func find(_ name: String, of id: ItemID) throws(SystemError) -> OwnedDescriptor? {
        if let placed = try shelf(of: id)?.openIfPresent(name) { return placed }
        return try staging.openIfPresent(name)
    }

    /// Opens the overlay of a content, in either place.
    package func openOverlay(_ id: ItemID) throws(SystemError) -> (file: ContentFile, isStaged: Bool)? {
        let name = id.hexadecimal + Self.overlaySuffix
        if let shelf = try shelf(of: id), let placed = try Self.openOverlay(name, in: shelf) {
            return (ContentFile(placed), false)
        }
        guard let staged = try Self.openOverlay(name, in: staging) else { return nil }
        return (ContentFile(staged), true)
    }

    /// The bytes of the disk that the overlay of a content takes; `nil` if it has none.
    package func storedByteCount(ofOverlay id: ItemID) -> Int64? {
        let name = id.hexadecimal + Self.overlaySuffix
        let status = root.status(of: Self.place(of: id) + Self.overlaySuffix) ?? staging.status(of: name)
        return status.map { Overlay.storedByteCount($0) }
    }

    /// Fails on a read-only file system, even if the content is only open for reading.
    package func checkWritable() throws(SystemError) {
        if root.isReadOnly { throw SystemError("open", code: EROFS) }
    }

    /// On a read-only file system, an overlay can still be read.
    private static func openOverlay(_ name: String, in directory: Directory) throws(SystemError) -> OwnedDescriptor? {
        do {
            return try directory.openForWriting(name)
        } catch  where error.code == EROFS {
            return try directory.openIfPresent(name)
        }
    }

    /// Creates the overlay of a content, and replaces one that is not in use.
    ///
    /// - Parameter isNew: Whether nothing can be there of the content.
    package func createOverlay(_ id: ItemID, isNew: Bool = false) throws(SystemError) -> ContentFile {
        if !isNew, try openOverlay(id) != nil {
            try removeOverlay(id)
            // Otherwise, after a power cut, the one at the final path would be taken for this one.
            try shelf(of: id)?.synchronize()
        }
        return ContentFile(try staging.create(id.hexadecimal + Self.overlaySuffix))
    }

    func synchronizeOverlay(_ overlay: borrowing OwnedDescriptor, isStaged: Bool) throws(SystemError) {
        try staging.synchronizeContent(of: overlay)
        guard isStaged else { return }
        sweep(from: Limits.stagedPlaces)
        try staging.synchronize()
    }

    /// Syncs the overlay of a content.
    ///
    /// - Returns: Whether there is one.
    package func synchronizeOverlay(of id: ItemID) throws(SystemError) -> Bool {
        guard let found = try openOverlay(id) else { return false }
        try synchronizeOverlay(found.file.descriptor, isStaged: found.isStaged)
        return true
    }

    /// Syncs all overlays and their names by one call, which for many of them takes far less than a sync of each.
    func synchronizeAll() throws(SystemError) {
        let due = placed.withLock { $0 }
        try root.synchronizeFileSystem()
        removeStaged(due)
    }

    package func placeOverlay(_ id: ItemID) throws(SystemError) { try place(id.hexadecimal + Self.overlaySuffix) }

    package func discardStagedOverlay(_ id: ItemID) { try? staging.remove(id.hexadecimal + Self.overlaySuffix) }

    /// Links a staged content to its final path, after its staged name was synced.
    package func place(_ id: ItemID) throws(SystemError) { try place(id.hexadecimal) }

    private func place(_ name: String) throws(SystemError) {
        // Its directory is synced before the staged name is removed.
        let directory = try root.subdirectory(String(name.prefix(2)), isSynced: false)
        if try staging.link(name, to: directory) {
            let now = clock.wrappingAdd(1, ordering: .relaxed).newValue
            placed.withLock { $0[name] = now }
        } else {
            // It has only one name, which must not be lost.
            try directory.synchronize()
            try root.synchronize()
        }
    }

    /// Syncs final paths and then removes the staged names of their contents.
    ///
    /// What fails is retried at the next call.
    ///
    /// - Parameter count: The minimum number of names to remove, because this blocks on the disk.
    package func sweep(from count: Int = 1) {
        let due = placed.withLock { $0.count < count ? [:] : $0 }
        if due.isEmpty { return }
        do throws(SystemError) {
            for part in Set(due.keys.map { String($0.prefix(2)) }) { try root.subdirectory(part).synchronize() }
            // The sync behind the making of a directory may have failed, or a kill may have come before it.
            try root.synchronize()
        } catch {
            return
        }
        removeStaged(due)
    }

    /// Removes staged names whose final paths were synced.
    private func removeStaged(_ due: [String: UInt64]) {
        placed.withLock { placed in
            // A name that was linked again meanwhile is a different one.
            for (name, time) in due where placed[name] == time && (try? staging.remove(name)) != nil {
                placed[name] = nil
            }
        }
    }

    package func remove(_ id: ItemID) throws(SystemError) {
        forget(id.hexadecimal)
        try root.remove(Self.place(of: id))
        try staging.remove(id.hexadecimal)
        try removeOverlay(id)
    }

    private func forget(_ name: String) { placed.withLock { $0[name] = nil } }

    private func removeOverlay(_ id: ItemID) throws(SystemError) {
        forget(id.hexadecimal + Self.overlaySuffix)
        try root.remove(Self.place(of: id) + Self.overlaySuffix)
        try staging.remove(id.hexadecimal + Self.overlaySuffix)
    }

    package func discardStaged(_ id: ItemID) { try? staging.remove(id.hexadecimal) }

    /// The names in `staging` after a crash, valid or not.
    ///
    /// They are synced, so that they may be placed.
    package func stagedNames() throws(SystemError) -> [String] {
        let names = try staging.entries()
        if !names.isEmpty { try staging.synchronize() }
        return names
    }

    package func discardStaged(named name: String) { try? staging.remove(name) }

    /// The directory of contents whose ids begin with the same byte.
    private func shelf(of id: ItemID) throws(SystemError) -> Directory? {
        try root.subdirectoryIfPresent(String(id.hexadecimal.prefix(2)))
    }

    private static func place(of id: ItemID) -> String { "\(id.hexadecimal.prefix(2))/\(id.hexadecimal)" }
}
