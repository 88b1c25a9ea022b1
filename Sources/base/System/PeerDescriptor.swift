internal import CCofferShims
internal import CofferCore
internal import Glibc
internal import Synchronization

/// A descriptor that a client has passed.
///
/// Its file system may be the client's own, and may never answer: not even to `close`. So the thread that holds the
/// value makes no call on the file itself, and the descriptor of a file is closed on another thread.
package struct PeerDescriptor: ~Copyable, Sendable {
    /// The number.
    package let number: Int32
    /// The party whose quota has it.
    let party: Int

    /// Takes ownership of a descriptor.
    ///
    /// - Parameters:
    ///   - number: An open descriptor that has no other owner.
    ///   - party: The party that has passed it.
    package init(owning number: Int32, for party: Int = 0) {
        self.number = number
        self.party = party
        PeerFiles.count(party, by: 1)
    }

    deinit { PeerFiles.close(number, of: party) }

    /// The type of its file; `nil` if the kernel can't tell without its file system.
    var type: mode_t? { Self.type(of: number) }

    package var isSocket: Bool { type == S_IFSOCK }

    /// Whether it is the kernel's end of a mount: an open `/dev/fuse`.
    package var isKernelFiles: Bool { coffer_is_kernel_files(number) == 1 }

    static func type(of number: Int32) -> mode_t? {
        let type = coffer_kind_of(number)
        return type < 0 ? nil : mode_t(type)
    }

    /// Closes it on this thread, which may wait for the file system.
    ///
    /// - Returns: The error that the file system has reported late.
    consuming func closeHere() -> SystemError? {
        let (number, party) = (number, party)
        discard self
        let code = Glibc.close(number)
        defer { PeerFiles.count(party, by: -1) }
        return code == 0 || errno == EINTR ? nil : SystemError("close")
    }

    /// Takes it out of the quota: it comes from a process that is trusted with this one's time.
    package consuming func trusted() -> OwnedDescriptor {
        let (number, party) = (number, party)
        discard self
        PeerFiles.count(party, by: -1)
        return OwnedDescriptor(owning: number)
    }

    /// Borrows it as a socket, whose calls don't wait.
    package borrowing func withSocket<Result, Failure: Error>(
        _ body: (borrowing OwnedDescriptor) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let socket = OwnedDescriptor(owning: number)
        do throws(Failure) {
            let result = try body(socket)
            _ = socket.release()
            return result
        } catch {
            _ = socket.release()
            throw error
        }
    }
}

/// The threads for the files of clients, and the quota of their descriptors.
///
/// A thread that waits for a file system that never answers can't be ended: such threads are none of those that the
/// contents of the vault need, and no party gets all of them.
package enum PeerFiles {
    private struct Held {
        var counts: [Int: Int] = [:]
        var sum = 0
        /// Descriptors for which no thread could be started.
        var unclosed: [Int32] = []
    }

    private static let pool = WorkerPool(limit: Limits.peerFileThreads)
    private static let held = Mutex(Held())

    /// Whether a party may pass one more descriptor.
    package static func hasRoom(for party: Int) -> Bool {
        held.withLock { held in
            FairShare.left(holding: held.counts[party] ?? 0, used: held.sum, of: Limits.peerDescriptors) > 0
        }
    }

    fileprivate static func count(_ party: Int, by change: Int) {
        held.withLock { held in
            let count = (held.counts[party] ?? 0) + change
            held.counts[party] = count > 0 ? count : nil
            held.sum += change
        }
    }

    /// Runs work that may wait for a file of a client.
    ///
    /// - Returns: Whether it will be done: not if no thread can be created.
    static func start(for party: Int, _ work: @escaping @Sendable () -> Void) -> Bool {
        pool.start(for: party, work)
    }

    fileprivate static func close(_ number: Int32, of party: Int) {
        // These two are closed by the kernel alone, and are by far the most.
        if let type = PeerDescriptor.type(of: number), type == S_IFIFO || type == S_IFSOCK {
            Glibc.close(number)
            return count(party, by: -1)
        }
        let isStarted = start(for: party) {
            let earlier = held.withLock { held in
                defer { held.unclosed = [] }
                return held.unclosed
            }
            for number in earlier + [number] { Glibc.close(number) }
            count(party, by: -1)
        }
        if isStarted { return }
        held.withLock { $0.unclosed.append(number) }
        count(party, by: -1)
    }
}
