internal import CofferCore
internal import Synchronization

/// What the kernel was told of files, and how long it may take that for true.
final class KernelKnowledge: Sendable {
    /// Whether changes of other clients are followed, so that the kernel may keep what it knows until then.
    private let isFollowing = Atomic(false)
    /// The replies that tell the kernel of files, and are in flight.
    private let descriptions = ReadGate()

    /// How long it is valid, in seconds: what another client changes appears after that, if no event has announced it
    /// before.
    var validity: Double { isFollowing.load(ordering: .acquiring) ? Limits.followedValiditySeconds : 1 }

    /// Runs a request whose reply tells the kernel of files.
    func describe<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) { try descriptions.pass(body) }

    /// Waits for the replies that may be of before an event.
    ///
    /// - Returns: Whether all of them were sent.
    @discardableResult
    func drain() -> Bool { descriptions.drain(for: Limits.describedPatience) }

    /// Begins to follow the changes of other clients.
    ///
    /// - Returns: Whether no reply of before is in flight.
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
