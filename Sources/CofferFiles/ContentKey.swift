internal import CofferCore
internal import CofferMemory
internal import Synchronization

/// The key of one file's content while it is being read or written on another thread.
///
/// It can be revoked at any instant: the thread that uses it then ends with an error, after at most one chunk, and the key
/// is wiped before ``revoke()`` returns. That is how open handles of class A die.
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

    init(_ key: consuming sending SymmetricKey) { state = Mutex(State(key: key)) }

    func withKey<Failure: Error>(_ body: (borrowing SymmetricKey) throws(Failure) -> Void) throws {
        try state.withLock { state in
            switch state.key {
            case .none: throw Revoked()
            case .some(let key): try body(key)
            }
            state.wasUsed = true
        }
    }

    /// Whether it was used since this was asked last.
    func takeUse() -> Bool {
        state.withLock { state in
            defer { state.wasUsed = false }
            return state.wasUsed
        }
    }

    /// Whether the key was revoked.
    var isRevoked: Bool { state.withLock { $0.isRevoked } }

    /// Adds what is called when the key is revoked: at once, if it was already.
    ///
    /// - Returns: A number to take it back by.
    @discardableResult func onRevoke(_ body: @escaping @Sendable () -> Void) -> Int {
        let (number, isRevoked) = state.withLock { state in
            state.nextNumber += 1
            state.onRevoke[state.nextNumber] = body
            return (state.nextNumber, state.isRevoked)
        }
        if isRevoked { body() }
        return number
    }

    /// Takes back what was to be called when the key is revoked.
    func forgetOnRevoke(_ number: Int) { state.withLock { $0.onRevoke[number] = nil } }

    /// Wipes the key, and ends whoever waits to use it.
    package func revoke() {
        let bodies = state.withLock { state in
            state.key = nil
            state.isRevoked = true
            return Array(state.onRevoke.values)
        }
        for body in bodies { body() }
    }

    /// Wipes the key: nobody uses it any more.
    func close() {
        state.withLock { state in
            state.key = nil
            state.onRevoke = [:]
        }
    }
}
