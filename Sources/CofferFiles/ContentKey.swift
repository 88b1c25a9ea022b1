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

    private let key: Mutex<SymmetricKey?>

    init(_ key: consuming sending SymmetricKey) { self.key = Mutex(key) }

    func withKey<Failure: Error>(_ body: (borrowing SymmetricKey) throws(Failure) -> Void) throws {
        try key.withLock { key in
            switch key {
            case .none: throw Revoked()
            case .some(let key): try body(key)
            }
        }
    }

    /// Wipes the key.
    package func revoke() { key.withLock { $0 = nil } }
}
