package import CofferSystem
internal import CofferCore
internal import CofferWire

/// How far a request has come: it is answered, or it says what has to happen before it goes on.
///
/// What comes next is a function on the loop's thread. It is called once, with nothing of the turns in between left on a stack.
package enum Step: ~Copyable {
    /// What comes next.
    package typealias Next = () throws -> Step

    /// It is answered.
    case done(Reply)
    /// A thread has something to do first.
    case work(any WorkItem, on: WorkLane, Next)
    /// It is its turn with something that one at a time may have, and keeps it until ``Call/release(_:)`` or its end.
    case claim(Claim, Next)
    /// What was changed is on the disk. If that fails, nothing comes next: the request ends with the error.
    case committed(Next)
    /// Others have had their turn.
    case again(Next)
}

/// The threads that work is done on.
package enum WorkLane: Sendable {
    /// Those for the bodies of files.
    case content
    /// The one for stretching passcodes: no transfer, however stuck, is in its way.
    case keys
}

extension Step {
    /// Has another thread do something with a value that it gets for its own.
    ///
    /// - Parameters:
    ///   - input: What it gets.
    ///   - lane: Which thread.
    ///   - body: What it does.
    ///   - next: What comes next, with what came of it.
    static func work<Input: ~Copyable & Sendable, Output: ~Copyable & Sendable>(
        with input: consuming sending Input,
        on lane: WorkLane = .content,
        _ body: @escaping @Sendable (consuming Input) throws(CofferError) -> Output,
        then next: @escaping (consuming Output) throws -> Step
    ) -> Step {
        let work = Work(input, body)
        return .work(work, on: lane) { try next(try work.take()) }
    }

    /// Has another thread do something; `otherwise` comes next where that fails.
    static func work<Input: ~Copyable & Sendable, Output: ~Copyable & Sendable>(
        with input: consuming sending Input,
        _ body: @escaping @Sendable (consuming Input) throws(CofferError) -> Output,
        then next: @escaping (consuming Output) throws -> Step,
        otherwise: @escaping (CofferError) throws -> Step
    ) -> Step {
        let work = Work(input, body)
        return .work(work, on: .content) {
            let output: Output
            do throws(CofferError) { output = try work.take() } catch { return try otherwise(error) }
            return try next(output)
        }
    }

    /// It is answered with nothing.
    static var done: Step { .done(Reply(Empty())) }
}

/// Something with one owner, kept until a function takes it that may be called once: the compiler can't know that it is.
final class Held<Value: ~Copyable> {
    private var value: Value?

    init(_ value: consuming Value?) { self.value = value }

    func take() -> Value? { value.take() }
}

extension CofferError {
    static let takenTwice = CofferError(.internal, "a request was carried out twice")
    /// The vault that the request began with is erased, or was opened anew.
    static let vaultIsGone = CofferError(.notAvailable, "the vault was erased meanwhile", operation: .write)
}
