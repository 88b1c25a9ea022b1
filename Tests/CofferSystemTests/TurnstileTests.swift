import CofferSystem
import CofferTestSupport
import Testing

/// Lets tasks in one at a time.
private actor Room {
    private let loop: EventLoop
    private let turnstile = Turnstile()
    private var insideCount = 0
    /// The most that were inside at once, and all that have been.
    private(set) var mostInside = 0
    private(set) var visitCount = 0

    init(on loop: EventLoop) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    func visit(from tenant: Int) async {
        await turnstile.enter(for: tenant)
        insideCount += 1
        mostInside = max(mostInside, insideCount)
        await Task.yield()
        insideCount -= 1
        visitCount += 1
        turnstile.leave()
    }
}

@Suite struct `The turnstile` {
    private static let visitorCount = 4
    private static let roundCount = 200

    /// How tasks come to the actor, which decides where the runtime lets others go first: at each call that is awaited, where
    /// a task prefers another executor than the one that it runs on.
    enum Preference: CaseIterable { case none, loop, another }

    @Test(.timeLimit(.minutes(1)), arguments: Preference.allCases)
    func `lets everybody pass, one at a time, whatever executor they prefer`(_ preference: Preference) async throws {
        let loop = try EventLoop.onOwnThread()
        let other = try EventLoop.onOwnThread()
        let room = Room(on: loop)
        let preferred: (any TaskExecutor)? =
            switch preference {
            case .none: nil
            case .loop: loop
            case .another: other
            }
        for delay in 0..<Self.roundCount {
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<Self.visitorCount {
                    group.addTask(executorPreference: preferred) {
                        for _ in 0..<(number * delay % 5) { await Task.yield() }
                        await room.visit(from: number % 3)
                    }
                }
            }
        }
        #expect(await room.mostInside == 1)
        #expect(await room.visitCount == Self.roundCount * Self.visitorCount)
        for loop in [loop, other] { loop.post { [loop] in loop.stop() } }
    }
}
