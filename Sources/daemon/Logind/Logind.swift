internal import CSystemd
internal import CofferBus
internal import CofferCore
package import CofferSystem
internal import Glibc

/// Listens to logind: the machine is about to sleep, a session is locked, users log in and out.
///
/// It listens from the first unlock on. While the vault is unlocked, it delays sleep until the keys are wiped. If
/// logind is not available, everything else works, and the connection is tried again while the vault is unlocked.
package final class Logind {
    /// An event of logind.
    package enum Event: Equatable, Sendable {
        /// The machine is about to sleep.
        case sleep
        /// A session of a user was locked.
        case sessionLock(userID: UInt32)
        /// A user has logged in or out.
        case logins
    }

    private static let name = "org.freedesktop.login1"
    private static let managerPath = "/org/freedesktop/login1"
    private static let sessionPath = "/org/freedesktop/login1/session"
    private static let bus = BusConnection.busName

    private let loop: EventLoop
    private let delaysSleep: Bool
    private let warn: (String) -> Void
    private var take: ((Event) -> Void)?
    private var link: Link?
    private var retryTimer: LoopTimer?
    private var isUnlocked = false
    /// Whether the present failure was reported already.
    private var hasReported = false
    /// The inhibitor, which delays sleep while it is open.
    private var delay: OwnedDescriptor?

    /// The connection to the bus, and the state that ends with it.
    private struct Link {
        let bus: BusConnection
        let logins: LoginMonitor
        /// The bus name of logind's connection: signals of other senders are ignored.
        var owner: String?
        var ownerCall: UInt64?
        var delayCall: UInt64?
    }

    /// Makes a listener that does not listen yet.
    ///
    /// - Parameters:
    ///   - loop: The loop; the caller must be on its thread.
    ///   - delaysSleep: Whether to delay sleep.
    ///   - warn: Receives each failure, once.
    package init(on loop: EventLoop, delaysSleep: Bool, warn: @escaping (String) -> Void) throws(SystemError) {
        self.loop = loop
        self.delaysSleep = delaysSleep
        self.warn = warn
        retryTimer = try LoopTimer(on: loop) { [unowned self] in connect() }
    }

    /// Sets the receiver of the events.
    package func start(_ take: @escaping (Event) -> Void) { self.take = take }

    /// Delays sleep while there are keys that a lock wipes.
    package func unlockedDidChange(_ isUnlocked: Bool) {
        self.isUnlocked = isUnlocked
        isUnlocked ? connect() : letSleep()
    }

    // MARK: The connection

    private func connect() {
        guard isUnlocked else { return }
        if link != nil { return delaySleep() }
        do throws(SystemError) {
            let bus = try BusConnection(to: .system, on: loop) { [unowned self] in
                receive($0)
            } lose: { [unowned self] in
                lose($0)
            }
            for rule in Self.rules { try bus.subscribe(rule) }
            let ownerCall = try bus.callBus("GetNameOwner") { (writer) throws(SystemError) in
                try writer.text(Self.name)
            }
            let logins = try LoginMonitor(on: loop) { [unowned self] in take?(.logins) }
            link = Link(bus: bus, logins: logins, ownerCall: ownerCall)
        } catch {
            lose(error)
        }
    }

    private static let rules = [
        "type='signal',sender='\(bus)',member='NameOwnerChanged',arg0='\(name)'",
        "type='signal',sender='\(name)',interface='\(name).Manager',member='PrepareForSleep'",
        "type='signal',sender='\(name)',interface='\(name).Session',member='Lock'",
        "type='signal',sender='\(name)',member='PropertiesChanged',arg0='\(name).Session'",
    ]

    private func lose(_ error: SystemError) {
        report(error.reason)
        link = nil
        // The inhibitor stays valid without the bus.
        if isUnlocked { retryTimer?.set(BootClock.system.now + Limits.busRetryNanoseconds) }
    }

    private func report(_ reason: String) {
        if hasReported { return }
        hasReported = true
        let consequence = "so sleep, locked sessions and logouts do not lock the vault until it can be"
        warn("logind can't be heard: \(reason), \(consequence)")
    }

    // MARK: Messages

    private func receive(_ message: BusMessage) {
        if let call = message.answeredCall { return receiveAnswer(to: call, message) }
        switch (message.interface, message.member) {
        case (Self.bus, "NameOwnerChanged") where message.sender == Self.bus:
            if let next = try? message.nextOwner(of: Self.name) { setOwner(next) }
        case _ where message.sender != link?.owner: return
        case ("\(Self.name).Manager", "PrepareForSleep"):
            if (try? message.flag()) == true { take?(.sleep) } else { delaySleep() }
        case ("\(Self.name).Session", "Lock"): noteLock(message)
        case ("\(Self.bus).Properties", "PropertiesChanged"):
            let isLocked = try? message.changedFlag("LockedHint", of: "\(Self.name).Session")
            if isLocked == true { noteLock(message) }
        default: return
        }
    }

    private func receiveAnswer(to call: UInt64, _ message: BusMessage) {
        if call == link?.ownerCall {
            link?.ownerCall = nil
            setOwner(message.failure == nil ? (try? message.text()) ?? "" : "")
        } else if call == link?.delayCall {
            link?.delayCall = nil
            if let failure = message.failure { return noteRefusal(failure) }
            let given = try? message.descriptor()
            if isUnlocked { delay = given }
        }
    }

    private func setOwner(_ next: String) {
        link?.delayCall = nil
        guard !next.isEmpty else {
            link?.owner = nil
            return report("it does not run")
        }
        link?.owner = next
        hasReported = false
        delay = nil
        delaySleep()
    }

    private func noteRefusal(_ failure: BusFailure) {
        // Sleep has begun, and its signal was missed.
        if failure.name == "\(Self.name).OperationInProgress" {
            take?(.sleep)
        } else {
            warn("logind lets no sleep wait for the vault: \(failure.text)")
        }
    }

    private func noteLock(_ message: BusMessage) {
        var session: UnsafeMutablePointer<CChar>?
        defer { unsafe free(session) }
        var userID: uid_t = 0
        guard let path = message.path, unsafe sd_bus_path_decode(path, Self.sessionPath, &session) > 0,
            unsafe sd_session_get_uid(session, &userID) >= 0
        else { return }
        take?(.sessionLock(userID: userID))
    }

    // MARK: Sleep

    private func delaySleep() {
        guard isUnlocked, delaysSleep, delay == nil, let link, link.owner != nil, link.delayCall == nil else { return }
        do throws(SystemError) {
            let call = try link.bus.call(
                "Inhibit",
                of: "\(Self.name).Manager",
                at: Self.managerPath,
                of: Self.name
            ) { (writer) throws(SystemError) in
                for text in ["sleep", "coffer", "the vault is locked first", "delay"] { try writer.text(text) }
            }
            self.link?.delayCall = call
        } catch {
            lose(error)
        }
    }

    private func letSleep() { delay = nil }
}

extension BusMessage {
    /// The next owner that a signal tells of a name; empty for none.
    ///
    /// - Returns: `nil` if it tells of another name.
    fileprivate func nextOwner(of name: String) throws(BusFailure) -> String? {
        guard try text() == name else { return nil }
        _ = try text()
        return try text()
    }

    /// The value of a changed boolean property; `nil` if it has not changed.
    fileprivate func changedFlag(_ name: String, of interface: String) throws(BusFailure) -> Bool? {
        guard try text() == interface else { return nil }
        try enterArray(of: "{sv}")
        while !isAtEnd {
            try enterEntry(of: "sv")
            if try text() == name {
                try enterVariant(of: "b")
                return try flag()
            }
            try skip("v")
            try leave()
        }
        return nil
    }
}
