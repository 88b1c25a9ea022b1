internal import CofferBus
internal import CofferClient
internal import CofferPrompter
internal import CofferSystem
internal import Glibc

/// Asks a person for the passcode, in the name of the program that wants something of the vault.
final class Asker {
    /// What a person is asked for.
    fileprivate struct Subject {
        /// The prompt: all who want the vault unlocked share one.
        let prompt: UnlockPrompt
        /// The question, in the name of a program if it is known.
        let question: (String?) -> Question
        /// How it has ended by the state of the vault; `nil` while a person is needed.
        let settlement: () -> UnlockOutcome?
    }

    /// A request of a program, which waits for the outcome.
    final class Asking {
        fileprivate enum State {
            /// The bus was asked for the process of the program.
            case identifying
            case shown(PromptID)
            case ended
        }

        fileprivate var state = State.identifying
        fileprivate let client: String?
        fileprivate let subject: Subject
        fileprivate let then: (UnlockOutcome) -> Void

        fileprivate init(_ client: String?, _ subject: Subject, _ then: @escaping (UnlockOutcome) -> Void) {
            (self.client, self.subject, self.then) = (client, subject, then)
        }
    }

    private let bus: BusConnection
    private let holdings: Holdings
    private let prompter: Prompter
    private let requests: PasscodeRequests
    private let report: (CofferError) -> Void
    private let unlockPrompt: UnlockPrompt
    /// The requests that wait.
    private var askings: [Asking] = []
    /// The requests that wait for an answer of the bus, by the number of the call.
    private var identifying: [UInt64: Asking] = [:]

    /// - Parameter report: Gets the error if no person could be asked.
    init(
        _ bus: BusConnection,
        _ holdings: Holdings,
        _ prompter: Prompter,
        _ requests: PasscodeRequests,
        _ report: @escaping (CofferError) -> Void
    ) {
        self.bus = bus
        self.holdings = holdings
        self.prompter = prompter
        self.requests = requests
        self.report = report
        unlockPrompt = UnlockPrompt(by: prompter) { passcode, tell in
            let unlock: @Sendable (DaemonConnection) throws(CofferError) -> Secret = { daemon throws(CofferError) in
                try daemon.call(VaultUnlockParameters(), payload: passcode)
                return Secret(nil)
            }
            requests.make(unlock) { result in
                do throws(CofferError) {
                    _ = try result.get()
                    try holdings.readState()
                    tell(nil)
                } catch { tell(error) }
            }
        }
    }

    // MARK: Asking

    /// Asks for an unlock.
    ///
    /// - Parameters:
    ///   - client: The connection of the program to the bus.
    ///   - window: The window of the program, as it names it; empty for none.
    ///   - then: Gets the outcome, once.
    /// - Throws: `notAvailable` if too many questions of the program wait.
    @discardableResult
    func ask(
        for client: String?,
        window: String,
        then: @escaping (UnlockOutcome) -> Void
    ) throws -> Asking {
        let windowID = window.isEmpty ? nil : window
        let subject = Subject(prompt: unlockPrompt) {
            Question.unlock(for: $0, windowID: windowID)
        } settlement: { [holdings] in
            holdings.isLocked ? nil : .unlocked
        }
        return try ask(subject, for: client, then)
    }

    /// Asks for the passcode that the access control of an item requires, and reads the item with it.
    ///
    /// - Parameters:
    ///   - key: The item.
    ///   - client: The connection of the program to the bus.
    ///   - then: Gets the secret, or why it could not be read, once.
    /// - Throws: `notAvailable` if too many questions of the program wait.
    func read(
        _ key: ItemKey,
        for client: String?,
        then: @escaping (Result<Secret, CofferError>) -> Void
    ) throws {
        let item = try? holdings.item(key)
        let label = item.map(\.label).flatMap { $0.isEmpty ? nil : $0 } ?? key.name
        var secret = Secret(nil)
        let prompt = UnlockPrompt(by: prompter) { [requests] passcode, tell in
            let read: @Sendable (DaemonConnection) throws(CofferError) -> Secret = { daemon throws(CofferError) in
                try daemon.call(ContextAuthenticateParameters(factor: .passcode), payload: passcode)
                return try VaultItems(daemon).secret(of: key)
            }
            requests.make(read) { result in
                switch result {
                case .success(let content):
                    secret = content
                    tell(nil)
                case .failure(let error): tell(error)
                }
            }
        }
        let subject = Subject(prompt: prompt) {
            Question.read(label, for: $0)
        } settlement: { [holdings] in
            if let item, item.protection.isReadable(in: holdings.state) { return nil }
            return .failed(.locked(quotedForDisplay(label), in: holdings.state, for: .read))
        }
        try ask(subject, for: client) { outcome in
            switch outcome {
            case .unlocked: then(.success(secret))
            case .refused:
                let words = "can't read \(quotedForDisplay(label)): nobody gave the passcode"
                then(.failure(CofferError(.interactionNotAllowed, words)))
            case .failed(let error): then(.failure(error))
            }
        }
    }

    @discardableResult
    private func ask(
        _ subject: Subject,
        for client: String?,
        _ then: @escaping (UnlockOutcome) -> Void
    ) throws -> Asking {
        // Otherwise one program could take the places of all programs.
        guard askings.count(where: { $0.client == client }) < Limits.servicePrompts else {
            throw CofferError(
                .notAvailable,
                "\(Limits.servicePrompts) questions of this program wait for an answer",
                hint: "answer or cancel the one that is shown",
                retry: .later
            )
        }
        let asking = Asking(client, subject, then)
        let number = try bus.callBus("GetConnectionUnixProcessID") { (writer) throws(SystemError) in
            try writer.text(client ?? "")
        }
        identifying[number] = asking
        askings.append(asking)
        return asking
    }

    /// Goes on after an answer of the bus.
    func take(_ answer: BusMessage, to call: UInt64) {
        guard let asking = identifying.removeValue(forKey: call), case .identifying = asking.state else { return }
        // The vault may have been unlocked since the program asked.
        if let outcome = asking.subject.settlement() { return end(asking, outcome) }
        let process = answer.failure == nil ? try? answer.number() : nil
        let question = asking.subject.question(process.flatMap { Self.program(of: $0) })
        do throws(CofferError) {
            asking.state = .shown(try asking.subject.prompt.join(question) { [weak self] in self?.end(asking, $0) })
        } catch {
            end(asking, .failed(error))
        }
    }

    private static func program(of process: UInt32) -> String? {
        guard let number = pid_t(exactly: process), let held = try? HeldProcess(numbered: number) else { return nil }
        return held.executablePath
    }

    // MARK: Ending

    private func end(_ asking: Asking, _ outcome: UnlockOutcome) {
        if case .ended = asking.state { return }
        asking.state = .ended
        askings.removeAll { $0 === asking }
        if case .failed(let error) = outcome, error.code == .notAvailable { report(error) }
        asking.then(outcome)
    }

    /// Ends a request that waits.
    func dismiss(_ asking: Asking) {
        if case .shown(let id) = asking.state { asking.subject.prompt.leave(id) } else { end(asking, .refused) }
    }

    /// Ends the requests of a client that has left the bus.
    func forget(_ client: String) {
        for asking in askings where asking.client == client { dismiss(asking) }
    }

    /// Ends the questions that the state of the vault has settled.
    func followVault() {
        for asking in askings {
            guard case .shown = asking.state, let outcome = asking.subject.settlement() else { continue }
            asking.subject.prompt.end(outcome)
        }
    }
}
