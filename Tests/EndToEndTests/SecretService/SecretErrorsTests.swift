import CofferTestSupport
import Testing

/// Calls of the Secret Service that are wrong: each is answered with an error, and the service lives.
@Suite struct SecretErrorsTests {
    private let service: SecretServiceProcess

    init() throws { service = try SecretServiceProcess() }

    @Test func `arguments of other types are an error of each method`() throws {
        let script = #"""
            bus = Bus()
            session = bus.open()
            item = bus.create('It', {'a': '1'}, b'secret', session)
            value = (session, b'', b'x', 'text/plain')
            methods = {
                ROOT: ['Service.OpenSession', 'Service.CreateCollection', 'Service.SearchItems', 'Service.Unlock',
                       'Service.Lock', 'Service.GetSecrets', 'Service.ReadAlias', 'Service.SetAlias',
                       'Properties.Get', 'Properties.Set', 'Properties.GetAll'],
                LOGIN: ['Collection.SearchItems', 'Collection.CreateItem', 'Properties.Get', 'Properties.Set',
                        'Properties.GetAll'],
                item: ['Item.GetSecret', 'Item.SetSecret', 'Properties.Get', 'Properties.Set', 'Properties.GetAll'],
            }
            wrong = [
                (None,), ('u', 1), ('b', True), ('ay', b'x'), ('as', ['x']), ('v', ('s', 'x')), ('a{sv}', {'x': ('u', 1)}),
                ('(ss)', ('x', 'y')), ('a{si}', {'x': 1}), ('a(oayays)', [value]), ('x' * 3, 1, 2, 3), ('d', 0.5),
                ('(oayay)', value[:3]), ('(sayays)', ('x', b'', b'', '')), ('ya{ss}', 1, {}),
            ]
            count = 0
            for path, names in methods.items():
                for name in names:
                    for call in wrong:
                        answer = bus.answer(path, name, *call)
                        wanted = ['InvalidArgs', 'UnknownInterface'] if 'Properties' in name else ['InvalidArgs']
                        assert answer in wanted, (name, call, answer)
                        count += 1
            assert count == 21 * len(wrong), count
            for path, word, name, value in [(LOGIN, 'Collection', 'Label', ('u', 1)), (item, 'Item', 'Label', ('o', '/')),
                                            (item, 'Item', 'Attributes', ('s', 'x')),
                                            (item, 'Item', 'Attributes', ('a{sv}', {'x': ('s', 'y')}))]:
                call = (path, 'Properties.Set', 'ssv', interface(word), name, value)
                assert bus.answer(*call) == 'InvalidArgs', call
            for key in ['Label', 'Attributes']:
                properties = {f'org.freedesktop.Secret.Item.{key}': ('u', 1)}
                call = (LOGIN, 'Collection.CreateItem', 'a{sv}(oayays)b', properties, (session, b'', b'', ''), False)
                assert bus.answer(*call) == 'InvalidArgs', key
            assert bus.search({}) == ([item], [])
            assert bus.get(item, 'Item', 'Attributes') == {'a': '1'} and bus.secret(item, session) == b'secret'
            """#
        try service.perform(script)
    }

    @Test func `objects that are not there are unknown, and so are interfaces, methods and properties`() throws {
        let script = #"""
            bus = Bus()
            session = bus.open()
            item = bus.create('It', {}, b'secret', session)
            for path in ['/', '/org', '/x', ROOT + '/x', ROOT + '/collection', ROOT + '/collection/none', LOGIN + '/none',
                         item + '/x', item + '_', LOGIN + '/_49t', ROOT + '/collection/_6cogin', ROOT + '/aliases/none',
                         ROOT + '/session/0', ROOT + '/session/99', ROOT + '/prompt/1', ROOT + '/prompt/p1']:
                for method in ['Collection.Delete', 'Item.Delete', 'Session.Close', 'Prompt.Dismiss']:
                    assert bus.answer(path, method) == 'UnknownObject', (path, method)
                call = (path, 'Properties.GetAll', 's', interface('Item'))
                assert bus.answer(*call) == 'UnknownObject', path
            own = {ROOT: 'Service', LOGIN: 'Collection', item: 'Item', session: 'Session'}
            for path, word in own.items():
                assert bus.answer(path, f'{word}.Nothing') == 'UnknownMethod'
                assert bus.answer(path, 'Nothing') == 'UnknownMethod', 'without an interface'
                assert bus.answer(path, 'Properties.Nothing', 's', interface(word)) == 'UnknownMethod'
                assert bus.answer(path, 'x.y.Delete') == 'UnknownInterface'
                for other in own.values():
                    if other != word:
                        assert bus.answer(path, f'{other}.Delete') == 'UnknownInterface'
                        call = (path, 'Properties.GetAll', 's', interface(other))
                        assert bus.answer(*call) == 'UnknownInterface'
                call = (path, 'Properties.Get', 'ss', interface(word), 'Nothing')
                assert bus.answer(*call) == 'UnknownProperty', word
                for name in ['Nothing', 'Locked', 'Created', 'Modified', 'Items', 'Collections']:
                    call = (path, 'Properties.Set', 'ssv', interface(word), name, ('s', 'x'))
                    assert bus.answer(*call) == 'PropertyReadOnly', (word, name)
            assert bus.call(item, 'GetSecret', 'o', session)[3] == 'text/plain', 'without an interface'
            """#
        try service.perform(script)
    }

    @Test func `Peer is answered, and each object describes itself`() throws {
        let script = #"""
            from xml.etree import ElementTree
            bus = Bus()
            session = bus.open()
            item = bus.create('It', {}, b'secret', session)
            bus.call(ROOT, 'Peer.Ping')
            assert bus.call(ROOT, 'Peer.GetMachineId')

            def describe(path):
                return ElementTree.fromstring(bus.call(path, 'Introspectable.Introspect'))

            for path, word in {ROOT: 'Service', LOGIN: 'Collection', item: 'Item', session: 'Session'}.items():
                document = describe(path)
                assert {element.get('name') for element in document.findall('interface')} == {
                    interface(word), interface('Properties'), interface('Introspectable')}, path
                names = {element.get('name') for element in document.findall(f'interface[@name="{interface(word)}"]/property')}
                assert set(bus.call(path, 'Properties.GetAll', 's', interface(word))) == names, (path, names)

            members = {
                'Service': 'OpenSession CreateCollection SearchItems Unlock Lock GetSecrets ReadAlias SetAlias',
                'Collection': 'Delete SearchItems CreateItem', 'Item': 'Delete GetSecret SetSecret',
                'Session': 'Close', 'Properties': 'Get Set GetAll', 'Introspectable': 'Introspect',
            }
            signals = {
                'Service': 'CollectionCreated CollectionDeleted CollectionChanged',
                'Collection': 'ItemCreated ItemDeleted ItemChanged', 'Properties': 'PropertiesChanged',
            }
            for path in [ROOT, LOGIN, item, session]:
                for element in describe(path).findall('interface'):
                    word = element.get('name').split('.')[-1]
                    names = [method.get('name') for method in element.findall('method')]
                    assert names == members[word].split(), (word, names)
                    names = [signal.get('name') for signal in element.findall('signal')]
                    assert names == signals.get(word, '').split(), (word, names)

            found, rest = [], ['/']
            while rest:
                path = rest.pop()
                found.append(path)
                rest += [path.rstrip('/') + '/' + node.get('name') for node in describe(path).findall('node')]
            for path in [ROOT, LOGIN, item, SESSION, ROOT + '/aliases/default']:
                assert path in found, (path, found)
            """#
        try service.perform(script)
    }

    /// The bus ends the connection of who sends it a message of more than 64 MiB.
    @Test func `what is longer than is taken is refused, and nothing ends`() throws {
        let script = #"""
            bus = Bus()
            session = bus.open()
            item = bus.create('It', {}, b'x' * 1048576, session, into=SESSION)
            assert list(bus.call(ROOT, 'Service.GetSecrets', 'aoo', [item] * 100, session)) == [item]
            many = [bus.create(str(n), {}, b'x' * 1048576, session) for n in range(17)]
            assert bus.answer(ROOT, 'Service.GetSecrets', 'aoo', many, session) == 'LimitsExceeded'
            assert len(bus.call(ROOT, 'Service.GetSecrets', 'aoo', many[:16], session)) == 16
            label = (interface('Item'), 'Label', ('s', 'l' * 70000))
            assert bus.answer(item, 'Properties.Set', 'ssv', *label) == 'LimitsExceeded'
            attributes = {str(n): '' for n in range(1025)}
            assert bus.answer(ROOT, 'Service.SearchItems', 'a{ss}', attributes) == 'LimitsExceeded'
            assert bus.answer(ROOT, 'Service.Unlock', 'ao', ['/'] * 131073) == 'LimitsExceeded'
            assert bus.secret(item, session) == b'x' * 1048576
            """#
        try service.perform(script)
    }

    @Test func `what somebody puts among the collections is none, and ends nothing`() throws {
        let script = #"""
            bus = Bus()
            assert bus.get(ROOT, 'Service', 'Collections') == [LOGIN, SESSION]
            for name in ['x/work', 'work', 'y/work']:
                coffer('put', '--group', 'secret-service', name, input=b'1')
            settles(lambda: bus.get(ROOT, 'Service', 'Collections') == [ROOT + '/collection/work', LOGIN, SESSION])
            """#
        try service.perform(script)
    }
}
