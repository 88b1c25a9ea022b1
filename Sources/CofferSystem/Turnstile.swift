internal import CofferCore

/// Lets one at a time pass on an actor, the tenants in turns: what an actor alone does not promise across a wait.
package final class Turnstile {
    /// Whether somebody has passed, and not left.
    package private(set) var isTaken = false
    private var waiting = FairQueue<CheckedContinuation<Void, Never>>()

    /// Makes one that nobody has passed.
    package init() {}

    /// Waits for its turn.
    ///
    /// Each `enter` is followed by one ``leave()``.
    ///
    /// - Parameter tenant: Who waits.
    package func enter(for tenant: Int, isolation: isolated (any Actor)? = #isolation) async {
        // Decided where nobody comes in between: the call itself may let others go first.
        await withCheckedContinuation { turn in
            if isTaken { return waiting.append(turn, for: tenant) }
            isTaken = true
            turn.resume()
        }
    }

    /// Lets the next one pass.
    package func leave() {
        if let next = waiting.removeFirst() { next.element.resume() } else { isTaken = false }
    }
}
