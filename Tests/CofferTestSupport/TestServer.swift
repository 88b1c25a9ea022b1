package import CofferClient
import CofferCore
package import CofferService
package import CofferSystem
import Foundation
import Synchronization

/// A server on a thread of the test's own process: for what has to be made to fail inside.
package final class TestServer: Sendable {
    /// Where the vault is.
    package let directory: TemporaryDirectory
    private let loop: EventLoop
    private let server: Server
    private let thread: LoopThread

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - directory: A directory to go on with; a new one if none is given.
    ///   - graceSeconds: The grace of a lock.
    ///   - ownerID: The user who may connect; the test's own if none is given.
    ///   - clock: What deadlines are counted by.
    ///   - fileSystem: The seam for failing operations on disk.
    ///   - configure: Changes what the server is told besides.
    package init(
        in directory: TemporaryDirectory? = nil,
        graceSeconds: Int = 10,
        ownerID: UInt32 = geteuid(),
        clock: BootClock = .system,
        fileSystem: FileSystem = .real,
        configure: (inout Configuration) -> Void = { _ in }
    ) throws {
        let directory = try directory ?? TemporaryDirectory()
        let loop = try EventLoop(isPreferred: true)
        var configuration = Configuration(
            statePath: directory.appending("state"),
            daemon: ClientIdentity(userID: ownerID, groupID: getegid()),
            lockPolicy: LockSchedule.Policy(graceSeconds: graceSeconds),
            clock: clock,
            fileSystem: fileSystem
        )
        configure(&configuration)
        let server = try Server(loop: loop, configuration: configuration)
        try server.assumeIsolated { server in
            try server.start()
            try server.serve(try UnixSocket.listen(at: directory.appending("socket")))
        }
        self.directory = directory
        self.loop = loop
        self.server = server
        thread = LoopThread(loop)
    }

    deinit {
        // Not by a task: its threads may all be waiting in tests.
        loop.post { [server] in server.assumeIsolated { $0.shutDown() } }
        thread.join()
    }

    /// Has something happen around the server; returns when it has taken it.
    package func take(_ occurrence: Occurrence) { perform { $0.take(occurrence) } }

    /// Does something on the server's thread, and waits for it.
    private func perform(_ body: @escaping @Sendable (isolated Server) -> Void) {
        let done = DispatchSemaphore(value: 0)
        loop.post { [server] in
            server.assumeIsolated(body)
            done.signal()
        }
        done.wait()
    }

    /// A new connection.
    package func connect() throws -> BlockingClient { try BlockingClient(checkedAt: directory.appending("socket")) }
}

/// The thread of a loop.
private final class LoopThread: Sendable {
    private let done = DispatchSemaphore(value: 0)

    init(_ loop: EventLoop) {
        let done = done
        Thread { [loop] in
            loop.run()
            done.signal()
        }.start()
    }

    func join() { done.wait() }
}
