internal import CofferBus
package import CofferClient
internal import CofferPrompter
internal import CofferSystem
internal import Glibc

/// The Secret Service of a person's bus, on top of a vault: owns the name on the bus, and serves until it is ended.
package final class Bridge {
    private let loop: EventLoop
    private let connection: DaemonConnection
    private let requests: PasscodeRequests
    private let report: (CofferError) -> Void
    private var servants: Servants?
    /// The connection over which the vault reports its events; `nil` while there is none.
    private var watcher: (client: BlockingClient, watch: EventLoop.Watch)?
    private var retryTimer: LoopTimer?
    /// Before then, no call has the vault tried again: it may take long to find out that it can't be reached.
    private var nextTry: UInt64 = 0
    /// Whether it was reported already that the vault can't be reached.
    private var hasReported = false
    /// The requests for names that are not answered.
    private var nameCalls: [UInt64: String] = [:]
    private var end: Result<Void, CofferError>?

    /// Serves until a signal ends it.
    ///
    /// - Parameters:
    ///   - connect: Connects to the daemon.
    ///   - variable: Returns the value of a variable of the environment, which says where a question shows itself.
    ///   - locksVault: Whether a client may lock the vault; otherwise the service only says that it has.
    ///   - isolates: Whether each program has items of its own.
    ///   - report: Gets what fails meanwhile.
    /// - Throws: `notAvailable` if there is no bus, or if another program has the name.
    package static func run(
        _ connect: @escaping @Sendable () throws(CofferError) -> BlockingClient,
        environment variable: @escaping (String) -> String?,
        locksVault: Bool,
        isolates: Bool,
        report: @escaping (CofferError) -> Void
    ) throws(CofferError) {
        var end: Result<Void, CofferError>?
        do throws(SystemError) {
            let loop = try EventLoop()
            let requests = try PasscodeRequests(on: loop, connect)
            let bridge = Bridge(on: loop, DaemonConnection(connect, isolates: isolates), requests, report)
            let signals = try SignalSource([SIGTERM, SIGINT], on: bridge.loop) { _ in bridge.end = .success(()) }
            try bridge.start(locksVault, variable)
            while bridge.end == nil {
                bridge.loop.poll(milliseconds: -1)
                bridge.loop.dispatch()
            }
            withExtendedLifetime(signals) {}
            end = bridge.end
        } catch {
            throw error.cofferError("can't serve on the session bus")
        }
        if case .failure(let error) = end { throw error }
    }

    private init(
        on loop: EventLoop,
        _ connection: DaemonConnection,
        _ requests: PasscodeRequests,
        _ report: @escaping (CofferError) -> Void
    ) {
        self.loop = loop
        self.connection = connection
        self.requests = requests
        self.report = report
    }

    /// What there is while there is a bus.
    private struct Servants {
        let bus: BusConnection
        let clients: BusClients
        let holdings: Holdings
        let service: SecretService
        let vault: VaultObject
        let portal: PortalBackend
        let asker: Asker

        /// Who answers calls to an object, those of the Secret Service for a program that has its own.
        func servant(of path: String?, for client: BusClient) -> any BusServant {
            switch path {
            case VaultObject.path: vault
            case PortalBackend.path: portal
            default: client.own?.service ?? service
            }
        }
    }

    private func start(_ locksVault: Bool, _ variable: (String) -> String?) throws(SystemError) {
        let bus = try BusConnection(to: .session, on: loop) { [unowned self] message in
            receive(message)
        } lose: { [unowned self] error in
            end = .failure(error.cofferError("the connection to the session bus broke"))
        }
        let holdings = Holdings(connection) { [unowned self] change in try? servants?.service.tell(change) }
        let prompter = try Prompter(on: loop, variable: variable)
        let asker = Asker(bus, holdings, prompter, requests, report)
        servants = Servants(
            bus: bus,
            clients: BusClients(bus) { [unowned self] (call, client) throws(SystemError) in
                try carryOut(call, of: client, locksVault)
            } end: { [unowned self] client in
                servants?.asker.forget(client.name)
                (client.own?.service ?? servants?.service)?.forget(client.name)
                client.own = nil
                connection.forget(client.name)
            },
            holdings: holdings,
            service: SecretService(bus, holdings, locksVault: locksVault, asker),
            vault: VaultObject(bus, holdings, asker),
            portal: PortalBackend(bus, connection, holdings, asker),
            asker: asker
        )
        retryTimer = try LoopTimer(on: loop) { [unowned self] in watchVault() }
        try bus.subscribe("type='signal',sender='\(BusConnection.busName)',member='NameOwnerChanged',arg2=''")
        try request(SecretService.busName, on: bus)
        watchVault()
    }

    // MARK: The bus

    private func carryOut(_ call: BusMessage, of client: BusClient, _ locksVault: Bool) throws(SystemError) {
        guard let servants else { return }
        if connection.isolates && call.path != VaultObject.path {
            do throws(CofferError) { try isolate(client, locksVault) } catch {
                return try servants.bus.refuse(call, BusFailure(error))
            }
            // It is asked for in the name of any application.
            guard call.path != PortalBackend.path || client.isPortal else {
                return try servants.bus.refuse(call, BusFailure(bus: "AccessDenied", "only xdg-desktop-portal asks so"))
            }
        }
        let servant = servants.servant(of: call.path, for: client)
        try connection.serve(client) { () throws(SystemError) in try servant.answer(call, on: servants.bus) }
    }

    /// Gives a program items of its own, unless it has them.
    ///
    /// - Throws: `missingEntitlement` if the daemon does not know which program it is, or if that is another now.
    private func isolate(_ client: BusClient, _ locksVault: Bool) throws(CofferError) {
        guard let servants else { return }
        // The daemon checks the program at each request, even where the bridge knows the answer.
        if let own = client.own { return try own.holdings.readState() }
        let own = DaemonConnection(for: client, by: connection)
        let holdings = Holdings(own, isOfProgram: true) { [weak client] change in
            try? client?.own?.service.tell(change)
        }
        try holdings.readState()
        let (bus, asker) = (servants.bus, servants.asker)
        client.own = (SecretService(bus, holdings, locksVault: locksVault, asker, to: client.name), holdings)
    }

    private func receive(_ message: BusMessage) {
        guard let servants else { return }
        do throws(SystemError) {
            if message.isCall {
                if watcher == nil, BootClock.system.now >= nextTry { watchVault() }
                try servants.clients.receive(message)
            } else if let call = message.answeredCall {
                // Any program can send an answer that was not asked for, and the bridge calls nothing but the bus here.
                guard message.sender == BusConnection.busName else { return }
                if let name = nameCalls.removeValue(forKey: call) {
                    try receive(name, message, on: servants.bus)
                }
                servants.asker.take(message, to: call)
                try servants.clients.take(message, to: call)
            } else if message.sender == BusConnection.busName, let name = try? message.text() {
                note(name, of: message.member)
            }
        } catch {
            end = .failure(error.cofferError("the session bus takes no messages"))
        }
    }

    private func request(_ name: String, on bus: BusConnection) throws(SystemError) {
        let call = try bus.callBus("RequestName") { (writer) throws(SystemError) in
            try writer.text(name)
            // Not behind another owner, who would then leave it to this one at any time.
            try writer.number(4)
        }
        nameCalls[call] = name
    }

    /// Takes the answer to the request for a name: a bridge that has the first name requests the others.
    private func receive(_ name: String, _ answer: BusMessage, on bus: BusConnection) throws(SystemError) {
        let owner: UInt32 = 1
        if (try? answer.number()) == owner {
            if name != SecretService.busName { return }
            for other in [VaultObject.name, PortalBackend.name] { try request(other, on: bus) }
            return
        }
        let error = CofferError(
            .notAvailable,
            "another program has the name \(name) on this bus",
            hint: "'coffer secret-service status' says which"
        )
        // Without the others, it is the Secret Service still.
        if name == SecretService.busName { end = .failure(error) } else { report(error) }
    }

    private func note(_ name: String, of signal: String?) {
        switch signal {
        case "NameLost" where name == SecretService.busName:
            end = .failure(CofferError(.notAvailable, "another program has taken over the secrets of this bus"))
        case "NameOwnerChanged": servants?.clients.forget(name)
        default: return
        }
    }

    // MARK: The vault

    /// Has the vault report its events, and asks it for its state; if it can't be reached, that is tried again.
    private func watchVault() {
        if watcher != nil { return }
        retryTimer?.set(nil)
        do throws(CofferError) {
            let client = try connection.connect()
            // Those of collections are many, and none of them is the service's own.
            try client.watch(.items, in: AccessGroup.every)
            let watch = try client.watch(on: loop) { [unowned self] in receiveEvents() }
            watcher = (client, watch)
            hasReported = false
            servants?.holdings.forgetVault()
            try servants?.holdings.readState()
            for (_, holdings) in servants?.clients.isolated ?? [] {
                holdings.forgetVault()
                try? holdings.readState()
            }
            try? servants?.vault.tellState()
            servants?.asker.followVault()
        } catch {
            nextTry = BootClock.system.now + Limits.vaultRetryNanoseconds
            lose(error)
        }
    }

    private func receiveEvents() {
        guard let client = watcher?.client else { return }
        do throws(CofferError) {
            while let event = try client.nextEvent(until: .now) { follow(event) }
        } catch {
            lose(error)
        }
    }

    private func follow(_ event: VaultEvent) {
        if let servants { take(event, in: servants.holdings) }
        for (client, holdings) in servants?.clients.isolated ?? [] {
            take(event.only(in: client.group), in: holdings)
        }
        try? servants?.vault.tell(event)
        servants?.asker.followVault()
    }

    private func take(_ event: VaultEvent, in holdings: Holdings) {
        do throws(CofferError) { try holdings.take(event) } catch {
            // What it could not read now, it reads when a program asks.
            holdings.forgetVault()
        }
    }

    private func lose(_ error: CofferError) {
        if let watch = watcher?.watch { loop.unwatch(watch) }
        watcher = nil
        if !hasReported { report(error) }
        hasReported = true
        servants?.holdings.forgetVault()
        for (_, holdings) in servants?.clients.isolated ?? [] { holdings.forgetVault() }
        retryTimer?.set(BootClock.system.now + Limits.busRetryNanoseconds)
    }
}

extension VaultEvent {
    /// The event without what has changed in other access groups.
    fileprivate func only(in group: String?) -> VaultEvent {
        guard case .itemsDidChange(let changes) = self else { return self }
        return .itemsDidChange(changes.filter { $0.group == group })
    }
}
