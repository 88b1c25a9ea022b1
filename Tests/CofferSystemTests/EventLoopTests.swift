import CofferSystem
import CofferTestSupport
import Foundation
import Testing

extension EventLoop {
    /// Polls and dispatches until a condition holds.
    fileprivate func run(until isDone: () -> Bool) {
        while !isDone() {
            poll(milliseconds: -1)
            dispatch()
        }
    }

    /// One turn, without waiting.
    fileprivate func turn() {
        poll(milliseconds: 0)
        dispatch()
    }
}

@Suite struct `The event loop` {
    let loop: EventLoop

    init() throws { loop = try EventLoop() }

    @Test func `hands out what is ready, to the handler that watches`() throws {
        let one = try Pipe()
        let other = try Pipe()
        var log: [String] = []
        _ = try loop.watch(one.reading, for: .readable) {
            log.append("one: \($0.contains(.readable) || $0.rawValue & 1 != 0)")
        }
        _ = try loop.watch(other.reading, for: .readable) { _ in log.append("other") }
        try one.writing.writeText("x")
        try other.writing.writeText("x")
        loop.turn()
        #expect(log.sorted() == ["one: true", "other"])
    }

    @Test func `polling alone calls no handler but those that only take notes`() throws {
        let dispatched = try Pipe()
        let noted = try Pipe()
        var log: [String] = []
        _ = try loop.watch(dispatched.reading, for: .readable) { _ in log.append("dispatched") }
        _ = try loop.watch(noted.reading, for: .readable, .noted) { _ in log.append("noted") }
        try dispatched.writing.writeText("x")
        try noted.writing.writeText("x")
        loop.poll(milliseconds: 0)
        loop.poll(milliseconds: 0)
        #expect(log == ["noted", "noted"])
        #expect(loop.hasUndispatched)
        loop.dispatch()
        #expect(log == ["noted", "noted", "dispatched"], "polled twice, and dispatched once")
        #expect(!loop.hasUndispatched)
    }

    @Test func `what a handler has polled is not lost, and dispatched in the next turn`() throws {
        let one = try Pipe()
        let other = try Pipe()
        var log: [String] = []
        let (first, second) = (one.reading.number, other.writing.number)
        _ = try loop.watch(one.reading, for: .readable) { [loop] _ in
            log.append("one")
            var byte: UInt8 = 0
            read(first, &byte, 1)
            _ = write(second, "x", 1)
            loop.poll(milliseconds: 0)
        }
        _ = try loop.watch(other.reading, for: .readable) { _ in log.append("other") }
        try one.writing.writeText("x")
        loop.turn()
        #expect(log == ["one"])
        #expect(loop.hasUndispatched)
        loop.dispatch()
        #expect(log == ["one", "other"])
    }

    @Test func `hands out nothing more for what is not watched any more, in the same turn too`() throws {
        let pipes = [try PipeBox(), try PipeBox()]
        var log: [Int] = []
        var watches: [EventLoop.Watch] = []
        // Both are ready in the same turn; the handler that runs first removes both.
        for (index, box) in pipes.enumerated() {
            watches.append(
                try loop.watch(box.pipe.reading, for: .readable) { [loop] _ in
                    log.append(index)
                    for watch in watches { loop.unwatch(watch) }
                }
            )
        }
        for box in pipes { try box.pipe.writing.writeText("x") }
        loop.turn()
        loop.turn()
        #expect(log.count == 1)
    }

    @Test func `does not give a late event to what came into the place`() throws {
        let pipes = [try PipeBox(), try PipeBox()]
        let quiet = [try PipeBox(), try PipeBox()]
        var log: [String] = []
        var watches: [EventLoop.Watch] = []
        for box in pipes {
            watches.append(
                try loop.watch(box.pipe.reading, for: .readable) { [loop] _ in
                    log.append("ready")
                    for watch in watches { loop.unwatch(watch) }
                    // Two new watches reuse both slots, and neither is ready.
                    for box in quiet {
                        _ = try? loop.watch(box.pipe.reading, for: .readable) { _ in log.append("newcomer") }
                    }
                }
            )
        }
        for box in pipes { try box.pipe.writing.writeText("x") }
        loop.turn()
        #expect(log == ["ready"])
    }

    @Test func `tells who writes that the peer is gone, and who reads too`() throws {
        let pair = try UnixSocket.pair()
        var seen: EventLoop.Interest = []
        try pair.split { server, client in
            _ = try loop.watch(server, for: .readable) { seen = $0 }
            _ = consume client
            loop.turn()
        }
        #expect(seen.contains(.writable))
        #expect(seen.contains(.readable))
        #expect(!seen.isDisjoint(with: .hungUp))
    }

    @Test func `watches for what it was changed to`() throws {
        let pair = try UnixSocket.pair()
        var log: [String] = []
        let watch = try loop.watch(pair.server, for: .writable) { interest in
            log.append(interest == .writable ? "writable" : "readable")
        }
        loop.turn()
        try loop.change(watch, to: .readable)
        loop.turn()
        _ = write(pair.client.number, "x", 1)
        loop.turn()
        #expect(log == ["writable", "readable"])
    }

    @Test func `one poll finds all that is ready, however many`() throws {
        let pipes = try (0..<300).map { _ in try PipeBox() }
        var seen: Set<Int> = []
        for (index, box) in pipes.enumerated() {
            _ = try loop.watch(box.pipe.reading, for: .readable) { _ in seen.insert(index) }
            try box.pipe.writing.writeText("x")
        }
        loop.turn()
        #expect(seen.count == 300)
    }
}

/// A pipe that an array can hold.
private final class PipeBox {
    let pipe: Pipe
    init() throws { pipe = try Pipe() }
}

@Suite struct `A mailbox` {
    @Test func `brings what other threads post, in order and once`() throws {
        let loop = try EventLoop()
        let mailbox = try Mailbox<Int>()
        var received: [Int] = []
        try mailbox.deliver(on: loop) { received.append($0) }
        let posting = Background { for number in 0..<1000 { mailbox.post(number) } }
        loop.run { received.count == 1000 }
        try posting.wait()
        loop.turn()
        #expect(received == Array(0..<1000))
    }
}

@Suite struct `A timer of the loop` {
    let loop: EventLoop

    init() throws { loop = try EventLoop() }

    @Test func `fires when its time has come, once`() throws {
        var (count, turns, isOver) = (0, 0, false)
        let timer = try LoopTimer(on: loop) { count += 1 }
        let last = try LoopTimer(on: loop) { isOver = true }
        timer.set(BootClock.system.now)
        last.set(BootClock.system.now + 30_000_000)
        loop.run {
            turns += 1
            return isOver
        }
        #expect(count == 1)
        #expect(turns < 10, "the loop sleeps in between")
    }

    @Test func `fires at once for a time that is past, the beginning of time too`() throws {
        var isOver = false
        let timer = try LoopTimer(on: loop) { isOver = true }
        timer.set(0)
        loop.run { isOver }
    }

    @Test func `does not fire when it was unset, or set again for later`() throws {
        var log: [String] = []
        var isOver = false
        let unset = try LoopTimer(on: loop) { log.append("unset") }
        let moved = try LoopTimer(on: loop) { log.append("moved") }
        let last = try LoopTimer(on: loop) { isOver = true }
        let now = BootClock.system.now
        unset.set(now + 5_000_000)
        moved.set(now + 5_000_000)
        last.set(now + 20_000_000)
        unset.set(nil)
        moved.set(now + 3_600_000_000_000)
        loop.run { isOver }
        #expect(log == [])
    }

    @Test func `can be unset after it came due and before it was heard`() throws {
        var log: [String] = []
        var isOver = false
        let timer = try LoopTimer(on: loop) { log.append("fired") }
        let last = try LoopTimer(on: loop) { isOver = true }
        timer.set(1)
        timer.set(nil)
        last.set(1)
        loop.run { isOver }
        #expect(log == [])
    }

    @Test func `runs on a clock that does not go back`() {
        var before = BootClock.system.now
        for _ in 0..<1000 {
            let now = BootClock.system.now
            #expect(now >= before)
            before = now
        }
    }

    @Test func `frees its handler before its loop does`() throws {
        final class Held {}
        weak var held: Held?
        do {
            let value = Held()
            held = value
            let timer = try LoopTimer(on: loop) { [value] in withExtendedLifetime(value) {} }
            timer.invalidate()
        }
        let isGone = held == nil
        #expect(isGone)
        // Its slot is free for another one.
        var isOver = false
        let last = try LoopTimer(on: loop) { isOver = true }
        last.set(1)
        loop.run { isOver }
    }
}
