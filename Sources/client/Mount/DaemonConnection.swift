internal import CofferClient
internal import CofferCore
internal import CofferWire
internal import Glibc
internal import Synchronization

/// Why a call had no answer that a program may see.
enum CallFailure: Error {
    /// The daemon refused it.
    case refused(CofferError)
    /// The connection of the handle has ended; the file must be opened again.
    case handleLost
    /// No daemon can be reached.
    case away
    /// The connection broke before the answer to a change.
    case unknownOutcome
}

/// Where the daemon is, and since when it can't be reached.
final class DaemonAddress: Sendable {
    let socketPath: String
    private let patience: Duration
    private let awaySince = Mutex<ContinuousClock.Instant?>(nil)

    /// - Parameter patience: How long operations wait for a daemon that is away.
    init(_ socketPath: String, patience: Duration) {
        self.socketPath = socketPath
        self.patience = patience
    }

    /// Connects, and waits if no daemon listens.
    ///
    /// - Throws: ``CallFailure/away`` if none has listened for so long, counted from the first failure of any thread.
    func connect() throws(CallFailure) -> BlockingClient {
        while true {
            if let client = try? BlockingClient(socketPath: socketPath), Self.defersSyncs(on: client) {
                awaySince.withLock { $0 = nil }
                return client
            }
            let isOver = awaySince.withLock { since in
                let start = since ?? .now
                since = start
                return start + patience <= .now
            }
            if isOver { throw .away }
            usleep(Limits.reconnectPauseMicroseconds)
        }
    }
}

extension DaemonAddress {
    /// Has the daemon answer changes before they are on the disk: programs sync what they want to be there.
    private static func defersSyncs(on client: BlockingClient) -> Bool {
        let hello = HelloParameters(protocolNumber: Int64(Version.protocolNumber), defersSyncs: true)
        return (try? client.call(hello)) != nil
    }
}

/// A connection to the daemon, which one thread uses at a time, and which is made again when it breaks.
final class DaemonConnection: Sendable {
    private struct State {
        var client: BlockingClient?
        /// The number of connections so far: a handle is valid in one epoch.
        var epoch = 0
    }

    private let address: DaemonAddress
    private let state = Mutex(State())
    /// How many calls wait for it or for their answers.
    private let callCount = Atomic<Int>(0)

    let recent: RecentAnswers

    /// - Parameter recent: What each change makes untrue.
    init(to address: DaemonAddress, _ recent: RecentAnswers) {
        self.address = address
        self.recent = recent
    }

    /// Whether a call waits for its answer.
    var isWaiting: Bool { callCount.load(ordering: .relaxed) > 0 }

    /// Its epoch, after connecting if it has broken.
    func openedEpoch() throws(CallFailure) -> Int {
        try state.withLock { (state) throws(CallFailure) in
            _ = try Self.connect(&state, address, handleEpoch: nil)
            return state.epoch
        }
    }

    /// Whether it is still that of an epoch, as far as is known without a call.
    func isOpen(in epoch: Int) -> Bool {
        state.withLock { $0.epoch == epoch && $0.client.map { !$0.hasHungUp } ?? false }
    }

    /// The result of a call.
    struct Reply<Value: Sendable>: Sendable {
        let value: Value
        let payload: Secret
        let epoch: Int
    }

    /// Makes a call, and repeats it on a new connection if it only asks.
    ///
    /// - Parameters:
    ///   - params: The parameters.
    ///   - payload: The payload.
    ///   - epoch: The epoch of the handle among the parameters; `nil` if there is none.
    func call<Parameters: MethodParameters>(
        _ params: Parameters,
        payload: Secret? = nil,
        in epoch: Int? = nil
    ) throws(CallFailure) -> Reply<Parameters.Result> {
        callCount.add(1, ordering: .relaxed)
        defer { callCount.subtract(1, ordering: .relaxed) }
        let isNoted = Parameters.method.isNoted
        // A listing that is under way may come too early or too late for the change.
        if !isNoted { recent.forget() }
        defer { if !isNoted { recent.forget() } }
        return try state.withLock { (state) throws(CallFailure) in
            while true {
                let client = try Self.connect(
                    &state,
                    address,
                    handleEpoch: epoch,
                    mayBeRepeated: Parameters.method.isIdempotent
                )
                do throws(CofferError) {
                    let answer = try client.call(params, payload: payload)
                    return Reply(value: answer.value, payload: answer.payload, epoch: state.epoch)
                } catch {
                    if client.isConnected { throw .refused(error) }
                    state.client = nil
                    if epoch != nil { throw .handleLost }
                    guard Parameters.method.isIdempotent else { throw .unknownOutcome }
                }
            }
        }
    }

    private static func connect(
        _ state: inout State,
        _ address: DaemonAddress,
        handleEpoch: Int?,
        mayBeRepeated: Bool = false
    ) throws(CallFailure) -> BlockingClient {
        // A change that is sent on a connection that the daemon has left would have an unknown outcome.
        if !mayBeRepeated, state.client?.hasHungUp == true { state.client = nil }
        if let handleEpoch, state.client == nil || handleEpoch != state.epoch { throw .handleLost }
        if let client = state.client { return client }
        let client = try address.connect()
        state.client = client
        state.epoch += 1
        return client
    }
}

extension Method {
    /// Whether it changes nothing of what is known of the tree, or nothing that its caller does not note.
    fileprivate var isNoted: Bool {
        switch self {
        case .fileAllocate, .fileClose, .fileMkdir, .fileOpen, .filePunch, .fileRemove, .fileSetAttributes,
            .fileSymlink, .fileSync, .fileTruncate, .fileWrite:
            true
        default: if case .changes = claim { false } else { true }
        }
    }
}

/// The connections of a mount, shared out among files and requests.
final class DaemonPool: Sendable {
    private let connections: [DaemonConnection]
    private let next = Atomic<UInt>(0)

    /// - Parameters:
    ///   - count: How many.
    ///   - address: Where the daemon is.
    ///   - recent: What each change makes untrue.
    init(_ count: Int, to address: DaemonAddress, _ recent: RecentAnswers) {
        connections = (0..<count).map { _ in DaemonConnection(to: address, recent) }
    }

    /// A connection that waits for no answer; `nil` if all of them do.
    var idle: DaemonConnection? { connections.first { !$0.isWaiting } }

    /// The next connection in turn that waits for no answer, or the next one.
    var any: DaemonConnection {
        let turn = next.wrappingAdd(1, ordering: .relaxed).oldValue
        let next = (0..<UInt(connections.count)).map { connections[Int((turn &+ $0) % UInt(connections.count))] }
        return next.first { !$0.isWaiting } ?? next[0]
    }
}
