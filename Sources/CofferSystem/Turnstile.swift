internal import CofferCore

/// Lets one at a time pass on an actor, the tenants in turns: what an actor alone does not promise across a wait.
package final class Turnstile {
    private var isTaken = false
    private var waiting = FairQueue<CheckedContinuation<Void, Never>>()

    /// Makes one that nobody has passed.
    package init() {}

    /// Waits for its turn.
    ///
    /// Each `enter` is followed by one ``leave()``.
    ///
    /// - Parameter tenant: Who waits.
    package func enter(for tenant: Int, isolation: isolated (any Actor)? = #isolation) async {
        if isTaken {
            await withCheckedContinuation { waiting.append($0, for: tenant) }
        } else {
            isTaken = true
        }
    }

    /// Lets the next one pass.
    package func leave() {
        if let next = waiting.removeFirst() { next.element.resume() } else { isTaken = false }
    }
}
