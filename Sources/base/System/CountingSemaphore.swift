internal import Glibc

/// A counting semaphore.
@safe
package final class CountingSemaphore: @unchecked Sendable {
    // Sendable: a sem_t is made for use by several threads.
    private let address = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    package init(_ count: Int) {
        unsafe address.initialize(to: sem_t())
        unsafe sem_init(address, 0, UInt32(count))
    }

    deinit {
        unsafe sem_destroy(address)
        unsafe address.deallocate()
    }

    package func wait() { while unsafe sem_wait(address) != 0 {} }

    /// Waits with a timeout, on the clock that can be set.
    ///
    /// - Returns: Whether the count was positive in time.
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

    package func signal() { unsafe sem_post(address) }
}
