import CofferClient
import CofferCore
import CofferTestSupport
import Glibc
import Testing

/// Who may connect.
@Suite struct AdmissionTests {
    @Test func `another user is turned away, and told so`() throws {
        // The server takes the vault to belong to somebody else: then this process is the stranger.
        let server = try TestServer(ownerID: geteuid() + 1)
        let client = try server.connect()
        let outcome = try Outcome { _ = try client.status() }
        #expect(outcome == .refused(.missingEntitlement))
    }
}
