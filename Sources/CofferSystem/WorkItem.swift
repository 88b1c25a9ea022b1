package import CofferCore
internal import Synchronization

/// What another thread does for the loop: nothing of the loop's can be in it, which the compiler proves.
package protocol WorkItem: AnyObject, Sendable {
    /// Does it, and keeps the outcome. Called once.
    func run()

    /// Keeps an error as the outcome, in place of ``run()``.
    func fail(_ error: CofferError)
}

/// A function to be run on another thread, what it is given, and what comes of it.
///
/// Both may be noncopyable, as secrets are.
package final class Work<Input: ~Copyable & Sendable, Output: ~Copyable & Sendable>: WorkItem {
    private enum Outcome: ~Copyable {
        case pending
        case success(Output)
        case failure(CofferError)
    }

    private let input: Mutex<Input?>
    private let outcome = Mutex<Outcome>(.pending)
    private let body: @Sendable (consuming Input) throws(CofferError) -> Output

    /// Makes an item.
    ///
    /// - Parameters:
    ///   - input: What the function is given; it is that thread's from then on.
    ///   - body: The function.
    package init(
        _ input: consuming sending Input,
        _ body: @escaping @Sendable (consuming Input) throws(CofferError) -> Output
    ) {
        self.input = Mutex(input)
        self.body = body
    }

    package func run() {
        do throws(CofferError) {
            var input = input.withLock { $0.take() }
            guard let input = input.take() else { return }
            keep(try body(input))
        } catch {
            fail(error)
        }
    }

    package func fail(_ error: CofferError) { outcome.withLock { $0 = .failure(error) } }

    private func keep(_ output: consuming sending Output) {
        var output: Output? = consume output
        outcome.withLock { outcome in
            if let output = output.take() { outcome = .success(output) }
        }
    }

    /// Takes the outcome, once.
    ///
    /// - Throws: What the function threw.
    package func take() throws(CofferError) -> Output {
        var taken = Outcome.pending
        outcome.withLock { outcome in swap(&outcome, &taken) }
        switch consume taken {
        case .success(let output): return output
        case .failure(let error): throw error
        case .pending: throw CofferError(.internal, "the outcome of a piece of work was taken twice")
        }
    }
}
