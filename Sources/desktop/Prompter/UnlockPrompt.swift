package import CofferClient
package import CofferCore

/// The one prompt that unlocks the vault, for all programs that wait for it.
///
/// A program that asks while the prompt is shown joins it. Each program gets one outcome, whatever happens, and never before
/// ``join(_:then:)`` returns.
package final class UnlockPrompt {
    /// Tries a passcode, and calls back on the thread of the loop: without an error if the vault is unlocked.
    package typealias Attempt = (Secret, @escaping (CofferError?) -> Void) -> Void

    private struct Asker {
        let id: PromptID
        let then: (UnlockOutcome) -> Void
    }

    private let prompter: Prompter
    private let attempt: Attempt
    private var askers: [Asker] = []
    private var lastNumber: UInt64 = 0
    private var conversation: UnlockConversation?
    /// The question of the conversation that is being asked.
    private var asked: PromptID?
    /// Counts the conversations: what is late belongs to a former one.
    private var conversationNumber = 0

    /// Makes a prompt that is not shown.
    ///
    /// - Parameters:
    ///   - prompter: Asks the questions.
    ///   - attempt: Tries a passcode.
    package init(by prompter: Prompter, attempt: @escaping Attempt) {
        self.prompter = prompter
        self.attempt = attempt
    }

    /// Shows the prompt, or joins the one that is shown.
    ///
    /// - Parameters:
    ///   - question: The question, if it is not shown yet; its error tells of a delay that has begun before.
    ///   - then: Gets the outcome.
    /// - Throws: `notAvailable` if too many wait already.
    package func join(
        _ question: Question,
        then: @escaping (UnlockOutcome) -> Void
    ) throws(CofferError) -> PromptID {
        guard askers.count < Limits.waitingPrompts else { throw .tooManyPrompts }
        if conversation == nil {
            try ask(question)
            conversation = UnlockConversation(question)
        }
        lastNumber += 1
        let id = PromptID(number: lastNumber)
        askers.append(Asker(id: id, then: then))
        return id
    }

    /// Has one no longer wait: its outcome, before this returns, is that it was refused.
    ///
    /// The last one takes the prompt along.
    ///
    /// - Parameter id: The program that waits; nothing happens if it has its outcome already.
    package func leave(_ id: PromptID) {
        guard let place = askers.firstIndex(where: { $0.id == id }) else { return }
        let asker = askers.remove(at: place)
        if askers.isEmpty { end(.refused) }
        asker.then(.refused)
    }

    /// Ends the prompt for all who wait, because the vault was unlocked in another way, or locked meanwhile.
    package func end(_ outcome: UnlockOutcome) {
        let told = askers
        askers = []
        conversation = nil
        conversationNumber += 1
        if let asked { prompter.dismiss(asked) }
        asked = nil
        for asker in told { asker.then(outcome) }
    }

    private func ask(_ question: Question) throws(CofferError) {
        let number = conversationNumber
        asked = try prompter.ask(question) { [weak self] reply in
            self?.proceed(in: number) { $0.step(after: reply) }
        }
    }

    /// Goes on, unless the conversation was ended meanwhile.
    private func proceed(in number: Int, _ step: (inout UnlockConversation) -> UnlockConversation.Step) {
        guard number == conversationNumber, var current = conversation else { return }
        let next = step(&current)
        conversation = current
        asked = nil
        switch next {
        case .ask(let question): do { try ask(question) } catch { end(.failed(error)) }
        case .attempt(let passcode):
            attempt(passcode) { [weak self] error in self?.proceed(in: number) { $0.step(afterAttempt: error) } }
        case .end(let outcome): end(outcome)
        }
    }
}
