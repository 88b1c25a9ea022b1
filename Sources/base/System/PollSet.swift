internal import Glibc

/// The descriptors that a thread waits for, listed again for each wait.
package struct PollSet {
    private var entries: [pollfd] = []

    /// Makes an empty set.
    package init() {}

    package mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

    /// Adds a descriptor, which must stay open during the wait.
    ///
    /// - Parameters:
    ///   - number: The descriptor.
    ///   - isReading: Whether to wait for bytes to read.
    ///   - isWriting: Whether to wait for space to write.
    package mutating func add(_ number: Int32, isReading: Bool, isWriting: Bool) {
        let events = (isReading ? POLLIN : 0) | (isWriting ? POLLOUT : 0)
        entries.append(pollfd(fd: number, events: Int16(events), revents: 0))
    }

    /// Waits until a descriptor is ready, its peer has disconnected, or the time is over.
    ///
    /// - Parameter limit: How long to wait; `nil` for ever.
    package mutating func wait(for limit: Duration? = nil) {
        let count = nfds_t(entries.count)
        let end = limit.map { MonotonicTime.now + $0 }
        if (try? retrying("poll") { unsafe poll(&entries, count, Self.milliseconds(until: end)) }) != nil { return }
        for index in entries.indices { entries[index].revents = 0 }
    }

    /// Rounded up, so that the time is over after the wait.
    private static func milliseconds(until end: MonotonicTime?) -> Int32 {
        guard let end else { return -1 }
        let left = end - .now
        if left <= .zero { return 0 }
        return left > .seconds(86_400) ? 86_400_000 : Int32(left / .milliseconds(1)) + 1
    }

    /// Whether a descriptor is ready, or its peer has disconnected.
    ///
    /// - Parameter index: Its index, in the order of adding.
    package func isReady(at index: Int) -> Bool { entries[index].revents != 0 }
}
