import CofferTestSupport
import Foundation

/// A person with a vault, and with a session's bus of their own for each script, which starts no program.
struct MovingInScene {
    /// Whether what it needs is installed.
    static let isPossible =
        [
            "/usr/bin/dbus-run-session", "/usr/bin/gnome-keyring-daemon", "/usr/bin/secret-tool",
            "/usr/lib/python3/dist-packages/jeepney",
        ].allSatisfy(FileManager.default.fileExists(atPath:))

    private let scene: ExchangeScene

    init() throws {
        scene = try ExchangeScene()
        let directory = scene.daemon.directory
        for (name, text) in [
            "bus.conf": Self.configuration, "functions.sh": Self.functions, "other.py": Self.other,
            "fill.py": Self.fill,
        ] {
            try directory.write(Array(text.utf8), to: name)
        }
    }

    /// Runs a script in a session of its own.
    ///
    /// - Returns: The result of its last command, or of the first one that fails.
    func run(_ script: String) throws -> CommandResult {
        let text = "set -euo pipefail\nsource functions.sh\n\(script)\n"
        try scene.daemon.directory.write(Array(text.utf8), to: "session.sh")
        return try scene.run("dbus-run-session --config-file=bus.conf -- bash session.sh")
    }

    private static let configuration = """
        <busconfig>
          <type>session</type>
          <listen>unix:tmpdir=/tmp</listen>
          <policy context="default">
            <allow send_destination="*" eavesdrop="true"/>
            <allow eavesdrop="true"/>
            <allow own="*"/>
          </policy>
        </busconfig>
        """

    /// What the scripts call.
    ///
    /// The threads of tests block signals, and so would all that they start.
    private static let functions = #"""
        export LC_ALL=C.UTF-8
        owned() {
            [[ $(dbus-send --session --print-reply --dest=org.freedesktop.DBus / \
                org.freedesktop.DBus.NameHasOwner "string:$1") == *true* ]]
        }
        # Starts a program, and waits until it has a name.
        start() {
            env --default-signal "${@:2}" & service=$!
            trap 'kill $service || true' EXIT
            until owned "$1"; do kill -0 $service; sleep 0.01; done
        }
        stop() {
            trap - EXIT
            kill $service || true
            wait $service || true
            while owned org.freedesktop.secrets; do sleep 0.01; done
        }
        keyring() {
            export XDG_RUNTIME_DIR=$PWD/run XDG_DATA_HOME=$PWD/data
            mkdir -p run data/keyrings
            chmod 700 run data data/keyrings
            printf login >data/keyrings/default
            printf 'correct horse' >password
            start org.freedesktop.secrets bash -c \
                'exec gnome-keyring-daemon --foreground --components=secrets --unlock <password >keyring.log 2>&1'
            until test -e data/keyrings/login.keyring; do sleep 0.01; done
        }
        other() { start org.freedesktop.secrets /usr/bin/python3 other.py "$1"; }
        # The bridge has this name after that of the Secret Service.
        bridge() { start org.coffer.Vault coffer-secret-service; }
        """#

    /// A Secret Service with 40 items in one collection, and two in another, which fails in the way that its argument names.
    private static let other = #"""
        """A Secret Service that fails in the way that its argument names."""
        import sys
        from jeepney import DBusAddress, HeaderFields, MessageType, new_error, new_method_call, new_method_return, new_signal
        from jeepney.io.blocking import open_dbus_connection

        MODE = sys.argv[1]
        ROOT, NAME = '/org/freedesktop/secrets', 'org.freedesktop.secrets'
        OPEN, SHUT = ROOT + '/collection/open', ROOT + '/collection/shut'
        ITEMS = {OPEN: [f'{OPEN}/{n}' for n in range(1, 41)], SHUT: [f'{SHUT}/1', f'{SHUT}/2']}
        bus = open_dbus_connection(bus='SESSION')
        own = DBusAddress('/org/freedesktop/DBus', 'org.freedesktop.DBus', 'org.freedesktop.DBus')
        bus.send_and_get_reply(new_method_call(own, 'RequestName', 'su', (NAME, 4)))
        asked = open('asked', 'w', buffering=1)
        count = 0


        class Refusal(Exception):
            pass


        def attributes(path):
            number = int(path.split('/')[-1])
            if MODE == 'failing' and path == f'{OPEN}/7':
                return {f'name {n}': '' for n in range(65)}
            return {'collection': path.split('/')[-2], 'number': str(number)}


        def properties(path, interface):
            if interface.endswith('.Service'):
                return {'Collections': ('ao', list(ITEMS))}
            if path in ITEMS:
                label, shut = path.split('/')[-1].capitalize(), MODE == 'dismissed' and path == SHUT
                return {'Label': ('s', label), 'Locked': ('b', shut), 'Items': ('ao', ITEMS[path]), 'Other': ('d', 0.5)}
            if MODE == 'failing' and path == f'{OPEN}/5':
                raise Refusal('org.freedesktop.DBus.Error.UnknownObject', 'no such item')
            label = 'Item ' + path.split('/')[-1]
            return {'Label': ('s', label), 'Attributes': ('a{ss}', attributes(path)), 'Created': ('t', 1000000000)}


        def secret(path, session):
            if MODE == 'failing' and path == f'{OPEN}/3':
                raise Refusal('org.freedesktop.DBus.Error.Failed', 'the disk is broken')
            return (session, b'', f'secret of {path}'.encode(), 'application/x-test')


        def answer(path, interface, member, body):
            "The signature of the result, and the result."
            global count
            if member == 'GetAll':
                return 'a{sv}', (properties(path, body[0]),)
            if member == 'OpenSession':
                if MODE == 'silent':
                    return None
                print(body[0], file=asked)
                if body[0] != 'plain':
                    raise Refusal('org.freedesktop.DBus.Error.NotSupported', 'plain only')
                return 'vo', (('s', ''), ROOT + '/session/1')
            if member == 'ReadAlias':
                return 'o', (OPEN if body[0] == 'default' else '/',)
            if member == 'Unlock':
                return 'aoo', ([], ROOT + '/prompt/1')
            if member == 'Prompt':
                return '', ()
            if member == 'GetSecrets':
                count += 1
                if MODE == 'ending' and count == 2:
                    sys.exit()
                return 'a{o(oayays)}', ({item: secret(item, body[1]) for item in body[0]},)
            if member == 'GetSecret':
                return '(oayays)', (secret(path, body[0]),)
            raise Refusal('org.freedesktop.DBus.Error.UnknownMethod', member)


        while True:
            call = bus.receive()
            if call.header.message_type != MessageType.method_call:
                continue
            fields = call.header.fields
            path, member = fields[HeaderFields.path], fields[HeaderFields.member]
            try:
                result = answer(path, fields.get(HeaderFields.interface), member, call.body)
                if result:
                    bus.send(new_method_return(call, *result))
            except Refusal as refusal:
                bus.send(new_error(call, refusal.args[0], 's', (refusal.args[1],)))
            if member == 'Prompt':
                prompt = DBusAddress(path, interface='org.freedesktop.Secret.Prompt')
                bus.send(new_signal(prompt, 'Completed', 'bv', (True, ('ao', []))))
        """#

    /// Stores in gnome-keyring what secret-tool can't: large secrets, and a second collection whose items have equal
    /// attributes.
    private static let fill = #"""
        """Stores in gnome-keyring large secrets, and a second collection with items of equal attributes."""
        from jeepney import DBusAddress, MessageType, new_method_call
        from jeepney.io.blocking import open_dbus_connection

        ROOT, SECRET = '/org/freedesktop/secrets', 'org.freedesktop.Secret.'
        bus = open_dbus_connection(bus='SESSION')


        def call(path, interface, method, signature, *body):
            address = DBusAddress(path, 'org.freedesktop.secrets', interface)
            reply = bus.send_and_get_reply(new_method_call(address, method, signature, body))
            assert reply.header.message_type != MessageType.error, reply.body
            return reply.body


        session = call(ROOT, SECRET + 'Service', 'OpenSession', 'sv', 'plain', ('s', ''))[1]


        def create(collection, label, attributes, secret):
            properties = {SECRET + 'Item.Label': ('s', label), SECRET + 'Item.Attributes': ('a{ss}', attributes)}
            value = (session, b'', secret, 'text/plain')
            call(collection, SECRET + 'Collection', 'CreateItem', 'a{sv}(oayays)b', properties, value, False)


        create(f'{ROOT}/collection/login', 'big', {'size': '200000'}, b'x' * 200000)
        create(f'{ROOT}/collection/login', 'huge', {'size': '1100000'}, b'x' * 1100000)
        made = call(
            ROOT, 'org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface', 'CreateWithMasterPassword', 'a{sv}(oayays)',
            {SECRET + 'Collection.Label': ('s', 'Wörk')}, (session, b'', b'staple', 'text/plain')
        )[0]
        for note in ('one', 'two'):
            create(made, f'note {note}', {'xdg:schema': 'org.gnome.keyring.Note'}, f'words of {note}'.encode())
        """#
}
