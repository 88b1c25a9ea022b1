import CofferClient
import CofferCore
import CofferTestSupport
import Foundation
import Testing

/// Which programs ask the Secret Service: what the audit says of them, and how they are kept apart.
@Suite struct SecretClientsTests {
    private let entitlements: TemporaryDirectory

    init() throws { entitlements = try TemporaryDirectory() }

    /// Starts a service whose user has a section of its own in the entitlements, as the package's has its unit.
    private func start(_ line: String, _ options: [String] = []) throws -> SecretServiceProcess {
        let verbs = Verb.allCases.map(\.rawValue).joined(separator: " ")
        let section = "[Client]\nUID=\(geteuid())\nGroups=default *\nVerbs=\(verbs)\n\(line)\n"
        try entitlements.write(section.utf8, to: "service.conf")
        return try SecretServiceProcess(options, daemon: ["--entitlements", entitlements.path])
    }

    /// The reasons of what is recorded of an action, or the codes of its refusals.
    private static func reasons(_ action: String, _ service: SecretServiceProcess) throws -> [String?] {
        try records(action, service).map { $0.refusal?.code.rawValue ?? $0.reason }
    }

    private static func records(_ action: String, _ service: SecretServiceProcess) throws -> [AuditRecord] {
        let client = try service.daemon.connect()
        var records: [AuditRecord] = []
        var after: Int64? = 0
        while let number = after {
            let page = try client.auditRecords(after: number)
            records += page.records.filter { $0.action == action }
            after = page.next
        }
        return records
    }

    private static func group(_ program: String) throws -> String {
        try #require(AccessGroup.program(at: URL(filePath: program).resolvingSymlinksInPath().path))
    }

    private static func reason(_ program: String) throws -> String { "for \(try group(program))" }

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
        try service.perform(script)
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
        try service.perform(script)
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
        try service.perform(script, ["\(count)"])
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

    // MARK: Programs that are kept apart

    @Test func `each program that is kept apart finds its own items, and hears of these`() throws {
        let service = try start("OnBehalfOf=yes", ["--isolate"])
        let script = #"""
            own = ROOT + '/collection/program'
            bus, ear = Bus(), Bus()
            ear.listen()
            assert ear.search({}) == ([], [])
            session = bus.open()
            item = bus.create('It', {'a': '1'}, b'mine', session, into=own)
            tool('store', '--label=Theirs', 'a', '1', input=b'theirs')
            assert tool('lookup', 'a', '1') == b'theirs'
            assert bus.search({'a': '1'}) == ([item], [])
            assert bus.secret(item, session) == b'mine'
            assert bus.answer(own + '/Theirs', 'Item.Delete') == 'UnknownObject'
            assert Bus().search({'a': '1'}) == ([item], []), 'it is the program that has them'
            last = bus.create('Last', {}, b'', session, into=own)
            assert [ear.until('ItemCreated', own), ear.until('ItemCreated', own)] == [item, last]
            """#
        try service.perform(script)
        let (python, tool) = (try Self.group("/usr/bin/python3"), try Self.group("/usr/bin/secret-tool"))
        let groups = try Self.records("item.put", service).map { $0.items.first?.group }
        #expect(groups == [python, tool, python])
    }

    @Test func `a program that is kept apart has one collection, which stays`() throws {
        let service = try start("OnBehalfOf=yes", ["--isolate"])
        let script = #"""
            own = ROOT + '/collection/program'
            bus = Bus()
            session = bus.open()
            item = bus.create('It', {}, b'1', session, into=own)
            coffer('put', '--group', 'collection:login', 'before', input=b'1')
            named = [LOGIN + '/before', item]
            assert list(bus.call(ROOT, 'Service.GetSecrets', 'aoo', named, session)) == [item]
            assert bus.get(ROOT, 'Service', 'Collections') == [own, SESSION]
            for alias in ['default', 'login']:
                assert bus.call(ROOT, 'Service.ReadAlias', 's', alias) == own
            label = {'org.freedesktop.Secret.Collection.Label': ('s', 'Work')}
            assert bus.answer(ROOT, 'Service.CreateCollection', 'a{sv}s', label, '') == 'InvalidArgs'
            assert bus.call(ROOT, 'Service.CreateCollection', 'a{sv}s', label, 'default') == (own, '/')
            assert bus.answer(own, 'Collection.Delete') == 'InvalidArgs'
            assert bus.search({}) == ([item], [])
            """#
        try service.perform(script)
    }

    @Test func `where programs are kept apart, one that can't be told has nothing`() throws {
        let service = try start("", ["--isolate"])
        let script = #"""
            bus = Bus()
            assert bus.answer(ROOT, 'Service.SearchItems', 'a{ss}', {}) == 'AccessDenied'
            assert bus.answer(ROOT, 'Service.OpenSession', 'sv', 'plain', ('s', '')) == 'AccessDenied'
            vault = 'org.coffer.Vault'
            state = bus.call('/org/coffer/Vault', 'Properties.Get', 'ss', vault, 'State', service=vault)
            assert state == ('s', 'unlocked'), state
            """#
        try service.perform(script)
    }
}
