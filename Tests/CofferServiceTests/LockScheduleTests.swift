import CofferCore
import CofferService
import Testing

/// The steps that follow from a policy and events, in whole seconds.
@Suite struct LockScheduleTests {
    /// An event of a vault.
    enum Event: Sendable {
        case unlock, use, rest, restore
        case lock(grace: Int? = nil)
    }

    /// A step and its due time.
    struct Due: Equatable, Sendable, CustomStringConvertible {
        let step: LockSchedule.Step
        let time: Int

        init(_ step: LockSchedule.Step, _ time: Int) {
            self.step = step
            self.time = time
        }

        var description: String { "\(step) at \(time)" }
    }

    struct Case: Sendable {
        let name: String
        let policy: LockSchedule.Policy
        let events: [(time: Int, event: Event)]
        let expected: [Due]
    }

    private static func policy(
        grace: Int = 10,
        lockAfter: Int? = nil,
        inactive: Int = 600,
        forget: Int? = 259_200
    ) -> LockSchedule.Policy {
        LockSchedule.Policy(
            graceSeconds: grace,
            lockAfterSeconds: lockAfter,
            inactiveAfterSeconds: inactive,
            forgetAfterSeconds: forget
        )
    }

    private static let afterLockAt100 = [
        Due(.beginLocking, 100), Due(.lock, 110), Due(.expireInactive, 710), Due(.forget, 259_310),
    ]

    private static let cases: [Case] = [
        Case(name: "unlocked, and no idle time", policy: policy(), events: [(0, .unlock)], expected: []),
        Case(
            name: "the idle time counts from the unlock",
            policy: policy(lockAfter: 100),
            events: [(0, .unlock)],
            expected: afterLockAt100
        ),
        Case(
            name: "the idle time counts from the last use",
            policy: policy(lockAfter: 60),
            events: [(0, .unlock), (30, .use), (40, .use), (20, .use)],
            expected: afterLockAt100
        ),
        Case(
            name: "a use is no unlock",
            policy: policy(lockAfter: 500),
            events: [(0, .unlock), (100, .lock()), (105, .use), (110, .use), (711, .use)],
            expected: afterLockAt100
        ),
        Case(name: "a lock", policy: policy(), events: [(0, .unlock), (100, .lock())], expected: afterLockAt100),
        Case(
            name: "a second lock changes nothing",
            policy: policy(),
            events: [(0, .unlock), (100, .lock()), (105, .lock()), (200, .lock()), (800, .lock())],
            expected: afterLockAt100
        ),
        Case(
            name: "a lock with a shorter grace hastens one with a longer",
            policy: policy(),
            events: [(0, .unlock), (100, .lock()), (102, .lock(grace: 3))],
            expected: [Due(.beginLocking, 100), Due(.lock, 105), Due(.expireInactive, 705), Due(.forget, 259_305)]
        ),
        Case(
            name: "no grace",
            policy: policy(),
            events: [(0, .unlock), (100, .lock(grace: 0))],
            expected: [Due(.beginLocking, 100), Due(.lock, 100), Due(.expireInactive, 700), Due(.forget, 259_300)]
        ),
        Case(
            name: "an idle lock without grace",
            policy: policy(grace: 0, lockAfter: 5),
            events: [(0, .unlock)],
            expected: [Due(.beginLocking, 5), Due(.lock, 5), Due(.expireInactive, 605), Due(.forget, 259_205)]
        ),
        Case(
            name: "an unlock calls the lock off",
            policy: policy(),
            events: [(0, .unlock), (100, .lock()), (109, .unlock)],
            expected: [Due(.beginLocking, 100)]
        ),
        Case(
            name: "an unlock begins anew",
            policy: policy(lockAfter: 50),
            events: [(0, .unlock), (10, .lock(grace: 0)), (100, .unlock)],
            expected: [
                Due(.beginLocking, 10), Due(.lock, 10), Due(.beginLocking, 150), Due(.lock, 160),
                Due(.expireInactive, 760), Due(.forget, 259_360),
            ]
        ),
        Case(
            name: "never forgotten",
            policy: policy(forget: nil),
            events: [(0, .unlock), (100, .lock())],
            expected: [Due(.beginLocking, 100), Due(.lock, 110), Due(.expireInactive, 710)]
        ),
        Case(
            name: "forgotten before class CX ends",
            policy: policy(forget: 300),
            events: [(0, .unlock), (100, .lock())],
            expected: [Due(.beginLocking, 100), Due(.lock, 110), Due(.forget, 410)]
        ),
        Case(
            name: "class CX ends with the grace",
            policy: policy(inactive: 0, forget: 1),
            events: [(0, .unlock), (100, .lock())],
            expected: [Due(.beginLocking, 100), Due(.lock, 110), Due(.expireInactive, 110), Due(.forget, 111)]
        ),
        Case(
            name: "keys of an earlier daemon",
            policy: policy(lockAfter: 10),
            events: [(50, .restore), (60, .use), (70, .lock())],
            expected: [Due(.forget, 259_250)]
        ),
        Case(
            name: "nothing to lose",
            policy: policy(lockAfter: 10),
            events: [(0, .lock()), (5, .unlock), (6, .rest), (7, .use), (8, .lock())],
            expected: []
        ),
    ]

    /// Applies the events, and takes the due steps at each of the given times.
    private func run(_ test: Case, lookingAt times: [Int]) -> [Due] {
        var schedule = LockSchedule(test.policy)
        var found: [Due] = []
        func look(_ time: Int) {
            while let deadline = schedule.nextDeadline, let step = schedule.takeDue(at: UInt64(time) * 1_000_000_000) {
                found.append(Due(step, Int(deadline / 1_000_000_000)))
            }
        }
        for (time, event) in test.events {
            for early in times where early < time { look(early) }
            look(time)
            let now = UInt64(time) * 1_000_000_000
            switch event {
            case .unlock: schedule.unlock(at: now)
            case .use: schedule.noteUse(at: now)
            case .rest: schedule.rest()
            case .restore: schedule.restore(lockedSince: now)
            case .lock(let grace): schedule.lock(at: now, graceSeconds: grace)
            }
        }
        for time in times { look(time) }
        return found
    }

    @Test func `each step is due at its time`() {
        for test in Self.cases {
            let found = run(test, lookingAt: Array(0..<1000) + [259_200, 259_250, 259_300, 259_400])
            #expect(found == test.expected, "\(test.name)")
        }
    }

    @Test func `who looks late finds all that was due, as of when it was due`() {
        for test in Self.cases {
            let found = run(test, lookingAt: [10_000_000])
            #expect(found == test.expected, "\(test.name)")
        }
    }

    @Test(arguments: [0, 1, 10])
    func `the end of the grace is known while there is one`(grace: Int) {
        var schedule = LockSchedule(LockSchedule.Policy(graceSeconds: grace))
        schedule.unlock(at: 0)
        #expect(schedule.graceEnd == nil)
        schedule.lock(at: 5_000_000_000)
        let begun = schedule.takeDue(at: 5_000_000_000)
        #expect(begun == .beginLocking)
        #expect(schedule.graceEnd == UInt64(5 + grace) * 1_000_000_000)
        let early = schedule.takeDue(at: UInt64(5 + grace) * 1_000_000_000 - 1)
        #expect(early == nil)
        let locked = schedule.takeDue(at: UInt64(5 + grace) * 1_000_000_000)
        #expect(locked == .lock)
        #expect(schedule.graceEnd == nil)
    }

    @Test func `uses count where there is an idle time, and only while unlocked`() {
        var schedule = LockSchedule(LockSchedule.Policy(lockAfterSeconds: 60))
        #expect(!schedule.countsUse)
        schedule.unlock(at: 0)
        #expect(schedule.countsUse)
        schedule.lock(at: 0)
        #expect(!schedule.countsUse)
        var other = LockSchedule(LockSchedule.Policy())
        other.unlock(at: 0)
        #expect(!other.countsUse)
    }
}
