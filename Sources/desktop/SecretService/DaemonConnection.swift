internal import CofferClient
internal import CofferMemory
internal import CofferSystem

/// The requests to the daemon, over a connection that is made when there is none.
final class DaemonConnection {
    /// Makes a new connection.
    let connect: () throws(CofferError) -> BlockingClient
    private var client: BlockingClient?
    /// Whether the daemon takes requests on behalf of other processes over it.
    private var actsOnBehalf = false
    /// The program that is served now; `nil` for requests of this program's own.
    private var served: BusClient?
    /// The programs that have a connection, the one that was served last at the end.
    private var connected: [BusClient] = []
    /// Whether each program has items of its own.
    let isolates: Bool
    /// The only program that is served, and the pool of its connection; `nil` if all programs are served.
    private let only: (program: BusClient, pool: DaemonConnection)?

    init(_ connect: @escaping () throws(CofferError) -> BlockingClient, isolates: Bool = false) {
        self.connect = connect
        self.isolates = isolates
        only = nil
    }

    /// Makes requests on behalf of one program, and none if the daemon does not know which it is.
    ///
    /// - Parameter pool: Makes the connection of the program.
    init(for program: BusClient, by pool: DaemonConnection) {
        connect = pool.connect
        isolates = true
        only = (program, pool)
    }

    /// Makes requests on behalf of a program, as far as the daemon takes them so.
    func serve(_ program: BusClient, _ body: () throws(SystemError) -> Void) throws(SystemError) {
        served = program
        defer { served = nil }
        try body()
    }

    /// Closes the connection for a program that has left the bus.
    func forget(_ name: String) { connected.removeAll { $0.name == name } }

    /// Sends a request, and waits for its answer.
    @discardableResult
    func call<Parameters: MethodParameters>(
        _ params: Parameters,
        payload: Secret? = nil,
        passing descriptor: Int32? = nil
    ) throws(CofferError) -> Returned<Parameters.Result> {
        do throws(CofferError) {
            return try usedClient().call(params, payload: payload, passing: descriptor)
        } catch {
            // A program that does not wait for its answer may end before the daemon has its request.
            guard only == nil, error.code == .missingEntitlement, let served, let process = served.process,
                (try? process.held.isRunning) != true
            else { throw error }
            served.process = nil
            return try ownClient().call(params, payload: payload, passing: descriptor)
        }
    }

    private func usedClient() throws(CofferError) -> BlockingClient {
        if let (program, pool) = only {
            guard let client = try pool.client(for: program) else { throw .programUnknown }
            return client
        }
        if let served, let client = try client(for: served) { return client }
        return try ownClient()
    }

    /// The connection of this program: a new one if there is none, or if its daemon has ended meanwhile, because it was
    /// idle.
    private func ownClient() throws(CofferError) -> BlockingClient {
        if let client, Self.isOpen(client) { return client }
        let made = try connect()
        actsOnBehalf = try made.call(EntitlementExplainParameters(.caller)).value.actsOnBehalf
        client = made
        return made
    }

    /// The connection for a program; `nil` if its process is not known, or if the daemon takes no requests on its behalf.
    private func client(for program: BusClient) throws(CofferError) -> BlockingClient? {
        _ = try ownClient()
        guard actsOnBehalf, let process = program.process else { return nil }
        connected.removeAll { $0 === program }
        if let made = program.connection, Self.isOpen(made) {
            connected.append(program)
            return made
        }
        program.connection = nil
        let made = try connect()
        do throws(CofferError) {
            let params = HelloParameters(
                protocolNumber: Int64(Version.protocolNumber),
                group: isolates ? AccessGroup.ownProgram : nil
            )
            let group = try made.call(params, passing: process.held.descriptorNumber).value.group
            guard program.group == nil || program.group == group else { throw .programUnknown }
            program.group = group
        } catch {
            guard error.code == .missingEntitlement else { throw error }
            // It has ended, is another user's, or not known by its path: that stays so.
            program.process = nil
            return nil
        }
        if connected.count >= Limits.servedConnections { connected.removeFirst().connection = nil }
        connected.append(program)
        program.connection = made
        return made
    }

    private static func isOpen(_ client: BlockingClient) -> Bool {
        // It asks for no events: what comes can only be the end.
        do throws(CofferError) { return try client.nextEvent(until: .now) == nil && client.isConnected } catch {
            return false
        }
    }

    /// Stores an item with a secret of any size that the bus takes.
    func put(_ params: ItemPutParameters, _ secret: Secret) throws(CofferError) {
        guard secret.count > Limits.framePayloadBytes else {
            try call(params, payload: secret)
            return
        }
        let stream: OwnedDescriptor
        do { stream = try secret.withBytes { (bytes) throws(SystemError) in try .pipe(holding: bytes) } } catch {
            throw error.cofferError("can't pass the secret to the daemon")
        }
        try call(params, passing: stream.number)
    }

    /// The whole content of an item, which most often comes in one piece.
    ///
    /// - Throws: `dataTooLarge` if it has more bytes than the bus takes.
    func contents(of name: ItemName, in group: String) throws(CofferError) -> Secret {
        var pieces: [Secret] = []
        var count = 0
        repeat {
            let length = Int64(Limits.framePayloadBytes)
            let params = ItemGetParameters(name: name, offset: Int64(count), length: length, group: group)
            pieces.append(try call(params).payload)
            count += pieces[pieces.count - 1].count
            guard count <= Limits.serviceSecretBytes else { throw .tooLargeForBus }
        } while pieces[pieces.count - 1].count == Limits.framePayloadBytes
        if pieces.count == 1 { return pieces[0] }
        var content: SecretBytes
        do { content = try SecretBytes(zeros: count) } catch { throw .noSecretMemory }
        var place = 0
        for piece in pieces {
            piece.withBytes { content.copy($0, to: place) }
            place += piece.count
        }
        return Secret(content)
    }

    /// Passes what a query finds, page by page.
    func forEachFound(
        _ query: KeychainQuery,
        _ body: (KeychainItemInfo) throws(CofferError) -> Void
    ) throws(CofferError) {
        var cursor: String?
        repeat {
            let params = KeychainFindParameters(query, limit: .all, cursor: cursor, returns: [.attributes])
            guard let page = try unlessMissing({ () throws(CofferError) in try call(params).value }) else { return }
            for item in page.items { try body(item) }
            cursor = page.cursor
        } while cursor != nil
    }

    /// The result of requests; `nil` if what they are about does not exist.
    func unlessMissing<Result>(_ body: () throws(CofferError) -> Result) throws(CofferError) -> Result? {
        do throws(CofferError) { return try body() } catch {
            guard error.code == .itemNotFound else { throw error }
            return nil
        }
    }
}

extension CofferError {
    static let programUnknown = CofferError(
        .missingEntitlement,
        "this Secret Service keeps programs apart, and can't tell which program is calling"
    )

    static let tooLargeForBus = CofferError(
        .dataTooLarge,
        "the secret has more than the \(Limits.serviceSecretBytes) bytes that the bus takes"
    )
}
