internal import CofferCore
internal import CofferVault
internal import CofferWire

/// The requests of a connection that are not answered yet, in the order of their arrival.
struct PendingRequests {
    private(set) var all: [PendingRequest] = []
    private(set) var byteCount = 0

    var isEmpty: Bool { all.isEmpty }

    /// Whether one of them is being carried out.
    var isBusy: Bool { all.contains(where: \.isStarted) }

    /// Whether there is room for another one.
    func hasRoom(isShort: Bool) -> Bool {
        all.count < (isShort ? 1 : Limits.requestsInFlight) && byteCount < Limits.requestBytes
    }

    mutating func add(_ request: PendingRequest) {
        all.append(request)
        byteCount += request.byteCount
    }

    /// Removes a request that was answered.
    mutating func remove(_ request: PendingRequest) {
        guard let index = all.firstIndex(where: { $0 === request }) else { return }
        all.remove(at: index)
        byteCount -= request.byteCount
    }

    /// The first request that may start: it waits for no earlier one.
    var nextToStart: PendingRequest? {
        for (index, request) in all.enumerated() where !request.isStarted {
            if request.isTransfer && !mayStartTransfer { continue }
            let earlier = all[..<index]
            if !earlier.contains(where: { RequestScope.mustWait(request.scope, for: $0.scope) }) { return request }
        }
        return nil
    }

    /// Slow descriptors of one client must not occupy all threads for transfers.
    private var mayStartTransfer: Bool {
        all.count { $0.isStarted && $0.isTransfer } < Limits.transfersPerConnection
    }

    /// The transfers that run, and the items that they name.
    var transfers: [(method: Method, name: String?)] {
        all.filter { $0.isStarted && $0.isTransfer }.map { ($0.method, $0.params["name"]?.stringValue) }
    }

    /// The arrival of the first one that waits.
    var firstWait: UInt64? { all.first { !$0.isStarted }?.arrival }

    func cancelAll() {
        for request in all { request.cancel() }
    }

    /// Drops the requests that have not started, and cancels the others.
    mutating func abandon() {
        for request in all where !request.isStarted { remove(request) }
        cancelAll()
    }
}
