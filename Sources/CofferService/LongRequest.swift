internal import CofferCore
internal import CofferWire

/// A request that takes long.
struct LongRequest {
    let work: Work
    let request: PendingRequest
    let transfer: Transfer
    let session: Session
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

/// Names a request that takes long, for the progress and the end of it.
struct Transfer: Sendable {
    /// The number of its connection.
    let session: Int
    /// The number of the request, among those of its connection.
    let number: Int
    /// The number of its tenant.
    let tenant: Int
}
