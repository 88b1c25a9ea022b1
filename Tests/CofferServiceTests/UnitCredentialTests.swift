import CofferClient
import CofferCore
import CofferService
import CofferSystem
import CofferTestSupport
import Foundation
import Testing

/// Service managers that fetch credentials of a unit, which waits until the vault is unlocked.
@Suite struct UnitCredentialTests {
    private static let content = Array("a token".utf8)

    /// A server for clients and for service managers, with the item `token` of a unit.
    private final class Place {
        private let server: TestServer
        private let held: Shared<Int>
        let owner: BlockingClient
        /// The connections that were given to the process that outlives the daemon.
        var heldCount: Int { held.value }

        init() throws {
            let (next, held) = (Shared(HeldServer.owner), Shared(0))
            self.held = held
            server = try TestServer { configuration in
                configuration.identify = { _, _ in next.value }
                configuration.credentials.waitSeconds = Limits.maximumCredentialWaitSeconds
                configuration.credentials.hold = { (_) throws(SystemError) in held.change { $0 += 1 } }
            }
            owner = try server.connect()
            try owner.makeVault()
            next.value = HeldServer.service("mail")
            try server.connect().put("token", UnitCredentialTests.content) {
                $0.store = .file
                $0.protectionClass = .complete
            }
            let path = server.directory.appending("credentials")
            let isListening = Shared(false)
            server.perform { server in
                isListening.value =
                    (try? server.serve(try UnixSocket.listen(at: path), for: .serviceManagers)) != nil
            }
            try #require(isListening.value)
        }

        /// Connects as a service manager does for the item.
        func fetch() throws -> ServiceManager { try ServiceManager(server.directory.appending("credentials")) }
    }

    /// A connection of a service manager.
    private final class ServiceManager {
        private let number: Int32
        private static let last = Shared(0)

        init(_ path: String) throws {
            number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            let isOpen = number >= 0
            try #require(isOpen)
            // A read without an answer fails after a time, and never hangs.
            var timeout = timeval(tv_sec: 120, tv_usec: 0)
            setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
            // An abstract address begins with a NUL, and a path ends with one.
            Self.last.change { $0 += 1 }
            let own = "\0\(getpid())x\(Self.last.value)/unit/mail.service/token"
            let isBound = Self.withAddress(own) { bind(number, $0, $1) } == 0
            try #require(isBound)
            let isConnected = Self.withAddress(path + "\0") { connect(number, $0, $1) } == 0
            try #require(isConnected)
        }

        deinit { close(number) }

        private static func withAddress(
            _ name: String,
            _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
        ) -> Int32 {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name.utf8) }
            let size = MemoryLayout<sa_family_t>.size + name.utf8.count
            return withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, socklen_t(size)) }
            }
        }

        /// Whether there is an answer, or a part of it.
        var isAnswered: Bool {
            var poller = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
            return poll(&poller, 1, 0) == 1
        }

        /// Waits for the first bytes of the answer, or for its end.
        func first() -> [UInt8] {
            var piece = [UInt8](repeating: 0, count: 4096)
            let count = read(number, &piece, piece.count)
            return Array(piece.prefix(max(0, count)))
        }

        /// Reads to the end.
        func all() -> [UInt8] {
            var all: [UInt8] = []
            while case let piece = first(), !piece.isEmpty { all += piece }
            return all
        }
    }

    @Test func `beyond the most that may wait, a unit does not start, and the others get their credentials`() throws {
        let place = try Place()
        try place.owner.lock(graceSeconds: 0)
        let waiting = try (0..<Limits.credentialConnections).map { _ in try place.fetch() }
        #expect(becomesTrue { place.heldCount == Limits.credentialConnections })
        // It does not wait, but is more than a service manager takes.
        let refused = try place.fetch()
        #expect(String(decoding: refused.first(), as: UTF8.self).hasPrefix("cofferd has refused this credential"))
        #expect(place.heldCount == Limits.credentialConnections)
        #expect(!waiting.contains(where: \.isAnswered))
        try place.owner.unlock()
        for one in waiting { #expect(one.all() == Self.content) }
        #expect(becomesTrue { try place.fetch().all() == Self.content })
    }
}
