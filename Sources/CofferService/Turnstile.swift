/// Lets one at a time pass on an actor, in the order of their coming: what an actor alone does not promise across a wait.
final class Turnstile {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Waits for its turn.
    ///
    /// Each `enter` is followed by one ``leave()``.
    func enter(isolation: isolated (any Actor)? = #isolation) async {
        if isTaken {
            await withCheckedContinuation { waiting.append($0) }
        } else {
            isTaken = true
        }
    }

    /// Lets the next one pass.
    func leave() {
        if waiting.isEmpty {
            isTaken = false
        } else {
            waiting.removeFirst().resume()
        }
    }
}
