import CofferSystem
import Glibc
import Testing

/// Times that come from a row or a request.
@Suite struct WaitTests {
    @Test(arguments: [Duration.zero, .seconds(Int64.max), .seconds(Int64.min), .milliseconds(Int64.max)])
    func `a wait of any length ends when a descriptor is ready`(limit: Duration) throws {
        let pair = try UnixSocket.pair()
        #expect(write(pair.client.number, [7], 1) == 1)
        var waiting = PollSet()
        waiting.add(pair.server.number, isReading: true, isWriting: false)
        waiting.wait(for: limit)
        #expect(waiting.isReady(at: 0))
    }

    @Test func `time that is added has no end`() {
        let now = MonotonicTime.now
        #expect(now + .seconds(Int64.max) > now)
        #expect(now + .nanoseconds(1) > now)
        #expect((now + .milliseconds(1500)) - now == .milliseconds(1500))
    }
}
