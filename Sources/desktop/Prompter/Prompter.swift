package import CofferCore
package import CofferSystem

/// Asks the person at the screen, one question at a time.
///
/// Whoever asks gets one reply, whatever happens, and never before ``ask(_:then:)`` returns.
package final class Prompter {
    private struct Asked {
        let id: PromptID
        let question: Question
        let then: (Reply) -> Void
    }

    private let loop: EventLoop
    private let program: String
    private let screen: PinentryScreen
    private var waiting: [Asked] = []
    /// The question that is shown, until its reply.
    private var shown: Asked?
    /// The pinentry that shows it, until its process has ended.
    private var pinentry: Pinentry?
    private var turn: LoopTimer?
    private var lastNumber: UInt64 = 0

    /// Makes a prompter.
    ///
    /// - Parameters:
    ///   - loop: The loop; the caller must be on its thread.
    ///   - program: The pinentry; by default that of `$PATH`.
    ///   - variable: Returns the value of a variable of the environment, which says where it shows itself; if it is nowhere,
    ///     the agents of systemd are asked for a passcode.
    package init(
        on loop: EventLoop,
        program: String? = nil,
        variable: (String) -> String?
    ) throws(SystemError) {
        self.loop = loop
        self.program = program ?? "pinentry"
        screen = PinentryScreen(variable)
        turn = try LoopTimer(on: loop) { [unowned self] in showNext() }
    }

    deinit { turn?.invalidate() }

    /// Asks a question as soon as those before it are answered.
    ///
    /// - Parameters:
    ///   - question: The question.
    ///   - then: Gets the reply.
    /// - Throws: `notAvailable` if too many wait already.
    package func ask(_ question: Question, then: @escaping (Reply) -> Void) throws(CofferError) -> PromptID {
        guard waiting.count < Limits.waitingPrompts else { throw .tooManyPrompts }
        lastNumber += 1
        let id = PromptID(number: lastNumber)
        waiting.append(Asked(id: id, question: question, then: then))
        showSoon()
        return id
    }

    /// Takes a question back: its reply, before this returns, is that it was refused.
    ///
    /// - Parameter id: The question; nothing happens if it was answered.
    package func dismiss(_ id: PromptID) {
        if shown?.id == id {
            pinentry?.dismiss()
        } else if let place = waiting.firstIndex(where: { $0.id == id }) {
            waiting.remove(at: place).then(.refused)
        }
    }

    /// Whether nothing is shown, and no process of a pinentry is left.
    package var isIdle: Bool { pinentry == nil && waiting.isEmpty }

    private func showSoon() { turn?.set(BootClock.system.now) }

    private func showNext() {
        if pinentry?.hasEnded == true { pinentry = nil }
        guard pinentry == nil, !waiting.isEmpty else { return }
        let next = waiting.removeFirst()
        shown = next
        do {
            pinentry = try Pinentry(
                asking: next.question,
                by: program,
                on: screen,
                on: loop,
                reply: { [weak self] in self?.answer($0) },
                end: { [weak self] in self?.showSoon() }
            )
        } catch {
            showSoon()
            answer(.failed(error))
        }
    }

    private func answer(_ reply: Reply) {
        let asked = shown
        shown = nil
        asked?.then(reply)
    }
}

extension CofferError {
    /// The error for a question beyond those that may wait.
    static let tooManyPrompts = CofferError(
        .notAvailable,
        "can't ask: \(Limits.waitingPrompts) questions wait for an answer",
        hint: "answer or cancel what is shown",
        retry: .later
    )
}
