internal import CofferClient
internal import CofferCore
internal import Foundation

/// Watches a daemon, and posts what happens to protected data.
struct ProtectedDataWatch: Sendable {
    static let willBecomeUnavailable = Notification.Name("UIApplicationProtectedDataWillBecomeUnavailable")
    static let didBecomeAvailable = Notification.Name("UIApplicationProtectedDataDidBecomeAvailable")

    /// A daemon that the program has dropped is watched no longer than its connection lasts.
    private weak var daemon: CofferDaemon?
    private var subscribed: IdleClient?
    private var isAvailable: Bool

    /// Subscribes, so that what happens from now on is posted.
    ///
    /// If the daemon can't be reached, ``run()`` tries again.
    init(_ daemon: CofferDaemon) {
        self.daemon = daemon
        subscribed = try? daemon.subscribe()
        isAvailable = daemon.isProtectedDataAvailable
    }

    /// Posts notifications until the program has dropped the daemon.
    mutating func run() {
        while true {
            do {
                while let subscribed { try note(subscribed.client.nextEvent()) }
            } catch {
                subscribed = nil
            }
            Thread.sleep(forTimeInterval: 1)
            guard let daemon else { return }
            subscribed = try? daemon.subscribe()
            // What was missed meanwhile.
            if subscribed != nil { note(isAvailable: daemon.isProtectedDataAvailable) }
        }
    }

    private mutating func note(_ event: VaultEvent) {
        switch event {
        case .protectedDataWillBecomeUnavailable: note(isAvailable: false)
        case .protectedDataDidBecomeAvailable: note(isAvailable: true)
        default: break
        }
    }

    private mutating func note(isAvailable: Bool) {
        if isAvailable == self.isAvailable { return }
        self.isAvailable = isAvailable
        let name = isAvailable ? Self.didBecomeAvailable : Self.willBecomeUnavailable
        NotificationCenter.default.post(name: name, object: UIApplication.shared)
    }
}
