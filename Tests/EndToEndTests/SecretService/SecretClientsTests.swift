import CofferClient
import CofferCore
import CofferTestSupport
import Foundation
import Testing

/// Which programs ask the Secret Service: what the audit says of them.
@Suite struct SecretClientsTests {
    private let entitlements: TemporaryDirectory

    init() throws { entitlements = try TemporaryDirectory() }

    /// Starts a service whose user has a section of its own in the entitlements, as the package's has its unit.
    private func start(_ line: String) throws -> SecretServiceProcess {
        let verbs = Verb.allCases.map(\.rawValue).joined(separator: " ")
        let section = "[Client]\nUID=\(geteuid())\nGroups=default *\nVerbs=\(verbs)\n\(line)\n"
        try entitlements.write(section.utf8, to: "service.conf")
        return try SecretServiceProcess(daemon: ["--entitlements", entitlements.path])
    }

    /// The reasons of what is recorded of an action, or the codes of its refusals.
    private static func reasons(_ action: String, _ service: SecretServiceProcess) throws -> [String?] {
        let client = try service.daemon.connect()
        var records: [AuditRecord] = []
        var after: Int64? = 0
        while let number = after {
            let page = try client.auditRecords(after: number)
            records += page.records.filter { $0.action == action }
            after = page.next
        }
        return records.map { $0.refusal?.code.rawValue ?? $0.reason }
    }

    private static func reason(_ program: String) throws -> String {
        let path = URL(filePath: program).resolvingSymlinksInPath().path
        return "for \(try #require(AccessGroup.program(at: path)))"
    }

    @Test func `the audit shows which program has stored, read and locked`() throws {
        let service = try start("OnBehalfOf=yes")
        let script = #"""
            bus = Bus()
            session = bus.open()
            item = bus.create('It', {'a': '1'}, b'1', session)
            tool('store', '--label=Other', 'b', '2', input=b's3cret')
            assert bus.secret(item, session) == b'1'
            bus.call(ROOT, 'Service.Lock', 'ao', [LOGIN])
            """#
        #expect(try service.failure(of: script) == nil)
        let (python, tool) = (try Self.reason("/usr/bin/python3"), try Self.reason("/usr/bin/secret-tool"))
        #expect(try Self.reasons("item.put", service) == [python, tool])
        #expect(try Self.reasons("vault.lock", service) == [python])
        #expect(try Set(Self.reasons("item.get", service)) == [python])
    }

    @Test func `a service that may not act for others shows itself alone, and does not try`() throws {
        let service = try start("")
        let script = #"""
            bus = Bus()
            bus.create('It', {'a': '1'}, b'1', bus.open())
            """#
        #expect(try service.failure(of: script) == nil)
        #expect(try Self.reasons("item.put", service) == [nil])
        #expect(try Self.reasons("hello", service).isEmpty)
    }

    @Test func `more programs than it has connections for are all served, and again`() throws {
        let service = try start("OnBehalfOf=yes")
        let script = #"""
            buses = [Bus() for _ in range(int(sys.argv[1]))]
            sessions = [bus.open() for bus in buses]
            for turn in range(2):
                for number, bus in enumerate(buses):
                    bus.create(f'{turn} {number}', {'a': f'{turn} {number}'}, b'1', sessions[number])
            """#
        let count = Limits.servedConnections + 8
        #expect(try service.failure(of: script, ["\(count)"]) == nil)
        let python = try Self.reason("/usr/bin/python3")
        #expect(try Self.reasons("item.put", service) == Array(repeating: python, count: 2 * count))
    }

    @Test func `a program that does not wait for its answer is served before it is forgotten`() throws {
        let service = try start("OnBehalfOf=yes")
        let words = [
            "--bus=\(service.bus.address)", "--type=method_call", "--dest=org.freedesktop.secrets",
            "/org/freedesktop/secrets", "org.freedesktop.Secret.Service.Lock",
            "array:objpath:/org/freedesktop/secrets/collection/login",
        ]
        #expect(try service.run("/usr/bin/dbus-send", words).status == 0)
        let client = try service.daemon.connect()
        #expect(try settles { try client.status().state == .locked })
    }
}
