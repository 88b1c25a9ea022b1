package import CofferClient
import CofferCore
package import CofferService
package import CofferSystem
import Foundation
import Synchronization

/// A server on a thread of the test's process, for failures that are injected inside.
package final class TestServer: Sendable {
    /// A closure for the server's thread.
    package typealias Instruction = @Sendable (Server) -> Void

    /// The directory of the vault.
    package let directory: TemporaryDirectory
    private let instructions: Mailbox<Instruction>
    private let ended = DispatchSemaphore(value: 0)

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - directory: The directory of an existing vault; `nil` makes a new one.
    ///   - graceSeconds: The grace of a lock.
    ///   - ownerID: The user who may connect; by default that of the test.
    ///   - clock: The clock of all deadlines.
    ///   - fileSystem: The seam for failing operations on the disk.
    ///   - configure: Changes other settings.
    ///   - surroundings: Makes the surroundings of the server; called on its thread.
    package init(
        in directory: TemporaryDirectory? = nil,
        graceSeconds: Int = 10,
        ownerID: UInt32 = geteuid(),
        clock: BootClock = .system,
        fileSystem: FileSystem = .real,
        configure: (inout Configuration) -> Void = { _ in },
        surroundings: @escaping @Sendable () -> Surroundings? = { nil }
    ) throws {
        let directory = try directory ?? TemporaryDirectory()
        var configuration = Configuration(
            statePath: directory.appending("state"),
            daemon: ClientIdentity(userID: ownerID, groupID: getegid()),
            lockPolicy: LockSchedule.Policy(graceSeconds: graceSeconds),
            clock: clock,
            fileSystem: fileSystem
        )
        configure(&configuration)
        self.directory = directory
        instructions = try Mailbox()
        let started = Shared<Result<Void, any Error>?>(nil)
        let isUp = DispatchSemaphore(value: 0)
        let thread = Thread { [configuration, instructions, ended] in
            do {
                let loop = try EventLoop()
                let server = try Server(loop: loop, configuration: configuration, surroundings: surroundings())
                try instructions.deliver(on: loop) { [unowned server] in $0(server) }
                server.start()
                try server.serve(try UnixSocket.listen(at: directory.appending("socket")))
                started.value = .success(())
                isUp.signal()
                server.run()
            } catch {
                started.value = .failure(error)
                isUp.signal()
            }
            ended.signal()
        }
        thread.stackSize = 4 << 20
        thread.start()
        isUp.wait()
        try started.value?.get()
    }

    deinit {
        instructions.post { $0.shutDown() }
        ended.wait()
    }

    /// Reports an occurrence to the server, and waits until it is processed.
    package func take(_ occurrence: Occurrence) { perform { $0.take(occurrence) } }

    /// Runs a closure on the server's thread, and waits for it.
    package func perform(_ body: @escaping Instruction) {
        let done = DispatchSemaphore(value: 0)
        instructions.post { server in
            body(server)
            done.signal()
        }
        done.wait()
    }

    /// A new connection.
    package func connect() throws -> BlockingClient { try BlockingClient(checkedAt: directory.appending("socket")) }
}
