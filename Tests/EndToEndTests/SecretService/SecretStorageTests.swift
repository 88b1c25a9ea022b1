import CofferTestSupport
import Testing

/// SecretStorage and keyring, the libraries of Python, as they are: their sessions are encrypted.
@Suite struct SecretStorageTests {
    private let service: SecretServiceProcess

    init() throws { service = try SecretServiceProcess() }

    @Test func `SecretStorage makes items, and changes all of them but the times`() throws {
        let script = #"""
            import secretstorage
            collection = secretstorage.get_default_collection(secretstorage.dbus_init())
            assert (collection.get_label(), collection.is_locked()) == ('Login', False)
            attributes = {'a': '1', 'ü': 'ö', 'xdg:schema': 'x.y', 'no value': ''}
            before = int(time.time())
            item = collection.create_item('My item', attributes, b'sec\0ret\xff', content_type='image/png')
            assert item.item_path == LOGIN + '/My_20item', item.item_path
            assert (item.get_label(), item.get_attributes()) == ('My item', attributes), item.get_attributes()
            assert (item.get_secret(), item.get_secret_content_type()) == (b'sec\0ret\xff', 'image/png')
            assert before <= item.get_created() <= item.get_modified() <= time.time()
            item.set_label('New label')
            item.set_attributes({'b': '2', 'ü': 'u'})
            assert (item.get_label(), item.get_attributes()) == ('New label', {'b': '2', 'ü': 'u'})
            assert (item.get_secret(), item.get_secret_content_type()) == (b'sec\0ret\xff', 'image/png')
            item.set_secret(b'new', 'text/html; charset=utf-8')
            assert (item.get_secret(), item.get_secret_content_type()) == (b'new', 'text/html; charset=utf-8')
            assert (item.get_label(), item.get_attributes()) == ('New label', {'b': '2', 'ü': 'u'})
            item.set_secret(b'', 'text/plain')
            assert (item.get_secret(), item.get_secret_content_type()) == (b'', 'text/plain')
            item.set_attributes({})
            assert item.get_attributes() == {}
            item.delete()
            assert list(collection.get_all_items()) == []
            """#
        try service.perform(script)
    }

    @Test func `a search finds the items that have all attributes, the last change first`() throws {
        let script = #"""
            import secretstorage
            connection = secretstorage.dbus_init()
            collection = secretstorage.get_default_collection(connection)
            for label, attributes in [('ab', {'a': '1', 'b': '1'}), ('a', {'a': '1'}), ('b', {'b': '1'}), ('-', {})]:
                collection.create_item(label, attributes, b'')
                time.sleep(0.002)

            def found(attributes):
                return [item.get_label() for item in secretstorage.search_items(connection, attributes)]

            assert found({'a': '1'}) == ['a', 'ab']
            assert found({'a': '1', 'b': '1'}) == ['ab']
            assert found({'a': '2'}) == found({'a': '1', 'c': ''}) == []
            assert found({}) == ['-', 'b', 'a', 'ab']
            assert [item.get_label() for item in collection.search_items({'b': '1'})] == ['b', 'ab']
            next(collection.search_items({'a': '1', 'b': '1'})).set_attributes({'b': '1'})
            assert found({'a': '1'}) == ['a'] and found({'b': '1'}) == ['ab', 'b']
            """#
        try service.perform(script)
    }

    @Test func `an item is replaced where the attributes are the same, and not where it has more`() throws {
        let script = #"""
            import secretstorage
            collection = secretstorage.get_default_collection(secretstorage.dbus_init())
            one = collection.create_item('one', {'a': '1', 'b': '2'}, b'1')
            less = collection.create_item('less', {'a': '1'}, b'2', replace=True)
            assert less.item_path != one.item_path
            created = one.get_created()
            again = collection.create_item('again', {'b': '2', 'a': '1'}, b'3', replace=True, content_type='x/y')
            assert again.item_path == one.item_path and one.get_created() == created
            assert (one.get_label(), one.get_secret(), one.get_secret_content_type()) == ('again', b'3', 'x/y')
            more = collection.create_item('more', {'a': '1', 'b': '2'}, b'4')
            assert more.item_path != one.item_path and one.get_secret() == b'3'
            back = collection.create_item('plain', {'a': '1'}, b'5', replace=True)
            assert back.get_secret_content_type() == 'text/plain'
            assert len(list(collection.get_all_items())) == 3
            """#
        try service.perform(script)
    }

    @Test(arguments: [0, 1, 15, 16, 32_768, 32_769, 262_144, 262_145, 1_048_576])
    func `a secret of up to a mebibyte is kept, with what is known of it`(count: Int) throws {
        let script = #"""
            import secretstorage
            connection = secretstorage.dbus_init()
            collection = secretstorage.get_default_collection(connection)
            secret = os.urandom(int(sys.argv[1]) if len(sys.argv) > 1 else 1048576)
            item = collection.create_item('It', {'k': '1', 'gone': 'x'}, secret, content_type='a/b')
            assert item.get_secret() == secret
            assert (item.get_secret_content_type(), item.get_label()) == ('a/b', 'It')
            item.set_label('Renamed')
            item.set_attributes({'k': '2', 'new': 'ü'})
            assert (item.get_label(), item.get_attributes()) == ('Renamed', {'k': '2', 'new': 'ü'})
            assert (item.get_secret(), item.get_secret_content_type()) == (secret, 'a/b')
            assert [found.item_path for found in secretstorage.search_items(connection, {'k': '2'})] == [item.item_path]
            for other in [b'x', secret[::-1], b'y' * 100000, secret]:
                item.set_secret(other, 'c/d')
                assert (item.get_secret(), item.get_secret_content_type()) == (other, 'c/d')
                assert (item.get_label(), item.get_attributes()) == ('Renamed', {'k': '2', 'new': 'ü'})
            replaced = collection.create_item('Last', {'k': '2', 'new': 'ü'}, secret, replace=True)
            assert replaced.item_path == item.item_path
            assert (item.get_label(), item.get_secret()) == ('Last', secret)
            item.delete()
            assert list(secretstorage.search_items(connection, {})) == []
            """#
        try service.perform(script, ["\(count)"])
    }

    @Test func `a secret of more than a mebibyte is refused, and nothing is left of it`() throws {
        let script = #"""
            bus = Bus()
            session = bus.open()
            item = bus.create('It', {}, b'x' * 1048576, session)
            for count in [1048577, 1048576 + 16, 1048576 + 17, 3000000]:
                secret = (session, b'', b'x' * count, 'text/plain')
                call = (LOGIN, 'Collection.CreateItem', 'a{sv}(oayays)b', {}, secret, False)
                assert bus.answer(*call) == 'LimitsExceeded', count
                assert bus.answer(item, 'Item.SetSecret', '(oayays)', secret) == 'LimitsExceeded', count
            assert bus.search({}) == ([item], [])
            assert bus.secret(item, session) == b'x' * 1048576
            """#
        try service.perform(script)
    }

    @Test func `items of one label have names of their own, and any label can be one`() throws {
        let script = #"""
            import secretstorage
            collection = secretstorage.get_default_collection(secretstorage.dbus_init())
            labels = ['', '.', '..', '/', 'a/b', 'a\nb', 'a\tb', '\x7f', '_', 'ü' * 200, 'x' * 3000, '🔑', 'same', 'same', 'é', 'e\u0301']
            items = [collection.create_item(label, {'n': str(n)}, label.encode()) for n, label in enumerate(labels)]
            assert [item.get_label() for item in items] == labels
            assert [item.get_secret().decode() for item in items] == labels
            assert len({item.item_path for item in items}) == len(labels)
            assert len(list(collection.search_items({}))) == len(labels)
            for item in items:
                item.delete()
            assert coffer('list', '--group', 'collection:login') == ''
            """#
        try service.perform(script)
    }

    @Test func `attributes that the vault does not keep are refused, and nothing is left of the item`() throws {
        let script = #"""
            bus = Bus()
            session = bus.open()
            item = bus.create('It', {'a': '1'}, b'1', session)
            cases = [('InvalidArgs', {'': 'x'}), ('LimitsExceeded', {'a': 'x' * 5000}),
                     ('InvalidArgs', {'coffer:accessible': 'Sometimes'})]
            for error, attributes in cases:
                properties = {'org.freedesktop.Secret.Item.Attributes': ('a{ss}', attributes)}
                value = (session, b'', b'x', 'text/plain')
                call = (LOGIN, 'Collection.CreateItem', 'a{sv}(oayays)b', properties, value, False)
                assert bus.answer(*call) == error, (error, bus.answer(*call))
                call = (item, 'Properties.Set', 'ssv', interface('Item'), 'Attributes', ('a{ss}', attributes))
                assert bus.answer(*call) == error, (error, bus.answer(*call))
            assert bus.search({}) == ([item], [])
            assert bus.get(item, 'Item', 'Attributes') == {'a': '1'}
            """#
        try service.perform(script)
    }

    @Test func `keyring of Python stores and finds passwords`() throws {
        let script = #"""
            import keyring
            from keyring.backends.SecretService import Keyring
            assert Keyring.priority >= 5
            keyring.set_keyring(Keyring())
            keyring.set_password('a service', 'jürgen', 'pässword')
            keyring.set_password('a service', 'other', '')
            keyring.set_password('a service', 'jürgen', 'new')
            assert keyring.get_password('a service', 'jürgen') == 'new'
            assert keyring.get_password('a service', 'other') == ''
            assert keyring.get_password('a service', 'nobody') is None
            assert keyring.get_credential('a service', 'jürgen').password == 'new'
            keyring.delete_password('a service', 'jürgen')
            assert keyring.get_password('a service', 'jürgen') is None
            assert keyring.get_password('a service', 'other') == ''
            """#
        try service.perform(script)
    }
}
