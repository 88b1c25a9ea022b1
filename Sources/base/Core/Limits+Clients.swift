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
}
