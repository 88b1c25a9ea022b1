import CofferClient
import CofferCore
import CofferPrompter
import Testing

/// The conversation until the passcode is right.
@Suite struct UnlockConversationTests {
    private let wrong = CofferError(.authFailed, "can't open the vault: wrong passcode", hint: "try again")
    private let passcode: Reply

    init() throws { passcode = .secret(try Secret(exposed: "pass")) }

    private func words(_ step: UnlockConversation.Step) -> String {
        switch step {
        case .ask(let question): "ask: \(question.error?.forTerminal ?? "")"
        case .attempt(let passcode): "attempt \(passcode.exposeText() ?? "")"
        case .end(let outcome): CofferPrompterTests.words(outcome)
        }
    }

    @Test func `a passcode is tried, and the vault is unlocked`() {
        var conversation = UnlockConversation(question)
        #expect(words(conversation.step(after: passcode)) == "attempt pass")
        #expect(words(conversation.step(afterAttempt: nil)) == "unlocked")
    }

    @Test func `a wrong passcode is said, and another one asked for`() {
        var conversation = UnlockConversation(question)
        #expect(words(conversation.step(afterAttempt: wrong)) == "ask: Can't open the vault: wrong passcode")
        let slow = CofferError(.authFailed, "wrong passcode", retry: .afterDelay(seconds: 300))
        let shown = "ask: Wrong passcode; the next passcode is accepted in 5 min"
        #expect(words(conversation.step(afterAttempt: slow)) == shown)
    }

    @Test func `nothing is not tried, and asked for again`() throws {
        var conversation = UnlockConversation(question)
        #expect(words(conversation.step(after: .secret(Secret(nil)))) == "ask: No passcode was typed")
    }

    @Test func `it is asked no more often than a vault accepts passcodes`() throws {
        var conversation = UnlockConversation(question)
        for _ in 1..<Limits.passcodeAttempts {
            #expect(words(conversation.step(afterAttempt: wrong)).hasPrefix("ask"))
        }
        #expect(words(conversation.step(afterAttempt: wrong)) == wrong.message)
        #expect(words(conversation.step(after: .secret(Secret(nil)))) == "refused")
    }

    @Test func `a refusal, and an error that no other passcode mends, end it`() {
        var conversation = UnlockConversation(question)
        #expect(words(conversation.step(after: .refused)) == "refused")
        #expect(words(conversation.step(after: .failed(CofferError(.notAvailable, "none")))) == "none")
        #expect(words(conversation.step(afterAttempt: CofferError(.io, "the disk"))) == "the disk")
    }
}
