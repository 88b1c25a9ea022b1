internal import CofferCore
package import CofferMemory
internal import Synchronization

/// The key of one file's content while another thread reads or writes it.
///
/// It can be revoked at any time. The thread that uses it then fails after at most one chunk, and the key is wiped
/// before ``revoke()`` returns. In this way a lock ends the open handles of class A.
package final class ContentKey: Sendable {
    /// The key was revoked: the vault was locked.
    struct Revoked: Error {}

    private struct State: ~Copyable {
        var key: SymmetricKey?
        var isRevoked = false
        var wasUsed = false
        var onRevoke: [Int: @Sendable () -> Void] = [:]
        var nextNumber = 0
    }

    private let state: Mutex<State>
    /// Set by each use.
    private let uses: UseFlag?

    /// - Parameters:
    ///   - key: The key.
    ///   - uses: What each use sets, besides ``takeUse()``.
    package init(_ key: consuming sending SymmetricKey, noting uses: UseFlag? = nil) {
        state = Mutex(State(key: key))
        self.uses = uses
    }

    func withKey<Failure: Error>(_ body: (borrowing SymmetricKey) throws(Failure) -> Void) throws {
        try state.withLock { state in
            switch state.key {
            case .none: throw Revoked()
            case .some(let key): try body(key)
            }
            state.wasUsed = true
        }
        uses?.set()
    }

    /// Whether it was used since the last call.
    package func takeUse() -> Bool {
        state.withLock { state in
            defer { state.wasUsed = false }
            return state.wasUsed
        }
    }

    /// Whether the key was revoked.
    package var isRevoked: Bool { state.withLock { $0.isRevoked } }

    /// Registers a closure to be called when the key is revoked, or immediately if it already was.
    ///
    /// - Returns: A number for ``forgetOnRevoke(_:)``.
    @discardableResult package func onRevoke(_ body: @escaping @Sendable () -> Void) -> Int {
        let (number, isRevoked) = state.withLock { state in
            state.nextNumber += 1
            state.onRevoke[state.nextNumber] = body
            return (state.nextNumber, state.isRevoked)
        }
        if isRevoked { body() }
        return number
    }

    /// Unregisters such a closure.
    package func forgetOnRevoke(_ number: Int) { state.withLock { $0.onRevoke[number] = nil } }

    /// Wipes the key, and fails those who wait to use it.
    package func revoke() {
        let bodies = state.withLock { state in
            state.key = nil
            state.isRevoked = true
            return Array(state.onRevoke.values)
        }
        for body in bodies { body() }
    }

    /// Wipes the key, which is no longer used.
    package func close() {
        state.withLock { state in
            state.key = nil
            state.onRevoke = [:]
        }
    }
}

/// Whether one of several keys was used, so that they need not be asked one by one.
package final class UseFlag: Sendable {
    private let isSet = Atomic(false)

    package init() {}

    func set() { if !isSet.load(ordering: .relaxed) { isSet.store(true, ordering: .releasing) } }

    /// Whether it was set since the last call.
    package func take() -> Bool {
        isSet.load(ordering: .relaxed) && isSet.exchange(false, ordering: .acquiring)
    }
}
