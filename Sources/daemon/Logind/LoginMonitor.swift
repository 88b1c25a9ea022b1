internal import CSystemd
internal import CofferSystem
internal import Glibc

/// Notifies when a user logs in or out.
@safe
package final class LoginMonitor {
    private let loop: EventLoop
    private let monitor: OpaquePointer
    /// A duplicate: the monitor closes its own descriptor.
    private let descriptor: OwnedDescriptor
    private var watch: EventLoop.Watch?

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - loop: The loop; the caller must be on its thread.
    ///   - handler: Called after each change.
    init(on loop: EventLoop, _ handler: @escaping () -> Void) throws(SystemError) {
        var made: OpaquePointer?
        let code = unsafe sd_login_monitor_new("uid", &made)
        guard code >= 0, let monitor = unsafe made else { throw SystemError("sd_login_monitor_new", code: -code) }
        let copy = unsafe fcntl(sd_login_monitor_get_fd(monitor), F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else {
            unsafe sd_login_monitor_unref(monitor)
            throw SystemError("fcntl")
        }
        self.loop = loop
        unsafe self.monitor = monitor
        descriptor = OwnedDescriptor(owning: copy)
        watch = try loop.watch(descriptor, for: .readable) { [unowned self] _ in
            unsafe sd_login_monitor_flush(self.monitor)
            handler()
        }
    }

    deinit {
        if let watch { loop.unwatch(watch) }
        unsafe sd_login_monitor_unref(monitor)
    }

    /// Whether the machine has a seat with a screen, at which a session can be locked.
    package static var hasSeat: Bool {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        let count = unsafe sd_get_seats(&names)
        guard count > 0, let names = unsafe names else { return false }
        defer { unsafe free(names) }
        return unsafe UnsafeBufferPointer(start: names, count: Int(count)).reduce(false) { hasScreen, name in
            defer { unsafe free(name) }
            return unsafe sd_seat_can_graphical(name) > 0 || hasScreen
        }
    }

    /// Whether a user has a session that has not ended.
    ///
    /// A lingering service manager is not a session.
    package static func isLoggedIn(_ userID: UInt32) -> Bool {
        var state: UnsafeMutablePointer<CChar>?
        defer { unsafe free(state) }
        guard unsafe sd_uid_get_state(userID, &state) >= 0, let state = unsafe state else { return false }
        return !["offline", "lingering", "closing"].contains(unsafe String(cString: state))
    }
}
