import CofferClient
import CofferCore
import CofferService
import CofferSystem
import CofferTestSupport
import Foundation

/// A server for which the test sets the identity of each connection, and which it can block.
final class HeldServer: Sendable {
    let server: TestServer
    private let next: Shared<ClientIdentity>
    private let hold: Shared<(reached: DispatchSemaphore, release: DispatchSemaphore)?>

    init(
        in directory: TemporaryDirectory? = nil,
        entitlements: String = "",
        clock: BootClock = .system,
        fileSystem: FileSystem = .real,
        journal: (@Sendable ([AuditRecord]) -> Void)? = nil
    ) throws {
        let next = Shared(Self.owner)
        let hold = Shared<(reached: DispatchSemaphore, release: DispatchSemaphore)?>(nil)
        (self.next, self.hold) = (next, hold)
        let written = try Entitlement.all(in: [("x.conf", Array(entitlements.utf8))]) { (_) throws(CofferError) in
            0
        } groupID: { (_) throws(CofferError) in
            0
        }
        server = try TestServer(in: directory, clock: clock, fileSystem: fileSystem) { configuration in
            configuration.journal.write = journal
            configuration.entitlements = written
            configuration.identify = { _, _ in
                if let hold = hold.value {
                    hold.reached.signal()
                    hold.release.wait()
                }
                return next.value
            }
        }
    }

    static let owner = ClientIdentity(userID: geteuid(), groupID: getegid())

    static func service(_ name: String) -> ClientIdentity {
        ClientIdentity(userID: geteuid(), groupID: getegid(), unit: "user@0.service", userUnit: "\(name).service")
    }

    /// A connection that is already admitted.
    func connect(as client: ClientIdentity = HeldServer.owner) throws -> BlockingClient {
        next.value = client
        let connection = try server.connect()
        _ = try connection.status()
        return connection
    }

    func connectRaw(as client: ClientIdentity = HeldServer.owner) throws -> RawConnection {
        next.value = client
        var connection = try RawConnection(server)
        _ = try connection.newsUntilAnswer()
        return connection
    }

    /// Calls a closure while the server is blocked, so that all its requests are served in one turn.
    func whileHeld(_ body: () throws -> Void) throws {
        let (reached, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        hold.value = (reached, release)
        let last = try RawConnection(server)
        reached.wait()
        hold.value = nil
        try body()
        release.signal()
        withExtendedLifetime(last) {}
    }
}

/// Whether data has arrived.
func hasArrival(_ connection: borrowing RawConnection) -> Bool {
    var poller = pollfd(fd: connection.socket.number, events: Int16(POLLIN), revents: 0)
    return poll(&poller, 1, 0) == 1
}

/// A raw connection that an array can hold.
final class RawBox {
    var raw: RawConnection
    init(_ raw: consuming RawConnection) { self.raw = raw }

    var hasArrival: Bool { CofferServiceTests.hasArrival(raw) }
}
