import CofferTestSupport
import Foundation
import Testing

/// The table of `proto-docs/SECRET-SERVICE.md`: each call in each state of the vault.
@Suite struct SecretTableTests {
    /// What is in the vault before its state changes.
    private static let setup = #"""
        bus = Bus()
        session = bus.open()
        for name in ['get', 'set', 'label', 'attributes', 'delete']:
            bus.create(name, {}, b'1', session)
        bus.create('open', {'coffer:accessible': 'AfterFirstUnlock'}, b'1', session)
        for name in ['Delete', 'Label']:
            label = {'org.freedesktop.Secret.Collection.Label': ('s', name)}
            bus.call(ROOT, 'Service.CreateCollection', 'a{sv}s', label, '')
        """#

    /// Makes each call, and prints its outcome; `Lock` comes last, since it changes the state.
    private static let calls = #"""
        import json
        bus = Bus()
        session = bus.open()
        value = (session, b'', b'x', 'text/plain')
        wish = {'org.freedesktop.Secret.Item.Attributes': ('a{ss}', {'coffer:accessible': 'AfterFirstUnlock'})}
        label = {'org.freedesktop.Secret.Collection.Label': ('s', 'New')}
        held = bus.create('Held', {}, b'1', session, into=SESSION)
        create = ('Collection.CreateItem', 'a{sv}(oayays)b')
        rows = {
            '`OpenSession`': (ROOT, 'Service.OpenSession', 'sv', 'plain', ('s', '')),
            '`SearchItems` of the service': (ROOT, 'Service.SearchItems', 'a{ss}', {}),
            '`SearchItems` of a collection': (LOGIN, 'Collection.SearchItems', 'a{ss}', {}),
            'reading `Collections`': (ROOT, 'Properties.Get', 'ss', interface('Service'), 'Collections'),
            '`ReadAlias` of `default`': (ROOT, 'Service.ReadAlias', 's', 'default'),
            '`ReadAlias` of a name that nothing has': (ROOT, 'Service.ReadAlias', 's', 'nothing'),
            '`SetAlias`': (ROOT, 'Service.SetAlias', 'so', 'mine', LOGIN),
            '`Unlock`': (ROOT, 'Service.Unlock', 'ao', [LOGIN]),
            '`CreateCollection`': (ROOT, 'Service.CreateCollection', 'a{sv}s', label, ''),
            'properties of a collection': (LOGIN, 'Properties.GetAll', 's', interface('Collection')),
            'setting `Label` of a collection': (ROOT + '/collection/label', 'Properties.Set', 'ssv',
                                                interface('Collection'), 'Label', ('s', 'x')),
            '`Delete` of a collection': (ROOT + '/collection/delete', 'Collection.Delete'),
            '`CreateItem`': (LOGIN, *create, {}, value, False),
            '`CreateItem`, readable after the first unlock': (LOGIN, *create, wish, value, False),
            '`GetSecret`': (LOGIN + '/get', 'Item.GetSecret', 'o', session),
            '`GetSecret`, readable after the first unlock': (LOGIN + '/open', 'Item.GetSecret', 'o', session),
            '`GetSecrets`': (ROOT, 'Service.GetSecrets', 'aoo', [LOGIN + '/get'], session),
            '`SetSecret`': (LOGIN + '/set', 'Item.SetSecret', '(oayays)', value),
            'properties of an item': (LOGIN + '/get', 'Properties.GetAll', 's', interface('Item')),
            'setting `Label` of an item': (LOGIN + '/label', 'Properties.Set', 'ssv', interface('Item'), 'Label',
                                           ('s', 'x')),
            'setting `Attributes`': (LOGIN + '/attributes', 'Properties.Set', 'ssv', interface('Item'), 'Attributes',
                                     ('a{ss}', {'x': 'y'})),
            '`Delete` of an item': (LOGIN + '/delete', 'Item.Delete'),
            '`CreateItem` in `session`': (SESSION, *create, {}, value, False),
            '`GetSecret` in `session`': (held, 'Item.GetSecret', 'o', session),
            '`Delete` in `session`': (held, 'Item.Delete'),
            '`Close`': (bus.open(), 'Session.Close'),
            '`Lock`': (ROOT, 'Service.Lock', 'ao', [LOGIN]),
        }

        def outcome(call):
            try:
                body = bus.call(*call)
            except Refused as refused:
                return f'`{refused.name}`'
            is_asked = isinstance(body, tuple) and len(body) == 2 and str(body[1]).startswith(ROOT + '/prompt/')
            if body == {}:
                return 'none'
            return 'prompt' if is_asked else 'yes'

        print(json.dumps({name: outcome(call) for name, call in rows.items()}))
        """#

    private static let columns = ["noPasscode", "unlocked", "locked", "beforeFirstUnlock", "noVault", "no daemon"]

    /// The rows of the page, by their first cell.
    private static func rows() throws -> [String: [String]] {
        let page = try String(contentsOfFile: "\(Project.root)/proto-docs/SECRET-SERVICE.md", encoding: .utf8)
        let part = try #require(page.components(separatedBy: "\n## Methods\n").dropFirst().first)
        let lines = part.split(separator: "\n").drop { !$0.hasPrefix("| call |") }.prefix { $0.hasPrefix("|") }
        let cells = lines.map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let header = try #require(cells.first)
        #expect(header.dropFirst().map { $0.trimmingCharacters(in: ["`"]) } == columns)
        return Dictionary(uniqueKeysWithValues: cells.dropFirst(2).map { ($0[0], Array($0.dropFirst())) })
    }

    /// A service whose vault is in a state.
    private static func service(in state: String) throws -> SecretServiceProcess {
        if state == "noVault" { return try SecretServiceProcess(hasVault: false) }
        let service = try SecretServiceProcess(passcode: state == "noPasscode" ? nil : DaemonProcess.passcode)
        try service.perform(setup)
        switch state {
        case "locked":
            _ = try service.daemon.coffer(["lock", "--now"])
            try wait(for: "bus.get(LOGIN, 'Collection', 'Locked')", service)
        case "beforeFirstUnlock":
            try service.daemon.restart()
            try wait(for: "bus.answer(ROOT, 'Service.SearchItems', 'a{ss}', {}) == 'IsLocked'", service)
        case "no daemon":
            service.daemon.kill()
            try wait(for: "bus.answer(ROOT, 'Service.SearchItems', 'a{ss}', {}) == 'Failed'", service)
        default: break
        }
        return service
    }

    private static func wait(for condition: String, _ service: SecretServiceProcess) throws {
        try service.perform("bus = Bus()\nsettles(lambda: \(condition))")
    }

    @Test(arguments: columns) func `each call does in each state what the page says`(state: String) throws {
        let service = try Self.service(in: state)
        let result = try service.result(of: Self.calls)
        #expect(result.status == 0, "\(result.errors)")
        let found = try #require(try JSONSerialization.jsonObject(with: Data(result.output)) as? [String: String])
        let rows = try Self.rows()
        let place = try #require(Self.columns.firstIndex(of: state))
        #expect(Set(rows.keys) == Set(found.keys))
        for (call, cells) in rows { #expect(found[call] == cells[place], "\(call), \(state)") }
        #expect(service.isRunning)
    }
}
