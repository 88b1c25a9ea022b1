import CofferTestSupport
import Testing

/// secret-tool, which uses libsecret, as it is.
@Suite struct SecretToolTests {
    private let service: SecretServiceProcess

    init() throws { service = try SecretServiceProcess() }

    @Test func `secret-tool stores, looks up, searches and clears`() throws {
        let script = #"""
            tool('store', '--label=Größe', 'schlüssel', 'wért 🔑', 'b', '2', input=b's3cret')
            tool('store', '--label=Other', 'schlüssel', 'other', 'b', '2', input=b'different')
            assert tool('lookup', 'schlüssel', 'wért 🔑') == b's3cret'
            assert tool('lookup', 'schlüssel', 'wért') is None
            found = tool('search', '--all', 'b', '2').decode()
            assert f"[/Gr_c3_b6_c3_9fe]\nlabel = Größe\nsecret = s3cret\n" in found, found
            assert 'secret = different\n' in found, found
            assert found.index('different') < found.index('s3cret'), 'the one that was changed last is the first'
            tool('clear', 'schlüssel', 'wért 🔑')
            assert tool('lookup', 'b', '2') == b'different'
            assert coffer('list', '--group', 'collection:login') == 'Other\n'
            """#
        try service.perform(script)
    }

    @Test(arguments: [[], Array("a\nb\r\n\n".utf8), Array("ends \n".utf8), [0x20, 0x09]])
    func `secret-tool gets the bytes that it has stored`(secret: [UInt8]) throws {
        let script = #"""
            secret = bytes.fromhex(sys.argv[1] if len(sys.argv) > 1 else '')
            tool('store', '--label=', 'name', 'it', input=secret)
            assert tool('lookup', 'name', 'it') == secret
            """#
        let digits = secret.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        try service.perform(script, [digits])
    }

    @Test func `storing with the same attributes replaces, and with fewer does not`() throws {
        let script = #"""
            tool('store', '--label=One', 'a', '1', 'b', '2', input=b'first')
            tool('store', '--label=Two', 'a', '1', 'b', '2', input=b'second')
            assert tool('lookup', 'a', '1') == b'second'
            assert coffer('list', '--group', 'collection:login') == 'One\n'
            assert 'label = Two\n' in tool('search', 'a', '1').decode()
            tool('store', '--label=Three', 'a', '1', input=b'third')
            assert tool('lookup', 'a', '1', 'b', '2') == b'second'
            assert coffer('list', '--group', 'collection:login') == 'One\nThree\n'
            """#
        try service.perform(script)
    }

    @Test func `the secret of an item is that which coffer shows, and the other way round`() throws {
        let script = #"""
            tool('store', '--label=a/b', 'a', '1', input=b'from a program')
            assert coffer('get', '--group', 'collection:login', 'a-b') == 'from a program'
            coffer('put', '--group', 'collection:login', 'a-b', input=b'from a person')
            assert tool('lookup', 'a', '1') == b'from a person'
            coffer('rm', '--now', '--yes', '--group', 'collection:login', 'a-b')
            settles(lambda: tool('lookup', 'a', '1') is None)
            """#
        try service.perform(script)
    }
}
