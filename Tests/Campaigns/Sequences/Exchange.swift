import CofferTestSupport
import Foundation

/// The requests of one round: each client sends its own in order, and pipelines some of them.
struct Exchange {
    private let peers: [SequencePeer]
    /// The requests that each client has not sent.
    private var rest: [[Operation]]
    /// The maximum number of pending requests of each client.
    private let depths: [Int]
    /// Counts the observed events of requests in all rounds.
    private(set) var clock: Int
    private(set) var nextNumber: Int
    /// The sent requests, and those that were waiting before.
    private(set) var requests: [SentRequest]

    init(
        _ peers: [SequencePeer],
        _ plan: [[Operation]],
        _ waiting: [Int: SentRequest],
        from number: Int,
        at time: Int,
        depths: [Int]
    ) {
        clock = time
        self.peers = peers
        self.depths = depths
        rest = plan
        requests = waiting.values.sorted { $0.number < $1.number }
        nextNumber = number
    }

    var answeredCount: Int { requests.count { $0.answer != nil } }

    /// Whether all requests are answered, except those that wait for another client.
    var isSettled: Bool {
        rest.allSatisfy(\.isEmpty) && requests.allSatisfy { $0.answer != nil || $0.operation.waits && !$0.isCanceled }
    }

    /// Sends what may be sent now.
    ///
    /// - Returns: Whether the daemon is running.
    mutating func send(_ files: [Int: OpenFile]) throws -> Bool {
        for client in peers.indices {
            while !rest[client].isEmpty, underWay(client) < depths[client] || rest[client][0].isFree {
                let operation = rest[client].removeFirst()
                if case .cancel(let number) = operation { cancel(number, of: client) }
                clock += 1
                let request = SentRequest(nextNumber, of: client, resolved(operation, client), at: clock)
                nextNumber += 1
                requests.append(request)
                guard try peers[client].send(request, handle: { files[$0]?.wire ?? 0 }) else { return false }
            }
        }
        return true
    }

    private func underWay(_ client: Int) -> Int { requests.count { $0.client == client && $0.answer == nil } }

    /// Replaces the placeholder of a cancellation by the client's last request.
    private func resolved(_ operation: Operation, _ client: Int) -> Operation {
        guard case .cancel(Operation.last) = operation else { return operation }
        return .cancel(requests.last { $0.client == client }?.number ?? 0)
    }

    private func cancel(_ number: Int, of client: Int) {
        let target = requests.last { $0.client == client && (number == Operation.last || $0.number == number) }
        target?.isCanceled = true
    }

    /// Waits for an answer.
    mutating func receive(within seconds: Int) throws {
        var wanted = peers.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        let count = poll(&wanted, nfds_t(wanted.count), Int32(seconds * 1000))
        try expect(count > 0, "no answer within \(seconds) s: \(requests.filter { $0.answer == nil })")
        for (peer, ready) in zip(peers, wanted) where ready.revents != 0 {
            guard let answers = try peer.receive() else {
                throw Fault("the daemon has closed a connection: \(requests)")
            }
            try take(answers)
        }
    }

    /// Takes the answers that arrived before the daemon was killed.
    mutating func drain() {
        for peer in peers { while let answers = try? peer.receive() { try? take(answers) } }
    }

    private mutating func take(_ answers: [Answer]) throws {
        for answer in answers {
            clock += 1
            let request = requests.first { $0.number == answer.request }
            try expect(request?.answer == nil && request != nil, "an answer that nobody waits for: \(answer)")
            request?.take(answer, at: clock)
        }
    }
}
