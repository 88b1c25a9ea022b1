import CofferClient
import CofferCore
import CofferService
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Service managers that ask for credentials of units.
@Suite struct UnitCredentialTests {
    /// A service manager's connection, from the address that names the unit and the credential.
    private final class Manager {
        private let number: Int32

        init(at path: String) throws {
            number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            var timeout = timeval(tv_sec: 120, tv_usec: 0)
            setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
            try Self.withAddress("\0\(UUID().uuidString)/unit/web.service/token") { bind(number, $0, $1) }
            try Self.withAddress(path) { connect(number, $0, $1) }
        }

        private static func withAddress(_ name: String, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32) throws {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name.utf8) }
            // Without a NUL at the end, which would be a part of an abstract address.
            let size = socklen_t(MemoryLayout<sa_family_t>.size + name.utf8.count)
            let code = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, size) }
            }
            guard code == 0 else { throw SystemError("socket") }
        }

        /// Whether nothing has come.
        var waits: Bool {
            var byte: UInt8 = 0
            return recv(number, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) < 0 && errno == EAGAIN
        }

        /// Reads to the end.
        func readAll() -> [UInt8] {
            var all: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 65_536)
            while case let count = read(number, &piece, piece.count), count > 0 { all += piece.prefix(count) }
            return all
        }

        deinit { close(number) }
    }

    @Test func `beyond the most units that may wait, one more is refused, and says so; all others are served`() throws {
        let next = Shared(HeldServer.owner)
        let server = try TestServer { configuration in
            configuration.identify = { _, _ in next.value }
            configuration.credentials.hold = { _ in }
            configuration.credentials.waitSeconds = 3600
        }
        let owner = try server.connect()
        try owner.makeVault()
        next.value = HeldServer.service("web")
        let unit = try server.connect()
        try unit.put("token", Array("worth waiting".utf8)) { $0.accessibility = .whenUnlocked }
        let path = server.directory.appending("credentials")
        server.perform { server in try? server.serve(UnixSocket.listen(at: path), for: .serviceManagers) }
        try owner.lock(graceSeconds: 0)

        let waiting = try (0..<Limits.credentialConnections).map { _ in try Manager(at: path) }
        let refused = try Manager(at: path)
        // It does not read yet, and the daemon waits neither for it nor for those that wait.
        #expect(try owner.status().state == .locked)
        #expect(refused.readAll().count > Limits.credentialBytes)
        let refusals = try owner.auditRecords().records.compactMap(\.refusal)
        let areWaiting = waiting.allSatisfy { $0.waits }
        #expect(areWaiting, "\(refusals)")
        #expect(refusals.filter { $0.code == .notAvailable }.count == 1)

        try owner.unlock()
        let content = Array("worth waiting".utf8)
        #expect(waiting.allSatisfy { $0.readAll() == content })
        #expect(try Manager(at: path).readAll() == content)
    }
}
