internal import CofferCore
internal import CofferSystem
internal import CofferWire

/// The messages of the tasks to the client's thread; the messages of one task run in order.
typealias Mailbox = CofferSystem.Mailbox<@Sendable (ClientThread) -> Void>

/// The thread of a client, which alone uses the connection and blocks only in `poll`.
final class ClientThread {

    private let mailbox: Mailbox
    private let socketPath: String
    private var machine: ClientMachine
    private var link: Link?
    private var calls: [Int64: PendingCall] = [:]
    /// The streams that tasks wait for.
    private var watches: [Int64: (stream: ContentStream, interest: ContentStream.Interest)] = [:]
    /// Streams that are kept open until their calls have ended.
    private var held: [Int64: ContentStream] = [:]
    private var subscribers: [EventQueue] = []
    private var isStopped = false

    private init(_ mailbox: Mailbox, socketPath: String, policy: ReconnectPolicy, timeout: Duration?) {
        self.mailbox = mailbox
        self.socketPath = socketPath
        machine = ClientMachine(policy: policy, tellsUnknownOutcomes: true, timeout: timeout)
    }

    /// Starts a thread, which runs until ``stop()``.
    static func start(
        _ mailbox: Mailbox,
        socketPath: String,
        policy: ReconnectPolicy,
        timeout: Duration?
    ) throws(SystemError) {
        try NativeThread.startDetached {
            ClientThread(mailbox, socketPath: socketPath, policy: policy, timeout: timeout).run()
        }
    }

    private func run() {
        var set = PollSet()
        while true {
            for message in mailbox.take() { message(self) }
            if isStopped { return }
            machine.advance(to: .now)
            if machine.wantsConnection(at: .now) { connectAgain() }
            flush()
            settle()
            wait(on: &set)
        }
    }

    // MARK: Requests of the tasks

    /// Makes the first connection.
    ///
    /// - Throws: The reason of the failure, unless a later attempt may succeed.
    func open() throws(CofferError) {
        do throws(CofferError) { try connect() } catch { if error.retry == .never { throw error } }
    }

    func submit(_ call: Call, _ pending: PendingCall?) {
        if let pending { calls[call.number] = pending }
        machine.submit(call, at: .now)
    }

    /// Cancels a call.
    ///
    /// - Parameters:
    ///   - number: The call.
    ///   - stream: The stream to keep open until the call has ended. If it closed earlier, the daemon would
    ///     take the bytes so far for the whole content.
    func cancel(_ number: Int64, holding stream: ContentStream? = nil) {
        guard calls[number] != nil else { return }
        if let stream { held[number] = stream }
        machine.cancel(number, at: .now)
    }

    /// Rings when a stream is ready, or its call has ended.
    func watch(_ stream: ContentStream, for interest: ContentStream.Interest) {
        watches[stream.call.number] = (stream, interest)
        if stream.call.outcome != nil { callHasEnded(stream.call.number) }
    }

    /// Adds a subscriber, and subscribes to the union of all selections, because the last subscription
    /// replaces the earlier ones.
    func subscribe(_ queue: EventQueue, _ pending: PendingCall) {
        // First, because events that the daemon sends right after its answer belong to this subscriber.
        subscribers.append(queue)
        let wanted = subscribers.reduce(into: EventSelection()) { $0.formUnion($1.selection) }
        do throws(CofferError) {
            submit(try Call(pending.number, VaultWatchParameters(wanted)), pending)
        } catch {
            pending.end(.failure(error))
            pending.alarm.ring()
        }
    }

    func unsubscribe(_ queue: EventQueue) { subscribers.removeAll { $0 === queue } }

    /// Fails every call, and closes the connection for good.
    func close() {
        machine.close(at: .now)
        settle()
    }

    /// Ends the thread after this turn.
    func stop() { isStopped = true }

    // MARK: The connection

    private func connect() throws(CofferError) {
        link = try Link(to: socketPath)
        machine.connected(at: .now)
    }

    private func connectAgain() {
        do throws(CofferError) { try connect() } catch { machine.couldNotConnect(error, at: .now) }
    }

    private func flush() { link?.flush(&machine) }

    private func receive() {
        for _ in 0..<Limits.readsPerTurn {
            guard machine.isConnected, link?.receive(into: &machine) == true else { return }
            while link?.hasPending == true { _ = link?.receive(into: &machine) }
            // Answers make room for calls that wait in the outbox.
            flush()
        }
    }

    // MARK: Waiting

    private func wait(on set: inout PollSet) {
        set.removeAll()
        set.add(mailbox.wake.descriptor.number, isReading: true, isWriting: false)
        let number = socketNumber
        if let number { set.add(number, isReading: true, isWriting: machine.hasOutput) }
        let watched = Array(watches)
        for (_, watch) in watched {
            let isReading = watch.interest == .readable
            set.add(watch.stream.descriptor, isReading: isReading, isWriting: !isReading)
        }
        set.wait(for: machine.deadline.map { $0 - .now })
        for (index, entry) in watched.enumerated() where set.isReady(at: index + (number == nil ? 1 : 2)) {
            watches[entry.key] = nil
            entry.value.stream.call.alarm.ring()
        }
        if number != nil && set.isReady(at: 1) { receive() }
    }

    private var socketNumber: Int32? {
        switch link {
        case .none: nil
        case .some(let link): link.socket.number
        }
    }

    // MARK: Effects

    /// Passes the machine's effects on to the tasks.
    private func settle() {
        // The alarms ring last, when this thread no longer holds a reference to an outcome.
        for alarm in takeIn(machine.takeEffects()) { alarm.ring() }
        if !machine.isConnected { link = nil }
    }

    private func takeIn(_ effects: [ClientMachine.Effect]) -> [Alarm] {
        var alarms: [Alarm] = []
        for effect in effects {
            switch effect {
            case .answered(let number, let outcome): end(number, outcome, &alarms)
            case .failed(let number, let error): end(number, .failure(error), &alarms)
            case .progress(let number, let progress): calls[number]?.progress?(progress)
            case .event(let event): for queue in subscribers { queue.append(event) }
            case .lost(let reason):
                for queue in subscribers { queue.finish(reason) }
                subscribers = []
            }
        }
        return alarms
    }

    private func end(_ number: Int64, _ outcome: PendingCall.Outcome, _ alarms: inout [Alarm]) {
        guard let pending = calls.removeValue(forKey: number) else { return }
        pending.end(outcome)
        held[number] = nil
        callHasEnded(number)
        alarms.append(pending.alarm)
    }

    /// After its answer a stream may still have bytes to read, but it accepts none.
    private func callHasEnded(_ number: Int64) {
        guard let watch = watches[number], watch.interest == .writable || watch.stream.call.error != nil else { return }
        watches[number] = nil
        watch.stream.call.alarm.ring()
    }
}
