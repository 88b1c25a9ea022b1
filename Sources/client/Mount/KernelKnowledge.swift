internal import CofferCore
internal import Synchronization

/// The facts about files that the kernel has from this mount, and the time for which it may believe them.
final class KernelKnowledge: Sendable {
    /// Whether changes of other clients are followed, so that the kernel may keep what it knows until then.
    private let isFollowing = Atomic(false)
    /// The replies that tell the kernel of files, and are in flight.
    private let descriptions = ReadGate()

    /// The seconds for which the kernel may believe a fact: a change of another client appears after them, unless an event
    /// has announced it before.
    var validity: Double { isFollowing.load(ordering: .acquiring) ? Limits.followedValiditySeconds : 1 }

    /// Runs a request whose reply tells the kernel of files.
    func describe<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) { try descriptions.pass(body) }

    /// Waits for the replies that may have been made before an event.
    ///
    /// - Returns: Whether all of them were sent.
    @discardableResult
    func drain() -> Bool { descriptions.drain(for: Limits.describedPatience) }

    /// Begins to follow the changes of other clients.
    ///
    /// - Returns: Whether all replies that were made before have been sent.
    func follow() -> Bool {
        guard drain() else { return false }
        isFollowing.store(true, ordering: .releasing)
        return true
    }

    /// Follows no changes any more.
    func endFollowing() {
        isFollowing.store(false, ordering: .releasing)
        drain()
    }
}
