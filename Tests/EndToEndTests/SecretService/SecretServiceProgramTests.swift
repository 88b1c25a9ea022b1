import CofferTestSupport
import Testing

/// How `coffer-secret-service` begins and ends.
@Suite struct SecretServiceProgramTests {
    private let service: SecretServiceProcess

    init() throws { service = try SecretServiceProcess() }

    private func startAnother() throws -> CommandResult {
        try service.run("\(Project.binaries)/coffer-secret-service")
    }

    @Test func `a second service on a bus ends at once, and the first one serves on`() throws {
        let second = try startAnother()
        #expect(second.status == 69)
        #expect(
            second.errors.hasPrefix("error: another program has the name org.freedesktop.secrets on this bus\nhint: ")
        )
        #expect(service.owner == service.processID)
        let script = """
            bus = Bus()
            session = bus.open()
            assert bus.secret(bus.create('It', {}, b'1', session), session) == b'1'
            """
        try service.perform(script)
    }

    @Test func `a service that is ended says nothing, and the next one takes its name`() throws {
        #expect(service.stop() == 0)
        #expect(service.errors.isEmpty)
        #expect(service.owner == nil)
        try service.start()
        #expect(service.owner == service.processID)
    }

    @Test func `a service whose bus ends says so, and ends; and without a bus none starts`() throws {
        service.bus.end()
        #expect(service.awaitEnd() == 74)
        #expect(service.errors.hasPrefix("error: the connection to the session bus broke: "))
        let without = try startAnother()
        #expect(without.status == 74)
        #expect(without.errors.hasPrefix("error: can't serve on the session bus: "))
    }
}
