import CofferTestSupport
import Foundation
import Testing

private let portalPath = "/usr/libexec/xdg-desktop-portal"
private let isPossible = [portalPath, "/usr/bin/bwrap"].allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }

/// The secrets of sandboxed applications: by xdg-desktop-portal and a real sandbox, and from the backend itself.
@Suite(.enabled(if: isPossible, "it takes xdg-desktop-portal and bubblewrap"))
final class SecretPortalTests {
    private let service: SecretServiceProcess
    private let portal = Process()

    /// Starts xdg-desktop-portal with the file of the package.
    init() throws {
        service = try SecretServiceProcess()
        try service.daemon.directory.write(Self.calls.utf8, to: "portal.py")
        portal.executableURL = URL(filePath: portalPath)
        portal.environment = service.environment.merging([
            "XDG_DESKTOP_PORTAL_DIR": "\(Project.root)/packaging/portal",
            "XDG_RUNTIME_DIR": service.daemon.directory.path,
        ]) { $1 }
        portal.standardInput = FileHandle.nullDevice
        portal.standardOutput = FileHandle.nullDevice
        portal.standardError = FileHandle.nullDevice
        try portal.run()
        let isUp = settles {
            !portal.isRunning || service.bus.ask("GetNameOwner", "org.freedesktop.portal.Desktop") != nil
        }
        try #require(isUp && portal.isRunning)
    }

    deinit {
        guard portal.isRunning else { return }
        kill(portal.processIdentifier, SIGKILL)
        portal.waitUntilExit()
    }

    private func perform(_ script: String) throws {
        try service.perform("from portal import *\n\(script)")
    }

    @Test func `a sandboxed application gets a secret of its own, and always the same`() throws {
        let script = #"""
            one, two = sandboxed('org.example.One'), sandboxed('org.example.Two')
            assert one[0] == two[0] == 0 and len(one[1]) == len(two[1]) == 64, (one, two)
            assert one[1] != two[1]
            assert sandboxed('org.example.One') == one and sandboxed('org.example.Two') == two
            assert coffer('list', '--group', 'portal') == 'org.example.One\norg.example.Two\n'
            outside = Application().retrieve()
            assert outside[0] == 0 and len(outside[1]) == 64 and outside[1] not in [one[1], two[1]], outside
            open('former', 'wb').write(one[1])
            """#
        try perform(script)
        service.stop()
        try service.daemon.restart()
        try service.start()
        let after = #"""
            unlock()
            settles(lambda: sandboxed('org.example.One') == (0, open('former', 'rb').read()))
            """#
        try perform(after)
    }

    @Test func `a locked vault gives nothing away, and what is asked for later is the same`() throws {
        let script = #"""
            before = sandboxed('org.example.One')
            lock()
            settles(lambda: Bus().get(LOGIN, 'Collection', 'Locked'))
            for application in ['org.example.One', 'org.example.New']:
                response, secret = sandboxed(application)
                assert response in [1, 2] and secret == b'', (response, secret)
            unlock()
            settles(lambda: sandboxed('org.example.One') == before)
            assert coffer('list', '--group', 'portal') == 'org.example.One\n'
            """#
        try perform(script)
    }

    @Test func `the backend writes to a pipe or a socket that takes it at once, and nowhere else`() throws {
        let script = #"""
            client = Application()
            source, sink = os.pipe()
            assert client.ask('a.b', sink) == 0
            secret = taken(source)
            assert len(secret) == 64
            here, there = socket.socketpair()
            assert client.ask('a.b', here.fileno()) == 0 and there.recv(1000) == secret
            there.close()
            assert client.ask('a.b', here.fileno()) == 2
            os.set_blocking(sink, False)
            room = 0
            try:
                while True:
                    room += os.write(sink, b'x' * 4096)
            except BlockingIOError:
                os.set_blocking(sink, True)
            assert client.ask('a.b', sink) == 2
            assert os.get_blocking(sink)
            assert taken(source) == b'x' * room
            assert client.ask('a.b', sink) == 0 and taken(source) == secret
            os.close(source)
            assert client.ask('a.b', sink) == 2
            file = os.open('file', os.O_RDWR | os.O_CREAT)
            assert client.ask('a.b', file) == 2 and os.stat('file').st_size == 0
            for application in ['..', 'a//b', 'x' * 5000]:
                source, sink = os.pipe()
                assert client.ask(application, sink) == 2, application
            """#
        try perform(script)
    }

    /// Whoever has the pipe as well may fill it between the look at it and the write.
    @Test func `a pipe that another program fills again and again holds nobody up`() throws {
        let script = #"""
            client = Application()
            source, sink = os.pipe()

            def again(step):
                def run():
                    while True:
                        step()
                threading.Thread(target=run, daemon=True).start()

            again(lambda: os.write(sink, b'x' * 4096))
            again(lambda: os.read(source, 65536))
            assert {client.ask('a.b', sink) for _ in range(500)} <= {0, 2}
            """#
        try perform(script)
    }

    @Test func `the backend describes itself, and refuses what it does not know`() throws {
        let script = #"""
            client = Application()
            assert client.call(DESKTOP, 'Properties.Get', 'ss', SECRET, 'version', service=BACKEND) == ('u', 1)
            assert client.call(DESKTOP, 'Properties.GetAll', 's', SECRET, service=BACKEND) == {'version': ('u', 1)}
            assert SECRET in client.call(DESKTOP, 'Introspectable.Introspect', service=BACKEND)
            calls = [('UnknownProperty', DESKTOP, 'Properties.Get', 'ss', SECRET, 'Version'),
                     ('UnknownMethod', DESKTOP, SECRET + '.Retrieve'),
                     ('InvalidArgs', DESKTOP, SECRET + '.RetrieveSecret', 's', 'a.b')]
            for error, *call in calls:
                try:
                    client.call(*call, service=BACKEND)
                    assert False, call
                except Refused as refused:
                    assert refused.name == error, (call, refused)
            """#
        try perform(script)
    }

    /// What the scripts import, those in the sandbox as well.
    private static let calls = #"""
        import socket, threading
        from calls import *

        DESKTOP = '/org/freedesktop/portal/desktop'
        SECRET = 'org.freedesktop.impl.portal.Secret'
        BACKEND = 'org.freedesktop.impl.portal.desktop.coffer'


        def taken(source):
            "What a pipe holds; nothing is waited for."
            os.set_blocking(source, False)
            try:
                return os.read(source, 1 << 20)
            except BlockingIOError:
                return b''


        class Application(Bus):
            "A connection to the bus that passes descriptors."

            def __init__(self):
                self.connection = open_dbus_connection(bus='SESSION', enable_fds=True)

            def ask(self, application, sink):
                "The response of the backend for an application."
                body = (DESKTOP + '/request/1', application, sink, {})
                response, results = self.call(DESKTOP, SECRET + '.RetrieveSecret', 'osha{sv}', *body, service=BACKEND)
                assert results == {}
                return response

            def retrieve(self):
                "The response of xdg-desktop-portal, and what came."
                rule = "type='signal',interface='org.freedesktop.portal.Request'"
                self.call('/org/freedesktop/DBus', 'org.freedesktop.DBus.AddMatch', 's', rule, service='org.freedesktop.DBus')
                source, sink = os.pipe()
                method, frontend = 'org.freedesktop.portal.Secret.RetrieveSecret', 'org.freedesktop.portal.Desktop'
                handle = self.call(DESKTOP, method, 'ha{sv}', sink, {}, service=frontend)
                os.close(sink)
                response, results = self.until('Response', handle)
                return response, taken(source)


        def sandboxed(application):
            "What a sandboxed application gets, which xdg-desktop-portal knows as one of Flatpak."
            with open('info', 'w') as info:
                info.write(f'[Application]\nname={application}\n[Instance]\ninstance-id=1\n')
            words = ['--ro-bind', '/usr', '/usr', '--ro-bind', '/etc', '/etc', '--bind', '/tmp', '/tmp', '--proc', '/proc']
            for name in ['bin', 'lib', 'lib64']:
                words += ['--symlink', 'usr/' + name, '/' + name]
            words += ['--dev', '/dev', '--ro-bind', 'info', '/.flatpak-info', '--chdir', os.getcwd()]
            script = 'from portal import *; response, secret = Application().retrieve(); print(response, secret.hex())'
            ran = subprocess.run(['bwrap', *words, '/usr/bin/python3', '-c', script], capture_output=True)
            assert ran.returncode == 0, ran.stderr.decode()
            response, _, digits = ran.stdout.decode().strip().partition(' ')
            return int(response), bytes.fromhex(digits)
        """#
}
