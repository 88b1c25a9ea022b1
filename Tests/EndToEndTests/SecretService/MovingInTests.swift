import CofferTestSupport
import Testing

/// `coffer import secret-service`: the real gnome-keyring, and services that fail.
@Suite(.enabled(if: MovingInScene.isPossible)) struct MovingInTests {
    private let scene: MovingInScene

    init() throws { scene = try MovingInScene() }

    @discardableResult
    private func expect(_ script: String, _ status: Int32 = 0, _ texts: String...) throws -> CommandResult {
        let result = try scene.run(script)
        #expect(result.status == status, "\(script): \(result.text)\(result.errors)")
        for text in texts {
            #expect((result.text + result.errors).contains(text), "\(script): \(result.text)\(result.errors)")
        }
        return result
    }

    /// Stores thirty items in gnome-keyring, one of which is too large for the bus.
    private static let filled = #"""
        keyring
        for n in $(seq 24); do printf "secret $n" | secret-tool store --label="Item $n" number $n; done
        printf 'wért 🔑\n' | secret-tool store --label='Größe / ü' 'schlüssel' 'wért 🔑'
        secret-tool store --label=empty size 0 </dev/null
        /usr/bin/python3 fill.py
        """#

    // MARK: gnome-keyring

    @Test func `programs find in the vault what they have stored in gnome-keyring`() throws {
        try expect(
            Self.filled + #"""

                coffer import secret-service >numbers 2>words
                test "$(cat numbers)" = "stored 29, replaced 0, skipped 0, left out 1 of 30 items"
                grep --quiet "'huge' of 'Login' is left out: the secret has more than the 1048576 bytes" words
                grep --quiet "the other service still has all of it; 'coffer secret-service enable'" words
                test "$(secret-tool lookup number 3)" = 'secret 3'
                stop
                bridge
                for n in $(seq 24); do test "$(secret-tool lookup number $n)" = "secret $n"; done
                printf 'wért 🔑\n' >expected
                secret-tool lookup 'schlüssel' 'wért 🔑' | cmp - expected
                test "$(secret-tool search size 0 2>/dev/null | grep ^label)" = 'label = empty'
                test "$(coffer get --group collection:login big | wc -c)" = 200000
                secret-tool search --all xdg:schema org.gnome.keyring.Note >notes 2>attributes
                grep --quiet 'words of one' notes
                grep --quiet 'words of two' notes
                coffer list --group collection:w_rk
                stop
                """#,
            0,
            "note one\nnote two\n"
        )
    }

    @Test func `a dry run stores nothing, and says the numbers of the import`() throws {
        let script =
            Self.filled + #"""

                coffer import secret-service --dry-run >plan 2>words
                grep --quiet "this was a dry run, which would have stored 29, replaced 0, skipped 0, left out 1 of 30" words
                grep --quiet "'huge' of 'Login' is left out" words
                test "$(grep --count '^store' plan)" = 29
                if grep --quiet 'secret 1' plan words; then exit 1; fi
                test -z "$(coffer list --group collection:login)"
                test -z "$(coffer list --group collection:w_rk)"
                coffer import secret-service --json >rows
                stop
                tail -n 1 rows
                """#
        try expect(script, 0, #"{"stored":29,"replaced":0,"skipped":0,"leftOut":1}"#)
    }

    @Test func `nothing comes twice, and what has changed is a value before the new one`() throws {
        try expect(
            Self.filled + #"""

                coffer import secret-service
                test "$(coffer import secret-service)" = "stored 0, replaced 0, skipped 29, left out 1 of 30 items"
                printf changed | secret-tool store --label='Item 1' number 1
                printf new | secret-tool store --label='Item 25' number 25
                coffer import secret-service --dry-run >/dev/null
                test "$(coffer import secret-service)" = "stored 1, replaced 1, skipped 28, left out 1 of 31 items"
                test "$(coffer get --group collection:login 'Item 1')" = changed
                test "$(coffer history --group collection:login 'Item 1' --ago 1)" = 'secret 1'
                test "$(secret-tool lookup number 2)" = 'secret 2'
                stop
                """#,
            0,
            "would have stored 1, replaced 1, skipped 28, left out 1 of 31 items"
        )
    }

    // MARK: Services that fail

    @Test func `an item that the service or the vault does not give or take stops no other`() throws {
        let numbers = "stored 39, replaced 0, skipped 0, left out 3 of 42 items"
        try expect(
            "other failing; coffer import secret-service --dry-run; coffer import secret-service; stop",
            0,
            "would have \(numbers)\n",
            "\n\(numbers)\n",
            "'Item 3' of 'Open' is left out: the disk is broken",
            "'5' of 'Open' is left out: no such item",
            "'Item 7' of 'Open' is left out: it has more than 64 attributes"
        )
        try expect(
            "coffer get --group collection:open 'Item 4'",
            0,
            "secret of /org/freedesktop/secrets/collection/open/4"
        )
        try expect(
            "coffer get --group collection:shut 'Item 2'",
            0,
            "secret of /org/freedesktop/secrets/collection/shut/2"
        )
    }

    @Test func `items of a collection whose prompt is dismissed are left out, and named`() throws {
        try expect(
            "other dismissed; coffer import secret-service; stop",
            0,
            "the other service asks you to unlock its collection 'Shut'",
            "'Item 1' of 'Shut' is left out: its collection stays locked: the prompt was dismissed",
            "'Item 2' of 'Shut' is left out: its collection stays locked: the prompt was dismissed",
            "stored 40, replaced 0, skipped 0, left out 2 of 42 items"
        )
    }

    @Test func `after the end of a service in the middle, the same command copies the rest`() throws {
        try expect(
            "other ending; coffer import secret-service",
            69,
            "26 more items are left out: the other service has ended",
            "stored 16, replaced 0, skipped 0, left out 26 of 42 items"
        )
        try expect(
            "other whole; coffer import secret-service; stop",
            0,
            "stored 26, replaced 0, skipped 16 of 42 items"
        )
    }

    @Test func `a service that never answers is waited for as long as --timeout says`() throws {
        try expect(
            "other silent; coffer import secret-service --timeout 3",
            69,
            "the other service has not answered for 3 s"
        )
    }

    // MARK: What comes along

    @Test func `the service is asked to encrypt first, and type, date and alias come along`() throws {
        try expect(
            #"""
            other whole
            coffer import secret-service
            stop
            test "$(cat asked)" = $'dh-ietf1024-sha256-aes128-cbc-pkcs7\nplain'
            bridge
            /usr/bin/python3 - <<'END'
            from jeepney import DBusAddress, new_method_call
            from jeepney.io.blocking import open_dbus_connection
            bus, root = open_dbus_connection(bus='SESSION'), '/org/freedesktop/secrets'
            def call(path, interface, method, signature, *body):
                address = DBusAddress(path, 'org.freedesktop.secrets', interface)
                return bus.send_and_get_reply(new_method_call(address, method, signature, body)).body
            service, item = 'org.freedesktop.Secret.Service', 'org.freedesktop.Secret.Item'
            usual = call(root, service, 'ReadAlias', 's', 'default')[0]
            assert usual == root + '/collection/open', usual
            found = call(root, service, 'SearchItems', 'a{ss}', {'collection': 'shut', 'number': '2'})[0]
            assert len(found) == 1, found
            own = call(found[0], 'org.freedesktop.DBus.Properties', 'GetAll', 's', item)[0]
            assert own['Created'] == ('t', 1000000000), own
            assert own['Attributes'][1] == {'collection': 'shut', 'number': '2'}, own
            session = call(root, service, 'OpenSession', 'sv', 'plain', ('s', ''))[1]
            secret = call(found[0], item, 'GetSecret', 'o', session)[0]
            assert bytes(secret[2]).decode() == f'secret of {root}/collection/shut/2', secret
            assert secret[3] == 'application/x-test', secret
            END
            stop
            """#,
            0,
            "stored 42, replaced 0, skipped 0 of 42 items"
        )
    }

    // MARK: Refusals

    @Test func `Coffer's own service is no source, and neither is a bus without one`() throws {
        try expect("bridge; coffer import secret-service", 69, "the Secret Service of this session is Coffer's own")
        try expect("coffer import secret-service", 69, "no program has the name org.freedesktop.secrets")
    }

    @Test func `a locked vault takes nothing, and no prompt of the service appears for it`() throws {
        let result = try expect("coffer lock --now; other dismissed; coffer import secret-service", 75, "coffer unlock")
        #expect(!result.errors.contains("asks you to unlock its collection"))
    }

    @Test func `options that are for a file are refused`() throws {
        try expect("coffer import secret-service --into name", 64, "--into needs a file of this format")
        try expect("coffer import secret-service --replace", 64, "--replace needs a file of this format")
    }
}
