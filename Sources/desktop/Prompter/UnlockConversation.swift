package import CofferClient
package import CofferCore

/// How an unlock by a prompt ends.
package enum UnlockOutcome: Sendable {
    case unlocked
    /// It was cancelled or dismissed, or its time is over.
    case refused
    case failed(CofferError)
}

/// The conversation in which a person types the passcode, until it is right.
package struct UnlockConversation {
    /// What is done next.
    package enum Step: Sendable {
        case ask(Question)
        case attempt(Secret)
        case end(UnlockOutcome)
    }

    private var question: Question
    private var askedCount = 1

    /// Begins with a question, which is asked first.
    package init(_ question: Question) { self.question = question }

    /// What follows a reply to the question.
    package mutating func step(after reply: Reply) -> Step {
        switch reply {
        case .secret(let passcode) where passcode.count > 0: .attempt(passcode)
        case .secret, .confirmed: askAgain("No passcode was typed") ?? .end(.refused)
        case .refused: .end(.refused)
        case .failed(let error): .end(.failed(error))
        }
    }

    /// What follows an attempt to unlock.
    ///
    /// - Parameter error: Why it failed; `nil` if the vault is unlocked.
    package mutating func step(afterAttempt error: CofferError?) -> Step {
        guard let error else { return .end(.unlocked) }
        guard error.code == .authFailed else { return .end(.failed(error)) }
        return askAgain(Self.words(of: error)) ?? .end(.failed(error))
    }

    /// The question with the reason why it is asked again; `nil` if it was asked as often as a vault accepts passcodes.
    private mutating func askAgain(_ error: Line) -> Step? {
        guard askedCount < Limits.passcodeAttempts else { return nil }
        askedCount += 1
        question.error = error
        return .ask(question)
    }

    private static func words(of error: CofferError) -> Line {
        let message = error.message.prefix(1).uppercased() + error.message.dropFirst()
        guard case .afterDelay(let seconds) = error.retry else { return "\(message)" }
        return "\(message); the next passcode is accepted in \(durationForDisplay(seconds: seconds))"
    }
}
