internal import CofferBus
internal import CofferClient
internal import CofferSystem

/// A program that has called: its connection to the bus, and the process that has made it.
final class BusClient {
    /// A process that is held, so that no later one is taken for it.
    final class Process {
        let held: HeldProcess
        init(_ held: consuming HeldProcess) { self.held = held }
    }

    /// The unique name of its connection.
    let name: String
    /// `nil` if the bus does not know it, if it has ended, or if the daemon does not take requests on its behalf.
    var process: Process?
    /// The requests on its behalf.
    var connection: BlockingClient?
    /// The access group of these that name none, once there were some.
    var group: String?
    /// The items of its own, where programs are kept apart.
    var own: (service: SecretService, holdings: Holdings)?
    /// The calls that wait until its process is known; `nil` once it is.
    fileprivate var waiting: [HeldCall]? = []
    /// Whether it has left the bus before.
    fileprivate var hasLeft = false

    /// Whether it is known to be the program that asks in the name of sandboxed applications.
    var isPortal: Bool {
        ["/usr/libexec", "/usr/lib"].contains { AccessGroup.program(at: "\($0)/xdg-desktop-portal") == group }
    }

    fileprivate init(_ name: String) { self.name = name }
}

/// The programs that have called.
///
/// The first call of each waits until the bus has said which process it is.
final class BusClients {
    private let bus: BusConnection
    private let carryOut: (BusMessage, BusClient) throws(SystemError) -> Void
    private let end: (BusClient) -> Void
    private var known: [String: BusClient] = [:]
    /// Of whom the bus was asked, by the number of the call.
    private var asked: [UInt64: BusClient] = [:]

    /// - Parameters:
    ///   - bus: The connection to the bus.
    ///   - carryOut: Carries out a call.
    ///   - end: Gets a program that has left the bus, after its last call.
    init(
        _ bus: BusConnection,
        carryOut: @escaping (BusMessage, BusClient) throws(SystemError) -> Void,
        end: @escaping (BusClient) -> Void
    ) {
        self.bus = bus
        self.carryOut = carryOut
        self.end = end
    }

    /// Has a call carried out, once it is known whose it is.
    func receive(_ call: BusMessage) throws(SystemError) {
        guard let name = call.sender else { return }
        // A call that is refused before it is carried out may hold a secret, too.
        call.markSecret()
        let client: BusClient
        if let other = known[name] {
            client = other
        } else {
            client = BusClient(name)
            known[name] = client
            try ask("GetConnectionCredentials", about: client)
        }
        guard let waiting = client.waiting else { return try carryOut(call, client) }
        guard waiting.count < Limits.callsOfUnknown else {
            return try bus.refuse(call, BusFailure(bus: "LimitsExceeded", "too many calls wait to be carried out"))
        }
        client.waiting?.append(HeldCall(call))
    }

    /// Goes on after an answer of the bus.
    func take(_ answer: BusMessage, to call: UInt64) throws(SystemError) {
        guard let client = asked.removeValue(forKey: call) else { return }
        if client.process != nil {
            // Whoever still has the connection has not ended before the process was held.
            if answer.failure != nil { client.process = nil }
        } else if answer.failure == nil, let named = try? Self.process(in: answer) {
            client.process = named.process
            if !named.isHeldByBus { return try ask("GetConnectionUnixProcessID", about: client) }
        }
        let calls = client.waiting ?? []
        client.waiting = nil
        for held in calls { try carryOut(held.call, client) }
        if client.hasLeft { end(client) }
    }

    /// The items of programs that have their own.
    var isolated: [(client: BusClient, holdings: Holdings)] {
        known.values.compactMap { client in client.own.map { (client, $0.holdings) } }
    }

    /// Forgets a program that has left the bus.
    func forget(_ name: String) {
        guard let client = known.removeValue(forKey: name) else { return }
        client.hasLeft = true
        if client.waiting == nil { end(client) }
    }

    private func ask(_ method: String, about client: BusClient) throws(SystemError) {
        let number = try bus.callBus(method) { (writer) throws(SystemError) in try writer.text(client.name) }
        asked[number] = client
    }

    /// Reads the process of a connection out of its credentials.
    ///
    /// - Returns: Whether the bus has held it since it connected, as those since 1.15 do; `nil` if there is none any more.
    private static func process(in answer: BusMessage) throws -> (process: BusClient.Process, isHeldByBus: Bool)? {
        var (number, passed): (Int32?, BusClient.Process?) = (nil, nil)
        try answer.enterArray(of: "{sv}")
        while !answer.isAtEnd {
            try answer.enterEntry(of: "sv")
            switch (try answer.text(), answer.variantType) {
            case ("ProcessID", "u"):
                try answer.enterVariant(of: "u")
                number = Int32(exactly: try answer.number())
                try answer.leave()
            case ("ProcessFD", "h"):
                try answer.enterVariant(of: "h")
                let descriptor = PeerDescriptor(owning: try answer.descriptor().release())
                if let held = try HeldProcess(descriptor) { passed = BusClient.Process(held) }
                try answer.leave()
            default: try answer.skip("v")
            }
            try answer.leave()
        }
        try answer.leave()
        if let passed { return (passed, true) }
        guard let number, let held = try HeldProcess(numbered: number) else { return nil }
        return (BusClient.Process(held), false)
    }
}
