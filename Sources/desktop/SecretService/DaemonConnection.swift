internal import CofferClient
internal import CofferMemory
internal import CofferSystem

/// The requests to the daemon, over a connection that is made when there is none.
final class DaemonConnection {
    /// Makes a new connection.
    let connect: () throws(CofferError) -> BlockingClient
    private var client: BlockingClient?

    init(_ connect: @escaping () throws(CofferError) -> BlockingClient) { self.connect = connect }

    /// Sends a request, and waits for its answer.
    @discardableResult
    func call<Parameters: MethodParameters>(
        _ params: Parameters,
        payload: Secret? = nil,
        passing descriptor: Int32? = nil
    ) throws(CofferError) -> Returned<Parameters.Result> {
        try connected().call(params, payload: payload, passing: descriptor)
    }

    /// A connection to the daemon: a new one if there is none, or if its daemon has ended meanwhile, because it was idle.
    private func connected() throws(CofferError) -> BlockingClient {
        if let client, client.isConnected {
            // It asks for no events: what comes can only be the end.
            do throws(CofferError) {
                if try client.nextEvent(until: .now) == nil && client.isConnected { return client }
            } catch { self.client = nil }
        }
        let made = try connect()
        client = made
        return made
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
    static let tooLargeForBus = CofferError(
        .dataTooLarge,
        "the secret has more than the \(Limits.serviceSecretBytes) bytes that the bus takes"
    )
}
