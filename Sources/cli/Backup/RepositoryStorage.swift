package import CofferCore

/// An object of a repository.
package struct StoredObject: Equatable, Sendable {
    /// The name after the last slash.
    package let name: String
    /// The size in bytes, at most that of the largest file: sums of such sizes have no end that is reached.
    package let byteCount: Int64

    /// Describes an object as a disk or a server lists it.
    package init(name: String, byteCount: Int64) {
        self.name = name
        self.byteCount = min(max(0, byteCount), Limits.fileBytes)
    }
}

/// An object that is being written.
package protocol ObjectSink: AnyObject, Sendable {
    /// Appends bytes.
    func write(_ bytes: RawSpan) throws(CofferError)

    /// Makes the object appear under its name, synced; it is called once, from any thread.
    func finish() throws(CofferError)
}

/// What is excluded by a lock.
package enum LockKind: String, Sendable {
    /// Reading, for which nothing may be removed.
    case read
    /// Adding a snapshot: the only one that does, while others may read.
    case add
    /// Removing, while no other does anything.
    case remove
}

/// A lock, which is released with the value.
package protocol RepositoryLock: AnyObject, Sendable {
    /// Says that the process still works; called every few packs.
    func refresh() throws(CofferError)
}

/// Where the objects of a repository are.
///
/// A name is a path below the repository with `/` between its components, such as `packs/0a/0a…`. An object is written
/// once, and appears whole, or not at all, if the storage can do that; a reader verifies it in any case.
package protocol RepositoryStorage: AnyObject, Sendable {
    /// The place, as the user wrote it.
    var place: String { get }

    /// Says that the repository is append-only: from here on, nothing is written that needs a rename or a removal.
    func useAppendOnly()

    /// The objects of a folder, in no order; none if it is missing.
    func objects(in folder: String) throws(CofferError) -> [StoredObject]

    /// Reads a part of an object.
    ///
    /// - Parameters:
    ///   - name: The object.
    ///   - offset: Where the part begins, in bytes.
    ///   - count: Its bytes; fewer are returned only at the end.
    /// - Returns: The bytes; `nil` if there is no such object.
    func read(_ name: String, at offset: Int64, _ count: Int) throws(CofferError) -> [UInt8]?

    /// Begins an object that does not exist.
    func create(_ name: String) throws(CofferError) -> any ObjectSink

    /// Removes an object; a missing one is no error.
    func remove(_ name: String) throws(CofferError)

    /// Removes what a kill has left of objects that did not appear; only under a lock for removing.
    func removeLeftovers(in folder: String) throws(CofferError)

    /// Locks the repository.
    ///
    /// - Parameter kind: What is going to be done.
    /// - Returns: The lock; `nil` if the storage has none, or can only be read.
    /// - Throws: `notAvailable` if another process holds a lock that excludes this one.
    func lock(_ kind: LockKind) throws(CofferError) -> (any RepositoryLock)?
}

extension RepositoryStorage {
    /// Writes a small object, synced.
    func write(_ name: String, _ bytes: [UInt8]) throws(CofferError) {
        let sink = try create(name)
        try unsafe sink.write(bytes.span.bytes)
        try sink.finish()
    }

    /// Reads a small object.
    ///
    /// - Throws: `decode` if it is larger than the limit, or missing.
    func whole(_ name: String, upTo limit: Int) throws(CofferError) -> [UInt8] {
        guard let bytes = try read(name, at: 0, limit + 1) else { throw .damaged(object: name, "it is missing") }
        guard bytes.count <= limit else { throw .damaged(object: name, "it has more than \(limit) bytes") }
        return bytes
    }
}
