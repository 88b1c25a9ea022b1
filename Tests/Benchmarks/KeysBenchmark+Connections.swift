import CCofferShims
import CofferCore
import CofferWire
import Foundation

extension KeysBenchmark {
    /// Measures from the decision to lock until the keys are wiped, without other connections, and with very
    /// many.
    ///
    /// The daemon sends nothing before the end of a turn, and has wiped the keys by then. The keys are
    /// therefore gone when the first byte of the turn arrives, in the answer or in a notification. The time
    /// until then is an upper bound, which includes both ways through the socket.
    static func measureLocks(_ setting: Setting, rounds: Int, connections: Int) throws {
        tell("measuring locks with \(connections.grouped) connections (\(rounds) rounds) ...")
        let crowds = try Audience.allCases.compactMap { try Crowd(setting, $0, count: connections) }
        try interleave(rounds: rounds, crowds.count) { try crowds[$0].lock(counts: $1) }
        printOut(crowds, connections)
        for crowd in crowds { crowd.daemon.stop() }
    }

    private static func printOut(_ crowds: [Crowd], _ connections: Int) {
        print("\nHow soon after the decision are the keys gone?\n")
        var table = Table([
            "\(connections.grouped) connections", "keys gone", "spread", "19 of 20", "answer", "ratio", "hello",
        ])
        for audience in Audience.allCases {
            guard let crowd = crowds.first(where: { $0.audience == audience }) else {
                table.add([audience.rawValue, "this daemon does not know it: not measured"])
                continue
            }
            let gone = crowd.firstSigns
            let count = audience == .none ? 0 : connections
            Figures.keep("lock, \(audience.rawValue) connections", clients: count, .time(gone))
            table.add([
                audience.rawValue,
                gone.median.asTime,
                gone.spread.asPercent,
                gone.quantile(0.95).asTime,
                crowd.answers.median.asTime,
                (crowd.answers.median / crowds[0].answers.median).formatted(2),
                crowd.hellos.median.asTime,
            ])
        }
        table.printOut()
        print(
            """

            Keys gone: at most so long after the request was sent. It is when the first byte comes from the daemon, to
            whomever, which sends nothing before it has wiped the keys; the way there and back, a hello, is in it. The median is
            judged: a busy machine takes the core away from any program for longer than the target; 19 of 20 locks were not
            slower than what stands there. Ratio: of the answers, to a daemon without other connections.
            """
        )
    }
}

/// The activity of the other connections.
private enum Audience: String, CaseIterable {
    case none
    case idle
    case watching
}

/// A daemon with a small vault and many connections.
private final class Crowd {
    let audience: Audience
    let daemon: BenchmarkDaemon
    /// From sending a lock to the first byte that any client receives.
    private(set) var firstSigns = Samples()
    /// From sending a lock to its answer.
    private(set) var answers = Samples()
    private(set) var hellos = Samples()
    private let connection: BenchmarkConnection
    private let others: [BenchmarkConnection]
    private let everybody: ArrivalWatch

    /// Starts the daemon and connects.
    ///
    /// - Returns: `nil` if the daemon can't serve that many connections.
    init?(_ setting: Setting, _ audience: Audience, count: Int) throws {
        self.audience = audience
        daemon = try BenchmarkDaemon(setting, "crowd-\(audience)", isAlone: true)
        try daemon.makeVault(items: 10)
        connection = try daemon.connect()
        try connection.call("vault.lock", ["grace": 0])
        let daemon = daemon
        others = audience == .none ? [] : try (0..<count).map { _ in try daemon.connect() }
        everybody = ArrivalWatch(on: [connection] + others)
        do {
            for other in others {
                switch audience {
                case .watching: try other.call("vault.watch")
                // One request each, so that the daemon and not only the kernel has accepted it.
                case .idle, .none: try other.call("vault.status")
                }
            }
        } catch let error as CofferError where error.code == .unimplemented {
            daemon.stop()
            return nil
        }
    }

    /// Unlocks, and measures a lock.
    func lock(counts: Bool) throws {
        try connection.call("vault.unlock", payload: BenchmarkDaemon.passcode)
        try expectEverywhere("protectedDataDidBecomeAvailable")
        let hello = BenchmarkConnection.frame("hello", ["protocol": .integer(Int64(Version.protocolNumber))], [])
        let lock = BenchmarkConnection.frame("vault.lock", ["grace": 0], [])
        // Wakes the daemon, so that the measured hello meets the same state as the lock.
        try connection.call("hello", ["protocol": .integer(Int64(Version.protocolNumber))])
        let helloTime = try milliseconds {
            try connection.send(hello)
            _ = try connection.answer()
        }
        everybody.settle()
        var answer = JSONObject()
        var firstSign = 0.0
        let answerTime = try milliseconds {
            firstSign = try milliseconds {
                try connection.send(lock)
                everybody.wait()
            }
            answer = try connection.answer()
        }
        guard answer["state"] == "locked" else { throw CofferError(.internal, "the vault is not locked after a lock") }
        try expectEverywhere("protectedDataWillBecomeUnavailable")
        try expectEverywhere("protectedDataDidBecomeUnavailable")
        if counts {
            hellos.add(helloTime)
            firstSigns.add(firstSign)
            answers.add(answerTime)
        }
    }

    /// Checks that each watching client was notified.
    private func expectEverywhere(_ news: String) throws {
        if audience == .watching { try others.forEach { try $0.expectNotification(news) } }
    }
}

/// Waits until data arrives on any of many connections.
///
/// `poll` would scan all of them at each call: for a thousand, that takes as long as what is measured.
private final class ArrivalWatch {
    private let number = epoll_create1(0)

    init(on connections: [BenchmarkConnection]) {
        for connection in connections {
            var event = unsafe epoll_event()
            unsafe event.events = EPOLLIN.rawValue
            unsafe epoll_ctl(number, EPOLL_CTL_ADD, connection.number, &event)
        }
    }

    deinit { close(number) }

    /// Removes connections whose data was read from the ready list, so that the kernel need not scan them at
    /// the next wait.
    func settle() {
        while waitOnce(milliseconds: 0) {}
    }

    /// Sleeps until data arrives, because busy waiting would take time from the daemon on a busy machine.
    func wait() {
        while !waitOnce(milliseconds: -1) {}
    }

    private func waitOnce(milliseconds: Int32) -> Bool {
        var event = unsafe epoll_event()
        return unsafe epoll_wait(number, &event, 1, milliseconds) > 0
    }
}
