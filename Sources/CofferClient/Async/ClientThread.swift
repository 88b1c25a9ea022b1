internal import CofferCore
internal import CofferSystem
internal import CofferWire

/// The thread of a client: it alone touches the connection, and waits for nothing but all of what the client waits for.
final class ClientThread {
    /// How often the connection is read before messages are taken again.
    private static let readsPerTurn = 16

    /// A stream that a task waits at.
    private struct Watch {
        let stream: ContentStream
        let interest: ContentStream.Interest
    }

    private let mailbox: Mailbox
    private let socketPath: String
    private var machine: ClientMachine
    private var buffer: ReceiveBuffer?
    private var socket: OwnedDescriptor?
    private var calls: [Int64: PendingCall] = [:]
    private var watches: [Int64: Watch] = [:]
    /// The streams that stay open until their calls have ended.
    private var held: [Int64: ContentStream] = [:]
    private var subscribers: [EventQueue] = []
    private var isStopped = false

    private init(_ mailbox: Mailbox, socketPath: String, policy: ReconnectPolicy) {
        self.mailbox = mailbox
        self.socketPath = socketPath
        machine = ClientMachine(policy: policy, tellsUnknownOutcomes: true)
    }

    /// Starts a thread, which runs until ``stop()``.
    static func start(_ mailbox: Mailbox, socketPath: String, policy: ReconnectPolicy) throws(SystemError) {
        try NativeThread.startDetached { ClientThread(mailbox, socketPath: socketPath, policy: policy).run() }
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

    // MARK: What tasks ask for

    /// Makes the first connection.
    ///
    /// - Throws: Why there is none, unless a later attempt may do better.
    func open() throws(CofferError) {
        do throws(CofferError) { try connect() } catch { if error.retry == .never { throw error } }
    }

    func submit(_ call: Call, _ pending: PendingCall?) {
        if let pending { calls[call.number] = pending }
        machine.submit(call)
    }

    /// Cancels a call.
    ///
    /// - Parameters:
    ///   - number: The call.
    ///   - stream: What stays open until it has ended: where it ended sooner, the daemon would take what has come for all
    ///     there is.
    func cancel(_ number: Int64, holding stream: ContentStream? = nil) {
        guard calls[number] != nil else { return }
        if let stream { held[number] = stream }
        machine.cancel(number, at: .now)
    }

    /// Rings when a stream is ready, or its call leaves nothing to wait for.
    func watch(_ stream: ContentStream, for interest: ContentStream.Interest) {
        watches[stream.call.number] = Watch(stream: stream, interest: interest)
        if stream.call.outcome != nil { callHasEnded(stream.call.number) }
    }

    /// Adds a subscriber, and asks the daemon for what all subscribers want: the last such request counts.
    func subscribe(_ queue: EventQueue, _ pending: PendingCall) {
        // Before the daemon is asked: what it sends right behind its answer belongs to the subscriber.
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

    /// Ends every call, and closes the connection for ever.
    func close() {
        machine.close(at: .now)
        settle()
    }

    /// Ends the thread.
    func stop() { isStopped = true }

    // MARK: The connection

    private func connect() throws(CofferError) {
        if buffer == nil { buffer = try ReceiveBuffer() }
        do { socket = try UnixSocket.connect(to: socketPath, isBlocking: false) } catch {
            throw .unreachable(socketPath, error)
        }
        machine.connected()
    }

    private func connectAgain() {
        do throws(CofferError) { try connect() } catch { machine.couldNotConnect(error, at: .now) }
    }

    private func flush() {
        do throws(SystemError) {
            while let count = try sendOnce() { machine.didSend(count) }
        } catch {
            // A daemon that turned us away has said why before it closed.
            while machine.isConnected && receiveOnce() {}
            if machine.isConnected { machine.disconnected(.connectionBroken(error.reason), at: .now) }
        }
    }

    private func sendOnce() throws(SystemError) -> Int? {
        guard let output = machine.output() else { return nil }
        switch socket {
        case .none: return nil
        case .some(let socket):
            guard let payload = output.payload else { return try output.send(on: socket, nil) }
            return try output.send(on: socket, payload.content)
        }
    }

    private func receive() {
        for _ in 0..<Self.readsPerTurn {
            guard machine.isConnected, receiveOnce() else { return }
            // What is answered makes room for what waits.
            flush()
        }
    }

    private func receiveOnce() -> Bool {
        switch socket {
        case .none: return false
        case .some(let socket):
            guard buffer?.receive(from: socket, into: &machine, at: .now) == true else { return false }
            while buffer?.hasPending == true { _ = buffer?.receive(from: socket, into: &machine, at: .now) }
            return true
        }
    }

    // MARK: Waiting

    private func wait(on set: inout PollSet) {
        set.removeAll()
        set.add(mailbox.signal.descriptor.number, isReading: true, isWriting: false)
        let hasSocket = socket != nil
        if let number = socketNumber { set.add(number, isReading: true, isWriting: machine.hasOutput) }
        let watched = Array(watches)
        for (_, watch) in watched {
            let isReading = watch.interest == .readable
            set.add(watch.stream.descriptor, isReading: isReading, isWriting: !isReading)
        }
        set.wait(until: machine.deadline)
        for (index, entry) in watched.enumerated() where set.isReady(at: index + (hasSocket ? 2 : 1)) {
            watches[entry.key] = nil
            entry.value.stream.call.alarm.ring()
        }
        if hasSocket && set.isReady(at: 1) { receive() }
    }

    private var socketNumber: Int32? {
        switch socket {
        case .none: nil
        case .some(let socket): socket.number
        }
    }

    // MARK: What has happened

    /// Hands out what the machine says.
    private func settle() {
        // Rung when nothing here holds a part of an outcome any more: what a task got is its own.
        for alarm in takeIn(machine.takeEffects()) { alarm.ring() }
        if !machine.isConnected { socket = nil }
    }

    private func takeIn(_ effects: [ClientMachine.Effect]) -> [Alarm] {
        var alarms: [Alarm] = []
        for effect in effects {
            switch effect {
            case .answered(let number, let outcome): end(number, outcome.map { Reply($0) }, &alarms)
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

    /// A stream has more to give after an answer, but takes no more.
    private func callHasEnded(_ number: Int64) {
        guard let watch = watches[number], watch.interest == .writable || watch.stream.call.error != nil else { return }
        watches[number] = nil
        watch.stream.call.alarm.ring()
    }
}
