internal import CofferCore
internal import CofferPrompter
internal import CofferSystem
internal import CofferTerminal

/// A person who is asked to confirm something: by the program of `$SSH_ASKPASS`, without that variable by a pinentry.
final class Confirmation {
    private var askpass: Askpass?
    private var prompt: (loop: EventLoop, prompter: Prompter)?
    private var reply: Reply?

    /// Begins to ask.
    init(_ text: Line) throws(CofferError) {
        guard environment("SSH_ASKPASS") == nil, Program.path("pinentry") != nil else {
            askpass = try Askpass(text.forTerminal)
            return
        }
        do throws(SystemError) {
            let loop = try EventLoop()
            prompt = (loop, try Prompter(on: loop) { environment($0) })
        } catch { throw error.cofferError("can't ask") }
        let question = CofferPrompter.Question(.confirmation, text: text)
        _ = try prompt?.prompter.ask(question) { [unowned self] in reply = $0 }
    }

    /// A descriptor that is readable when ``advance()`` may have an answer.
    var number: Int32 {
        if let prompt { return prompt.loop.number }
        return switch askpass {
        case .none: -1
        case .some(let askpass): askpass.number
        }
    }

    /// The answer; `nil` while the person has not given one.
    func advance() -> Reply? {
        if let prompt {
            prompt.loop.poll(milliseconds: 0)
            prompt.loop.dispatch()
            return reply
        }
        guard let askpass = askpass.take() else { return .refused }
        return askpass.isConfirmed() ? .confirmed : .refused
    }
}
