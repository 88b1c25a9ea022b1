import CofferCore
import CofferSystem
import CofferTestSupport
import Foundation
import Testing

private struct OneOwner: ~Copyable, Sendable {
    let value: Int
    let log: Shared<[String]>

    deinit { log.change { $0.append("gone") } }
}

extension WorkerPool {
    /// Runs a job and waits for its result.
    fileprivate func run<Output: ~Copyable & Sendable>(
        for party: Int = 0,
        _ body: @escaping @Sendable () throws(CofferError) -> Output
    ) throws(CofferError) -> Output {
        let work = Work<Void, Output>(()) { (_) throws(CofferError) in try body() }
        let done = DispatchSemaphore(value: 0)
        submit(work, for: party) { done.signal() }
        done.wait()
        return try work.take()
    }
}

@Suite struct `The pool of workers` {
    @Test func `brings results back`() throws {
        #expect(try WorkerPool(limit: 2).run { () throws(CofferError) in 40 + 2 } == 42)
    }

    @Test func `hands over what has one owner, there and back, once`() throws {
        let pool = WorkerPool(limit: 2)
        let log = Shared<[String]>([])
        let done = DispatchSemaphore(value: 0)
        let work = Work<OneOwner, OneOwner>(OneOwner(value: 6, log: log)) { (input) throws(CofferError) in
            OneOwner(value: input.value + 1, log: input.log)
        }
        pool.submit(work) { done.signal() }
        done.wait()
        #expect(log.value == ["gone"])
        do {
            let value = try work.take()
            #expect(value.value == 7)
        }
        #expect(log.value == ["gone", "gone"])
        #expect(throws: CofferError(.internal, "")) { _ = try work.take().value }
    }

    @Test func `brings errors back`() {
        let error = #expect(throws: CofferError.self) {
            try WorkerPool(limit: 1).run { () throws(CofferError) -> Int in throw CofferError(.diskFull, "no room") }
        }
        #expect(error?.code == .diskFull)
        #expect(error?.message == "no room")
    }

    @Test func `does more work than it has threads, and no two at once where it has one`() {
        for limit in [1, 3] {
            let pool = WorkerPool(limit: limit)
            let running = Shared((now: 0, most: 0))
            let results = Shared<Set<Int>>([])
            let all = DispatchGroup()
            for number in 0..<100 {
                all.enter()
                let work = Work<Void, Void>(()) { (_) throws(CofferError) in
                    running.change { state in
                        state.now += 1
                        state.most = max(state.most, state.now)
                    }
                    sched_yield()
                    running.change { $0.now -= 1 }
                    results.change { _ = $0.insert(number) }
                }
                pool.submit(work) { all.leave() }
            }
            all.wait()
            #expect(results.value == Set(0..<100))
            #expect(running.value.now == 0)
            #expect((1...limit).contains(running.value.most))
        }
    }

    @Test func `runs as much at once as its limit allows`() {
        let pool = WorkerPool(limit: 4)
        let barrier = (0..<4).map { _ in DispatchSemaphore(value: 0) }
        let all = DispatchGroup()
        // Each waits for the one before it, so with fewer threads none would end.
        for number in 0..<4 {
            all.enter()
            let work = Work<Void, Void>(()) { (_) throws(CofferError) in
                barrier[(number + 1) % 4].signal()
                barrier[number].wait()
            }
            pool.submit(work) { all.leave() }
        }
        all.wait()
    }

    @Test func `one party does not get all threads, however much it wants, and another one works meanwhile`() throws {
        let pool = WorkerPool(limit: 8)
        let (held, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isReleased = Shared(false)
        let greedy = Shared(0)
        let all = DispatchGroup()
        for _ in 0..<20 {
            all.enter()
            let work = Work<Void, Void>(()) { (_) throws(CofferError) in
                greedy.change { $0 += 1 }
                if isReleased.value { return }
                held.signal()
                release.wait()
            }
            pool.submit(work, for: 1) { all.leave() }
        }
        for _ in 0..<6 { held.wait() }
        for _ in 0..<3 { try pool.run(for: 2) { () throws(CofferError) in } }
        #expect(greedy.value == 6)
        isReleased.value = true
        for _ in 0..<20 { release.signal() }
        all.wait()
        #expect(greedy.value == 20)
    }

    @Test func `the thread is another one than the caller's`() throws {
        let worker = try WorkerPool(limit: 1).run { () throws(CofferError) in UInt(pthread_self()) }
        #expect(worker != UInt(pthread_self()))
    }
}
