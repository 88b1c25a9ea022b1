import Foundation
import Synchronization

/// Something that runs on a thread of its own meanwhile: the threads of tests are few, and not to be blocked.
package final class Background<Value>: @unchecked Sendable {
    // Sendable: written by the thread before it signals, and read after the signal.
    private let done = DispatchSemaphore(value: 0)
    private var result: Result<Value, any Error>?

    /// Starts it.
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

/// A value that one thread sets and another one reads.
package final class Shared<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    package init(_ value: Value) { mutex = Mutex(value) }

    package var value: Value {
        get { mutex.withLock { $0 } }
        set { mutex.withLock { $0 = newValue } }
    }

    package func change(_ body: (inout sending Value) -> Void) { mutex.withLock { body(&$0) } }
}
