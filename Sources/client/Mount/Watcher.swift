internal import CofferClient
internal import CofferCore
internal import Glibc
internal import Synchronization

/// Follows the events of the vault, and has the kernel drop what it may not keep.
///
/// It has a thread and a connection of its own: while it waits for the kernel, requests are still answered.
final class Watcher: Sendable {
    /// What the kernel has cached.
    protocol Cache: Sendable {
        /// Drops the content and the attributes of a file, after the kernel has written what mapped memory has changed.
        func dropCache(of number: UInt64)
        /// Drops an entry of a directory.
        func dropEntry(_ name: String, in parent: UInt64)
    }

    private let filesystem: Filesystem
    private let cache: any Cache
    /// The directory at which it is mounted, for who asks the daemon which mount has not confirmed a lock.
    private let place: String

    init(_ filesystem: Filesystem, _ cache: any Cache, at place: String) {
        self.filesystem = filesystem
        self.cache = cache
        self.place = place
    }

    /// Follows events as long as the process runs.
    func run() {
        while true {
            if let client = try? BlockingClient(socketPath: filesystem.subject.socketPath) { follow(client) }
            usleep(Limits.watcherPauseMicroseconds)
        }
    }

    private func follow(_ client: BlockingClient) {
        do throws(CofferError) {
            try subscribe(client)
            // What happened before is unknown: the vault may be locked.
            dropEverything()
            try subscribe(client)
            filesystem.reviewClosedFiles()
            // Replies from before that may be of before.
            guard filesystem.knowledge.follow() else { return }
            while try take(try client.nextEvent(), client) {}
        } catch {}
        // With the daemon, keys have gone, and what others change is not told.
        filesystem.knowledge.endFollowing()
        dropEverything()
        dropEntries()
    }

    /// Subscribes to events, and confirms that what those that were handled have ended is gone.
    private func subscribe(_ client: BlockingClient) throws(CofferError) {
        try client.watchOthers(.items, in: filesystem.group, keepingAt: place)
    }

    /// Handles an event.
    ///
    /// - Returns: Whether the kernel has dropped what the event concerns.
    private func take(_ event: VaultEvent, _ client: BlockingClient) throws(CofferError) -> Bool {
        filesystem.recent.forget()
        switch event {
        // While the keys are still there, changes of mapped memory can be written.
        case .protectedDataWillBecomeUnavailable: dropContents(of: filesystem.openFiles.all.map(\.number))
        // What was sealed is described anew.
        case .protectedDataDidBecomeAvailable: dropEverything()
        case .protectedDataDidBecomeUnavailable, .inactiveDataDidBecomeUnavailable:
            dropEverything()
            try subscribe(client)
        // Names are sealed.
        case .firstUnlockDataDidBecomeUnavailable:
            filesystem.knowledge.drain()
            dropEverything()
            dropEntries()
            try subscribe(client)
        case .eventsMissed: return false
        case .itemsDidChange(let changes):
            for change in changes { take(change) }
            // What the daemon said before the change may come to the kernel only now.
            guard filesystem.knowledge.drain() else { return false }
            for change in changes { take(change) }
        case .attemptDidFail, .auditDidGrow: break
        }
        return true
    }

    /// Has the kernel look up all names again.
    private func dropEntries() {
        for place in filesystem.nodes.withLock({ $0.places }) { cache.dropEntry(place.name.text, in: place.parent) }
    }

    /// Drops all contents that the kernel has, whatever the classes: a class may have changed just now.
    private func dropEverything() {
        filesystem.recent.forget()
        let known = filesystem.nodes.withLock { $0.known }
        dropContents(of: known)
        filesystem.reads.drain()
        // What was read before the lock may have come in meanwhile.
        dropContents(of: known)
    }

    private func dropContents(of numbers: [UInt64]) { for number in numbers { cache.dropCache(of: number) } }

    // MARK: Changes of others

    /// Has the kernel look again at what another client has changed; what this mount changes, the kernel knows.
    private func take(_ change: ItemChange) {
        guard change.store == .file else { return }
        if let inode = change.inode { dropContents(of: [UInt64(clamping: inode)].filter(isKnown)) }
        if change.kind == .changed && !isReplacement(change) { return }
        for name in [change.formerName, change.name].compactMap(\.self) { dropEntry(name) }
    }

    /// Whether the kernel knows another file by its name: a put replaces the file.
    private func isReplacement(_ change: ItemChange) -> Bool {
        guard let name = change.name, let inode = change.inode else { return true }
        let known = filesystem.nodes.withLock { nodes in nodes.place(ofPath: name).flatMap { nodes.number(at: $0) } }
        return known.map { $0 != UInt64(clamping: inode) } ?? false
    }

    private func isKnown(_ number: UInt64) -> Bool { filesystem.nodes.withLock { $0.isKnown(number) } }

    /// Drops an entry of a directory that the kernel knows, and the directory's listing.
    private func dropEntry(_ path: String) {
        guard let place = filesystem.nodes.withLock({ $0.place(ofPath: path) }) else { return }
        cache.dropEntry(place.name.text, in: place.parent)
        cache.dropCache(of: place.parent)
    }
}
