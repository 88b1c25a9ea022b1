internal import CofferSystem

/// The socket of a connection, with the events that the loop waits for.
struct WatchedSocket: ~Copyable {
    let descriptor: OwnedDescriptor
    private var watch: EventLoop.Watch?
    private var interest: EventLoop.Interest

    init(_ descriptor: consuming OwnedDescriptor, for interest: EventLoop.Interest) {
        self.descriptor = descriptor
        self.interest = interest
    }

    /// Begins to watch it.
    mutating func start(on loop: EventLoop, _ note: @escaping (EventLoop.Interest) -> Void) throws(SystemError) {
        watch = try loop.watch(descriptor, for: interest, .noted, handler: note)
    }

    /// Changes the watched events.
    mutating func want(_ wanted: EventLoop.Interest, on loop: EventLoop) {
        guard wanted != interest, let watch else { return }
        interest = wanted
        try? loop.change(watch, to: wanted)
    }

    /// Stops watching; it is closed with its owner.
    mutating func stop(on loop: EventLoop) {
        if let watch { loop.unwatch(watch) }
        watch = nil
    }
}
