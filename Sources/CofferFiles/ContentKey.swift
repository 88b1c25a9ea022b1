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
        var onRevoke: (@Sendable () -> Void)?
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

    /// Sets what is called when the key is revoked: at once, if it was already.
    func onRevoke(_ body: @escaping @Sendable () -> Void) {
        let isRevoked = state.withLock { state in
            state.onRevoke = body
            return state.isRevoked
        }
        if isRevoked { body() }
    }

    /// Wipes the key, and ends whoever waits to use it.
    package func revoke() {
        let body = state.withLock { state in
            state.key = nil
            state.isRevoked = true
            return state.onRevoke
        }
        body?()
    }

    /// Wipes the key: nobody uses it any more.
    func close() {
        state.withLock { state in
            state.key = nil
            state.onRevoke = nil
        }
    }
}
