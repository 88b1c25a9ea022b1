import CofferTestSupport
import Testing

/// The Secret Service of a vault that is locked, and of a daemon that ends.
@Suite struct SecretLockTests {
    private let service: SecretServiceProcess

    init() throws { service = try SecretServiceProcess() }

    @Test func `a locked vault is searched, and its secrets are locked`() throws {
        let script = #"""
            bus = Bus()
            session = bus.open()
            item = bus.create('It', {'k': '1'}, b'secret', session)
            large = bus.create('Large', {'k': '2'}, b'x' * 100000, session)
            held = bus.create('Held', {'k': '1'}, b'held', session, into=SESSION)
            lock()
            settles(lambda: bus.get(LOGIN, 'Collection', 'Locked'))
            assert bus.search({'k': '1'}) == ([held], [item])
            assert bus.search({'k': '2'}) == ([], [large])
            assert bus.search({'k': '3'}) == ([], [])
            assert bus.call(LOGIN, 'Collection.SearchItems', 'a{ss}', {'k': '1'}) == [item]
            secrets = bus.call(ROOT, 'Service.GetSecrets', 'aoo', [item, large, held, LOGIN + '/none', ROOT], session)
            assert secrets == {held: (session, b'', b'held', 'text/plain')}, secrets
            for path in [item, large]:
                assert bus.answer(path, 'Item.GetSecret', 'o', session) == 'IsLocked'
                assert bus.get(path, 'Item', 'Locked')
            assert bus.get(item, 'Item', 'Attributes') == {'k': '1'} and bus.get(item, 'Item', 'Label') == 'It'
            value = (session, b'', b'x', 'text/plain')
            call = (LOGIN, 'Collection.CreateItem', 'a{sv}(oayays)b', {}, value, False)
            assert bus.answer(*call) == 'IsLocked'
            assert bus.answer(item, 'Item.SetSecret', '(oayays)', value) == 'IsLocked'
            made, prompt = bus.call(ROOT, 'Service.CreateCollection', 'a{sv}s', {}, '')
            assert made == '/' and prompt.startswith(ROOT + '/prompt/'), (made, prompt)
            paths = [item, held, LOGIN, SESSION, '/nothing', ROOT + '/aliases/default']
            unlocked, prompt = bus.call(ROOT, 'Service.Unlock', 'ao', paths)
            assert unlocked == [held, SESSION, '/nothing'] and prompt.startswith(ROOT + '/prompt/'), (unlocked, prompt)
            unlock()
            settles(lambda: not bus.get(LOGIN, 'Collection', 'Locked'))
            assert set(bus.search({'k': '1'})[0]) == {item, held}
            assert bus.secret(item, session) == b'secret' and bus.secret(large, session) == b'x' * 100000
            assert bus.call(ROOT, 'Service.Unlock', 'ao', paths) == (paths, '/')
            """#
        try service.perform(script)
    }

    @Test(arguments: [1, 100_000])
    func `an attribute says when an item can be read, and can be changed`(count: Int) throws {
        let script = #"""
            bus = Bus()
            session = bus.open()
            secret = b'x' * int(sys.argv[1])
            wish = {'k': '1', 'coffer:accessible': 'AfterFirstUnlock'}
            item = bus.create('It', wish, secret, session)

            def reads(is_locked):
                (unlock, lock)[is_locked]()
                settles(lambda: bus.get(LOGIN, 'Collection', 'Locked') == is_locked)
                answer = bus.answer(item, 'Item.GetSecret', 'o', session)
                assert bus.search({'k': '1'}) == (([item], []) if answer is None else ([], [item]))
                return answer

            assert reads(True) is None and reads(False) is None
            bus.call(item, 'Item.SetSecret', '(oayays)', (session, b'', secret, 'x/y'))
            assert reads(True) is None and reads(False) is None
            bus.set(item, 'Item', 'Attributes', 'a{ss}', {'k': '1'})
            assert reads(True) == 'IsLocked' and reads(False) is None
            bus.set(item, 'Item', 'Attributes', 'a{ss}', wish)
            assert reads(True) is None and reads(False) is None
            bus.set(item, 'Item', 'Attributes', 'a{ss}', wish | {'coffer:accessible': 'WhenUnlocked'})
            assert reads(True) == 'IsLocked' and reads(False) is None
            assert bus.secret(item, session) == secret
            """#
        try service.perform(script, ["\(count)"])
    }

    @Test func `a new secret is readable when the former one was`() throws {
        let script = #"""
            bus = Bus()
            session = bus.open()
            words = ['put', '--group', 'collection:login', '--accessible', 'AfterFirstUnlock', 'mine']
            coffer(*words, input=b'1')
            item = LOGIN + '/mine'
            settles(lambda: bus.search({}) == ([item], []))
            bus.call(item, 'Item.SetSecret', '(oayays)', (session, b'', b'2', 'text/plain'))
            lock()
            settles(lambda: bus.get(LOGIN, 'Collection', 'Locked'))
            assert bus.secret(item, session) == b'2'
            """#
        try service.perform(script)
    }

    @Test func `before the first unlock a search is an error, and never an empty answer`() throws {
        let before = #"""
            bus = Bus()
            bus.create('It', {'k': '1'}, b'secret', bus.open())
            """#
        try service.perform(before)
        try service.daemon.restart()
        let locked = #"""
            bus = Bus()
            session = bus.open()
            settles(lambda: bus.answer(ROOT, 'Service.SearchItems', 'a{ss}', {'k': '1'}) == 'IsLocked')
            assert bus.answer(ROOT, 'Service.SearchItems', 'a{ss}', {}) == 'IsLocked'
            assert bus.answer(LOGIN, 'Collection.SearchItems', 'a{ss}', {}) == 'IsLocked'
            assert bus.get(LOGIN, 'Collection', 'Locked')
            assert bus.call(ROOT, 'Service.ReadAlias', 's', 'default') == LOGIN
            held = bus.create('Held', {'k': '1'}, b'held', session, into=SESSION)
            assert bus.secret(held, session) == b'held'
            value = (session, b'', b'x', 'text/plain')
            call = (LOGIN, 'Collection.CreateItem', 'a{sv}(oayays)b', {}, value, False)
            assert bus.answer(*call) == 'IsLocked'
            unlocked, prompt = bus.call(ROOT, 'Service.Unlock', 'ao', [LOGIN])
            assert unlocked == [] and prompt != '/'
            unlock()
            settles(lambda: not bus.get(LOGIN, 'Collection', 'Locked'))
            assert set(bus.search({'k': '1'})[0]) == {LOGIN + '/It', held}
            """#
        try service.perform(locked)
    }

    @Test func `while there is no daemon each answer is an error, and afterwards all is as before`() throws {
        let before = #"""
            bus = Bus()
            bus.create('It', {'k': '1'}, b'secret', bus.open())
            """#
        try service.perform(before)
        service.daemon.kill()
        let without = #"""
            bus = Bus()
            session = bus.open()
            settles(lambda: bus.answer(ROOT, 'Service.SearchItems', 'a{ss}', {'k': '1'}) == 'Failed')
            value = (session, b'', b'x', 'text/plain')
            call = (LOGIN, 'Collection.CreateItem', 'a{sv}(oayays)b', {}, value, False)
            assert bus.answer(*call) == 'Failed'
            assert bus.answer(LOGIN + '/It', 'Item.GetSecret', 'o', session) in ['Failed', 'UnknownObject']
            held = bus.create('Held', {'k': '1'}, b'held', session, into=SESSION)
            assert bus.secret(held, session) == b'held'
            """#
        try service.perform(without)
        try service.daemon.restart()
        let after = #"""
            unlock()
            bus = Bus()
            item = LOGIN + '/It'
            settles(lambda: bus.answer(ROOT, 'Service.SearchItems', 'a{ss}', {}) is None)
            settles(lambda: item in bus.search({'k': '1'})[0])
            assert bus.secret(item, bus.open()) == b'secret'
            """#
        try service.perform(after)
    }

    @Test func `Lock locks the vault, but not for the collection session alone`() throws {
        let script = #"""
            bus = Bus()
            item = bus.create('It', {}, b'1', bus.open())
            assert bus.call(ROOT, 'Service.Lock', 'ao', [SESSION, '/nothing']) == ([], '/')
            assert 'unlocked' in coffer('status', '--json')
            for path in [item, LOGIN, ROOT + '/aliases/default']:
                assert bus.call(ROOT, 'Service.Lock', 'ao', [path]) == ([path], '/')
                assert bus.get(LOGIN, 'Collection', 'Locked')
                assert '"locked"' in coffer('status', '--json'), coffer('status', '--json')
                unlock()
                settles(lambda: not bus.get(LOGIN, 'Collection', 'Locked'))
            """#
        try service.perform(script)
    }

    @Test func `Lock leaves the vault as it is where the service is started so`() throws {
        let service = try SecretServiceProcess(["--keep-unlocked"])
        let script = #"""
            bus = Bus()
            session = bus.open()
            item = bus.create('It', {}, b'1', session)
            assert bus.call(ROOT, 'Service.Lock', 'ao', [LOGIN]) == ([LOGIN], '/')
            assert '"unlocked"' in coffer('status', '--json'), coffer('status', '--json')
            assert bus.secret(item, session) == b'1'
            """#
        try service.perform(script)
    }

    @Test func `a vault without a passcode serves as one that is unlocked`() throws {
        let service = try SecretServiceProcess(passcode: nil)
        let script = #"""
            bus = Bus()
            session = bus.open()
            item = bus.create('It', {'k': '1'}, b'1', session)
            assert bus.search({'k': '1'}) == ([item], []) and bus.secret(item, session) == b'1'
            assert not bus.get(LOGIN, 'Collection', 'Locked')
            assert bus.call(ROOT, 'Service.Unlock', 'ao', [LOGIN]) == ([LOGIN], '/')
            """#
        try service.perform(script)
    }
}
