internal import CofferCore
internal import CofferWire

/// A request that takes long.
struct LongRequest {
    let work: Work
    let transfer: Transfer
    let caller: Caller
    let isTentative: Bool
}

/// What came of a request that takes long.
enum RequestOutcome: ~Copyable {
    case success(Reply)
    case failure(CofferError)

    init(of request: LongRequest, isolation: isolated (any Actor)? = #isolation) async {
        do throws(CofferError) {
            self = .success(try await request.work(request.transfer))
        } catch {
            self = .failure(error)
        }
    }
}

/// Names a transfer, for the progress and the end of it.
struct Transfer: Sendable {
    let session: Int
    let number: Int
    let id: RequestID?
}
