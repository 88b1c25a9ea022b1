import CofferCore
import CofferService
import CofferSystem
import CofferTestSupport
import Foundation
import Testing

/// Credential requests that a killed daemon has left unanswered.
@Suite struct LeftCredentialTests {
    /// Both ends of a connection, the first of which is non-blocking.
    private func connection() throws -> [Int32] {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        return ends
    }

    @Test(arguments: [0, 1, 100_000])
    func `is more than a service manager takes, whatever it has got already, and ends for all who hold it`(
        sent: Int
    ) throws {
        let ends = try connection()
        defer { for end in ends { close(end) } }
        let part = [UInt8](repeating: 0x78, count: sent)
        try #require(write(ends[0], part, sent) == sent)
        let peer = ends[1]
        let reading = Background {
            var count = 0
            var piece = [UInt8](repeating: 0, count: 65_536)
            while case let length = read(peer, &piece, piece.count), length > 0 { count += length }
            return count
        }
        // The second one stands for the descriptor in the descriptor store, and is closed by the test.
        CredentialRefusal.send(to: OwnedDescriptor(owning: dup(ends[0])))
        #expect(try reading.wait() > Limits.credentialBytes + sent)
    }

    @Test func `does not end with less than that`() throws {
        let ends = try connection()
        defer { for end in ends { close(end) } }
        shutdown(ends[1], Int32(SHUT_WR))
        let socket = OwnedDescriptor(owning: dup(ends[0]))
        var limit = 4096
        setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &limit, socklen_t(MemoryLayout<Int>.size))
        CredentialRefusal.send(to: socket, patience: 0)
        var piece = [UInt8](repeating: 0, count: 1 << 21)
        var count = 0
        while case let length = recv(ends[1], &piece, piece.count, Int32(MSG_DONTWAIT)), length > 0 {
            count += length
        }
        #expect(count < Limits.credentialBytes)
        // There is no more data, and no end of file.
        #expect(recv(ends[1], &piece, 1, Int32(MSG_DONTWAIT)) == -1 && errno == EAGAIN)
    }
}
