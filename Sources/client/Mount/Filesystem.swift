internal import CofferClient
internal import CofferCore
internal import CofferWire
internal import Glibc
internal import Synchronization

/// The operations of the kernel on the tree of a group, or on a part of it.
///
/// Each operation runs on the thread that has read it, and blocks it.
final class Filesystem: Sendable {
    /// What is mounted.
    struct Subject: Sendable {
        /// The path of the daemon's socket.
        var socketPath: String
        /// The access group; `nil` for the client's first.
        var group: String?
        /// The directory of the vault that becomes the root; empty for all.
        var prefix = ""
        /// How long an operation waits for a daemon that is away.
        var patience = Duration.seconds(10)
        /// When it was mounted, in nanoseconds since 1970: what the root shows.
        var mountTime: Int64
    }

    let subject: Subject
    let pool: DaemonPool
    let nodes: Mutex<NodeTable>
    let openFiles = OpenFiles()
    let closedFiles = ClosedFiles()
    let reads = ReadGate()
    /// Whether the kernel has had a reply.
    let hasReplied = Atomic(false)
    let knowledge = KernelKnowledge()
    let lanes = ReadLanes()
    let recent = RecentAnswers()
    let pending = PendingAttributes()
    let listings = OpenListings()

    /// - Parameters:
    ///   - subject: What is mounted.
    ///   - connectionCount: How many connections to the daemon share the work.
    init(_ subject: Subject, connectionCount: Int = 8) {
        self.subject = subject
        pool = DaemonPool(connectionCount, to: DaemonAddress(subject.socketPath, patience: subject.patience), recent)
        nodes = Mutex(NodeTable(prefix: subject.prefix))
    }

    var group: String? { subject.group }

    var validity: Double { knowledge.validity }

    /// Checks before mounting that the daemon answers, and that what is mounted is a directory.
    ///
    /// - Throws: The daemon's error.
    func check() throws(CofferError) {
        let client = try BlockingClient(socketPath: subject.socketPath)
        let prefix = subject.prefix.isEmpty ? nil : try ItemName(subject.prefix)
        _ = try client.call(FileListParameters(name: prefix, limit: 1, group: group))
    }

    // MARK: Looking up

    /// Finds an entry, which the kernel then knows by its number until it forgets it.
    func lookUp(_ name: FileName, in parent: UInt64) throws(Errno) -> RecentAnswers.Found {
        switch recent.advice(for: name, in: parent, believing: validity) {
        case .found(let found):
            record(found.attributes, as: name, in: parent)
            return found
        case .missing:
            nodes.withLock { $0.remove(NodeTable.Place(parent, name)) }
            throw Errno(ENOENT)
        case .list: _ = try? page(of: parent, try self.name(of: parent))
        case .ask: break
        }
        return RecentAnswers.Found(attributes: try ask(for: name, in: parent), validity: validity)
    }

    private func ask(for name: FileName, in parent: UInt64) throws(Errno) -> Attributes {
        let path = try path(of: name, in: parent)
        settle()
        let ticket = recent.ticket()
        do throws(Errno) {
            let file = try call(FileStatParameters(name: path, group: group))
            recent.keep(Attributes(file), since: ticket)
            return learn(file, as: name, in: parent)
        } catch {
            if error.code == ENOENT { nodes.withLock { $0.remove(NodeTable.Place(parent, name)) } }
            throw error
        }
    }

    /// Records an entry that the kernel gets.
    func learn(_ file: FileInfo, as name: FileName, in parent: UInt64) -> Attributes {
        let attributes = Attributes(file)
        record(attributes, as: name, in: parent)
        return attributes
    }

    private func record(_ attributes: Attributes, as name: FileName, in parent: UInt64) {
        nodes.withLock { $0.lookUp(attributes.number, at: NodeTable.Place(parent, name)) }
    }

    /// Records that the kernel has forgotten some look-ups of a file.
    func forget(_ number: UInt64, _ count: UInt64) { nodes.withLock { $0.forget(number, count) } }

    /// The attributes of a file that the kernel knows.
    func attributes(of number: UInt64) throws(Errno) -> Attributes {
        try found(number).attributes
    }

    /// The attributes of a file that the kernel knows, and how long it may believe them.
    func found(_ number: UInt64) throws(Errno) -> RecentAnswers.Found {
        if let attributes = pending.attributes(of: number) {
            return RecentAnswers.Found(attributes: attributes, validity: 0)
        }
        if let found = recent.attributes(of: number, believing: validity) { return found }
        let ticket = recent.ticket()
        let file: FileInfo?
        do throws(Errno) {
            file = try status(of: number)
        } catch {
            guard error == .stale, let removed = nodes.withLock({ $0.removedDirectory(number) }) else { throw error }
            return RecentAnswers.Found(attributes: removed, validity: validity)
        }
        guard let file else {
            return RecentAnswers.Found(attributes: .root(at: subject.mountTime), validity: validity)
        }
        let attributes = Attributes(file)
        recent.keep(attributes, since: ticket)
        return RecentAnswers.Found(attributes: attributes, validity: validity)
    }

    /// What the daemon says of a file, by its handle if it has no name any more; `nil` for the root of the vault.
    private func status(of number: UInt64) throws(Errno) -> FileInfo? {
        if let name = try? Optional(name(of: number)) {
            guard let name else { return nil }
            do throws(Errno) {
                let file = try call(FileStatParameters(name: name, group: group))
                // Another client may have replaced the file of this name.
                if UInt64(clamping: file.inode) == number || number == NodeTable.root { return file }
            } catch {
                guard error.code == ENOENT else { throw error }
            }
        }
        return try openFiles.file(number).read { FileStatParameters(handle: $0, group: nil) }.value
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

    /// Makes a call that belongs to no handle, and that may be made twice.
    func call<Parameters: MethodParameters>(_ params: Parameters) throws(Errno) -> Parameters.Result {
        try changing { (_) throws(CallFailure) in try pool.any.call(params).value }
    }

    /// Makes a change; if the connection breaks before its answer, makes it again.
    ///
    /// - Parameter change: The change; it gets whether it may have been made already.
    func changing<Value: Sendable>(
        _ change: (_ isRepeated: Bool) throws(CallFailure) -> Value
    ) throws(Errno) -> Value {
        var attempts = 0
        while true {
            do throws(CallFailure) {
                return try change(attempts > 0)
            } catch .unknownOutcome where attempts < Limits.changeAttempts {
                attempts += 1
            } catch {
                throw Errno(error)
            }
        }
    }

    /// Makes an entry of a directory, which is noted.
    func making(
        _ name: FileName,
        in parent: UInt64,
        _ make: () throws(Errno) -> FileInfo
    ) throws(Errno) -> Attributes {
        let ticket = recent.beginChange()
        do throws(Errno) {
            let attributes = learn(try make(), as: name, in: parent)
            recent.made(attributes, as: name, in: parent, since: ticket)
            return attributes
        } catch {
            recent.forget()
            throw error
        }
    }

    /// Makes a change of the tree; if the connection breaks before its answer, finds out whether it was made.
    ///
    /// - Parameters:
    ///   - params: The change.
    ///   - number: A file that it gives another name, of which nothing may be lost.
    ///   - made: What the vault says of it if it was made; `nil` if it was not.
    func change<Parameters: MethodParameters>(
        _ params: Parameters,
        naming number: UInt64? = nil,
        made: () throws(Errno) -> Parameters.Result?
    ) throws(Errno) -> Parameters.Result {
        let outcome = try changing { (isRepeated) throws(CallFailure) -> Result<Parameters.Result, Errno> in
            let connection = pool.any
            // What is found out below holds for as long as this connection does.
            let epoch = number == nil ? nil : try connection.openedEpoch()
            do throws(Errno) {
                if isRepeated, let found = try made() { return .success(found) }
                if let number { try checkKept(number) }
            } catch {
                return .failure(error)
            }
            do throws(CallFailure) {
                return .success(try connection.call(params, in: epoch).value)
            } catch .handleLost {
                throw .unknownOutcome
            }
        }
        return try outcome.get()
    }

    /// The file of a name; `nil` if there is none.
    func file(at name: ItemName) throws(Errno) -> FileInfo? {
        do throws(Errno) {
            return try call(FileStatParameters(name: name, group: group))
        } catch {
            guard error.code == ENOENT else { throw error }
            return nil
        }
    }

    /// The space of the disk on which the vault lies.
    func space() throws(Errno) -> FileSpace {
        try call(FileSpaceParameters())
    }

    // MARK: Directories

    /// Lists a directory for a program that opens it.
    func list(_ number: UInt64) throws(Errno) -> DirectoryListing {
        if nodes.withLock({ $0.removedDirectory(number) }) != nil { return DirectoryListing { _ in ([], nil) } }
        let name = try name(of: number)
        let listing = DirectoryListing { [unowned self] (cursor) throws(Errno) in
            try page(of: number, name, from: cursor)
        }
        settle()
        if let known = recent.listing(of: number, believing: validity) {
            listing.begin(with: known.entries, validity: known.validity)
        } else {
            try listing.begin()
        }
        return listing
    }

    /// Lists entries; the first ones are kept for what is looked up next.
    private func page(
        of number: UInt64,
        _ name: ItemName?,
        from cursor: String? = nil
    ) throws(Errno) -> DirectoryListing.Page {
        settle()
        let ticket = recent.ticket()
        let page = try call(FileListParameters(name: name, cursor: cursor, group: group))
        let entries = page.entries.map { file in
            DirectoryListing.Entry(name: FileName(Self.lastPart(of: file.name)), attributes: Attributes(file))
        }
        // What can't be read has a name all the same.
        let isWhole = page.cursor == nil && page.damagedCount == 0 && page.sealedCount == 0
        if cursor == nil { recent.keep(entries, isWhole: isWhole, of: number, since: ticket) }
        return (entries, page.cursor)
    }

    private static func lastPart(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    /// Records that the kernel gets an entry of a listing.
    func learn(_ entry: DirectoryListing.Entry, in parent: UInt64) {
        let place = NodeTable.Place(parent, entry.name)
        nodes.withLock { $0.lookUp(entry.attributes.number, at: place) }
    }
}
