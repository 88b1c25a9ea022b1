import CofferTestSupport
import CofferCore
import CofferSystem
import Foundation
import Testing

private struct OneOwner: ~Copyable, Sendable {
    let value: Int
    let log: Shared<[String]>

    deinit { log.change { $0.append("gone") } }
}

@Suite struct `The pool of workers` {
    @Test func `brings results back`() async throws {
        let pool = WorkerPool(limit: 2)
        let sum = try await pool.run { () throws(CofferError) in 40 + 2 }
        #expect(sum == 42)
    }

    @Test func `brings back what has one owner, once`() async throws {
        let pool = WorkerPool(limit: 2)
        let log = Shared<[String]>([])
        do {
            let value = try await pool.run { () throws(CofferError) in OneOwner(value: 7, log: log) }
            #expect(value.value == 7)
            #expect(log.value == [])
        }
        #expect(log.value == ["gone"])
    }

    @Test func `brings errors back`() async {
        let pool = WorkerPool(limit: 1)
        await #expect(throws: CofferError(.diskFull, "")) {
            try await pool.run { () throws(CofferError) -> Int in throw CofferError(.diskFull, "no room") }
        }
        let log = Shared<[String]>([])
        do throws(CofferError) {
            _ = try await pool.run { () throws(CofferError) -> OneOwner in
                if log.value.isEmpty { throw CofferError(.io, "the very message") }
                return OneOwner(value: 1, log: log)
            }
            Issue.record("the error is lost")
        } catch {
            #expect(error.message == "the very message")
        }
    }

    @Test func `does more work than it has threads, and no two at once where it has one`() async throws {
        for limit in [1, 3] {
            let pool = WorkerPool(limit: limit)
            let running = Shared((now: 0, most: 0))
            let results = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        try await pool.run { () throws(CofferError) in
                            running.change { state in
                                state.now += 1
                                state.most = max(state.most, state.now)
                            }
                            sched_yield()
                            running.change { $0.now -= 1 }
                            return number
                        }
                    }
                }
                return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
            }
            #expect(results == Set(0..<100))
            #expect(running.value.now == 0)
            #expect((1...limit).contains(running.value.most))
        }
    }

    @Test func `runs as much at once as its limit allows`() async throws {
        let pool = WorkerPool(limit: 4)
        let barrier = (0..<4).map { _ in DispatchSemaphore(value: 0) }
        // Each waits for the one before it: with fewer threads than that, none would ever end.
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<4 {
                group.addTask {
                    try await pool.run { () throws(CofferError) in
                        barrier[(number + 1) % 4].signal()
                        barrier[number].wait()
                        return 1
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(count == 4)
    }

    @Test func `one party does not get all threads, however much it wants, and another one works meanwhile`()
        async throws
    {
        let pool = WorkerPool(limit: 8)
        let (held, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isReleased = Shared(false)
        let greedy = Shared(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await pool.run(for: 1) { () throws(CofferError) in
                        greedy.change { $0 += 1 }
                        if isReleased.value { return }
                        held.signal()
                        release.wait()
                    }
                }
            }
            let taken = Background { for _ in 0..<6 { held.wait() } }
            try await Task.detached { try taken.wait() }.value
            for _ in 0..<3 { try await pool.run(for: 2) { () throws(CofferError) in } }
            #expect(greedy.value == 6)
            isReleased.value = true
            for _ in 0..<20 { release.signal() }
            try await group.waitForAll()
        }
        #expect(greedy.value == 20)
    }

    @Test func `is not the caller's thread, to which the result comes back`() async throws {
        let pool = WorkerPool(limit: 1)
        let loop = try EventLoop()
        let stopper = try Stopper(on: loop)
        let user = PoolUser(on: loop, pool)
        let running = Background { loop.run() }
        let (before, worker, after) = try await user.work()
        stopper.stop()
        try running.wait()
        #expect(before == after)
        #expect(worker != before)
    }
}

private actor PoolUser {
    private let loop: EventLoop
    private let pool: WorkerPool

    init(on loop: EventLoop, _ pool: WorkerPool) {
        self.loop = loop
        self.pool = pool
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    func work() async throws -> (UInt, UInt, UInt) {
        let before = UInt(pthread_self())
        let worker = try await pool.run { () throws(CofferError) in UInt(pthread_self()) }
        return (before, worker, UInt(pthread_self()))
    }
}
