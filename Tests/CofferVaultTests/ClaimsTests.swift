import CofferTestSupport
import CofferVault
import Testing

struct ClaimsTests {
    private var claims = Claims()

    @Test mutating func `who waits longest has a claim next, and the parties take turns`() {
        let taken = [(1, 1), (2, 1), (3, 1), (4, 2)].map { claims.take(.keys, for: $0.0, of: $0.1) }
        #expect(taken == [true, false, false, false])
        #expect(claims.waiting.sorted() == [2, 3, 4])
        let next = (0..<4).map { _ in claims.release(.keys) }
        #expect(next == [2, 4, 3, nil])
        #expect(!claims.isTaken(.keys))
    }

    @Test mutating func `who has a claim has it when it asks again, and gives it back once`() {
        let taken = [1, 2, 1].map { claims.take(.keys, for: $0, of: 1) }
        #expect(taken == [true, false, true])
        let next = (0..<2).map { _ in claims.release(.keys) }
        #expect(next == [2, nil])
    }

    @Test mutating func `who waits no longer is passed over`() {
        for request in 1...3 { _ = claims.take(.keys, for: request, of: 1) }
        claims.withdraw(2)
        let next = claims.release(.keys)
        #expect(next == 3)
    }

    @Test mutating func `what is kept does not go with its holder, and is given to the next by release`() {
        _ = claims.take(.keys, for: 1, of: 1)
        #expect(claims.held(by: 1) == [.keys])
        claims.keep(.keys)
        #expect(claims.held(by: 1).isEmpty)
        let isFree = claims.take(.keys, for: 2, of: 1)
        #expect(!isFree)
        let next = claims.release(.keys)
        #expect(next == 2)
        #expect(claims.held(by: 2) == [.keys])
    }
}

/// Random sequences, beside a model that has a list of who waits and nothing else.
struct ClaimsModelTests {
    @Test(arguments: 0..<20)
    func `whatever is claimed and given back, one has it at a time, and the parties take turns`(part: UInt64) {
        for seed in (part * 25)..<(part * 25 + 25) {
            var run = ClaimsRun(seed: seed)
            for step in 0..<200 {
                if let fault = run.step() {
                    Issue.record("seed \(seed), step \(step): \(fault)")
                    return
                }
            }
        }
    }

    @Test(arguments: 0..<10)
    func `of parties that wait each gets a claim once in as many times as there are`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var claims = Claims()
        let parties = Int.random(in: 2...9, using: &random)
        var owners: [Int] = []
        func take(_ party: Int, from claims: inout Claims) {
            _ = claims.take(.keys, for: owners.count, of: party)
            owners.append(party)
        }
        for party in [0] + Array(0..<parties) { for _ in 0..<(party == 0 ? 50 : 2) { take(party, from: &claims) } }
        var waits = [Int](repeating: 0, count: parties)
        for _ in 0..<200 {
            guard let next = claims.release(.keys) else {
                Issue.record("a party waits, and none gets it")
                return
            }
            for party in 0..<parties { waits[party] = party == owners[next] ? 0 : waits[party] + 1 }
            #expect(waits.allSatisfy { $0 < parties })
            take(owners[next], from: &claims)
        }
    }
}

private struct ClaimsRun {
    private struct Waiter {
        let request: Int
        let party: Int
    }

    private struct Entry {
        /// `nil` where what has it is no request.
        var holder: Int?
        var waiters: [Waiter] = []
        /// When a party had its turn last, or began to wait.
        var turns: [Int: Int] = [:]
    }

    private final class Thing {}

    private let things = [Thing(), Thing()]
    private var all: [Claim] {
        [.keys] + things.flatMap { [.content(ObjectIdentifier($0)), .writer(ObjectIdentifier($0))] }
    }

    private var random: SeededGenerator
    private var claims = Claims()
    private var model: [Claim: Entry] = [:]
    private var time = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// - Returns: What is wrong, if anything is.
    mutating func step() -> String? {
        time += 1
        let claim = all.randomElement(using: &random) ?? .keys
        let request = Int.random(in: 0..<12, using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0...3:
            if let fault = take(claim, for: request) { return fault }
        case 4, 5:
            if let fault = release(claim) { return fault }
        case 6:
            if model[claim]?.holder != nil {
                claims.keep(claim)
                model[claim]?.holder = nil
            }
        default:
            claims.withdraw(request)
            for claim in all { model[claim]?.waiters.removeAll { $0.request == request } }
        }
        return compare()
    }

    private mutating func take(_ claim: Claim, for request: Int) -> String? {
        // A request that waits asks for nothing, and none asks twice.
        let isWaiting = model.values.contains { $0.waiters.contains { $0.request == request } }
        if isWaiting || model[claim]?.holder == request { return nil }
        let party = request % 4
        let hasIt = claims.take(claim, for: request, of: party)
        if hasIt != (model[claim] == nil) { return "\(request) was told that it \(hasIt ? "has it" : "waits")" }
        guard var entry = model[claim] else {
            model[claim] = Entry(holder: request)
            return nil
        }
        if !entry.waiters.contains(where: { $0.party == party }) { entry.turns[party] = time }
        entry.waiters.append(Waiter(request: request, party: party))
        model[claim] = entry
        return nil
    }

    private mutating func release(_ claim: Claim) -> String? {
        guard var entry = model[claim] else { return nil }
        let next = claims.release(claim)
        let party = entry.waiters.min { (entry.turns[$0.party] ?? 0) < (entry.turns[$1.party] ?? 0) }?.party
        guard let index = entry.waiters.firstIndex(where: { $0.party == party }) else {
            model[claim] = nil
            return next == nil ? nil : "none waits, and \(next ?? 0) got it"
        }
        let waiter = entry.waiters.remove(at: index)
        entry.turns[waiter.party] = time
        entry.holder = waiter.request
        model[claim] = entry
        return next == waiter.request ? nil : "\(next.map(String.init) ?? "none") instead of \(waiter.request)"
    }

    private func compare() -> String? {
        for claim in all where claims.isTaken(claim) != (model[claim] != nil) { return "whether \(claim) is taken" }
        for request in 0..<12 {
            let held = Set(model.filter { $0.value.holder == request }.keys)
            if Set(claims.held(by: request)) != held { return "what \(request) has" }
        }
        let waiting = model.values.flatMap { $0.waiters.map(\.request) }
        return claims.waiting.sorted() == waiting.sorted() ? nil : "who waits"
    }
}
