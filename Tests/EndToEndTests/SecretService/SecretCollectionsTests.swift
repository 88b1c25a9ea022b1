import CofferTestSupport
import Testing

/// The collections of the Secret Service: access groups of the vault, their labels and aliases.
@Suite struct SecretCollectionsTests {
    private let service: SecretServiceProcess

    init() throws { service = try SecretServiceProcess() }

    @Test func `a collection is an access group, with a label of any characters`() throws {
        let script = #"""
            import secretstorage
            connection = secretstorage.dbus_init()
            labels = ['My stuff', 'my stuff', 'Größe 🔑', '', '../../x', 'a/b\nc', 'session', 'Login', 'y' * 300]
            made = [secretstorage.create_collection(connection, label) for label in labels]
            assert [collection.get_label() for collection in made] == labels
            assert len({collection.collection_path for collection in made}) == len(labels)
            assert made[0].collection_path == ROOT + '/collection/my_5fstuff', made[0].collection_path
            for number, collection in enumerate(made):
                collection.create_item('in', {'number': str(number)}, b'%d' % number)
            assert coffer('get', '--group', 'collection:my_stuff', 'in') == '0'
            found = list(secretstorage.search_items(connection, {'number': '2'}))
            assert [item.get_secret() for item in found] == [b'2']
            made[2].set_label('Renamed')
            assert made[2].get_label() == 'Renamed'
            assert [item.get_label() for item in made[2].get_all_items()] == ['in']
            shown = {collection.collection_path for collection in secretstorage.get_all_collections(connection)}
            assert shown == {collection.collection_path for collection in made} | {LOGIN, SESSION}, shown
            """#
        try service.perform(script)
    }

    @Test func `a collection that is deleted takes its items along, and those of others stay`() throws {
        let script = #"""
            bus = Bus()
            session = bus.open()
            label = {'org.freedesktop.Secret.Collection.Label': ('s', 'Gone')}
            gone, prompt = bus.call(ROOT, 'Service.CreateCollection', 'a{sv}s', label, '')
            assert prompt == '/'
            items = [bus.create('it', {'n': str(n)}, b'1', session, into=gone) for n in range(3)]
            kept = bus.create('it', {'n': '0'}, b'kept', session)
            assert set(bus.get(gone, 'Collection', 'Items')) == set(items)
            assert bus.call(gone, 'Collection.Delete') == '/'
            assert bus.search({}) == ([kept], [])
            assert bus.answer(gone, 'Collection.Delete') == 'UnknownObject'
            assert bus.answer(items[0], 'Item.GetSecret', 'o', session) == 'UnknownObject'
            assert bus.get(ROOT, 'Service', 'Collections') == [LOGIN, SESSION]
            assert coffer('list', '--group', 'collection:gone') == ''
            assert bus.call(ROOT, 'Service.CreateCollection', 'a{sv}s', label, '')[0] == gone
            assert bus.get(gone, 'Collection', 'Items') == []
            """#
        try service.perform(script)
    }

    @Test func `an alias stands for a collection, and can be moved and taken away`() throws {
        let script = #"""
            bus = Bus()

            def read(alias):
                return bus.call(ROOT, 'Service.ReadAlias', 's', alias)

            assert (read('default'), read('login'), read('session'), read('other')) == (LOGIN, LOGIN, SESSION, '/')
            label = {'org.freedesktop.Secret.Collection.Label': ('s', 'Work')}
            work, _ = bus.call(ROOT, 'Service.CreateCollection', 'a{sv}s', label, 'other')
            assert read('other') == work and read('default') == LOGIN
            again, _ = bus.call(ROOT, 'Service.CreateCollection', 'a{sv}s', label, 'other')
            assert again == work, 'that of the alias is given, and none is made'
            bus.call(ROOT, 'Service.SetAlias', 'so', 'default', work)
            assert read('default') == work
            item = bus.create('it', {}, b'1', bus.open(), into=ROOT + '/aliases/default')
            assert item == work + '/it', item
            assert bus.get(ROOT + '/aliases/default', 'Collection', 'Label') == 'Work'
            bus.call(ROOT, 'Service.SetAlias', 'so', 'other', '/')
            assert read('other') == '/' and read('default') == work
            assert bus.answer(ROOT + '/aliases/other', 'Collection.Delete') == 'UnknownObject'
            for path in [ROOT + '/collection/none', item, SESSION]:
                assert bus.answer(ROOT, 'Service.SetAlias', 'so', 'x', path) in ['NoSuchObject', 'InvalidArgs']
            assert read('x') == '/'
            bus.call(work, 'Collection.Delete')
            assert read('default') == LOGIN
            """#
        try service.perform(script)
    }

    @Test func `what the vault has is there after a restart, and the collection session is empty`() throws {
        let before = #"""
            bus = Bus()
            session = bus.open()
            label = {'org.freedesktop.Secret.Collection.Label': ('s', 'Größe')}
            made, _ = bus.call(ROOT, 'Service.CreateCollection', 'a{sv}s', label, 'mine')
            bus.create('kept', {'a': 'ü'}, b'kept', session, into=made, type='x/y')
            coffer('put', '--group', 'collection:login', 'a/path/of/coffer', input=b'1')
            item = bus.create('gone', {'a': '2'}, b'gone', session, into=SESSION)
            assert bus.secret(item, session) == b'gone'
            assert bus.get(SESSION, 'Collection', 'Items') == [item]
            assert bus.search({'a': '2'}) == ([item], [])
            assert coffer('list', '--group', 'collection:session') == ''
            """#
        try service.perform(before)
        service.stop()
        try service.start()
        let after = #"""
            bus = Bus()
            made = bus.call(ROOT, 'Service.ReadAlias', 's', 'mine')
            assert bus.get(made, 'Collection', 'Label') == 'Größe'
            assert bus.call(made, 'Collection.SearchItems', 'a{ss}', {'a': 'ü'}) == [made + '/kept']
            secret = bus.call(made + '/kept', 'Item.GetSecret', 'o', bus.open())
            assert (bytes(secret[2]), secret[3]) == (b'kept', 'x/y')
            assert bus.get(SESSION, 'Collection', 'Items') == []
            path = LOGIN + '/a_2fpath_2fof_2fcoffer'
            assert set(bus.search({})[0]) == {made + '/kept', path}
            bus.set(path, 'Item', 'Label', 's', 'Labelled')
            bus.set(path, 'Item', 'Attributes', 'a{ss}', {'b': '1'})
            assert bus.get(path, 'Item', 'Label') == 'Labelled' and bus.search({'b': '1'}) == ([path], [])
            assert bus.secret(path, bus.open()) == b'1'
            """#
        try service.perform(after)
    }

    @Test func `the collection session takes items up to its bounds, and can't be changed`() throws {
        let script = #"""
            bus = Bus()
            session = bus.open()
            # Label, attribute and type count, too.
            size = 1048576 - len('it' + 'n' + '0' + 'text/plain')
            items = [bus.create('it', {'n': str(n)}, b'x' * size, session, into=SESSION) for n in range(4)]
            call = (SESSION, 'Collection.CreateItem', 'a{sv}(oayays)b', {}, (session, b'', b'x', 'text/plain'), False)
            assert bus.answer(*call) == 'LimitsExceeded'
            bus.call(items[0], 'Item.SetSecret', '(oayays)', (session, b'', b'x', 'a/b'))
            assert bus.answer(*call) is None
            assert bus.secret(items[3], session) == b'x' * size
            bus.set(items[0], 'Item', 'Label', 's', 'ü')
            bus.set(items[0], 'Item', 'Attributes', 'a{ss}', {'b': '1'})
            assert bus.call(SESSION, 'Collection.SearchItems', 'a{ss}', {'b': '1'}) == [items[0]]
            assert bus.get(items[0], 'Item', 'Label') == 'ü'
            assert bus.answer(SESSION, 'Collection.Delete') == 'InvalidArgs'
            call = (SESSION, 'Properties.Set', 'ssv', interface('Collection'), 'Label', ('s', 'x'))
            assert bus.answer(*call) == 'InvalidArgs'
            for item in bus.get(SESSION, 'Collection', 'Items'):
                bus.call(item, 'Item.Delete')
            for n in range(1024):
                bus.create('', {}, b'', session, into=SESSION)
            call = (SESSION, 'Collection.CreateItem', 'a{sv}(oayays)b', {}, (session, b'', b'', 'text/plain'), False)
            assert bus.answer(*call) == 'LimitsExceeded'
            """#
        try service.perform(script)
    }
}
