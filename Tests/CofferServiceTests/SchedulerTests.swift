import CofferService
import CofferTestSupport
import CofferVault
import Testing

/// What is carried out next.
@Suite struct SchedulerTests {
    private var scheduler = Scheduler()

    private static let a = RequestScope.Subject.names(["a"])
    private static let b = RequestScope.Subject.names(["b"])

    /// Takes requests in that go on at once, numbered by their place.
    private mutating func add(_ requests: [(RequestScope, Scheduler.Kind, tenant: Int)]) {
        for (token, request) in requests.enumerated() {
            scheduler.add(token, request.0, request.1, of: request.tenant)
            scheduler.resume(token)
        }
    }

    private mutating func allReading() -> [Int] {
        var all: [Int] = []
        while let token = scheduler.nextReading() { all.append(token) }
        return all
    }

    private mutating func allChanging() -> [Int] {
        var all: [Int] = []
        while let token = scheduler.nextChanging() { all.append(token) }
        return all
    }

    @Test mutating func `those that only read come apart from those that change, each in the order of coming`() {
        add([
            (.changing(Self.a), .changing, 1), (.reading(Self.a), .reading, 1), (.changing(Self.b), .changing, 1),
            (.reading(Self.b), .reading, 1), (.free, .reading, 1),
        ])
        let (reading, changing) = (allReading(), allChanging())
        #expect(reading == [1, 3, 4])
        #expect(changing == [0, 2])
        #expect(scheduler.isIdle)
    }

    @Test mutating func `a request goes on when it is told to, and as often`() {
        scheduler.add(7, .reading(Self.a), .reading, of: 1)
        #expect(scheduler.isIdle)
        let early = scheduler.nextReading()
        #expect(early == nil)
        for _ in 0..<2 {
            scheduler.resume(7)
            #expect(!scheduler.isIdle)
            let next = allReading()
            #expect(next == [7])
        }
        scheduler.resume(8)
        #expect(scheduler.isIdle, "a request that is not known does not go on")
    }

    private static let blocking: [(change: RequestScope, read: RequestScope, mayRead: Bool)] = [
        (.changing(a), .reading(a), false), (.changing(a), .reading(b), true), (.changing(a), .free, true),
        (.changing(.catalog), .reading(b), false), (.changing(.names(["d"])), .reading(.names(["d/e"])), false),
        (.changing(.keychain), .reading(.handle(1)), true), (.changing(.handle(1)), .reading(.handle(2)), true),
        (.changing(a), .reading(.catalog), false), (.barrier, .reading(a), false), (.barrier, .free, true),
    ]

    @Test(arguments: blocking)
    mutating func `what would read a change that is not committed waits for the commit`(
        change: RequestScope,
        read: RequestScope,
        mayRead: Bool
    ) {
        add([(change, .changing, 1), (read, .reading, 2)])
        let changing = scheduler.nextChanging()
        #expect(changing == 0)
        scheduler.noteChange(by: 0)
        #expect(scheduler.mayRead(read) == mayRead)
        let before = allReading()
        #expect(before == (mayRead ? [1] : []))
        #expect(scheduler.isIdle == mayRead, "who waits for the commit is not forgotten")
        scheduler.remove(0)
        scheduler.noteCommit()
        #expect(scheduler.mayRead(read))
        let after = allReading()
        #expect(after == (mayRead ? [] : [1]))
        #expect(scheduler.isIdle)
    }

    @Test mutating func `a change by a request that has ended, or by no request, holds up all that read`() {
        add([(.reading(Self.a), .reading, 1), (.free, .reading, 1)])
        scheduler.noteChange(by: 99)
        let before = allReading()
        #expect(before == [1])
        scheduler.noteCommit()
        let after = allReading()
        #expect(after == [0])
    }

    @Test mutating func `a commit frees all who waited for it, in the order of coming`() {
        add([
            (.changing(Self.a), .changing, 1), (.changing(Self.b), .changing, 1), (.reading(Self.b), .reading, 1),
            (.reading(Self.a), .reading, 1), (.reading(.catalog), .reading, 1),
        ])
        for token in allChanging() { scheduler.noteChange(by: token) }
        let before = allReading()
        #expect(before == [])
        scheduler.noteCommit()
        let after = allReading()
        #expect(after == [2, 3, 4])
    }

    @Test(arguments: [Scheduler.Kind.reading, .changing])
    mutating func `the tenants take turns, and each keeps its order`(kind: Scheduler.Kind) {
        let scope: RequestScope = kind == .reading ? .reading(Self.a) : .changing(Self.a)
        add([1, 1, 1, 2, 3, 3].map { (scope, kind, $0) })
        let order = kind == .reading ? allReading() : allChanging()
        #expect(order == [0, 3, 4, 1, 5, 2])
    }

    @Test mutating func `requests that have ended are skipped, wherever they wait`() {
        add([
            (.changing(Self.a), .changing, 1), (.reading(Self.a), .reading, 1), (.reading(Self.a), .reading, 1),
            (.changing(Self.a), .changing, 1), (.reading(Self.b), .reading, 1),
        ])
        let first = scheduler.nextChanging()
        #expect(first == 0)
        scheduler.noteChange(by: 0)
        scheduler.remove(4)
        let before = allReading()
        #expect(before == [])
        for token in [0, 1, 3] { scheduler.remove(token) }
        scheduler.noteCommit()
        let (reading, changing) = (allReading(), allChanging())
        #expect(reading == [2])
        #expect(changing == [])
        #expect(scheduler.isIdle)
    }

    @Test mutating func `who waits is known by tenant`() {
        #expect(!scheduler.othersWait(besides: 1))
        add([(.reading(Self.a), .reading, 1), (.changing(Self.a), .changing, 2)])
        #expect(scheduler.othersWait(besides: 1))
        #expect(scheduler.othersWait(besides: 2))
        _ = allChanging()
        #expect(!scheduler.othersWait(besides: 1))
        #expect(scheduler.othersWait(besides: 2))
        _ = allReading()
        #expect(!scheduler.othersWait(besides: 2))
    }

    // MARK: Random sequences

    @Test(arguments: 0..<20)
    func `whatever comes in whatever order, it does what lists would do`(part: UInt64) {
        for seed in (part * 25)..<(part * 25 + 25) {
            var run = SchedulerRun(seed: seed)
            for step in 0..<200 {
                if let fault = run.step() {
                    Issue.record("seed \(seed), step \(step): \(fault)")
                    return
                }
            }
            if let fault = run.finish() { Issue.record("seed \(seed), at the end: \(fault)") }
        }
    }

    @Test(arguments: [Scheduler.Kind.reading, .changing], 0..<10)
    func `of tenants that wait each gets one turn in as many as there are`(kind: Scheduler.Kind, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var scheduler = Scheduler()
        let tenants = Int.random(in: 2...9, using: &random)
        var owners: [Int] = []
        func add(_ tenant: Int, to scheduler: inout Scheduler) {
            scheduler.add(owners.count, .free, kind, of: tenant)
            scheduler.resume(owners.count)
            owners.append(tenant)
        }
        // The first has far more to do than the others, and all of them always have something.
        for tenant in [0] + Array(0..<tenants) { for _ in 0..<(tenant == 0 ? 50 : 3) { add(tenant, to: &scheduler) } }
        var waits = [Int](repeating: 0, count: tenants)
        for _ in 0..<300 {
            guard let token = kind == .reading ? scheduler.nextReading() : scheduler.nextChanging() else {
                Issue.record("a tenant waits, and none gets a turn")
                return
            }
            let owner = owners[token]
            for tenant in 0..<tenants { waits[tenant] = tenant == owner ? 0 : waits[tenant] + 1 }
            #expect(waits.allSatisfy { $0 < tenants })
            add(owner, to: &scheduler)
            if Bool.random(using: &random) { add(0, to: &scheduler) }
        }
    }
}
