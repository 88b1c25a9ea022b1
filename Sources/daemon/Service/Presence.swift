/// The users who have unlocked the vault, and the events of the machine and its sessions that lock it again.
///
/// It queries nothing itself: callers pass whether a user is logged in.
package struct Presence: Equatable, Sendable {
    /// The configured events.
    package struct Policy: Equatable, Sendable {
        /// Whether to lock before the machine sleeps, without grace.
        package var locksOnSleep = true
        /// Whether to lock when a user who has unlocked the vault locks a session.
        package var locksOnSessionLock = true
        /// Whether to lock when a user who has unlocked the vault ends the last session.
        package var locksOnLogout = true

        /// Makes the default policy.
        package init() {}

        /// Whether any event locks the vault.
        var locksAtAll: Bool { locksOnSleep || locksOnSessionLock || locksOnLogout }
    }

    private let policy: Policy
    /// The users who have unlocked the vault, and whether they were logged in since.
    private var wasLoggedIn: [UInt32: Bool] = [:]

    /// Makes a presence without users.
    ///
    /// - Parameter policy: The configured events.
    package init(_ policy: Policy) { self.policy = policy }

    /// Records that users have unlocked the vault.
    ///
    /// - Parameters:
    ///   - userIDs: The user of the process, and the user of its login session.
    ///   - isLoggedIn: Whether a user has a session.
    package mutating func noteUnlock(by userIDs: Set<UInt32>, isLoggedIn: (UInt32) -> Bool) {
        for userID in userIDs { wasLoggedIn[userID] = isLoggedIn(userID) }
    }

    /// Forgets the users, after a lock.
    package mutating func leave() { wasLoggedIn = [:] }

    /// The cause to lock the vault for; `nil` if there is none.
    ///
    /// - Parameters:
    ///   - occurrence: The event.
    ///   - isLoggedIn: Whether a user has a session.
    package mutating func cause(for occurrence: Occurrence, isLoggedIn: (UInt32) -> Bool) -> LockCause? {
        switch occurrence {
        case .sleep: return policy.locksOnSleep ? .sleep : nil
        case .sessionLock(let userID):
            return policy.locksOnSessionLock && wasLoggedIn[userID] != nil ? .sessionLock(userID: userID) : nil
        case .logins:
            // A user who was never logged in, such as a service's, can't log out.
            let before = wasLoggedIn
            for userID in before.keys { wasLoggedIn[userID] = isLoggedIn(userID) }
            let gone = before.keys.sorted().first { before[$0] == true && wasLoggedIn[$0] == false }
            return policy.locksOnLogout ? gone.map { .logout(userID: $0) } : nil
        }
    }
}

/// An event of the machine or of its sessions.
package enum Occurrence: Equatable, Sendable {
    /// The machine is about to sleep.
    case sleep
    /// A session of a user was locked.
    case sessionLock(userID: UInt32)
    /// A user has logged in or out.
    case logins
}

/// The cause of a lock that no client has asked for.
package enum LockCause: Equatable, Sendable {
    /// The idle time has passed without a use of a protected key.
    case idle
    /// The last connection has ended.
    case lastDisconnect
    /// The machine is about to sleep.
    case sleep
    /// A user who has unlocked the vault has locked a session.
    case sessionLock(userID: UInt32)
    /// A user who has unlocked the vault has logged out.
    case logout(userID: UInt32)

    /// The reason in the audit.
    package var reason: String {
        switch self {
        case .idle: "no key was used for the time of the idle lock"
        case .lastDisconnect: "the last connection was closed"
        case .sleep: "the machine goes to sleep"
        case .sessionLock(let userID): "user \(userID) has locked a session"
        case .logout(let userID): "user \(userID) has logged out"
        }
    }
}

/// The daemon's view of the sessions of the machine.
package struct Surroundings {
    let isLoggedIn: (UInt32) -> Bool
    let hasSeat: () -> Bool
    let unlockedDidChange: (Bool) -> Void

    /// All functions are called on the server's thread.
    ///
    /// - Parameters:
    ///   - isLoggedIn: Whether a user has a session that has not ended.
    ///   - hasSeat: Whether the machine has a seat with a screen, at which a session can be locked.
    ///   - unlockedDidChange: Called when keys to wipe come or go; the machine's sleep is delayed while there are any.
    package init(
        isLoggedIn: @escaping (UInt32) -> Bool,
        hasSeat: @escaping () -> Bool = { true },
        unlockedDidChange: @escaping (Bool) -> Void
    ) {
        self.isLoggedIn = isLoggedIn
        self.hasSeat = hasSeat
        self.unlockedDidChange = unlockedDidChange
    }
}
