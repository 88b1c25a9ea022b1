internal import CofferBus
internal import CofferClient
internal import CofferPrompter
internal import CofferSystem
internal import Glibc

/// Asks a person to unlock the vault, in the name of the program that wants it.
final class Asker {
    /// One who has asked, and waits for the outcome.
    final class Asking {
        fileprivate enum State {
            /// The bus was asked for the process of the program.
            case identifying
            case shown(PromptID)
            case ended
        }

        fileprivate var state = State.identifying
        fileprivate let window: String
        fileprivate let then: (UnlockOutcome) -> Void

        fileprivate init(_ window: String, _ then: @escaping (UnlockOutcome) -> Void) {
            (self.window, self.then) = (window, then)
        }

        fileprivate func end(_ outcome: UnlockOutcome) {
            if case .ended = state { return }
            state = .ended
            then(outcome)
        }
    }

    private let bus: BusConnection
    private let prompt: UnlockPrompt
    /// Who waits for an answer of the bus, by the number of the call.
    private var identifying: [UInt64: Asking] = [:]

    init(_ bus: BusConnection, _ prompt: UnlockPrompt) {
        (self.bus, self.prompt) = (bus, prompt)
    }

    /// Asks.
    ///
    /// - Parameters:
    ///   - client: The connection of the program to the bus.
    ///   - window: The window of the program, as it names it; empty for none.
    ///   - then: Gets the outcome, once.
    @discardableResult
    func ask(
        for client: String?,
        window: String,
        then: @escaping (UnlockOutcome) -> Void
    ) throws(SystemError) -> Asking {
        let asking = Asking(window, then)
        let number = try bus.callBus("GetConnectionUnixProcessID") { (writer) throws(SystemError) in
            try writer.text(client ?? "")
        }
        identifying[number] = asking
        return asking
    }

    /// Has one no longer wait.
    func dismiss(_ asking: Asking) {
        if case .shown(let id) = asking.state { prompt.leave(id) } else { asking.end(.refused) }
    }

    /// Goes on after an answer of the bus.
    func take(_ answer: BusMessage, to call: UInt64) {
        guard let asking = identifying.removeValue(forKey: call), case .identifying = asking.state else { return }
        let process = answer.failure == nil ? try? answer.number() : nil
        let program = process.flatMap { Self.program(of: $0) }
        let question = Question.unlock(for: program, windowID: asking.window.isEmpty ? nil : asking.window)
        do throws(CofferError) {
            asking.state = .shown(try prompt.join(question) { asking.end($0) })
        } catch {
            asking.end(.failed(error))
        }
    }

    private static func program(of process: UInt32) -> String? {
        guard let number = pid_t(exactly: process), let held = try? HeldProcess(numbered: number) else { return nil }
        return held.executablePath
    }

    /// Ends all questions, because the vault was unlocked in another way.
    func end() { prompt.end(.unlocked) }
}
