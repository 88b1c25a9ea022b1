internal import Glibc

/// A count of things that threads wait for.
@safe
final class Semaphore: @unchecked Sendable {
    // Sendable: what lies at the address is made for being used by several threads.
    private let address = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init(_ count: Int) {
        unsafe address.initialize(to: sem_t())
        unsafe sem_init(address, 0, UInt32(count))
    }

    deinit {
        unsafe sem_destroy(address)
        unsafe address.deallocate()
    }

    func wait() { while unsafe sem_wait(address) != 0 {} }

    /// Waits for about so long: it goes by the clock that people set.
    ///
    /// - Returns: Whether there was something.
    func wait(milliseconds: Int) -> Bool {
        var end = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &end)
        let nanoseconds = end.tv_nsec + milliseconds * 1_000_000
        end.tv_sec += nanoseconds / 1_000_000_000
        end.tv_nsec = nanoseconds % 1_000_000_000
        while unsafe sem_timedwait(address, &end) != 0 {
            if errno != EINTR { return false }
        }
        return true
    }

    func signal() { unsafe sem_post(address) }
}
