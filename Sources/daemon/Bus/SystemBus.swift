internal import CSystemd
internal import CofferCore
internal import CofferSystem
internal import Glibc

/// A connection to the system bus, on an event loop; no call blocks.
///
/// Messages are delivered unchanged. The caller of a method identifies its reply by the number of the call.
@safe
final class SystemBus {

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
    ///   - loop: The loop; the caller must be on its thread.
    ///   - receive: Gets each message.
    ///   - lose: Called once when the connection is lost; the bus must not be used any more then.
    init(
        on loop: EventLoop,
        receive: @escaping (BusMessage) -> Void,
        lose: @escaping (SystemError) -> Void
    ) throws(SystemError) {
        var opened: OpaquePointer?
        try checked("sd_bus_open_system", unsafe sd_bus_open_system(&opened))
        guard let bus = unsafe opened else { throw SystemError("sd_bus_open_system", code: EIO) }
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

    /// Calls a method whose arguments are strings.
    ///
    /// - Returns: The number of the call, which identifies its reply.
    func call(
        _ method: String,
        of interface: String,
        at path: String,
        of service: String,
        _ arguments: String...
    ) throws(SystemError) -> UInt64 {
        var message: OpaquePointer?
        defer { unsafe sd_bus_message_unref(message) }
        try checked(
            "sd_bus_message_new_method_call",
            unsafe sd_bus_message_new_method_call(bus, &message, service, path, interface, method)
        )
        for argument in arguments {
            let kind = CChar(SD_BUS_TYPE_STRING)
            let code = unsafe argument.withCString { unsafe sd_bus_message_append_basic(message, kind, $0) }
            try checked("sd_bus_message_append_basic", code)
        }
        var number: UInt64 = 0
        try checked("sd_bus_send", unsafe sd_bus_send(bus, message, &number))
        try follow()
        return number
    }

    /// Subscribes to signals.
    ///
    /// - Parameter rule: A match rule of the bus.
    func subscribe(_ rule: String) throws(SystemError) {
        _ = try call(
            "AddMatch",
            of: "org.freedesktop.DBus",
            at: "/org/freedesktop/DBus",
            of: "org.freedesktop.DBus",
            rule
        )
    }

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

/// A message of the bus, which can be read while it is being handled.
@safe
struct BusMessage {
    private let message: OpaquePointer

    fileprivate init(_ message: OpaquePointer) { unsafe self.message = message }

    /// The sender, as the bus reports it.
    var sender: String? { unsafe sd_bus_message_get_sender(message).map { unsafe String(cString: $0) } }
    /// The object of a signal.
    var path: String? { unsafe sd_bus_message_get_path(message).map { unsafe String(cString: $0) } }
    /// The interface of a signal.
    var interface: String? { unsafe sd_bus_message_get_interface(message).map { unsafe String(cString: $0) } }
    /// The name of a signal.
    var member: String? { unsafe sd_bus_message_get_member(message).map { unsafe String(cString: $0) } }

    /// The number of the call that it replies to; `nil` if it is no reply.
    var answeredCall: UInt64? {
        var number: UInt64 = 0
        return unsafe sd_bus_message_get_reply_cookie(message, &number) >= 0 ? number : nil
    }

    /// The error, if it is one.
    var failure: (name: String, text: String)? {
        guard let error = unsafe sd_bus_message_get_error(message)?.pointee, let name = unsafe error.name else {
            return nil
        }
        return unsafe (String(cString: name), error.message.map { unsafe String(cString: $0) } ?? "")
    }

    /// Reads the next argument, a string.
    func text() -> String? {
        var text: UnsafePointer<CChar>?
        guard unsafe sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_STRING), &text) > 0 else { return nil }
        return unsafe text.map { unsafe String(cString: $0) }
    }

    /// Reads the next argument, a boolean.
    func flag() -> Bool? {
        var flag: Int32 = 0
        return unsafe sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_BOOLEAN), &flag) > 0 ? flag != 0 : nil
    }

    /// Reads the next argument, a descriptor, and duplicates it.
    func descriptor() -> OwnedDescriptor? {
        var number: Int32 = -1
        guard unsafe sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_UNIX_FD), &number) > 0 else { return nil }
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
        return copy < 0 ? nil : OwnedDescriptor(owning: copy)
    }

    /// The value of a changed boolean property; `nil` if it has not changed.
    func changedFlag(_ name: String, of interface: String) -> Bool? {
        guard text() == interface, enter(SD_BUS_TYPE_ARRAY, "{sv}") else { return nil }
        while enter(SD_BUS_TYPE_DICT_ENTRY, "sv") {
            if text() == name { return enter(SD_BUS_TYPE_VARIANT, "b") ? flag() : nil }
            guard unsafe sd_bus_message_skip(message, "v") >= 0, unsafe sd_bus_message_exit_container(message) >= 0
            else {
                return nil
            }
        }
        return nil
    }

    private func enter(_ container: some BinaryInteger, _ contents: String) -> Bool {
        unsafe sd_bus_message_enter_container(message, CChar(container), contents) > 0
    }
}

/// Checks the result of a libsystemd function, which is a negative `errno` after a failure.
@discardableResult
private func checked(_ operation: StaticString, _ result: Int32) throws(SystemError) -> Int32 {
    if result < 0 { throw SystemError(operation, code: -result) }
    return result
}
