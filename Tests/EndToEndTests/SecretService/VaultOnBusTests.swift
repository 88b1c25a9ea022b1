import CofferTestSupport
import Testing

/// `org.coffer.Vault`: the lock of the vault on the bus.
@Suite struct VaultOnBusTests {
    @Test func `a lock and an unlock are signals, and the state that the bus is told`() throws {
        let script = #"""
            assert state() == 'unlocked'
            locking = ['ProtectedDataWillBecomeUnavailable', 'ProtectedDataDidBecomeUnavailable']
            for change in [lock, lambda: vault('Lock')]:
                change()
                assert told(locking[-1], 'locked') == locking
                assert state() == 'locked' and '"locked"' in coffer('status', '--json')
                unlock()
                assert told('ProtectedDataDidBecomeAvailable', 'unlocked') == ['ProtectedDataDidBecomeAvailable']
                assert state() == 'unlocked'
            coffer('lock')
            assert told(locking[0], 'locking') == locking[:1]
            assert state() == 'locking'
            """#
        let service = try SecretServiceProcess()
        try service.perform(Self.calls + script)
    }

    @Test func `who locks what is locked, or unlocks what is not, is answered at once`() throws {
        let script = #"""
            assert vault('Unlock', 's', '') == ()
            assert vault('Lock') == vault('Lock') == ()
            assert state() == 'locked'
            refusals = [('Failed', 'Unlock', 's', ''), ('InvalidArgs', 'Unlock'), ('UnknownMethod', 'Locks')]
            for error, *call in refusals:
                try:
                    vault(*call)
                    assert False, call
                except Refused as refused:
                    assert refused.name == error, (call, refused)
            """#
        let service = try SecretServiceProcess()
        try service.perform(Self.calls + script)
    }

    @Test func `the state is that of the vault, also one without a passcode and one before its first unlock`() throws {
        let service = try SecretServiceProcess()
        let open = try SecretServiceProcess(passcode: nil)
        try open.perform(Self.calls + "assert state() == 'noPasscode'")
        try service.daemon.restart()
        try service.perform(Self.calls + "settles(lambda: state() == 'beforeFirstUnlock')")
    }

    private static let calls = #"""
        VAULT, NAME = '/org/coffer/Vault', 'org.coffer.Vault'
        bus, ear = Bus(), Bus()
        rule = f"type='signal',sender='{NAME}',path='{VAULT}'"
        ear.call('/org/freedesktop/DBus', 'org.freedesktop.DBus.AddMatch', 's', rule, service='org.freedesktop.DBus')


        def vault(method, *arguments):
            return bus.call(VAULT, f'{NAME}.{method}', *arguments, service=NAME)


        def state():
            everything = bus.call(VAULT, 'Properties.GetAll', 's', NAME, service=NAME)
            one = bus.call(VAULT, 'Properties.Get', 'ss', NAME, 'State', service=NAME)
            assert everything == {'State': one}
            return one[1]


        states = []


        def told(last, state):
            "The signals up to one of them, and until a state was told. No state is told twice."
            names = []
            while last not in names or states[-1:] != [state]:
                message = ear.connection.receive(timeout=240)
                fields = message.header.fields
                if fields.get(HeaderFields.path) != VAULT:
                    continue
                if fields[HeaderFields.member] == 'PropertiesChanged':
                    name, changed, invalidated = message.body
                    assert (name, list(changed), invalidated) == (NAME, ['State'], [])
                    assert states[-1:] != [changed['State'][1]], states
                    states.append(changed['State'][1])
                else:
                    assert message.body == ()
                    names.append(fields[HeaderFields.member])
            return names


        """#
}
