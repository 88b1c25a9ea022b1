package import Glibc

/// System threads, for calls that may block.
package enum NativeThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts a detached thread.
    ///
    /// - Throws: ``SystemError`` if no thread can be created.
    package static func startDetached(_ run: @escaping @Sendable () -> Void) throws(SystemError) {
        guard let thread = start(run) else { throw SystemError("pthread_create", code: EAGAIN) }
        pthread_detach(thread)
    }

    /// Starts a thread.
    ///
    /// - Returns: The thread, which must be joined or detached; `nil` if none can be created.
    package static func start(_ run: @escaping @Sendable () -> Void) -> pthread_t? {
        let body = unsafe Unmanaged.passRetained(Body(run))
        var thread = pthread_t()
        let code = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            },
            body.toOpaque()
        )
        if code == 0 { return thread }
        unsafe body.release()
        return nil
    }
}
