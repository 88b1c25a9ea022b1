/// Who has unlocked the vault, and what of that which happens around them locks it again.
///
/// It asks nobody by itself, but is told who is logged in.
package struct Presence: Equatable, Sendable {
    /// What the owner has set.
    package struct Policy: Equatable, Sendable {
        /// Whether the vault locks before the machine sleeps, without grace.
        package var locksOnSleep = true
        /// Whether it locks when somebody who has unlocked it locks a session.
        package var locksOnSessionLock = true
        /// Whether it locks when somebody who has unlocked it has logged out of the last session.
        package var locksOnLogout = true

        /// Makes the policy of who has set nothing.
        package init() {}

        /// Whether anything of what happens matters.
        var locksAtAll: Bool { locksOnSleep || locksOnSessionLock || locksOnLogout }
    }

    private let policy: Policy
    /// Those who have unlocked the vault, and whether they were seen logged in since.
    private var wasLoggedIn: [UInt32: Bool] = [:]

    /// Makes the presence of nobody.
    ///
    /// - Parameter policy: What the owner has set.
    package init(_ policy: Policy) { self.policy = policy }

    /// Somebody has unlocked the vault, or did so again.
    ///
    /// - Parameters:
    ///   - userIDs: Whose it was: that of the process, and that of the login which it belongs to.
    ///   - isLoggedIn: Tells whether a user has a session.
    package mutating func noteUnlock(by userIDs: Set<UInt32>, isLoggedIn: (UInt32) -> Bool) {
        for userID in userIDs { wasLoggedIn[userID] = isLoggedIn(userID) }
    }

    /// The vault is locked: nobody's session matters any more.
    package mutating func leave() { wasLoggedIn = [:] }

    /// Why the vault is to be locked, if it is.
    ///
    /// - Parameters:
    ///   - occurrence: What has happened.
    ///   - isLoggedIn: Tells whether a user has a session.
    package mutating func cause(for occurrence: Occurrence, isLoggedIn: (UInt32) -> Bool) -> LockCause? {
        switch occurrence {
        case .sleep: return policy.locksOnSleep ? .sleep : nil
        case .sessionLock(let userID):
            return policy.locksOnSessionLock && wasLoggedIn[userID] != nil ? .sessionLock(userID: userID) : nil
        case .logins:
            // Who has never been logged in, such as a service, does not log out either.
            let before = wasLoggedIn
            for userID in before.keys { wasLoggedIn[userID] = isLoggedIn(userID) }
            let gone = before.keys.sorted().first { before[$0] == true && wasLoggedIn[$0] == false }
            return policy.locksOnLogout ? gone.map { .logout(userID: $0) } : nil
        }
    }
}

/// What happens to the machine, and to the sessions of those who are logged in.
package enum Occurrence: Equatable, Sendable {
    /// The machine is about to sleep.
    case sleep
    /// A session of a user was locked.
    case sessionLock(userID: UInt32)
    /// Somebody has logged in or out.
    case logins
}

/// Why the daemon locks the vault by itself.
package enum LockCause: Equatable, Sendable {
    /// No key that the passcode protects was used for long.
    case idle
    /// The last connection is gone.
    case lastDisconnect
    /// The machine is about to sleep.
    case sleep
    /// Somebody who has unlocked the vault has locked a session.
    case sessionLock(userID: UInt32)
    /// Somebody who has unlocked the vault has logged out.
    case logout(userID: UInt32)

    /// As the audit tells it.
    package var reason: String {
        switch self {
        case .idle: "nobody has used it for long enough"
        case .lastDisconnect: "nobody is connected any more"
        case .sleep: "the machine goes to sleep"
        case .sessionLock(let userID): "uid \(userID) has locked a session"
        case .logout(let userID): "uid \(userID) has logged out"
        }
    }
}

/// Where the daemon learns what happens around it.
package struct Surroundings {
    let isLoggedIn: (UInt32) -> Bool
    let unlockedDidChange: (Bool) -> Void

    /// Says how to ask and to tell; both are done on the server's thread.
    ///
    /// - Parameters:
    ///   - isLoggedIn: Tells whether a user has a session that has not ended.
    ///   - unlockedDidChange: Is told whether there are keys to lose: a machine that is about to sleep waits for that.
    package init(
        isLoggedIn: @escaping (UInt32) -> Bool,
        unlockedDidChange: @escaping (Bool) -> Void
    ) {
        self.isLoggedIn = isLoggedIn
        self.unlockedDidChange = unlockedDidChange
    }
}
