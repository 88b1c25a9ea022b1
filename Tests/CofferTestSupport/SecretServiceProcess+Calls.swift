extension SecretServiceProcess {
    /// What the scripts of the tests import: calls of the Secret Service without a library that knows it.
    static let calls = #"""
        import os, subprocess, sys, time
        from jeepney import DBusAddress, HeaderFields, MessageType, new_method_call
        from jeepney.io.blocking import open_dbus_connection

        ROOT = '/org/freedesktop/secrets'
        LOGIN = ROOT + '/collection/login'
        SESSION = ROOT + '/collection/session'


        class Refused(Exception):
            "The last word of the name of an error, and its text."

            def __init__(self, reply):
                self.name = reply.header.fields[HeaderFields.error_name].split('.')[-1]
                self.text = reply.body[0] if reply.body else ''
                super().__init__(f'{self.name}: {self.text}')


        def interface(word):
            if '.' in word:
                return word
            own = ['Service', 'Collection', 'Item', 'Session', 'Prompt']
            return ('org.freedesktop.Secret.' if word in own else 'org.freedesktop.DBus.') + word


        class Bus:
            "A connection to the bus, as a client has one."

            def __init__(self):
                self.connection = open_dbus_connection(bus='SESSION')
                self.name = self.connection.unique_name

            def call(self, path, method, signature=None, *body, service='org.freedesktop.secrets'):
                word, _, member = method.rpartition('.')
                address = DBusAddress(path, service, interface(word) if word else None)
                message = new_method_call(address, member, signature, body)
                reply = self.connection.send_and_get_reply(message, timeout=240)
                if reply.header.message_type == MessageType.error:
                    raise Refused(reply)
                return reply.body[0] if len(reply.body) == 1 else reply.body

            def answer(self, *call):
                "The name of the error of a call; None if it succeeds."
                try:
                    self.call(*call)
                except Refused as refused:
                    return refused.name

            def get(self, path, word, name):
                return self.call(path, 'Properties.Get', 'ss', interface(word), name)[1]

            def set(self, path, word, name, signature, value):
                self.call(path, 'Properties.Set', 'ssv', interface(word), name, (signature, value))

            def open(self):
                return self.call(ROOT, 'Service.OpenSession', 'sv', 'plain', ('s', ''))[1]

            def create(self, label, attributes, secret, session, into=LOGIN, replace=False, type='text/plain'):
                "Stores an item in a plain session, and returns its path."
                properties = {
                    'org.freedesktop.Secret.Item.Label': ('s', label),
                    'org.freedesktop.Secret.Item.Attributes': ('a{ss}', attributes),
                }
                value = (session, b'', secret, type)
                item, prompt = self.call(into, 'Collection.CreateItem', 'a{sv}(oayays)b', properties, value, replace)
                assert prompt == '/', prompt
                return item

            def secret(self, item, session):
                return bytes(self.call(item, 'Item.GetSecret', 'o', session)[2])

            def search(self, attributes):
                return self.call(ROOT, 'Service.SearchItems', 'a{ss}', attributes)

            def listen(self):
                "Has the bus pass on the signals of the service."
                rule = "type='signal',sender='org.freedesktop.secrets'"
                self.call('/org/freedesktop/DBus', 'org.freedesktop.DBus.AddMatch', 's', rule, service='org.freedesktop.DBus')

            def until(self, member, path, is_wanted=lambda body: True):
                "Waits for a signal of an object, and returns its arguments."
                while True:
                    message = self.connection.receive(timeout=240)
                    fields = message.header.fields
                    if message.header.message_type != MessageType.signal:
                        continue
                    if (fields[HeaderFields.member], fields[HeaderFields.path]) == (member, path) and is_wanted(message.body):
                        return message.body[0] if len(message.body) == 1 else message.body


        def settles(condition):
            end = time.monotonic() + 240
            while not condition():
                assert time.monotonic() < end, 'it does not settle'
                time.sleep(0.01)


        def coffer(*words, input=b'', passcode=None):
            "Runs the command, and returns what it prints."
            options, ends = [], ()
            if passcode:
                ends = os.pipe()
                os.write(ends[1], passcode.encode())
                os.close(ends[1])
                options, ends = ['--passcode-fd', str(ends[0])], ends[:1]
            ran = subprocess.run([os.environ['COFFER'], *words, *options], input=input, capture_output=True, pass_fds=ends)
            assert ran.returncode == 0, ran.stderr.decode()
            return ran.stdout.decode()


        def lock():
            coffer('lock', '--now')


        def unlock():
            coffer('unlock', passcode='correct horse battery staple')


        def tool(*words, input=b''):
            "Runs secret-tool, and returns what it prints; None if it finds nothing."
            ran = subprocess.run(['secret-tool', *words], input=input, capture_output=True)
            assert not ran.stderr.decode().startswith('secret-tool:'), ran.stderr.decode()
            return ran.stdout if ran.returncode == 0 else None
        """#
}
