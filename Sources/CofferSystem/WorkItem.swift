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
    private enum Outcome: ~Copyable {
        case pending
        case success(Output)
        case failure(CofferError)
    }

    private let input: Mutex<Input?>
    private let outcome = Mutex<Outcome>(.pending)
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

    /// Takes the result, once.
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
