internal import Synchronization

/// The listings of the directories that programs have open.
final class OpenListings: Sendable {
    private let state = Mutex<(next: UInt64, all: [UInt64: DirectoryListing])>((1, [:]))

    /// Keeps a listing while a program has the directory open.
    ///
    /// - Returns: The number of the listing.
    func keep(_ listing: DirectoryListing) -> UInt64 {
        state.withLock { state in
            defer { state.next += 1 }
            state.all[state.next] = listing
            return state.next
        }
    }

    /// A listing that is kept.
    func listing(_ handle: UInt64) throws(Errno) -> DirectoryListing {
        guard let listing = state.withLock({ $0.all[handle] }) else { throw .stale }
        return listing
    }

    func drop(_ handle: UInt64) { _ = state.withLock { $0.all.removeValue(forKey: handle) } }
}
