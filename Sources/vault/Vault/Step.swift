package import CofferCore
package import CofferSystem
internal import CofferWire

/// The progress of a request: its answer, or the condition for continuing.
///
/// The continuation is a function on the loop's thread. It is called once, from an empty stack.
package enum Step: ~Copyable {
    /// The continuation.
    package typealias Next = () throws -> Step

    case done(Reply)
    /// Continue when a thread has done some work.
    case work(any WorkItem, on: WorkLane, Next)
    /// Continue when the request holds a claim, which it keeps until its end.
    case claim(Claim, Next)
    /// Continue when the changes are committed. If the commit fails, the request ends with the error.
    case committed(Next)
    /// Continue after other tenants have had their quantum.
    case again(Next)
}

/// The threads for work.
package enum WorkLane: Sendable {
    /// The threads for the contents of files.
    case content
    /// The thread for stretching passcodes: no transfer, however slow, blocks it.
    case keys
}

extension Step {
    /// Runs a function on another thread, with a value that it owns.
    ///
    /// - Parameters:
    ///   - input: The value.
    ///   - lane: The thread.
    ///   - body: The function.
    ///   - ended: Called with its failure, or with `nil`, before the request continues.
    ///   - next: Continues with its result.
    package static func work<Input: ~Copyable & Sendable, Output: ~Copyable & Sendable>(
        with input: consuming sending Input,
        on lane: WorkLane = .content,
        _ body: @escaping @Sendable (consuming Input) throws(CofferError) -> Output,
        ended: @escaping (CofferError?) -> Void = { _ in },
        then next: @escaping (consuming Output) throws -> Step
    ) -> Step {
        let work = Work(input, body)
        return .work(work, on: lane) {
            let output: Output
            do throws(CofferError) { output = try work.take() } catch {
                ended(error)
                throw error
            }
            ended(nil)
            return try next(output)
        }
    }

    /// Continues with the answer, instead of giving it.
    ///
    /// - Parameter next: Gets the answer.
    package consuming func then(_ next: @escaping (consuming Reply) throws -> Step) throws -> Step {
        switch consume self {
        case .done(let reply): return try next(reply)
        case .work(let item, let lane, let body): return .work(item, on: lane) { try body().then(next) }
        case .claim(let claim, let body): return .claim(claim) { try body().then(next) }
        case .committed(let body): return .committed { try body().then(next) }
        case .again(let body): return .again { try body().then(next) }
        }
    }

    /// An empty answer.
    package static var done: Step { .done(Reply(Empty())) }
}

/// A noncopyable value for a function that is called once, which the compiler can't know.
package final class Held<Value: ~Copyable> {
    private var value: Value?

    package init(_ value: consuming Value?) { self.value = value }

    package func take() -> Value? { value.take() }
}

extension CofferError {
    package static let takenTwice = CofferError(.internal, "a request was carried out twice")
    /// The vault of the request was erased, or opened again.
    package static let vaultIsGone = CofferError(.notAvailable, "the vault was erased meanwhile", operation: .write)
}
