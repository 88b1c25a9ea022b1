public import Foundation

/// The part of `UIApplication` that concerns protected data.
public final class UIApplication: Sendable {
    /// The only instance, which is also the object of the notifications.
    public static let shared = UIApplication()

    private init() {}

    /// Whether items of every protection are available now; false if the daemon can't be reached.
    public var isProtectedDataAvailable: Bool { CofferDaemon.shared.isProtectedDataAvailable }

    /// Posted when a lock has begun, before the keys are wiped, and when a daemon was started anew and is locked.
    ///
    /// `NotificationCenter.default` posts it on a thread of this library, which begins to watch the daemon when the name
    /// is first asked for.
    public static var protectedDataWillBecomeUnavailableNotification: Notification.Name {
        CofferDaemon.shared.postNotifications()
        return ProtectedDataWatch.willBecomeUnavailable
    }

    /// Posted when the vault was unlocked, or a lock was cancelled during its grace; as the other one.
    public static var protectedDataDidBecomeAvailableNotification: Notification.Name {
        CofferDaemon.shared.postNotifications()
        return ProtectedDataWatch.didBecomeAvailable
    }
}
