extension Limits {
    // MARK: The client library

    /// The events that wait for a client to take them: larger than any backlog of one that does so regularly.
    package static let bufferedEvents = 1024
    /// The bytes, of those of unanswered requests, that are reserved for requests to cancel.
    package static let cancelRequestBytes = 64 << 10
    /// The time limit for the answer to a request to cancel; a daemon that exceeds it hangs.
    package static let cancelPatience: Duration = .seconds(10)
    /// How often a connection is read before the next messages are taken.
    package static let readsPerTurn = 16
    /// The idle connections of a process: more threads seldom call at the same time.
    package static let idleConnections = 4

    /// The bytes of the word for a class in the attribute of a mounted file.
    package static let protectionWordBytes = 64

    // MARK: The mount

    /// The threads that answer the kernel, and the connections to the daemon.
    package static let mountThreads = 8
    /// How long the kernel may believe what it is told while events are followed, in seconds; events end it earlier.
    package static let followedValiditySeconds = 60.0
    /// The last part of a second in which known answers are not used, as the kernel would ask again at once.
    package static let unusedValiditySeconds = 0.2
    /// The look-ups in a directory within a second after which it is listed.
    package static let lookUpsBeforeListing = 4
    /// The pages of a listing that are held for a program that seeks back.
    package static let listingPagesHeld = 2
    /// How often a change is made again when the connection breaks before its answer.
    package static let changeAttempts = 5
    /// How long attributes wait to be sent with others, in microseconds.
    package static let pendingAttributesMicroseconds: UInt32 = 500_000
    /// How long an event waits for replies; if one takes longer, all is dropped, and nothing is believed for long.
    package static let describedPatience = Duration.milliseconds(500)
    /// The pause between two looks at replies that are awaited, in microseconds.
    package static let drainPauseMicroseconds: UInt32 = 1000
    /// The pause before the daemon is looked for again, in microseconds.
    package static let reconnectPauseMicroseconds: UInt32 = 20_000
    /// The pause before its events are followed again, in microseconds.
    package static let watcherPauseMicroseconds: UInt32 = 50_000
    /// The closed files that may wait for a sync of the daemon: it lets no more wait.
    package static let closedFilesOfMount = 2 * (closedFiles + closedFilesAtOnce)
    /// The time after which the daemon has synced a closed file, in nanoseconds.
    package static let closedSyncNanoseconds: Int64 = 10_000_000_000
}
