import CofferTestSupport
import Testing

/// The sessions of the Secret Service, by which secrets are passed: plain ones, and encrypted ones.
@Suite struct SecretSessionsTests {
    private let service: SecretServiceProcess

    init() throws { service = try SecretServiceProcess() }

    @Test func `secrets of an encrypted session are right, also where the shared key begins with zeros`() throws {
        let script = #"""
            import hmac
            from hashlib import sha256
            from secretstorage.dhcrypto import DH_PRIME_1024 as prime
            from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
            bus = Bus()
            item = bus.create('It', {}, b'secret', bus.open(), type='x/y')

            def cipher(key, vector):
                return Cipher(algorithms.AES(key), modes.CBC(vector))

            def check(path, shared):
                early = hmac.new(bytes(32), shared.to_bytes(128, 'big'), sha256).digest()
                key = hmac.new(early, b'\x01', sha256).digest()[:16]
                _, vector, value, kind = bus.call(item, 'Item.GetSecret', 'o', path)
                opener = cipher(key, bytes(vector)).decryptor()
                plain = opener.update(bytes(value)) + opener.finalize()
                assert (plain, kind) == (b'secret' + bytes([10] * 10), 'x/y'), plain
                vector, sealer = os.urandom(16), cipher(key, os.urandom(16)).encryptor()
                sealer = cipher(key, vector).encryptor()
                value = sealer.update(b'secret' + bytes([10] * 10)) + sealer.finalize()
                bus.call(item, 'Item.SetSecret', '(oayays)', (path, vector, value, 'x/y'))
                assert bus.secret(item, bus.open()) == b'secret'

            found = set()
            for count in range(20000):
                private = int.from_bytes(os.urandom(127), 'big')
                public = pow(2, private, prime)
                length = (public.bit_length() + 7) // 8
                sent = public.to_bytes(length if count % 2 else 129, 'big')
                algorithm = 'dh-ietf1024-sha256-aes128-cbc-pkcs7'
                (kind, own), path = bus.call(ROOT, 'Service.OpenSession', 'sv', algorithm, ('ay', sent))
                shared = pow(int.from_bytes(own, 'big'), private, prime)
                is_short = shared < 1 << 1016
                if is_short not in found or length < 128:
                    check(path, shared)
                found.add(is_short)
                if len(found) == 2:
                    break
            assert len(found) == 2
            """#
        try service.perform(script)
    }

    @Test func `public keys that give no secret are refused, and so are other algorithms`() throws {
        let script = #"""
            from secretstorage.dhcrypto import DH_PRIME_1024 as prime
            bus = Bus()
            algorithm = 'dh-ietf1024-sha256-aes128-cbc-pkcs7'

            def answer(algorithm, input):
                return bus.answer(ROOT, 'Service.OpenSession', 'sv', algorithm, input)

            for key in [0, 1, prime - 1, prime, prime + 1, 1 << 1024, (1 << 2048) - 1]:
                for length in {max(1, (key.bit_length() + 7) // 8), 256}:
                    assert answer(algorithm, ('ay', key.to_bytes(length, 'big'))) == 'InvalidArgs', (key, length)
            assert answer(algorithm, ('ay', b'')) == 'InvalidArgs'
            assert answer(algorithm, ('s', '')) == 'InvalidArgs'
            assert answer(algorithm, ('ay', bytes(257))) == 'LimitsExceeded'
            assert answer(algorithm, ('ay', (2).to_bytes(128, 'big'))) is None
            assert answer(algorithm, ('ay', (prime - 2).to_bytes(128, 'big'))) is None
            for other in ['', 'PLAIN', 'dh-ietf1024-sha256-aes128-cbc-pkcs8', 'x' * 10000]:
                assert answer(other, ('s', '')) == 'NotSupported', other
            assert answer('plain', ('s', '')) is None
            """#
        try service.perform(script)
    }

    @Test func `a secret that is not what the session encrypts is refused, and the item stays`() throws {
        let script = #"""
            from secretstorage.dhcrypto import Session
            from secretstorage.util import open_session
            import secretstorage
            bus = Bus()
            item = bus.create('It', {}, b'secret', bus.open())
            connection = secretstorage.dbus_init()
            session = open_session(connection)
            bus.connection, path = connection, session.object_path
            for vector, value in [(b'', b''), (b'', bytes(16)), (bytes(16), b''), (bytes(15), bytes(16)),
                                  (bytes(16), bytes(15)), (bytes(16), bytes(17)), (bytes(16), bytes(160))]:
                secret = (path, vector, value, 'text/plain')
                assert bus.answer(item, 'Item.SetSecret', '(oayays)', secret) == 'InvalidArgs', (vector, value)
                call = (LOGIN, 'Collection.CreateItem', 'a{sv}(oayays)b', {}, secret, False)
                assert bus.answer(*call) == 'InvalidArgs', (vector, value)
            secret = (path, bytes(17), bytes(16), 'text/plain')
            assert bus.answer(item, 'Item.SetSecret', '(oayays)', secret) == 'LimitsExceeded'
            assert bus.search({}) == ([item], [])
            assert bus.secret(item, bus.open()) == b'secret'
            """#
        try service.perform(script)
    }

    @Test func `a session is of the client that has opened it, until it is closed`() throws {
        let script = #"""
            one, other = Bus(), Bus()
            session = one.open()
            item = one.create('It', {}, b'secret', session)
            value = (session, b'', b'x', 'text/plain')
            calls = [
                (item, 'Item.GetSecret', 'o', session), (item, 'Item.SetSecret', '(oayays)', value),
                (LOGIN, 'Collection.CreateItem', 'a{sv}(oayays)b', {}, value, False),
                (ROOT, 'Service.GetSecrets', 'aoo', [item], session),
            ]
            for call in calls + [(session, 'Session.Close')]:
                assert other.answer(*call) == 'NoSession', call
            assert one.secret(item, session) == b'secret'
            for path in ['/', ROOT, item, ROOT + '/session/0', ROOT + '/session/x', session + '0']:
                assert one.answer(item, 'Item.GetSecret', 'o', path) == 'NoSession', path
            one.call(session, 'Session.Close')
            for call in calls:
                assert one.answer(*call) == 'NoSession', call
            assert one.answer(session, 'Session.Close') == 'UnknownObject'
            assert one.search({}) == ([item], [])
            """#
        try service.perform(script)
    }

    @Test func `a client that opens many sessions keeps the last of them, and others theirs`() throws {
        let script = #"""
            bus, other = Bus(), Bus()
            others = other.open()
            item = bus.create('It', {}, b'secret', bus.open())
            sessions = [bus.open() for _ in range(200)]
            kept = [path for path in sessions if bus.answer(item, 'Item.GetSecret', 'o', path) is None]
            assert kept == sessions[-64:], len(kept)
            assert other.secret(item, others) == b'secret'
            """#
        try service.perform(script)
    }

    @Test func `the sessions of a client end when it leaves`() throws {
        let script = #"""
            bus, other = Bus(), Bus()
            sessions = [other.open() for _ in range(3)]
            assert [bus.answer(path, 'Session.Close') for path in sessions] == ['NoSession'] * 3
            other.connection.close()
            for path in sessions:
                settles(lambda: bus.answer(path, 'Session.Close') == 'UnknownObject')
            """#
        try service.perform(script)
    }
}
