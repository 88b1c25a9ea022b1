import CofferTestSupport
import Testing

/// What the Secret Service tells the bus of: changes by its clients, and those of the vault by others.
@Suite struct SecretChangesTests {
    private let service: SecretServiceProcess

    init() throws { service = try SecretServiceProcess() }

    @Test func `what a client changes is told to all, each change once`() throws {
        let script = #"""
            bus, ear = Bus(), Bus()
            session = bus.open()
            ear.listen()
            item = bus.create('It', {'a': '1'}, b'1', session)
            assert ear.until('ItemCreated', LOGIN) == item
            told = ear.until('PropertiesChanged', LOGIN)
            assert told == (interface('Collection'), {}, ['Items']), told
            bus.set(item, 'Item', 'Label', 's', 'New')
            assert ear.until('ItemChanged', LOGIN) == item
            word, changed, _ = ear.until('PropertiesChanged', item)
            assert word == interface('Item') and changed['Label'] == ('s', 'New'), changed
            bus.set(item, 'Item', 'Attributes', 'a{ss}', {'b': '2'})
            assert ear.until('PropertiesChanged', item)[1]['Attributes'] == ('a{ss}', {'b': '2'})
            bus.call(item, 'Item.SetSecret', '(oayays)', (session, b'', b'2', 'x/y'))
            assert ear.until('ItemChanged', LOGIN) == item
            bus.call(item, 'Item.Delete')
            assert ear.until('ItemDeleted', LOGIN) == item
            label = {'org.freedesktop.Secret.Collection.Label': ('s', 'Work')}
            made, _ = bus.call(ROOT, 'Service.CreateCollection', 'a{sv}s', label, '')
            assert ear.until('CollectionCreated', ROOT) == made
            assert made in ear.until('PropertiesChanged', ROOT)[1]['Collections'][1]
            bus.set(made, 'Collection', 'Label', 's', 'Home')
            assert ear.until('CollectionChanged', ROOT) == made
            assert ear.until('PropertiesChanged', made)[1]['Label'] == ('s', 'Home')
            bus.call(made, 'Collection.Delete')
            assert ear.until('CollectionDeleted', ROOT) == made
            assert made not in ear.until('PropertiesChanged', ROOT)[1]['Collections'][1]
            held = bus.create('It', {}, b'1', session, into=SESSION)
            assert ear.until('ItemCreated', SESSION) == held
            # What the vault itself tells of all this comes before what it tells of the next item.
            coffer('put', '--group', 'collection:login', 'last', input=b'1')
            fields, seen = HeaderFields, []
            while True:
                message = ear.connection.receive(timeout=240)
                assert message.header.message_type == MessageType.signal
                seen.append((message.header.fields[fields.path], message.header.fields[fields.member]))
                if seen[-1] == (LOGIN, 'ItemCreated'):
                    break
            assert all(path in [SESSION, LOGIN] for path, _ in seen), seen
            assert message.body == (LOGIN + '/last',), message.body
            """#
        try service.perform(script)
    }

    @Test func `what coffer changes is told to all, and found`() throws {
        let script = #"""
            bus, ear = Bus(), Bus()
            session = bus.open()
            ear.listen()
            assert bus.search({}) == ([], [])
            coffer('put', '--group', 'collection:login', 'a/b', input=b'1')
            item = LOGIN + '/a_2fb'
            assert ear.until('ItemCreated', LOGIN) == item
            assert bus.search({}) == ([item], []) and bus.secret(item, session) == b'1'
            coffer('put', '--group', 'collection:login', 'a/b', input=b'2')
            assert ear.until('ItemChanged', LOGIN) == item
            assert bus.secret(item, session) == b'2'
            coffer('mv', '--group', 'collection:login', 'a/b', 'c')
            assert {ear.until('ItemDeleted', LOGIN), ear.until('ItemCreated', LOGIN)} == {item, LOGIN + '/c'}
            assert bus.search({}) == ([LOGIN + '/c'], [])
            assert bus.answer(item, 'Item.GetSecret', 'o', session) == 'UnknownObject'
            coffer('put', '--group', 'collection:login', 'large', input=b'x' * 100000)
            assert ear.until('ItemCreated', LOGIN) == LOGIN + '/large'
            assert bus.secret(LOGIN + '/large', session) == b'x' * 100000
            coffer('rm', '--now', '--yes', '--group', 'collection:login', 'c', 'large')
            assert {ear.until('ItemDeleted', LOGIN), ear.until('ItemDeleted', LOGIN)} == {LOGIN + '/c', LOGIN + '/large'}
            assert bus.search({}) == ([], [])
            coffer('put', '--group', 'collection:other', 'x', input=b'1')
            coffer('put', 'x', input=b'1')
            assert bus.get(ROOT, 'Service', 'Collections') == [LOGIN, SESSION]
            """#
        try service.perform(script)
    }

    @Test func `a lock and an unlock are told of collections and items`() throws {
        let script = #"""
            bus, ear = Bus(), Bus()
            session = bus.open()
            item = bus.create('It', {}, b'1', session)
            open = bus.create('Open', {'coffer:accessible': 'AfterFirstUnlock'}, b'1', session)
            held = bus.create('Held', {}, b'1', session, into=SESSION)
            ear.listen()
            for change, is_locked in [(lock, True), (unlock, False)]:
                change()
                told = {}
                while not {LOGIN, item} <= set(told):
                    message = ear.connection.receive(timeout=240)
                    fields = message.header.fields
                    if fields[HeaderFields.member] == 'PropertiesChanged' and 'Locked' in message.body[1]:
                        told[fields[HeaderFields.path]] = message.body[1]['Locked']
                assert set(told.values()) == {('b', is_locked)}, told
                assert not {open, held, SESSION} & set(told), told
                for path, word, expected in [(LOGIN, 'Collection', is_locked), (item, 'Item', is_locked),
                                             (open, 'Item', False), (held, 'Item', False),
                                             (SESSION, 'Collection', False)]:
                    assert bus.get(path, word, 'Locked') == expected, path
            """#
        try service.perform(script)
    }

    /// It is no loop that turns in circles: it would have a processor of its own.
    @Test func `a service that nobody calls does nothing, also after changes of the vault`() throws {
        let script = #"""
            bus, ear = Bus(), Bus()
            ear.listen()
            assert bus.search({}) == ([], [])
            coffer('put', '--group', 'collection:login', 'a', input=b'1')
            ear.until('ItemCreated', LOGIN)

            def ticks():
                words = open(f'/proc/{sys.argv[1]}/stat').read().rpartition(')')[2].split()
                return int(words[11]) + int(words[12])

            def is_quiet():
                before = ticks()
                time.sleep(0.5)
                return ticks() == before

            settles(is_quiet)
            """#
        try service.perform(script, ["\(service.processID)"])
    }
}
