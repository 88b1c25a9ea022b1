internal import CofferBus
internal import CofferClient
internal import CofferSystem

/// Why a call has no result.
enum CallFailure: Error {
    /// The program refuses it, or answers what the method does not return.
    case refused(BusFailure)
    /// No further call is of use: the program is gone, or silent.
    case ended(CofferError)
}

/// Calls methods of the program that has a name on the session bus, and waits for each answer.
///
/// It calls the process that has the name when it begins, and never the one that may have it later.
final class ServiceCaller {
    private let loop: EventLoop
    private let bus: BusConnection
    private let inbox: Inbox
    /// How long the program may be silent, in nanoseconds; `nil` for ever.
    private let patience: UInt64?
    /// The connection of the program to the bus.
    private(set) var owner = ""

    /// What has arrived, and is waited for.
    private final class Inbox {
        var awaited: UInt64?
        var answer: HeldCall?
        /// The prompt that is shown.
        var prompt: String?
        var wasDismissed: Bool?
        var loss: CofferError?
        /// The connection of the program to the bus, once it is known.
        var owner = ""

        func take(_ message: BusMessage) {
            // Any program can send answers and signals that were not asked for.
            guard let sender = message.sender, [owner, BusConnection.busName].contains(sender) else { return }
            if let call = message.answeredCall {
                if call == awaited { answer = HeldCall(message) }
            } else if message.member == "NameOwnerChanged" {
                // The rule selects the end of the program.
                if message.sender == BusConnection.busName { loss = .otherServiceEnded }
            } else if message.member == "Completed", let prompt, message.path == prompt {
                wasDismissed = (try? message.flag()) ?? true
            }
        }
    }

    /// Connects to the bus.
    ///
    /// - Throws: `notAvailable` if there is none.
    init(patience: Duration?) throws(CofferError) {
        self.patience = patience.map { UInt64(clamping: $0.components.seconds).nearestProduct(1_000_000_000) }
        let inbox = Inbox()
        self.inbox = inbox
        do throws(SystemError) {
            let loop = try EventLoop()
            self.loop = loop
            bus = try BusConnection(to: .session, on: loop) {
                inbox.take($0)
            } lose: { error in
                inbox.loss = error.cofferError("the connection to the session bus broke")
            }
        } catch {
            throw CofferError(
                .notAvailable,
                "there is no session bus: \(error.reason)",
                hint: "run it in your session, where $DBUS_SESSION_BUS_ADDRESS or $XDG_RUNTIME_DIR names its bus"
            )
        }
    }

    // MARK: The program

    /// Finds the program that has a name; if none has it, the bus may start one.
    ///
    /// - Throws: `notAvailable` if there is none.
    func find(_ name: String) throws(CofferError) {
        // The bus starts none that was started in another way.
        if try owner(of: name) == nil { try start(name) }
        guard let owner = try owner(of: name) else { throw .otherServiceEnded }
        self.owner = owner
        inbox.owner = owner
        let rule = "type='signal',sender='\(BusConnection.busName)',member='NameOwnerChanged',arg0='\(owner)',arg2=''"
        do throws(SystemError) { try bus.subscribe(rule) } catch { throw error.cofferError(Self.subject) }
        // It may have ended before the bus knew of the rule.
        guard try self.owner(of: name) == owner else { throw .otherServiceEnded }
    }

    private func start(_ name: String) throws(CofferError) {
        do throws(CallFailure) {
            try askBus("StartServiceByName") { (writer) throws(SystemError) in
                try writer.text(name)
                try writer.number(0)
            }
        } catch {
            guard case .refused(let failure) = error else { throw error.cofferError }
            throw CofferError(
                .notAvailable,
                "no program has the name \(name) on the session bus, and the bus can start none: \(failure.words)",
                hint: "log in to the desktop whose passwords shall come, and repeat the command there"
            )
        }
    }

    /// The connection that has a name; `nil` if none has it.
    func owner(of name: String) throws(CofferError) -> String? {
        do throws(CallFailure) {
            return try askBus("GetNameOwner", { (writer) throws(SystemError) in try writer.text(name) }) {
                try $0.text()
            }
        } catch {
            guard case .refused = error else { throw error.cofferError }
            return nil
        }
    }

    private static let subject = "can't ask the other service"

    // MARK: Calls

    /// Calls a method of the program.
    ///
    /// - Parameters:
    ///   - arguments: Appends its arguments.
    ///   - read: Reads its result.
    func call<Result>(
        _ method: String,
        of interface: String,
        at path: String,
        _ arguments: (BusWriter) throws(SystemError) -> Void = { _ in },
        read: (BusMessage) throws -> Result
    ) throws(CallFailure) -> Result {
        do throws(CallFailure) {
            return try answer(
                { () throws(SystemError) in try bus.call(method, of: interface, at: path, of: owner, arguments) },
                read
            )
        } catch {
            guard case .refused(let failure) = error, failure.isEnd else { throw error }
            throw .ended(.otherServiceEnded)
        }
    }

    private func askBus<Result>(
        _ method: String,
        _ arguments: (BusWriter) throws(SystemError) -> Void,
        read: (BusMessage) throws -> Result = { _ in }
    ) throws(CallFailure) -> Result {
        try answer({ () throws(SystemError) in try bus.callBus(method, arguments) }, read)
    }

    private func answer<Result>(
        _ send: () throws(SystemError) -> UInt64,
        _ read: (BusMessage) throws -> Result
    ) throws(CallFailure) -> Result {
        do throws(SystemError) { inbox.awaited = try send() } catch { throw .ended(error.cofferError(Self.subject)) }
        do throws(CofferError) { try wait(patience) { inbox.answer != nil } } catch { throw .ended(error) }
        guard let answer = inbox.answer?.call else { throw .ended(.otherServiceEnded) }
        defer { inbox.answer = nil }
        if let failure = answer.failure { throw .refused(failure) }
        do { return try read(answer) } catch let failure as BusFailure {
            throw .refused(failure == .wrongArguments ? .wrongAnswer : failure)
        } catch let error as CofferError {
            throw .ended(error)
        } catch {
            throw .refused(BusFailure(bus: "Failed", "\(error)"))
        }
    }

    /// Has the program show one of its prompts, and waits for the person.
    ///
    /// - Returns: Whether the person has done what it asks for.
    func show(_ prompt: String) throws(CallFailure) -> Bool {
        inbox.prompt = prompt
        inbox.wasDismissed = nil
        let name = Introspection.Interface.prompt
        let rule = "type='signal',sender='\(owner)',interface='\(name)',member='Completed',path='\(prompt)'"
        do throws(SystemError) { try bus.subscribe(rule) } catch { throw .ended(error.cofferError(Self.subject)) }
        try call("Prompt", of: name, at: prompt) { (writer) throws(SystemError) in
            try writer.text("")
        } read: { _ in
        }
        do throws(CofferError) { try wait(nil) { inbox.wasDismissed != nil } } catch { throw .ended(error) }
        return inbox.wasDismissed == false
    }

    /// Carries on the bus until something has arrived.
    private func wait(_ patience: UInt64?, until hasArrived: () -> Bool) throws(CofferError) {
        let end = patience.map { BootClock.system.now.nearestSum($0) }
        while !hasArrived() {
            if let loss = inbox.loss { throw loss }
            var milliseconds: Int32 = -1
            if let end {
                let now = BootClock.system.now
                guard now < end else { throw silence }
                milliseconds = Int32(clamping: (end - now) / 1_000_000 + 1)
            }
            loop.poll(milliseconds: milliseconds)
            loop.dispatch()
        }
    }

    private var silence: CofferError {
        CofferError(
            .notAvailable,
            "the other service has not answered for \((patience ?? 0) / 1_000_000_000) s",
            hint: "--timeout gives it more time; the same command again copies the rest",
            retry: .later
        )
    }
}

extension CallFailure {
    /// The error, if it is none of a single object.
    var cofferError: CofferError {
        switch self {
        case .refused(let failure): CofferError(.notAvailable, "the other service refuses: \(failure.words)")
        case .ended(let error): error
        }
    }
}

extension BusFailure {
    static let wrongAnswer = BusFailure(bus: "InvalidArgs", "its answer is not that of a Secret Service")

    /// What failed, for people.
    var words: String { text.isEmpty ? name : text }

    /// Whether no program answers calls to the service any more.
    fileprivate var isEnd: Bool {
        ["Disconnected", "NameHasNoOwner", "NoReply", "ServiceUnknown"].contains {
            name == BusFailure(bus: $0, "").name
        }
    }
}

extension CofferError {
    fileprivate static let otherServiceEnded = CofferError(
        .notAvailable,
        "the other service has ended",
        hint: "the same command again copies the rest"
    )
}
