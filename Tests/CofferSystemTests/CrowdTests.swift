import CofferSystem
import CofferTestSupport
import Foundation
import Testing

/// Looking for events within a turn, and events that wait until they are asked for.
@Suite struct CrowdTests {
    let loop: EventLoop
    let stopper: Stopper

    init() throws {
        loop = try EventLoop()
        stopper = try Stopper(on: loop)
    }

    @Test func `the events of a crowd wait until they are asked for, and are told of as one`() throws {
        let one = try Pipe()
        let other = try Pipe()
        let third = try Pipe()
        let log = Shared<[String]>([])
        let crowd = try loop.makeCrowd { log.change { $0.append("told") } }
        func watch(_ pipe: borrowing Pipe, _ name: String) throws {
            let source = pipe.reading.number
            _ = try loop.watch(pipe.reading, for: .readable, among: crowd) { _ in
                var byte: UInt8 = 0
                read(source, &byte, 1)
                log.change { $0.append(name) }
            }
            try pipe.writing.writeText("x")
        }
        try watch(one, "0")
        try watch(other, "1")
        try watch(third, "2")
        let turns = Shared(0)
        loop.atEndOfTurn { [loop, stopper] in
            turns.change { $0 += 1 }
            switch turns.value {
            case 1: break
            case 2:
                loop.look()
                #expect(loop.hasNext(of: crowd))
                loop.deliverNext(of: crowd)
                loop.setTelling(false, of: crowd)
                loop.goOn()
            case 3:
                // Nothing is told, and nothing is lost.
                loop.setTelling(true, of: crowd)
                loop.deliverNext(of: crowd)
                log.change { $0.append("|") }
            default:
                while loop.hasNext(of: crowd) { loop.deliverNext(of: crowd) }
                loop.unwatch(crowd)
                stopper.stop()
            }
        }
        loop.run()
        let told = log.value
        #expect(told.filter { $0 != "told" && $0 != "|" }.sorted() == ["0", "1", "2"])
        #expect(told.prefix(2) == ["told", "told"], "\(told)")
        #expect(told[3...4].contains("|") && !told[2...3].contains("told"), "\(told)")
    }

    @Test func `does not forget what was posted when it looks for events in the middle of a turn`() throws {
        let log = Shared<[String]>([])
        let turns = Shared(0)
        loop.atEndOfTurn { [loop, stopper] in
            turns.change { $0 += 1 }
            guard turns.value == 1 else { return }
            loop.post {
                log.change { $0.append("posted") }
                stopper.stop()
            }
            // It takes the signal that something was posted.
            loop.look()
        }
        loop.run()
        #expect(log.value == ["posted"])
    }
}
