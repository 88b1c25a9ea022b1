import CofferTestSupport
import CofferSystem
import Foundation
import Synchronization
import Testing

/// An actor that lives on a loop.
private actor Resident {
    private let loop: EventLoop
    private(set) var threads: [UInt] = []
    private(set) var count = 0

    init(on loop: EventLoop) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    func perform(_ body: @Sendable () -> Void) { body() }

    func visit() {
        loop.checkIsolated()
        threads.append(UInt(pthread_self()))
        count += 1
    }

    /// Reads, waits and writes: what an actor that is not isolated would lose counts by.
    func visitSlowly() async {
        let before = count
        await Task.yield()
        if before == count { count = before + 1 } else { count += 1 }
    }

    func stop() { loop.stop() }

    /// The turns that calls take which wait for nothing.
    func countTurns() async -> UInt64 {
        let first = loop.turn
        for _ in 0..<10 { await withCheckedContinuation { $0.resume() } }
        return loop.turn - first
    }
}

extension EventLoop {
    /// Runs on a thread of its own until it is stopped.
    fileprivate func runInBackground() -> Background<UInt> {
        Background {
            self.run()
            return UInt(pthread_self())
        }
    }
}

@Suite struct `The event loop` {
    let loop: EventLoop
    let stopper: Stopper

    init() throws {
        loop = try EventLoop()
        stopper = try Stopper(on: loop)
    }

    @Test func `hands out what is ready, to the handler that watches`() throws {
        let one = try Pipe()
        let other = try Pipe()
        let log = Shared<[String]>([])
        let (first, second) = (one.reading.number, other.reading.number)
        _ = try loop.watch(one.reading, for: .readable) { interest in
            var byte: UInt8 = 0
            read(first, &byte, 1)
            log.change { $0.append("one: \(interest.contains(.readable) || interest.rawValue & 1 != 0)") }
        }
        _ = try loop.watch(other.reading, for: .readable) { [loop] _ in
            var byte: UInt8 = 0
            read(second, &byte, 1)
            log.change { $0.append("other") }
            loop.stop()
        }
        try one.writing.writeText("x")
        try other.writing.writeText("x")
        loop.run()
        #expect(log.value.sorted() == ["one: true", "other"])
    }

    @Test func `hands out nothing more for what is not watched any more, in the same turn too`() throws {
        let one = try Pipe()
        let other = try Pipe()
        let log = Shared<[String]>([])
        let watches = Shared<[EventLoop.Watch]>([])
        // Both are ready in the same turn; whichever is told first unwatches both.
        for (name, pipe) in [("one", one.reading.number), ("other", other.reading.number)] {
            let descriptor = OwnedDescriptor(owning: pipe)
            let watch = try loop.watch(descriptor, for: .readable) { [loop] _ in
                log.change { $0.append(name) }
                for watch in watches.value { loop.unwatch(watch) }
            }
            watches.change { $0.append(watch) }
            _ = descriptor.release()
        }
        let turns = Shared(0)
        loop.atEndOfTurn { [stopper] in
            turns.change { $0 += 1 }
            if turns.value == 2 { stopper.stop() }
        }
        try one.writing.writeText("x")
        try other.writing.writeText("x")
        loop.run()
        #expect(log.value.count == 1)
    }

    @Test func `does not give a late event to who came into the place`() throws {
        let one = try Pipe()
        let other = try Pipe()
        let third = try Pipe()
        let log = Shared<[String]>([])
        let watches = Shared<[EventLoop.Watch]>([])
        let newcomer = try third.reading.duplicate()
        let newcomers = Shared<Int>(0)
        let newcomerNumber = newcomer.number
        for pipe in [one.reading.number, other.reading.number] {
            let descriptor = OwnedDescriptor(owning: pipe)
            let watch = try loop.watch(descriptor, for: .readable) { [loop] _ in
                log.change { $0.append("ready") }
                for watch in watches.value { loop.unwatch(watch) }
                // Two new ones take both places that are free now; nothing is ready for them.
                for _ in 0..<2 {
                    let again = OwnedDescriptor(owning: dup(newcomerNumber))
                    do {
                        _ = try loop.watch(again, for: .readable) { _ in newcomers.change { $0 += 1 } }
                    } catch {
                        Issue.record(error)
                    }
                    _ = again.release()
                }
            }
            watches.change { $0.append(watch) }
            _ = descriptor.release()
        }
        let turns = Shared(0)
        loop.atEndOfTurn { [stopper] in
            turns.change { $0 += 1 }
            if turns.value == 2 { stopper.stop() }
        }
        try one.writing.writeText("x")
        try other.writing.writeText("x")
        loop.run()
        #expect(log.value == ["ready"])
        #expect(newcomers.value == 0)
    }

    @Test func `tells who writes that the peer is gone, and who reads too`() throws {
        let pair = try UnixSocket.pair()
        let seen = Shared<EventLoop.Interest>([])
        try pair.split { server, client in
            _ = try loop.watch(server, for: .readable) { [loop] interest in
                seen.value = interest
                loop.stop()
            }
            _ = consume client
            loop.run()
        }
        #expect(seen.value.contains(.writable))
        #expect(seen.value.contains(.readable))
    }

    @Test func `watches for what it was changed to`() throws {
        let pair = try UnixSocket.pair()
        let log = Shared<[String]>([])
        let watches = Shared<EventLoop.Watch?>(nil)
        let watch = try loop.watch(pair.server, for: .writable) { [loop] interest in
            guard let watch = watches.value else { return }
            if interest == .writable {
                log.change { $0.append("writable") }
                do { try loop.change(watch, to: .readable) } catch { Issue.record(error) }
            } else {
                log.change { $0.append("readable") }
                loop.stop()
            }
        }
        watches.value = watch
        let turns = Shared(0)
        let client = pair.client.number
        loop.atEndOfTurn {
            turns.change { $0 += 1 }
            if turns.value == 2 { _ = write(client, "x", 1) }
        }
        loop.run()
        #expect(log.value == ["writable", "readable"])
    }

    @Test func `runs jobs of other threads on its own`() async throws {
        let resident = Resident(on: loop)
        let running = loop.runInBackground()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 { group.addTask { await resident.visit() } }
        }
        let threads = await resident.threads
        stopper.stop()
        let thread = try running.wait()
        #expect(threads.count == 200)
        #expect(Set(threads) == [thread])
    }

    @Test func `keeps an actor isolated that lives on it`() async throws {
        let resident = Resident(on: loop)
        let running = loop.runInBackground()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<500 { group.addTask { await resident.visitSlowly() } }
        }
        let count = await resident.count
        stopper.stop()
        _ = try running.wait()
        #expect(count == 500)
    }

    @Test(arguments: [true, false])
    func `costs a task that prefers it no turn where nothing is waited for`(_ isPreferred: Bool) async throws {
        let loop = try EventLoop(isPreferred: isPreferred)
        let resident = Resident(on: loop)
        let running = loop.runInBackground()
        let turnCount = await Task(executorPreference: loop) { await resident.countTurns() }.value
        loop.post { [loop] in loop.stop() }
        _ = try running.wait()
        #expect((turnCount == 0) == isPreferred)
    }

    @Test func `has a turn follow what it looked for at the end of one`() throws {
        let pipe = try Pipe()
        try pipe.writing.writeText("x")
        let log = Shared<[String]>([])
        _ = try loop.watch(pipe.reading, for: .readable) { [number = pipe.reading.number] _ in
            var byte: UInt8 = 0
            read(number, &byte, 1)
            log.change { $0.append("came") }
        }
        let late = try LoopTimer(on: loop) { [loop] in
            log.change { $0.append("late") }
            loop.stop()
        }
        late.set(BootClock.system.now + 2_000_000_000)
        loop.atEndOfTurn { [loop] in if log.value.isEmpty { loop.look() } else { loop.stop() } }
        loop.run()
        #expect(log.value == ["came"])
    }

    @Test func `lets a handler into its actor without a detour`() throws {
        let resident = Resident(on: loop)
        let pipe = try Pipe()
        _ = try loop.watch(pipe.reading, for: .readable) { [loop] _ in
            resident.assumeIsolated { $0.visit() }
            loop.stop()
        }
        try pipe.writing.writeText("x")
        loop.run()
        #expect(loop.isIsolatingCurrentContext() == true)
        #expect(resident.assumeIsolated { $0.count } == 1)
    }

    @Test func `ends a turn after the handlers and the jobs of it`() throws {
        let pipe = try Pipe()
        let log = Shared<[String]>([])
        let number = pipe.reading.number
        _ = try loop.watch(pipe.reading, for: .readable) { [loop] _ in
            var byte: UInt8 = 0
            read(number, &byte, 1)
            log.change { $0.append("handler") }
            Task {
                await Resident(on: loop).visit()
                log.change { $0.append("job") }
            }
            loop.stop()
        }
        loop.atEndOfTurn { log.change { $0.append("end") } }
        try pipe.writing.writeText("x")
        loop.run()
        let found = log.value.filter { $0 != "job" }
        #expect(found == ["end", "handler", "end"])
    }

    @Test func `runs a job soon that the end of a turn enqueued`() throws {
        let resident = Resident(on: loop)
        let log = Shared<[String]>([])
        let hasBegun = Shared(false)
        // Only a loop that sleeps on a job it has gets to hear the timer.
        let timer = try LoopTimer(on: loop) { [loop] in
            log.change { $0.append("timer") }
            loop.stop()
        }
        timer.set(BootClock.system.now + 20_000_000_000)
        loop.atEndOfTurn { [loop] in
            if hasBegun.value { return }
            hasBegun.value = true
            // On the loop's own thread: that is how a job comes from the end of a turn.
            Task.immediate {
                await resident.perform {
                    log.change { $0.append("job") }
                    loop.stop()
                }
            }
        }
        loop.run()
        #expect(log.value == ["job"])
    }

    @Test func `is stopped from the end of a turn and from a job, not only from a handler`() throws {
        for place in ["handler", "end of turn", "job"] {
            let loop = try EventLoop()
            let resident = Resident(on: loop)
            let pipe = try Pipe()
            let wasWoken = Shared(false)
            let hasBegun = Shared(false)
            // Only a loop that goes on after it was stopped gets to hear the timer.
            let timer = try LoopTimer(on: loop) {
                wasWoken.value = true
                loop.stop()
            }
            timer.set(BootClock.system.now + 20_000_000_000)
            let number = pipe.reading.number
            _ = try loop.watch(pipe.reading, for: .readable) { _ in
                var byte: UInt8 = 0
                read(number, &byte, 1)
                if place == "handler" { loop.stop() }
                if place == "job" { Task.immediate { await resident.stop() } }
                hasBegun.value = true
            }
            loop.atEndOfTurn {
                if place == "end of turn" && hasBegun.value { loop.stop() }
            }
            try pipe.writing.writeText("x")
            loop.run()
            #expect(!wasWoken.value, "\(place)")
        }
    }

    @Test func `is left alone by other threads, which is checked`() async {
        await #expect(processExitsWith: .failure) {
            let loop = try EventLoop()
            try Background { loop.stop() }.wait()
        }
    }
}

@Suite struct `A timer of the loop` {
    @Test func `fires when its time has come, once`() throws {
        let loop = try EventLoop()
        let count = Shared(0)
        let turns = Shared(0)
        let timer = try LoopTimer(on: loop) { count.change { $0 += 1 } }
        let last = try LoopTimer(on: loop) { [loop] in loop.stop() }
        timer.set(BootClock.system.now)
        last.set(BootClock.system.now + 30_000_000)
        loop.atEndOfTurn { turns.change { $0 += 1 } }
        loop.run()
        #expect(count.value == 1)
        #expect(turns.value < 10, "the loop sleeps in between")
    }

    @Test func `fires at once for a time that is past, the beginning of time too`() throws {
        let loop = try EventLoop()
        let timer = try LoopTimer(on: loop) { [loop] in loop.stop() }
        timer.set(0)
        loop.run()
    }

    @Test func `does not fire when it was unset, or set again for later`() throws {
        let loop = try EventLoop()
        let log = Shared<[String]>([])
        let unset = try LoopTimer(on: loop) { log.change { $0.append("unset") } }
        let moved = try LoopTimer(on: loop) { log.change { $0.append("moved") } }
        let last = try LoopTimer(on: loop) { [loop] in loop.stop() }
        let now = BootClock.system.now
        unset.set(now + 5_000_000)
        moved.set(now + 5_000_000)
        last.set(now + 20_000_000)
        unset.set(nil)
        moved.set(now + 3_600_000_000_000)
        loop.run()
        #expect(log.value == [])
    }

    @Test func `can be unset after it came due and before it was heard`() throws {
        let loop = try EventLoop()
        let log = Shared<[String]>([])
        let timer = try LoopTimer(on: loop) { log.change { $0.append("fired") } }
        let last = try LoopTimer(on: loop) { [loop] in loop.stop() }
        timer.set(1)
        timer.set(nil)
        last.set(1)
        loop.run()
        #expect(log.value == [])
    }

    @Test func `runs on a clock that does not go back`() {
        var before = BootClock.system.now
        for _ in 0..<1000 {
            let now = BootClock.system.now
            #expect(now >= before)
            before = now
        }
    }

    @Test func `lets go of its handler before its loop does`() throws {
        final class Held: Sendable {}
        let loop = try EventLoop()
        weak var held: Held?
        do {
            let value = Held()
            held = value
            let timer = try LoopTimer(on: loop) { [value] in withExtendedLifetime(value) {} }
            timer.invalidate()
        }
        let isGone = held == nil
        #expect(isGone)
        // Its place is free for another one.
        let last = try LoopTimer(on: loop) { [loop] in loop.stop() }
        last.set(1)
        loop.run()
    }
}

@Suite struct `A loop on a thread of its own` {
    @Test func `runs what is posted there, and an actor`() async throws {
        let loop = try EventLoop.onOwnThread()
        let resident = Resident(on: loop)
        await resident.visit()
        await resident.visit()
        let threads = await resident.threads
        #expect(Set(threads).count == 1)
        #expect(threads.first != UInt(pthread_self()))
        loop.post { [loop] in loop.stop() }
    }
}
