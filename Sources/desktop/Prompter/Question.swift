package import CofferClient
package import CofferCore

/// A question to the person at the screen.
///
/// Its texts are lines: what they say of a caller is escaped.
package struct Question: Sendable {
    /// What is answered.
    package enum Kind: Sendable {
        case passcode
        case confirmation
    }

    package let kind: Kind
    package let title: Line
    /// The program that asks, and why it asks.
    package let text: Line
    /// The words before the field for the passcode.
    package let promptLabel: Line
    /// Why the answer before was not accepted.
    package var error: Line?
    /// The window of the caller, as the caller names it.
    package let windowID: String?
    /// The seconds for which it is shown.
    package let timeoutSeconds: Int

    package init(
        _ kind: Kind,
        title: Line = "Coffer",
        text: Line,
        promptLabel: Line = "Passcode:",
        error: Line? = nil,
        windowID: String? = nil,
        timeoutSeconds: Int = Limits.promptSeconds
    ) {
        self.kind = kind
        self.title = title
        self.text = text
        self.promptLabel = promptLabel
        self.error = error
        self.windowID = windowID
        self.timeoutSeconds = timeoutSeconds
    }

    /// The question for the passcode of the vault.
    ///
    /// - Parameters:
    ///   - program: The program that asks; `nil` if it is not known.
    ///   - reason: Why it asks, in its own words.
    ///   - windowID: Its window, as it names it.
    package static func unlock(for program: String?, reason: String? = nil, windowID: String? = nil) -> Question {
        let asker: Line = program.map { "\(quotedForDisplay($0)) asks to unlock the vault." } ?? "The vault is locked."
        let words: Line = reason.map { "\nIt says: \(quotedForDisplay($0))" } ?? ""
        return Question(.passcode, text: asker + words, windowID: windowID)
    }

    /// The question for the passcode of the vault, which an item requires each time that it is read.
    ///
    /// - Parameters:
    ///   - label: What the item is called.
    ///   - program: The program that asks; `nil` if it is not known.
    package static func read(_ label: String, for program: String?) -> Question {
        let asker: Line = program.map { "\(quotedForDisplay($0))" } ?? "A program"
        return Question(.passcode, text: asker + " asks to read \(quotedForDisplay(label)), which needs the passcode.")
    }
}

/// The answer to a question.
package enum Reply: Sendable {
    case secret(Secret)
    case confirmed
    /// It was cancelled or dismissed, or its time is over.
    case refused
    /// There is no pinentry, or it broke.
    case failed(CofferError)
}

/// A question that was asked, and is not answered yet.
package struct PromptID: Hashable, Sendable {
    let number: UInt64
}
