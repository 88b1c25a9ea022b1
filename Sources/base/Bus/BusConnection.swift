internal import CSystemd
internal import CofferCore
package import CofferSystem
internal import Glibc

/// A connection to a message bus, on an event loop; no call blocks.
///
/// Messages are delivered unchanged: the caller of a method identifies its reply by the number of the call, and the program
/// that is called answers by the message.
@safe
package final class BusConnection {
    /// A bus of the machine or of a person.
    package enum Bus: Sendable {
        case system
        /// That of `$DBUS_SESSION_BUS_ADDRESS`, or of the user's runtime directory.
        case session
    }

    private let loop: EventLoop
    private let bus: OpaquePointer
    /// A duplicate: sd-bus closes its own descriptor.
    private let socket: OwnedDescriptor
    private let receive: (BusMessage) -> Void
    private let lose: (SystemError) -> Void
    private var watch: EventLoop.Watch?
    private var interest: EventLoop.Interest = .readable
    private var timer: LoopTimer?

    /// Begins to connect.
    ///
    /// - Parameters:
    ///   - kind: The bus.
    ///   - loop: The loop; the caller must be on its thread.
    ///   - receive: Gets each message.
    ///   - lose: Called once when the connection is lost; it must not be used any more then.
    package init(
        to kind: Bus,
        on loop: EventLoop,
        receive: @escaping (BusMessage) -> Void,
        lose: @escaping (SystemError) -> Void
    ) throws(SystemError) {
        var opened: OpaquePointer?
        switch kind {
        case .system: try checked("sd_bus_open_system", unsafe sd_bus_open_system(&opened))
        case .session: try checked("sd_bus_open_user", unsafe sd_bus_open_user(&opened))
        }
        guard let bus = unsafe opened else { throw SystemError("sd_bus_open", code: EIO) }
        let number: Int32
        let duplicate: OwnedDescriptor
        do throws(SystemError) {
            number = try checked("sd_bus_get_fd", unsafe sd_bus_get_fd(bus))
            let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
            guard copy >= 0 else { throw SystemError("fcntl") }
            duplicate = OwnedDescriptor(owning: copy)
        } catch {
            unsafe sd_bus_close_unref(bus)
            throw error
        }
        self.loop = loop
        unsafe self.bus = bus
        socket = duplicate
        self.receive = receive
        self.lose = lose
        watch = try loop.watch(socket, for: interest) { [unowned self] _ in process() }
        timer = try LoopTimer(on: loop) { [unowned self] in process() }
        try follow()
    }

    deinit {
        if let watch { loop.unwatch(watch) }
        timer?.invalidate()
        unsafe sd_bus_close_unref(bus)
    }

    /// Calls a method.
    ///
    /// - Parameter arguments: Appends its arguments.
    /// - Returns: The number of the call, which identifies its reply.
    @discardableResult
    package func call(
        _ method: String,
        of interface: String,
        at path: String,
        of service: String,
        _ arguments: (BusWriter) throws(SystemError) -> Void = { _ in }
    ) throws(SystemError) -> UInt64 {
        var message: OpaquePointer?
        defer { unsafe sd_bus_message_unref(message) }
        try checked(
            "sd_bus_message_new_method_call",
            unsafe sd_bus_message_new_method_call(bus, &message, service, path, interface, method)
        )
        return try unsafe send(message, arguments)
    }

    /// Emits a signal.
    ///
    /// - Parameters:
    ///   - receiver: The connection that gets it; `nil` for all who listen.
    ///   - arguments: Appends its arguments.
    package func emit(
        _ signal: String,
        of interface: String,
        at path: String,
        to receiver: String? = nil,
        _ arguments: (BusWriter) throws(SystemError) -> Void = { _ in }
    ) throws(SystemError) {
        var message: OpaquePointer?
        defer { unsafe sd_bus_message_unref(message) }
        try checked(
            "sd_bus_message_new_signal",
            unsafe sd_bus_message_new_signal(bus, &message, path, interface, signal)
        )
        if let receiver {
            try checked("sd_bus_message_set_destination", unsafe sd_bus_message_set_destination(message, receiver))
        }
        _ = try unsafe send(message, arguments)
    }

    /// Answers a call.
    ///
    /// - Parameters:
    ///   - isSecret: Whether the answer holds a secret, so that its memory is wiped when it is sent.
    ///   - result: Appends the result.
    package func answer(
        _ call: BusMessage,
        isSecret: Bool = false,
        _ result: (BusWriter) throws(SystemError) -> Void = { _ in }
    ) throws(SystemError) {
        var message: OpaquePointer?
        defer { unsafe sd_bus_message_unref(message) }
        try checked(
            "sd_bus_message_new_method_return",
            unsafe sd_bus_message_new_method_return(call.message, &message)
        )
        if isSecret { try checked("sd_bus_message_sensitive", unsafe sd_bus_message_sensitive(message)) }
        _ = try unsafe send(message, result)
    }

    /// Answers a call with an error.
    package func refuse(_ call: BusMessage, _ failure: BusFailure) throws(SystemError) {
        let code = unsafe failure.name.withCString { name in
            unsafe failure.text.withCString { text in
                var error = unsafe sd_bus_error(name: name, message: text, _need_free: 0)
                return unsafe sd_bus_reply_method_error(call.message, &error)
            }
        }
        try checked("sd_bus_reply_method_error", code)
        try follow()
    }

    private func send(
        _ message: OpaquePointer?,
        _ arguments: (BusWriter) throws(SystemError) -> Void
    ) throws(SystemError) -> UInt64 {
        guard let message = unsafe message else { throw SystemError("sd_bus_message_new", code: ENOMEM) }
        try arguments(unsafe BusWriter(message))
        var number: UInt64 = 0
        try checked("sd_bus_send", unsafe sd_bus_send(bus, message, &number))
        try follow()
        return number
    }

    /// Subscribes to signals.
    ///
    /// - Parameter rule: A match rule of the bus.
    package func subscribe(_ rule: String) throws(SystemError) {
        try callBus("AddMatch") { (writer) throws(SystemError) in try writer.text(rule) }
    }

    /// Calls a method of the bus itself.
    ///
    /// - Returns: The number of the call, which identifies its reply.
    @discardableResult
    package func callBus(
        _ method: String,
        _ arguments: (BusWriter) throws(SystemError) -> Void = { _ in }
    ) throws(SystemError) -> UInt64 {
        let name = Self.busName
        return try call(method, of: name, at: Self.busPath, of: name, arguments)
    }

    /// The name of the bus itself, which sends what it reports of names.
    package static let busName = "org.freedesktop.DBus"
    private static let busPath = "/org/freedesktop/DBus"

    private func process() {
        do throws(SystemError) {
            for _ in 0..<Limits.busMessagesPerTurn {
                var message: OpaquePointer?
                let progress = try checked("sd_bus_process", unsafe sd_bus_process(bus, &message))
                if progress == 0 { break }
                guard let message = unsafe message else { continue }
                defer { unsafe sd_bus_message_unref(message) }
                receive(unsafe BusMessage(message))
            }
            try follow()
        } catch {
            // It would be ready for ever.
            if let watch { loop.unwatch(watch) }
            watch = nil
            timer?.set(nil)
            lose(error)
        }
    }

    /// Watches for the events and the timeout that sd-bus needs now.
    private func follow() throws(SystemError) {
        let events = try checked("sd_bus_get_events", unsafe sd_bus_get_events(bus))
        var wanted: EventLoop.Interest = []
        if events & POLLIN != 0 { wanted.insert(.readable) }
        if events & POLLOUT != 0 { wanted.insert(.writable) }
        if wanted != interest, let watch { try loop.change(watch, to: wanted) }
        interest = wanted
        var deadline: UInt64 = 0
        try checked("sd_bus_get_timeout", unsafe sd_bus_get_timeout(bus, &deadline))
        timer?.set(deadline == .max ? nil : BootClock.system.now.nearestSum(Self.nanoseconds(until: deadline)))
    }

    /// - Parameter deadline: Microseconds on the clock that stops during suspend.
    private static func nanoseconds(until deadline: UInt64) -> UInt64 {
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        let microseconds = UInt64(now.tv_sec) * 1_000_000 + UInt64(now.tv_nsec) / 1000
        return deadline > microseconds ? (deadline - microseconds).nearestProduct(1000) : 0
    }
}
