import CofferTestSupport
import Foundation
import Testing

/// The prompts of the Secret Service: a person is asked for the passcode in the name of a program.
@Suite struct SecretPromptTests {
    private let pinentry: FakePinentry
    private let service: SecretServiceProcess

    /// What the scripts have beside `calls.py`: what the pinentry was told, and an unlock by a prompt.
    private static let words = #"""
        import threading
        FOLDER, DAEMON = sys.argv[1], int(sys.argv[2])
        VAULT = '/org/coffer/Vault'

        def lines(name):
            with open(f'{FOLDER}/{name}') as file:
                return file.read().splitlines()

        def is_shown():
            return lines('log')[-1:] == ['GETPIN']

        def has_ended():
            return not any(os.path.exists(f'/proc/{pid}') for pid in lines('pids'))

        def unlock_prompt(bus):
            unlocked, prompt = bus.call(ROOT, 'Service.Unlock', 'ao', [LOGIN])
            assert unlocked == [] and prompt != '/', (unlocked, prompt)
            return prompt

        def show(bus, prompt):
            bus.call(prompt, 'Prompt.Prompt', 's', '')

        def send(bus, path, name, interface, member, *body):
            "Calls without waiting for the answer, which may not come."
            bus.connection.send(new_method_call(DBusAddress(path, name, interface), member, *body))

        def state(bus):
            words = ('org.coffer.Vault', 'State')
            return bus.call(VAULT, 'Properties.Get', 'ss', *words, service='org.coffer.Vault')[1]

        watcher = Bus()

        def lock():
            coffer('lock', '--now')
            settles(lambda: state(watcher) == 'locked')

        """#

    init() throws {
        pinentry = try FakePinentry()
        service = try SecretServiceProcess(variables: pinentry.variables)
    }

    private func perform(_ script: String, answering answers: [String]) throws {
        try pinentry.answer(answers)
        let arguments = [pinentry.directory.path, "\(service.daemon.processID)"]
        try service.perform("\(Self.words)\n\(script)", arguments)
    }

    @Test func `a program gets a secret of a locked vault once the passcode is right`() throws {
        let script = #"""
            tool('store', '--label=Mail', 'user', 'ann', input=b's3cret')
            lock()
            assert tool('lookup', 'user', 'ann') == b's3cret'
            assert coffer('status').startswith('state:     unlocked')
            """#
        try perform(script, answering: ["wrong", DaemonProcess.passcode])
        let asker = "'/usr/bin/secret-tool' asks to unlock the vault."
        #expect(pinentry.told("SETDESC") == [asker, asker])
        #expect(pinentry.told("SETERROR").count == 1)
        #expect(pinentry.told("SETERROR").first?.hasPrefix("Can't open the vault: wrong passcode") == true)
    }

    @Test func `a program finds nothing if the person cancels, and the vault stays locked`() throws {
        let script = #"""
            tool('store', '--label=Mail', 'user', 'ann', input=b's3cret')
            lock()
            assert tool('lookup', 'user', 'ann') is None
            assert coffer('status').startswith('state:     locked')
            """#
        try perform(script, answering: ["cancel"])
        #expect(pinentry.count == 1)
    }

    @Test func `a prompt is its client's alone, is shown once, and ends when the client dismisses it`() throws {
        let script = #"""
            bus, other = Bus(), Bus()
            bus.listen()
            lock()
            prompt = unlock_prompt(bus)
            assert other.answer(prompt, 'Prompt.Prompt', 's', '') == 'UnknownObject'
            show(bus, prompt)
            show(bus, prompt)
            settles(is_shown)
            assert other.answer(prompt, 'Prompt.Dismiss') == 'UnknownObject'
            assert is_shown()
            bus.call(prompt, 'Prompt.Dismiss')
            dismissed, result = bus.until('Completed', prompt)
            assert dismissed and result == ('ao', []), (dismissed, result)
            assert bus.answer(prompt, 'Prompt.Prompt', 's', '') == 'UnknownObject'
            settles(has_ended)
            assert state(bus) == 'locked'
            """#
        try perform(script, answering: [FakePinentry.waiting])
        #expect(pinentry.count == 1)
    }

    @Test func `a question ends when the last client that waits for it has left the bus`() throws {
        let script = #"""
            lock()
            one, two, three = Bus(), Bus(), Bus()
            show(one, unlock_prompt(one))
            settles(is_shown)
            # Neither of these waits for a signal: the answer itself is late.
            send(two, VAULT, 'org.coffer.Vault', 'org.coffer.Vault', 'Unlock', 's', ('',))
            assert state(two) == 'locked'
            one.connection.close()
            bus = ('/org/freedesktop/DBus', 'org.freedesktop.DBus.NameHasOwner', 's', one.name)
            settles(lambda: not three.call(*bus, service='org.freedesktop.DBus'))
            assert state(three) == 'locked' and not has_ended()
            two.connection.close()
            settles(has_ended)
            assert state(three) == 'locked'
            """#
        try perform(script, answering: [FakePinentry.waiting])
        #expect(pinentry.count == 1)
    }

    @Test func `a program's seventeenth question is refused in words, and no other program's`() throws {
        let script = #"""
            lock()
            bus, other = Bus(), Bus()
            for _ in range(16):
                send(bus, VAULT, 'org.coffer.Vault', 'org.coffer.Vault', 'Unlock', 's', ('',))
            settles(is_shown)
            try:
                bus.call(VAULT, 'org.coffer.Vault.Unlock', 's', '', service='org.coffer.Vault')
                assert False
            except Refused as refused:
                text = '16 questions of this program wait for an answer; answer or cancel the one that is shown'
                assert (refused.name, refused.text) == ('Failed', text), refused
            show(other, unlock_prompt(other))
            assert state(other) == 'locked' and not has_ended()
            """#
        try perform(script, answering: [FakePinentry.waiting])
        #expect(pinentry.count == 1)
    }

    @Test func `programs that ask at once share one prompt, which an unlock elsewhere ends`() throws {
        let script = #"""
            lock()
            clients = [Bus(), Bus()]
            prompts = []
            for bus in clients:
                bus.listen()
                prompts.append(unlock_prompt(bus))
                show(bus, prompts[-1])
            settles(is_shown)
            unlock()
            for bus, prompt in zip(clients, prompts):
                dismissed, result = bus.until('Completed', prompt)
                assert not dismissed and result == ('ao', [LOGIN]), (dismissed, result)
            settles(has_ended)
            """#
        try perform(script, answering: [FakePinentry.waiting])
        #expect(pinentry.count == 1)
    }

    @Test func `a prompt of a vault that was unlocked since asks nobody`() throws {
        let script = #"""
            bus = Bus()
            bus.listen()
            lock()
            prompt = unlock_prompt(bus)
            unlock()
            settles(lambda: state(bus) == 'unlocked')
            show(bus, prompt)
            dismissed, result = bus.until('Completed', prompt)
            assert not dismissed and result == ('ao', [LOGIN]), (dismissed, result)
            """#
        try perform(script, answering: ["cancel"])
        #expect(pinentry.count == 0)
    }

    @Test func `the bus is served while a passcode is tried`() throws {
        let script = #"""
            import signal
            bus, asking = Bus(), Bus()
            asking.listen()
            lock()
            prompt = unlock_prompt(asking)
            os.kill(DAEMON, signal.SIGSTOP)
            try:
                show(asking, prompt)
                # The pinentry ends when its answer was taken, and then the daemon is asked, which does not answer.
                settles(lambda: lines('log')[-1:] == ['taken'])
                assert state(bus) == 'locked'
            finally:
                os.kill(DAEMON, signal.SIGCONT)
            dismissed, result = asking.until('Completed', prompt)
            assert not dismissed, result
            """#
        try perform(script, answering: [DaemonProcess.passcode])
    }

    @Test func `without a pinentry a prompt is dismissed, and the service says why`() throws {
        let empty = try TemporaryDirectory()
        let service = try SecretServiceProcess(variables: ["PATH": empty.path, "DISPLAY": ":0"])
        let script = #"""
            bus = Bus()
            bus.listen()
            lock()
            prompt = unlock_prompt(bus)
            show(bus, prompt)
            dismissed, result = bus.until('Completed', prompt)
            assert dismissed and result == ('ao', []), (dismissed, result)
            try:
                bus.call(VAULT, 'org.coffer.Vault.Unlock', 's', '', service='org.coffer.Vault')
                assert False, 'it is locked'
            except Refused as refused:
                assert "'pinentry' can't be started" in refused.text, refused
            """#
        let arguments = [empty.path, "\(service.daemon.processID)"]
        try service.perform("\(Self.words)\n\(script)", arguments)
        #expect(service.errors.contains("can't ask: 'pinentry' can't be started"))
    }
}

extension SecretPromptTests {
    /// An item that wants the passcode each time, and one that does not.
    private static let careful = #"""
        bus = Bus()
        session = bus.open()
        plain = bus.create('Plain', {'user': 'bob'}, b'plain', session)
        coffer('put', 'careful', '--access-control', 'userPresence', '--group', 'collection:login', input=b'x')
        item = LOGIN + '/careful'
        settles(lambda: item in bus.search({})[0])

        """#

    @Test func `an item with an access control is read once the person gives the passcode, each time`() throws {
        let script = #"""
            bus.set(item, 'Item', 'Attributes', 'a{ss}', {'user': 'ann'})
            assert bus.secret(item, session) == b'x'
            assert tool('lookup', 'user', 'ann') == b'x'
            assert bus.answer(item, 'Item.GetSecret', 'o', session) == 'IsLocked'
            assert bus.call(ROOT, 'Service.GetSecrets', 'aoo', [item], session) == {}
            assert len(lines('pids')) == 5
            """#
        let answers = ["wrong", DaemonProcess.passcode, DaemonProcess.passcode, "cancel", "cancel"]
        try perform(Self.careful + script, answering: answers)
        let questions = pinentry.told("SETDESC")
        #expect(questions.count == 5)
        #expect(questions.allSatisfy { $0.hasSuffix(" asks to read 'careful', which needs the passcode.") })
        #expect(questions.dropFirst(2).first?.hasPrefix("'/usr/bin/secret-tool'") == true)
        #expect(pinentry.told("SETERROR").count == 1)
    }

    @Test func `of several items those that want the passcode are left out, and nobody is asked`() throws {
        let script = #"""
            secrets = bus.call(ROOT, 'Service.GetSecrets', 'aoo', [item, plain], session)
            assert list(secrets) == [plain], secrets
            assert bus.secret(plain, session) == b'plain'
            """#
        try perform(Self.careful + script, answering: ["cancel"])
        #expect(pinentry.count == 0)
    }

    @Test func `a lock ends the question for an item`() throws {
        let script = #"""
            other = Bus()
            own = other.open()
            answers = []
            thread = threading.Thread(target=lambda: answers.append(other.answer(item, 'Item.GetSecret', 'o', own)))
            thread.start()
            settles(is_shown)
            lock()
            thread.join()
            assert answers == ['IsLocked'], answers
            settles(has_ended)
            """#
        try perform(Self.careful + script, answering: [FakePinentry.waiting])
    }

    @Test func `the question for an item ends when its client has left the bus`() throws {
        let script = #"""
            other = Bus()
            words = ('org.freedesktop.secrets', 'org.freedesktop.Secret.Item', 'GetSecret')
            send(other, item, *words, 'o', (other.open(),))
            settles(is_shown)
            other.connection.close()
            settles(has_ended)
            assert bus.secret(plain, session) == b'plain'
            """#
        try perform(Self.careful + script, answering: [FakePinentry.waiting])
    }
}
