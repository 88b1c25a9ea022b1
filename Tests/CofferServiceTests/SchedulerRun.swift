import CofferService
import CofferTestSupport
import CofferVault

/// A random sequence, which a scheduler follows, and beside it a model that has lists of who waits and nothing else.
struct SchedulerRun {
    private struct Request {
        let token: Int
        let scope: RequestScope
        let kind: Scheduler.Kind
        let tenant: Int
    }

    private enum Place {
        case nowhere, line, blocked
    }

    private static let scopes: [RequestScope] =
        [.free, .barrier]
        + [.catalog, .keychain, .names(["a"]), .names(["a/b", "c"]), .names(["d"]), .handle(1), .handle(2)].flatMap {
            [.reading($0), .changing($0)]
        }

    private var random: SeededGenerator
    private var scheduler = Scheduler()
    private var live: [Request] = []
    private var places: [Int: Place] = [:]
    /// Those in the lines in the order of their coming, those that have ended included.
    private var lines: [(request: Request, kind: Scheduler.Kind)] = []
    private var blocked: [Int] = []
    private var uncommitted: [RequestScope] = []
    /// When a tenant has had its turn last, or has begun to wait.
    private var turns: [String: Int] = [:]
    private var time = 0
    private var nextToken = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// - Returns: What is wrong, if anything is.
    mutating func step() -> String? {
        time += 1
        switch Int.random(in: 0..<12, using: &random) {
        case 0...2: add()
        case 3:
            if let request = live.filter({ places[$0.token] == .nowhere }).randomElement(using: &random) {
                resume(request)
            }
        case 4: remove()
        case 5, 6, 7: return compare(.reading, scheduler.nextReading())
        case 8, 9: return change()
        case 10: note(live.randomElement(using: &random)?.token ?? -1)
        default: if Int.random(in: 0..<3, using: &random) == 0 { commit() }
        }
        return compareState()
    }

    /// Has all go on that there is.
    ///
    /// - Returns: What is wrong, if anything is.
    mutating func finish() -> String? {
        commit()
        for kind in [Scheduler.Kind.reading, .changing] {
            var isOver = false
            while !isOver {
                time += 1
                let token = kind == .reading ? scheduler.nextReading() : scheduler.nextChanging()
                if let fault = compare(kind, token) { return fault }
                isOver = token == nil
            }
        }
        if places.values.contains(where: { $0 != .nowhere }) { return "a request was lost" }
        return scheduler.isIdle ? nil : "it has nothing to do, and is not idle"
    }

    private mutating func add() {
        let scope = Self.scopes.randomElement(using: &random) ?? .free
        let kind: Scheduler.Kind = Bool.random(using: &random) ? .reading : .changing
        let request = Request(token: nextToken, scope: scope, kind: kind, tenant: Int.random(in: 0..<4, using: &random))
        nextToken += 1
        live.append(request)
        places[request.token] = .nowhere
        scheduler.add(request.token, scope, kind, of: request.tenant)
        if Int.random(in: 0..<4, using: &random) != 0 { resume(request) }
    }

    private mutating func resume(_ request: Request) {
        scheduler.resume(request.token)
        queue(request)
    }

    private mutating func queue(_ request: Request) {
        if !lines.contains(where: { $0.kind == request.kind && $0.request.tenant == request.tenant }) {
            turns["\(request.kind) \(request.tenant)"] = time
            time += 1
        }
        lines.append((request, request.kind))
        places[request.token] = .line
    }

    private mutating func remove() {
        guard let index = live.indices.randomElement(using: &random) else { return }
        let token = live.remove(at: index).token
        scheduler.remove(token)
        places[token] = nil
    }

    private mutating func change() -> String? {
        let token = scheduler.nextChanging()
        if let fault = compare(.changing, token) { return fault }
        if let token, Bool.random(using: &random) { note(token) }
        return nil
    }

    private mutating func note(_ token: Int) {
        scheduler.noteChange(by: token)
        uncommitted.append(live.first { $0.token == token }?.scope ?? .barrier)
    }

    private mutating func commit() {
        scheduler.noteCommit()
        uncommitted = []
        let freed = blocked
        blocked = []
        for token in freed { if let request = live.first(where: { $0.token == token }) { queue(request) } }
    }

    private func mayRead(_ scope: RequestScope) -> Bool {
        uncommitted.allSatisfy { !RequestScope.mustWait(scope, for: $0) }
    }

    /// Finds who is next: the tenant whose turn is longest ago, and its first one.
    private mutating func next(_ kind: Scheduler.Kind) -> Int? {
        while true {
            let waiting = lines.filter { $0.kind == kind }.map(\.request)
            func turn(_ request: Request) -> Int { turns["\(kind) \(request.tenant)"] ?? 0 }
            guard let tenant = waiting.min(by: { turn($0) < turn($1) })?.tenant,
                let index = lines.firstIndex(where: { $0.kind == kind && $0.request.tenant == tenant })
            else { return nil }
            let request = lines.remove(at: index).request
            time += 1
            turns["\(kind) \(tenant)"] = time
            guard places[request.token] != nil else { continue }
            if kind == .reading && !mayRead(request.scope) {
                blocked.append(request.token)
                places[request.token] = .blocked
                continue
            }
            places[request.token] = .nowhere
            return request.token
        }
    }

    private mutating func compare(_ kind: Scheduler.Kind, _ token: Int?) -> String? {
        if let token, kind == .reading, let scope = live.first(where: { $0.token == token })?.scope, !mayRead(scope) {
            return "\(token) would read what is not committed"
        }
        let expected = next(kind)
        if token == expected { return compareState() }
        return "\(kind): \(token.map(String.init) ?? "none") instead of \(expected.map(String.init) ?? "none")"
    }

    private func compareState() -> String? {
        for scope in Self.scopes where scheduler.mayRead(scope) != mayRead(scope) {
            return "what may be read: \(scope)"
        }
        for tenant in 0..<4 {
            let others = lines.contains { $0.request.tenant != tenant }
            if scheduler.othersWait(besides: tenant) != others { return "who waits besides \(tenant)" }
        }
        return scheduler.isIdle == (lines.isEmpty && blocked.isEmpty) ? nil : "whether it is idle"
    }
}
