import CofferClient
import CofferCore
import CofferTestSupport
import Glibc
import Testing

/// Which clients may connect.
@Suite struct AdmissionTests {
    @Test func `another user is turned away, and told so`() throws {
        // The vault has another owner, so this process is a foreign user.
        let server = try TestServer(ownerID: geteuid() + 1)
        let client = try server.connect()
        let outcome = try Outcome { _ = try client.status() }
        #expect(outcome == .refused(.missingEntitlement))
    }
}
