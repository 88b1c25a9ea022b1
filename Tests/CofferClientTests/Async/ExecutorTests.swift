import CofferClient
import CofferCore
import CofferTestSupport
import Dispatch
import Foundation
import Testing

/// Runs tasks one after another on its own queue.
private final class QueueExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "QueueExecutor")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// If a task prefers an executor of its own, the runtime may run other tasks at each call of the client.
@Suite struct `A client of tasks that prefer an executor of their own` {
    private let executor = QueueExecutor()
    private let daemon: DaemonProcess

    init() throws {
        daemon = try DaemonProcess()
        _ = try daemon.connect().makeVault(passcode: nil)
    }

    private func run(_ body: @escaping @Sendable (CofferClient) async throws -> Void) async throws {
        try await Task(executorPreference: executor) { [path = daemon.socketPath] in
            try await CofferClient.withConnection(to: path) { (client) async throws in try await body(client) }
        }.value
    }

    @Test(.timeLimit(.minutes(1))) func `answers every call`() async throws {
        try await run { client in
            try await withThrowingTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask { for _ in 0..<500 { _ = try await client.status() } }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test(.timeLimit(.minutes(1))) func `tells every event`() async throws {
        try await run { client in
            var events = try await client.events(.items).makeAsyncIterator()
            let writing = Task {
                for number in 0..<500 { _ = try await client.put(ItemName("\(number)"), Secret([1])) }
            }
            var count = 0
            while count < 500 {
                guard case .itemsDidChange(let changes) = try await events.next() else { throw POSIXError(.EIO) }
                count += changes.count
            }
            try await writing.value
        }
    }

    @Test(.timeLimit(.minutes(1))) func `moves contents in pieces`() async throws {
        try await run { client in
            let content = pseudoRandomBytes(300_000)
            for number in 0..<20 {
                let name = try ItemName("\(number)")
                _ = try await client.put(name, from: Pieces(content: content, pieceCount: 1000))
                #expect(try await collect(client.content(of: name)) == content)
            }
        }
    }
}
