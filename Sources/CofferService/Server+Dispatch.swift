internal import CofferCore
internal import CofferWire

/// What takes long: runs on the server's actor and waits for worker threads.
typealias Work = (Transfer) async throws(CofferError) -> Reply

/// How a request is answered.
enum Answer: ~Copyable {
    /// On the spot.
    case now(Reply)
    /// After work that holds nobody else up.
    case later(Work)
}

extension Method {
    /// Whether the answer tells of the catalog, and so of changes that the turn has yet to commit.
    var readsCatalog: Bool {
        switch self {
        case .hello, .vaultInit, .vaultLock, .vaultStatus, .vaultUnlock, .vaultWatch: false
        case .itemExplain, .itemGet, .itemList, .itemPut, .itemRemove, .itemShow: true
        }
    }
}

extension Server {
    /// Hands a request that has passed the gate to its handler.
    func respond(
        to method: Method,
        _ params: JSONObject,
        _ attachments: Attachments,
        from caller: Caller
    ) throws(CofferError) -> Answer {
        switch method {
        case .itemPut:
            return .later(try putItem(PutParameters(params: params), attachments, from: caller))
        case .itemGet:
            return try getItem(GetParameters(params: params), attachments, from: caller)
        case .itemExplain:
            return .now(try explainItem(ExplainParameters(params: params), attachments, from: caller))
        case .vaultInit:
            return .later(try initVault(InitParameters(params: params), attachments))
        case .vaultUnlock:
            _ = try Nothing(params: params)
            return .later(try unlockVault(attachments))
        case .hello, .itemList, .itemRemove, .itemShow, .vaultLock, .vaultStatus, .vaultWatch:
            try attachments.refuseLeftovers(of: method)
            return .now(try respondAtOnce(to: method, params, from: caller))
        }
    }

    private func respondAtOnce(
        to method: Method,
        _ params: JSONObject,
        from caller: Caller
    ) throws(CofferError) -> Reply {
        switch method {
        case .hello: return Reply(try hello(HelloParameters(params: params)))
        case .itemList: return Reply(try listItems(ListParameters(params: params), from: caller))
        case .itemRemove: return Reply(try removeItem(NameParameters(params: params), from: caller))
        case .itemShow: return Reply(try showItem(NameParameters(params: params), from: caller))
        case .vaultLock: return Reply(try lockVault(LockParameters(params: params)))
        case .vaultStatus:
            _ = try Nothing(params: params)
            return Reply(try vaultStatus())
        // The session is marked when its answer is under way: no news comes before it.
        case .vaultWatch: return Reply(try Nothing(params: params))
        case .itemExplain, .itemGet, .itemPut, .vaultInit, .vaultUnlock:
            preconditionFailure("answered by the caller of this function")
        }
    }

    private func hello(_ params: HelloParameters) throws(CofferError) -> HelloResult {
        guard params.protocolNumber >= Int64(Version.protocolNumber) else {
            throw CofferError(
                .unimplemented,
                "this daemon speaks protocol \(Version.protocolNumber), and not \(params.protocolNumber)",
                hint: "bring the client up to date"
            )
        }
        // A newer client speaks ours as well: it knows what is answered here.
        return HelloResult(protocolNumber: Int64(Version.protocolNumber), version: Version.program)
    }
}
