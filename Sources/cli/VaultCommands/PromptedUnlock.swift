internal import CofferClient
internal import CofferCommandSupport
internal import CofferPrompter
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// An unlock for which a pinentry asks, as for programs that have no terminal.
struct PromptedUnlock {
    private let client: BlockingClient

    init(_ client: BlockingClient) { self.client = client }

    /// Asks until the passcode is right, or until another client unlocks the vault.
    ///
    /// If the vault is unlocked already, it asks nothing.
    ///
    /// - Throws: `interactionRequired` if the person cancels; `notAvailable` if no pinentry can ask.
    func run() throws(CofferError) -> VaultStatus {
        try client.watch()
        let before = try client.status()
        if before.state == .unlocked { return before }
        try before.requirePasscodeAttempt()
        // A pinentry on a terminal has to be told which one.
        if let terminal = unsafe ttyname(STDERR_FILENO) { unsafe setenv("GPG_TTY", terminal, 0) }
        let outcome: UnlockOutcome
        do throws(SystemError) { outcome = try ask(on: EventLoop()) } catch { throw error.cofferError("can't ask") }
        switch outcome {
        case .unlocked: return try client.status()
        case .refused: throw CofferError(.interactionRequired, "nobody gave the passcode")
        case .failed(let error): throw error
        }
    }

    private func ask(on loop: EventLoop) throws(SystemError) -> UnlockOutcome {
        let prompter = try Prompter(on: loop) { environment($0) }
        let prompt = UnlockPrompt(by: prompter) { [client] passcode, tell in
            do throws(CofferError) {
                try client.call(VaultUnlockParameters(), payload: passcode)
                tell(nil)
            } catch { tell(error) }
        }
        // A terminal, or a screen, is left as it was.
        let signals = try SignalSource([SIGINT, SIGTERM, SIGHUP], on: loop) { _ in prompt.end(.refused) }
        defer { withExtendedLifetime(signals) {} }
        var outcome: UnlockOutcome?
        do throws(CofferError) {
            _ = try client.watch(on: loop) { [client] in
                do throws(CofferError) {
                    if try client.status().state == .unlocked { prompt.end(.unlocked) }
                } catch { prompt.end(.failed(error)) }
            }
            _ = try prompt.join(.unlock(for: nil)) { outcome = $0 }
        } catch { return .failed(error) }
        while true {
            if let outcome, prompter.isIdle { return outcome }
            loop.poll(milliseconds: -1)
            loop.dispatch()
        }
    }
}
