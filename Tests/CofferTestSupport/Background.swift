import Foundation
import Synchronization

/// A closure that runs on its own thread, so that it does not block one of the few threads of the tests.
package final class Background<Value>: @unchecked Sendable {
    // Sendable: the thread writes it before the signal, and it is read after the signal.
    private let done = DispatchSemaphore(value: 0)
    private var result: Result<Value, any Error>?

    /// Starts the thread.
    package init(_ body: @escaping () throws -> Value) {
        nonisolated(unsafe) let body = body
        Thread { [self] in
            result = Result { try body() }
            done.signal()
        }.start()
    }

    /// Waits for the end.
    package func wait() throws -> Value {
        done.wait()
        guard let result else { throw POSIXError(.ECHILD) }
        return try result.get()
    }
}

/// A value that threads share.
package final class Shared<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    package init(_ value: Value) { mutex = Mutex(value) }

    package var value: Value {
        get { mutex.withLock { $0 } }
        set { mutex.withLock { $0 = newValue } }
    }

    package func change(_ body: (inout sending Value) -> Void) { mutex.withLock { body(&$0) } }
}

/// Waits up to five minutes for something to become true, and looks at least a few times, however long a look takes.
package func settles(_ condition: () throws -> Bool) rethrows -> Bool {
    let end = ContinuousClock.now + .seconds(300)
    var count = 0
    while count < 5 || ContinuousClock.now < end {
        if try condition() { return true }
        usleep(10_000)
        count += 1
    }
    return false
}
