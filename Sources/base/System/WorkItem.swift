package import CofferCore
internal import Synchronization

/// Work for another thread.
///
/// The compiler checks that it contains nothing of the loop's thread.
package protocol WorkItem: AnyObject, Sendable {
    /// Runs the work and keeps its result; called once.
    func run()

    /// Keeps an error as the result, instead of ``run()``.
    func fail(_ error: CofferError)
}

/// A function for another thread, with its input and its result.
///
/// Both may be noncopyable, as secrets are.
package final class Work<Input: ~Copyable & Sendable, Output: ~Copyable & Sendable>: WorkItem {
    private enum State: ~Copyable {
        case waiting(Input)
        /// The input or the result was taken.
        case taken
        case success(Output)
        case failure(CofferError)
    }

    private let state: Mutex<State>
    private let body: @Sendable (consuming Input) throws(CofferError) -> Output

    /// Makes a work item.
    ///
    /// - Parameters:
    ///   - input: The input, which the other thread will own.
    ///   - body: The function.
    package init(
        _ input: consuming sending Input,
        _ body: @escaping @Sendable (consuming Input) throws(CofferError) -> Output
    ) {
        state = Mutex(.waiting(input))
        self.body = body
    }

    package func run() {
        guard case .waiting(let input) = exchange(for: .taken) else { return }
        do throws(CofferError) { _ = exchange(for: .success(try body(input))) } catch { fail(error) }
    }

    package func fail(_ error: CofferError) { _ = exchange(for: .failure(error)) }

    /// Takes the result, once.
    ///
    /// - Throws: What the function threw.
    package func take() throws(CofferError) -> Output {
        switch exchange(for: .taken) {
        case .success(let output): return output
        case .failure(let error): throw error
        default: throw CofferError(.internal, "the outcome of a piece of work was taken twice")
        }
    }

    private func exchange(for next: consuming State) -> State {
        var other = next
        state.withLock { swap(&$0, &other) }
        return other
    }
}
