internal import CCofferShims
internal import Glibc

/// The descriptors that one thread waits for, given anew for each wait.
package struct PollSet {
    private var entries: [pollfd] = []

    /// Makes a set without descriptors.
    package init() {}

    /// Forgets every descriptor.
    package mutating func removeAll() { entries.removeAll(keepingCapacity: true) }

    /// Adds a descriptor, which has to stay open during the wait.
    ///
    /// - Parameters:
    ///   - number: The descriptor.
    ///   - isReading: Whether the wait ends when there is something to read.
    ///   - isWriting: Whether it ends when there is room to write.
    package mutating func add(_ number: Int32, isReading: Bool, isWriting: Bool) {
        let events = (isReading ? POLLIN : 0) | (isWriting ? POLLOUT : 0)
        entries.append(pollfd(fd: number, events: Int16(events), revents: 0))
    }

    /// Waits until a descriptor is ready or its peer is gone, or the time has come.
    ///
    /// - Parameter deadline: The time; `nil` to wait as long as it takes.
    package mutating func wait(until deadline: ContinuousClock.Instant?) {
        let count = nfds_t(entries.count)
        if (try? retrying("poll") { unsafe poll(&entries, count, Self.milliseconds(until: deadline)) }) != nil {
            return
        }
        for index in entries.indices { entries[index].revents = 0 }
    }

    /// Rounded up, so that the deadline has passed when the wait is over.
    private static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let left = deadline - .now
        if left <= .zero { return 0 }
        return left > .seconds(86_400) ? 86_400_000 : Int32(left / .milliseconds(1)) + 1
    }

    /// Whether a descriptor is ready, or its peer is gone.
    ///
    /// - Parameter index: Its place in the order of adding.
    package func isReady(at index: Int) -> Bool { entries[index].revents != 0 }
}

/// Wakes a thread that waits on a ``PollSet``.
package struct WakeSignal: ~Copyable, Sendable {
    /// Readable while a signal was not cleared.
    package let descriptor: OwnedDescriptor

    /// Makes a signal that was not given.
    package init() throws(SystemError) {
        descriptor = OwnedDescriptor(owning: try retrying("eventfd") { coffer_eventfd() })
    }

    /// Gives the signal, from any thread; several count as one.
    package borrowing func send() {
        var one: UInt64 = 1
        _ = unsafe write(descriptor.number, &one, 8)
    }

    /// Takes the signal back.
    package borrowing func clear() {
        var count: UInt64 = 0
        _ = unsafe read(descriptor.number, &count, 8)
    }
}
