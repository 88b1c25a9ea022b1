internal import CofferCore
package import CofferSystem
internal import Glibc
internal import Synchronization

/// Where contents lie: `blobs/ab/<id>` and `blobs/ab/<id>.overlay`, and the same in `blobs/staging` until the catalog names
/// them.
///
/// A name is on the disk when its directory was synced, and no sooner: a sync of the file alone does not keep it. So each step
/// waits for the one before it, and one of the two names is on the disk at any instant from the first commit on:
///
/// 1. A content, or the overlay of a file that is written, is staged.
/// 2. The file is synced, then `staging`.
/// 3. The catalog names the content, or the chunks of the overlay, and the commit is synced.
/// 4. It is linked to its place.
/// 5. The directory of its place is synced, then `blobs`, which names that directory.
/// 6. The staged name goes. Should it come back after a power cut, it is another name of the same file.
///
/// What a crash leaves staged starts at step 2 again, since the sync may not have happened. An overlay that is replaced goes
/// from its place, synced, before the next one is staged. Other names that are removed need no sync: nothing in the catalog
/// leads to them.
///
/// Whatever a crash leaves is in `staging`, which is small; so coming up costs the same for any number of files.
package final class ContentDirectory: Sendable {
    /// Its name in the state directory.
    package static let directoryName = "blobs"
    private static let stagingName = "staging"
    static let overlaySuffix = ".overlay"

    private let root: Directory
    private let staging: Directory
    /// The staged names of contents in places that may not be synced, and when they were placed.
    private let placed = Mutex<[String: UInt64]>([:])
    private let clock = Atomic<UInt64>(0)

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
        sweep(from: Limits.stagedPlaces)
        try staging.synchronize()
    }

    /// Opens a content for reading, wherever it lies.
    func open(_ id: ItemID) throws(SystemError) -> OwnedDescriptor? {
        if let placed = try shelf(of: id)?.openIfPresent(id.hexadecimal) { return placed }
        return try staging.openIfPresent(id.hexadecimal)
    }

    /// Opens the overlay of a content, wherever it lies.
    func openOverlay(_ id: ItemID) throws(SystemError) -> (file: ContentFile, isStaged: Bool)? {
        let name = id.hexadecimal + Self.overlaySuffix
        if let shelf = try shelf(of: id), let placed = try Self.openOverlay(name, in: shelf) {
            return (ContentFile(placed), false)
        }
        guard let staged = try Self.openOverlay(name, in: staging) else { return nil }
        return (ContentFile(staged), true)
    }

    /// Refuses to write where nothing can be written, also what was opened for being read.
    func checkWritable() throws(SystemError) {
        if root.isReadOnly { throw SystemError("open", code: EROFS) }
    }

    /// On a file system that is read-only, an overlay is still there to be read.
    private static func openOverlay(_ name: String, in directory: Directory) throws(SystemError) -> OwnedDescriptor? {
        do {
            return try directory.openForWriting(name)
        } catch  where error.code == EROFS {
            return try directory.openIfPresent(name)
        }
    }

    /// Makes the overlay of a content, in place of one that is of no use.
    func createOverlay(_ id: ItemID) throws(SystemError) -> ContentFile {
        if try openOverlay(id) != nil {
            try removeOverlay(id)
            // After a power cut, the one in its place would be taken for this one.
            try shelf(of: id)?.synchronize()
        }
        return ContentFile(try staging.create(id.hexadecimal + Self.overlaySuffix))
    }

    func synchronizeOverlay(_ overlay: borrowing OwnedDescriptor, isStaged: Bool) throws(SystemError) {
        try staging.synchronize(overlay)
        guard isStaged else { return }
        sweep(from: Limits.stagedPlaces)
        try staging.synchronize()
    }

    func placeOverlay(_ id: ItemID) throws(SystemError) { try place(id.hexadecimal + Self.overlaySuffix) }

    func discardStagedOverlay(_ id: ItemID) { try? staging.remove(id.hexadecimal + Self.overlaySuffix) }

    /// Gives a staged content its place, when its staged name was synced.
    func place(_ id: ItemID) throws(SystemError) { try place(id.hexadecimal) }

    private func place(_ name: String) throws(SystemError) {
        let directory = try root.subdirectory(String(name.prefix(2)))
        if try staging.link(name, to: directory) {
            let now = clock.wrappingAdd(1, ordering: .relaxed).newValue
            placed.withLock { $0[name] = now }
        } else {
            // It has one name only, which has to stay.
            try directory.synchronize()
            try root.synchronize()
        }
    }

    /// Takes the staged names of contents away whose places are synced then; what fails is left for the next time.
    ///
    /// - Parameter count: How many there have to be: the disk is waited for.
    func sweep(from count: Int = 1) {
        let due = placed.withLock { $0.count < count ? [:] : $0 }
        if due.isEmpty { return }
        do throws(SystemError) {
            for part in Set(due.keys.map { String($0.prefix(2)) }) { try root.subdirectory(part).synchronize() }
            // The sync behind the making of a directory may have failed, or a kill may have come before it.
            try root.synchronize()
        } catch {
            return
        }
        placed.withLock { placed in
            // One that was placed anew meanwhile is another one.
            for (name, time) in due where placed[name] == time && (try? staging.remove(name)) != nil {
                placed[name] = nil
            }
        }
    }

    func remove(_ id: ItemID) throws(SystemError) {
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

    func discardStaged(_ id: ItemID) { try? staging.remove(id.hexadecimal) }

    /// The contents that a crash left on the way, and the names of what is none: synced, so that they may be placed.
    func stagedNames() throws(SystemError) -> [String] {
        let names = try staging.entries()
        if !names.isEmpty { try staging.synchronize() }
        return names
    }

    func discardStaged(named name: String) { try? staging.remove(name) }

    /// The directory of those whose ids begin alike.
    private func shelf(of id: ItemID) throws(SystemError) -> Directory? {
        try root.subdirectoryIfPresent(String(id.hexadecimal.prefix(2)))
    }

    private static func place(of id: ItemID) -> String { "\(id.hexadecimal.prefix(2))/\(id.hexadecimal)" }
}
