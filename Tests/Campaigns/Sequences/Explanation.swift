/// Finds an order of requests that explains their answers.
///
/// Concurrent requests may be executed in any order that respects the dependencies of each. All orders are
/// tried from all possible states; the states after them are the possible ones.
struct Explanation {
    private let requests: [SentRequest]
    /// For each request, the requests that precede it, as bits.
    private let before: [UInt64]
    /// The answered requests, as bits.
    private let answered: UInt64
    /// Whether unanswered requests may have been executed, as a whole or not at all.
    private let isCut: Bool
    private var seen: Set<Place> = []
    private var found: Set<VaultModel> = []
    /// The longest explained prefix.
    private var farthest: Place?

    private struct Place: Hashable {
        let done: UInt64
        let model: VaultModel
    }

    private init(_ requests: [SentRequest], isCut: Bool) {
        self.requests = requests
        self.isCut = isCut
        before = requests.map { request in
            Self.bits(requests) { $0 !== request && request.follows($0) }
        }
        answered = Self.bits(requests) { $0.answer != nil }
    }

    private static func bits(_ requests: [SentRequest], _ isMember: (SentRequest) -> Bool) -> UInt64 {
        requests.enumerated().reduce(0) { isMember($1.element) ? $0 | 1 << UInt64($1.offset) : $0 }
    }

    /// The possible states after some requests; none if no order explains the answers.
    ///
    /// - Parameters:
    ///   - models: The possible states before.
    ///   - requests: The concurrent requests, some of which may be unanswered.
    ///   - isCut: Whether the unanswered ones never will be answered.
    static func states(
        from models: Set<VaultModel>,
        _ requests: [SentRequest],
        isCut: Bool
    ) throws -> Set<VaultModel> {
        var search = Explanation(requests, isCut: isCut)
        for model in models { search.visit(model, done: 0) }
        if let place = search.farthest, search.found.isEmpty { throw Fault(search.words(place)) }
        return search.found
    }

    private func words(_ place: Place) -> String {
        let rest = requests.enumerated().filter { place.done & 1 << UInt64($0.offset) == 0 && $0.element.answer != nil }
        return
            "no order of these requests explains their answers; as far as most is, it is in \(place.model), and left are "
            + "\(rest.map(\.element))"
    }

    private mutating func visit(_ model: VaultModel, done: UInt64) {
        let done = settled(model, done)
        let place = Place(done: done, model: model)
        guard seen.insert(place).inserted else { return }
        if (done & answered).nonzeroBitCount >= (farthest?.done ?? 0).nonzeroBitCount { farthest = place }
        if done & answered == answered { found.insert(model) }
        for (index, request) in requests.enumerated() where isNext(index, done) {
            let bit: UInt64 = 1 << UInt64(index)
            bind(request, in: model, done: done)
            if request.answer == nil && !isCut {
                let isDecided = model.granted[request.number] != nil || model.refused[request.number] != nil
                if !request.operation.waits || isDecided { continue }
                for next in model.refusing(request) { visit(next, done: done | bit) }
            } else if request.answer == nil {
                // It may have been refused as well.
                visit(model, done: done | bit)
            }
            for next in model.following(request) { visit(next, done: done | bit) }
        }
    }

    private func isNext(_ index: Int, _ done: UInt64) -> Bool {
        done & 1 << UInt64(index) == 0 && before[index] & ~done == 0
    }

    /// Adds the requests that are possible now and never change anything: executing them first loses no order.
    ///
    /// A lock of a locked vault is none of them: after an unlock it changes the state.
    private func settled(_ model: VaultModel, _ done: UInt64) -> UInt64 {
        var done = done
        var isSettled = false
        while !isSettled {
            isSettled = true
            for (index, request) in requests.enumerated() where isNext(index, done) {
                guard let answer = request.answer, answer.refusal != nil || !request.operation.isChange,
                    model.following(request) == [model]
                else { continue }
                done |= 1 << UInt64(index)
                isSettled = false
            }
        }
        return done
    }

    /// Records that a request has found the file for which it waits.
    private mutating func bind(_ request: SentRequest, in model: VaultModel, done: UInt64) {
        guard case .open(let name, let opening) = request.operation, opening.waits, model.bound[request.number] == nil,
            let node = model.items[name], model.writer(of: node) != nil, model.granted[request.number] == nil,
            model.refused[request.number] == nil
        else { return }
        visit(model.changed { $0.bound[request.number] = node }, done: done)
    }
}
