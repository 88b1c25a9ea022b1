internal import CofferClient
package import CofferCore
internal import CofferWire
internal import Glibc
internal import Synchronization

/// The operations of the kernel on the tree of a group, or on a part of it.
///
/// Each operation runs on the thread that has read it, and blocks it.
package final class Filesystem: Sendable {
    /// What is mounted.
    package struct Subject: Sendable {
        /// The path of the daemon's socket.
        package var socketPath: String
        /// The access group; `nil` for the client's first.
        package var group: String?
        /// The directory of the vault that becomes the root; empty for all.
        package var prefix: String
        /// How long an operation waits for a daemon that is away.
        package var patience: Duration
        /// When it was mounted, in nanoseconds since 1970: what the root shows.
        package var mountTime: Int64

        package init(
            socketPath: String,
            group: String? = nil,
            prefix: String = "",
            patience: Duration = .seconds(10),
            mountTime: Int64
        ) {
            self.socketPath = socketPath
            self.group = group
            self.prefix = prefix
            self.patience = patience
            self.mountTime = mountTime
        }
    }

    let subject: Subject
    let pool: DaemonPool
    let nodes: Mutex<NodeTable>
    let openFiles = OpenFiles()
    let reads = ReadGate()
    private let listings = Mutex<(next: UInt64, all: [UInt64: DirectoryListing])>((1, [:]))
    private let mountTime: Int64

    /// - Parameters:
    ///   - subject: What is mounted.
    ///   - connectionCount: How many connections to the daemon share the work.
    package init(_ subject: Subject, connectionCount: Int = 8) {
        self.subject = subject
        pool = DaemonPool(connectionCount, to: DaemonAddress(subject.socketPath, patience: subject.patience))
        nodes = Mutex(NodeTable(prefix: subject.prefix))
        mountTime = subject.mountTime
    }

    var group: String? { subject.group }

    /// Checks before mounting that the daemon answers, and that what is mounted is a directory.
    ///
    /// - Throws: The daemon's error.
    package func check() throws(CofferError) {
        let client = try BlockingClient(socketPath: subject.socketPath)
        let prefix = subject.prefix.isEmpty ? nil : try ItemName(subject.prefix)
        _ = try client.call(FileListParameters(name: prefix, limit: 1, group: group))
    }

    // MARK: Looking up

    /// Finds an entry, which the kernel then knows by its number until it forgets it.
    package func lookUp(_ name: FileName, in parent: UInt64) throws(Errno) -> Attributes {
        let path = try path(of: name, in: parent)
        do throws(Errno) {
            let file = try call(FileStatParameters(name: path, group: group))
            return learn(file, as: name, in: parent)
        } catch {
            if error.code == ENOENT { nodes.withLock { $0.remove(NodeTable.Place(parent, name)) } }
            throw error
        }
    }

    /// Records an entry that the kernel gets.
    func learn(_ file: FileInfo, as name: FileName, in parent: UInt64) -> Attributes {
        let attributes = Attributes(file)
        nodes.withLock { $0.lookUp(attributes.number, at: NodeTable.Place(parent, name), attributes.version) }
        return attributes
    }

    /// Records that the kernel has forgotten some look-ups of a file.
    package func forget(_ number: UInt64, _ count: UInt64) { nodes.withLock { $0.forget(number, count) } }

    /// The attributes of a file that the kernel knows.
    package func attributes(of number: UInt64) throws(Errno) -> Attributes {
        guard let file = try status(of: number) else { return .root(at: mountTime) }
        let attributes = Attributes(file)
        nodes.withLock { $0.setVersion(attributes.version, of: number) }
        return attributes
    }

    /// What the daemon says of a file, by its handle if it has no name any more; `nil` for the root of the vault.
    private func status(of number: UInt64) throws(Errno) -> FileInfo? {
        if let name = try? Optional(name(of: number)) {
            guard let name else { return nil }
            do throws(Errno) {
                let file = try call(FileStatParameters(name: name, group: group))
                // Another client may have replaced the file of this name.
                if UInt64(file.inode) == number || number == NodeTable.root { return file }
            } catch {
                guard error.code == ENOENT else { throw error }
            }
        }
        return try openFiles.file(number).read { FileStatParameters(handle: $0, group: nil) }.value
    }

    /// How what the kernel knows of an entry relates to the vault.
    enum Freshness {
        case current, changed, replaced
    }

    /// Compares what the kernel knows of an entry with the vault.
    func freshness(of number: UInt64, at place: NodeTable.Place) -> Freshness {
        // A file that programs write here was not changed elsewhere: there is one writer.
        if (try? openFiles.file(number))?.isWritten == true { return .current }
        guard let path = try? path(of: place.name, in: place.parent),
            let file = try? call(FileStatParameters(name: path, group: group))
        else { return .replaced }
        let attributes = Attributes(file)
        if attributes.number != number { return .replaced }
        return nodes.withLock { $0.version(of: number) } == attributes.version ? .current : .changed
    }

    // MARK: Names

    func path(of name: FileName, in parent: UInt64) throws(Errno) -> ItemName {
        try nodes.withLock { (nodes) throws(Errno) in try nodes.path(of: name, in: parent) }
    }

    /// The name of a file in the vault; `nil` for the root of the vault.
    func name(of number: UInt64) throws(Errno) -> ItemName? {
        let path = try nodes.withLock { (nodes) throws(Errno) in try nodes.path(of: number) }
        if path.isEmpty { return nil }
        do { return try ItemName(path) } catch { throw .nameTooLong }
    }

    // MARK: Calling

    /// Makes a call that belongs to no handle.
    func call<Parameters: MethodParameters>(_ params: Parameters) throws(Errno) -> Parameters.Result {
        do {
            return try pool.any.call(params).value
        } catch {
            throw Errno(error)
        }
    }

    /// The space of the disk on which the vault lies.
    package func space() throws(Errno) -> Space {
        let space = try call(FileSpaceParameters())
        return Space(
            totalBytes: space.totalByteCount,
            freeBytes: space.freeByteCount,
            availableBytes: space.availableByteCount,
            fileCount: space.fileCount
        )
    }

    /// The space of a disk.
    package struct Space: Sendable {
        package let totalBytes: Int64
        package let freeBytes: Int64
        package let availableBytes: Int64
        package let fileCount: Int64
    }

    // MARK: Directories

    /// Lists a directory for a program that opens or rewinds it.
    package func list(_ number: UInt64) throws(Errno) -> DirectoryListing {
        let name = try name(of: number)
        var entries: [DirectoryListing.Entry] = []
        var cursor: String?
        repeat {
            let page = try call(FileListParameters(name: name, cursor: cursor, group: group))
            for file in page.entries {
                let name = FileName(Self.lastPart(of: file.name))
                entries.append(DirectoryListing.Entry(name: name, attributes: Attributes(file)))
            }
            cursor = page.cursor
        } while cursor != nil
        return DirectoryListing(entries: entries)
    }

    private static func lastPart(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    /// Records that the kernel gets an entry of a listing.
    package func learn(_ entry: DirectoryListing.Entry, in parent: UInt64) {
        let place = NodeTable.Place(parent, entry.name)
        nodes.withLock { $0.lookUp(entry.attributes.number, at: place, entry.attributes.version) }
    }

    /// Keeps a listing while a program has the directory open.
    ///
    /// - Returns: The number of the listing.
    package func keep(_ listing: DirectoryListing) -> UInt64 {
        listings.withLock { listings in
            defer { listings.next += 1 }
            listings.all[listings.next] = listing
            return listings.next
        }
    }

    /// A listing that is kept.
    package func listing(_ handle: UInt64) throws(Errno) -> DirectoryListing {
        guard let listing = listings.withLock({ $0.all[handle] }) else { throw .stale }
        return listing
    }

    /// Replaces a listing when the program rewinds the directory.
    package func replace(_ handle: UInt64, by listing: DirectoryListing) {
        listings.withLock { $0.all[handle] = listing }
    }

    /// Drops a listing.
    package func dropListing(_ handle: UInt64) { _ = listings.withLock { $0.all.removeValue(forKey: handle) } }
}
