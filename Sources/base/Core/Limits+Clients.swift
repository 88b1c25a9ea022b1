extension Limits {
    // MARK: The client library

    /// The events that a client library keeps: more than the backlog of a client that takes them regularly.
    package static let bufferedEvents = 1024
    /// The bytes that are kept free for requests to cancel, of those for unanswered requests.
    package static let cancelRequestBytes = 64 << 10
    /// The time limit for the answer to a request to cancel; a daemon that exceeds it hangs.
    package static let cancelPatience: Duration = .seconds(10)
    /// The reads of a connection before the next messages are taken.
    package static let readsPerTurn = 16
    /// The idle connections of a process: more threads seldom call at the same time.
    package static let idleConnections = 4

    /// The bytes of the word for a class in the attribute of a mounted file.
    package static let protectionWordBytes = 64

    // MARK: The mount

    /// The threads that answer the kernel, and the connections to the daemon.
    package static let mountThreads = 8
    /// The timeout of the kernel's attribute cache while events are followed, in seconds; an event ends it earlier.
    package static let followedValiditySeconds = 60.0
    /// The last part of a known answer's second, in which it is not used: the kernel would ask again at once.
    package static let unusedValiditySeconds = 0.2
    /// The look-ups in a directory within a second after which it is listed.
    package static let lookUpsBeforeListing = 4
    /// The pages of a listing that are held for a program that seeks back.
    package static let listingPagesHeld = 2
    /// The repetitions of a change when its connection breaks before the answer.
    package static let changeAttempts = 5
    /// The longest delay of a change of attributes, in microseconds: several are sent together.
    package static let pendingAttributesMicroseconds: UInt32 = 500_000
    /// The time limit for replies under way when an event comes; after it, all caches are dropped.
    package static let describedPatience = Duration.milliseconds(500)
    /// The pause between two checks whether these replies have been sent, in microseconds.
    package static let drainPauseMicroseconds: UInt32 = 1000
    /// The pause before another attempt to connect, in microseconds.
    package static let reconnectPauseMicroseconds: UInt32 = 20_000
    /// The pause before another subscription to events, in microseconds.
    package static let watcherPauseMicroseconds: UInt32 = 50_000
    /// The closed files that a mount remembers: the daemon lets no more wait for a sync.
    package static let closedFilesOfMount = 2 * (closedFiles + closedFilesAtOnce)
    /// The time after which the daemon has synced a closed file, in nanoseconds.
    package static let closedSyncNanoseconds: Int64 = 10_000_000_000
}
