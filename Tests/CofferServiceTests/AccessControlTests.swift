import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Access control and contexts: section 5 of the semantics.
@Suite struct AccessControlTests {
    private typealias Flags = Set<AccessControl.Flag>

    /// An unlocked vault and a connection to it.
    private struct Fixture {
        let clock = ManualClock()
        let server: TestServer
        let client: BlockingClient
        static let password = "the item's own"

        init(passcode: String? = DaemonProcess.passcode, in directory: TemporaryDirectory? = nil) throws {
            server = try TestServer(in: directory, graceSeconds: 0, clock: clock.clock)
            client = try server.connect()
            try client.makeVault(passcode: passcode)
        }

        func show(
            _ factor: AuthenticationFactor,
            _ text: String? = nil,
            reuse: Int = 0,
            on other: BlockingClient? = nil
        ) throws {
            let usual = factor == .passcode ? DaemonProcess.passcode : Self.password
            let typed: SecretBytes? = try SecretBytes((text ?? usual).utf8)
            try (other ?? client).authenticate(factor, typed, reuseSeconds: reuse)
        }

        func add(
            _ flags: Set<AccessControl.Flag>,
            _ account: String = "anna",
            _ itemClass: ItemClass = .genericPassword,
            accessible: Accessibility? = nil,
            generates: KeyType? = nil,
            extractable: Bool? = nil
        ) throws {
            if flags.contains(.applicationPassword) { try show(.applicationPassword) }
            var attributes: [KeychainAttribute: AttributeValue] =
                itemClass == .key ? [.label: .text(account)] : [.account: .text(account)]
            if let extractable { attributes[.isExtractable] = .bool(extractable) }
            let params = KeychainAddParameters(
                itemClass,
                attributes,
                accessibility: accessible,
                accessControl: try AccessControl(flags),
                generates: generates
            )
            let secret: SecretBytes? = generates == nil ? try SecretBytes("secret".utf8) : nil
            _ = try client.addKeychainItem(params, secret: secret)
        }

        func query(_ account: String = "anna") -> KeychainQuery {
            KeychainQuery(.genericPassword, [.account: .text(account)])
        }

        func read(_ account: String = "anna", on other: BlockingClient? = nil) throws -> String {
            let found = try (other ?? client).findKeychainItems(KeychainFindParameters(query(account)))
            return String(decoding: found.takePayload()?.exposeBytes() ?? [], as: UTF8.self)
        }

        func write(_ text: String, _ account: String = "anna") throws {
            let secret: SecretBytes? = try SecretBytes(text.utf8)
            _ = try client.updateKeychainItems(query(account), KeychainChange(), secret: secret)
        }

        func lock() throws { _ = try client.lock(graceSeconds: 0) }
    }

    /// The refusal of an operation; `nil` if it succeeds.
    private func refusal(_ body: () throws -> Void) throws -> CofferError? {
        do {
            try body()
            return nil
        } catch let error as CofferError {
            return error
        }
    }

    // MARK: The words

    @Test(arguments: [
        (["userPresence"], true), (["devicePasscode"], true), (["applicationPassword"], true),
        (["privateKeyUsage"], true), (["devicePasscode", "applicationPassword"], true),
        (["devicePasscode", "applicationPassword", "and"], true),
        (["userPresence", "applicationPassword", "or"], true),
        (["userPresence", "privateKeyUsage", "protectWrites"], true),
        (["devicePasscode", "applicationPassword", "or", "and"], false), (["userPresence", "devicePasscode"], false),
        (["userPresence", "devicePasscode", "applicationPassword", "or"], false), (["or"], false), (["and"], false),
        (["devicePasscode", "or"], false), (["devicePasscode", "privateKeyUsage", "or"], false),
        (["protectWrites"], false), (["privateKeyUsage", "protectWrites"], false), ([], false),
    ])
    func `words that make no sense together are refused`(words: [String], isGood: Bool) throws {
        let flags = try Set(words.map { try #require(AccessControl.Flag(rawValue: $0)) })
        let error = try refusal { _ = try AccessControl(flags) }
        #expect(error?.code == (isGood ? nil : .param))
    }

    // MARK: Factors and what they authenticate

    /// Flags, the presented factors, and the need that a read then reports.
    static let oracle: [(flags: Set<AccessControl.Flag>, shown: [AuthenticationFactor], need: AuthenticationNeed?)] = [
        ([.userPresence], [], .passcode), ([.userPresence], [.applicationPassword], .passcode),
        ([.userPresence], [.passcode], nil), ([.devicePasscode], [], .passcode), ([.devicePasscode], [.passcode], nil),
        ([.applicationPassword], [], .applicationPassword), ([.applicationPassword], [.passcode], .applicationPassword),
        ([.applicationPassword], [.applicationPassword], nil),
        ([.devicePasscode, .applicationPassword], [], .passcodeAndApplicationPassword),
        ([.devicePasscode, .applicationPassword], [.passcode], .applicationPassword),
        ([.devicePasscode, .applicationPassword, .and], [.applicationPassword], .passcode),
        ([.devicePasscode, .applicationPassword, .and], [.passcode, .applicationPassword], nil),
        ([.userPresence, .applicationPassword, .or], [], .passcodeOrApplicationPassword),
        ([.userPresence, .applicationPassword, .or], [.passcode], nil),
        ([.userPresence, .applicationPassword, .or], [.applicationPassword], nil),
    ]

    @Test(arguments: oracle)
    func `a secret is given when what its access control wants was shown`(
        flags: Set<AccessControl.Flag>,
        shown: [AuthenticationFactor],
        need: AuthenticationNeed?
    ) throws {
        let vault = try Fixture()
        try vault.add(flags)
        for factor in shown { try vault.show(factor) }
        let error = try refusal {
            let text = try vault.read()
            #expect(text == "secret")
        }
        #expect(error?.code == (need == nil ? nil : .interactionRequired))
        #expect(error?.need == need)
        // `item.get` requires the same authentication.
        for factor in shown { try vault.show(factor) }
        let byName = try refusal {
            let bytes = try vault.client.get("anna")
            #expect(bytes == Array("secret".utf8))
        }
        #expect(byName?.need == need)
        // Metadata requires no authentication.
        let item = try #require(try vault.client.keychainItems(vault.query()).items.first)
        #expect(item.accessControl?.flags == flags)
    }

    @Test func `a wrong application password is wrong, with and without another way`() throws {
        let vault = try Fixture()
        try vault.add([.applicationPassword], "and")
        try vault.add([.devicePasscode, .applicationPassword, .or], "or")
        for account in ["and", "or"] {
            try vault.show(.applicationPassword, "another")
            let error = try refusal { _ = try vault.read(account) }
            #expect(error?.code == .authFailed, "\(account)")
            try vault.show(.applicationPassword)
            #expect(try vault.read(account) == "secret")
        }
        try vault.show(.applicationPassword, "another")
        try vault.show(.passcode)
        #expect(try vault.read("or") == "secret")
    }

    @Test func `a wrong passcode counts, and shows nothing`() throws {
        let vault = try Fixture()
        try vault.add([.devicePasscode])
        let wrong = try refusal { try vault.show(.passcode, "wrong") }
        #expect(wrong?.code == .authFailed)
        #expect(try vault.client.status().failedAttempts == 1)
        #expect(try refusal { _ = try vault.read() }?.code == .interactionRequired)
        try vault.show(.passcode)
        #expect(try vault.client.status().failedAttempts == 0)
    }

    // MARK: Contexts

    @Test func `what is shown is good for one request if nothing is said`() throws {
        let vault = try Fixture()
        try vault.add([.devicePasscode])
        try vault.show(.passcode)
        #expect(try vault.read() == "secret")
        #expect(try refusal { _ = try vault.read() }?.code == .interactionRequired)
        try vault.show(.passcode)
        // Any other request uses up the authentication.
        _ = try vault.client.status()
        #expect(try refusal { _ = try vault.read() }?.code == .interactionRequired)
    }

    @Test func `what is shown can be reused for the time that was named, on its connection only`() throws {
        let vault = try Fixture()
        try vault.add([.devicePasscode])
        try vault.show(.passcode, reuse: 20)
        for _ in 0..<3 {
            #expect(try vault.read() == "secret")
            vault.clock.advance(by: 6)
        }
        let other = try vault.server.connect()
        #expect(try refusal { _ = try vault.read(on: other) }?.code == .interactionRequired)
        vault.clock.advance(by: 2)
        #expect(try refusal { _ = try vault.read() }?.code == .interactionRequired)
        let tooLong = try refusal { try vault.show(.passcode, reuse: Limits.contextSeconds + 1) }
        #expect(tooLong?.code == .param)
    }

    @Test func `a context ends when it is told to, and with every lock`() throws {
        let vault = try Fixture()
        try vault.add([.devicePasscode], accessible: .afterFirstUnlock)
        try vault.show(.passcode, reuse: 300)
        try vault.client.endContext()
        #expect(try refusal { _ = try vault.read() }?.code == .interactionRequired)
        try vault.show(.passcode, reuse: 300)
        try vault.lock()
        #expect(try refusal { _ = try vault.read() }?.code == .interactionRequired)
        try vault.client.unlock()
        #expect(try refusal { _ = try vault.read() }?.code == .interactionRequired)
        // While the vault is locked a client can authenticate for items that are readable then.
        try vault.lock()
        try vault.show(.passcode)
        #expect(try vault.read() == "secret")
        #expect(try vault.client.status().state == .locked)
    }

    @Test func `what was shown of a vault is not shown of the next one`() throws {
        let vault = try Fixture()
        try vault.show(.passcode, reuse: 300)
        let other = try vault.server.connect()
        try other.eraseWhateverIsThere()
        try other.makeVault(passcode: "another one")
        try vault.add([.devicePasscode])
        #expect(try refusal { _ = try vault.read() }?.code == .interactionRequired)
    }

    @Test func `locked comes first`() throws {
        let vault = try Fixture()
        try vault.add([.devicePasscode, .applicationPassword])
        try vault.lock()
        #expect(try refusal { _ = try vault.read() }?.code == .interactionNotAllowed)
        try vault.show(.passcode)
        #expect(try refusal { _ = try vault.read() }?.code == .interactionNotAllowed)
    }

    @Test func `a query for all gives what can be read, and counts what wants to be shown something`() throws {
        let vault = try Fixture()
        try vault.add([.devicePasscode], "a")
        try vault.add([.applicationPassword], "b")
        let plain: SecretBytes? = try SecretBytes("open".utf8)
        _ = try vault.client.addKeychainItem(
            KeychainAddParameters(.genericPassword, [.account: .text("c")]),
            secret: plain
        )
        let params = KeychainFindParameters(KeychainQuery(.genericPassword), limit: .all)
        let found = try vault.client.findKeychainItems(params).page
        #expect(found.items.count == 1)
        #expect(found.unauthenticatedCount == 2)
        #expect(found.lockedCount == 0)
        try vault.show(.passcode)
        #expect(try vault.client.findKeychainItems(params).page.items.count == 2)
        // An application password that is wrong for one item does not hide the others.
        try vault.show(.applicationPassword, "another")
        #expect(try vault.client.findKeychainItems(params).page.unauthenticatedCount == 2)
    }

    // MARK: Changing

    @Test func `writing and deleting are free, unless they are protected`() throws {
        let vault = try Fixture()
        try vault.add([.devicePasscode], "free")
        try vault.add([.devicePasscode, .protectWrites], "guarded")
        try vault.write("new", "free")
        #expect(try vault.client.deleteKeychainItems(vault.query("free")) == 1)
        #expect(try refusal { try vault.write("new", "guarded") }?.need == .passcode)
        let byName = try refusal { _ = try vault.client.put("guarded", Array("new".utf8)) }
        #expect(byName?.code == .interactionRequired)
        #expect(try refusal { try vault.client.remove(try ItemName("guarded")) }?.code == .interactionRequired)
        #expect(try refusal { _ = try vault.client.deleteKeychainItems(vault.query("guarded")) }?.need == .passcode)
        let label = KeychainChange(attributes: [.label: .text("x")])
        #expect(try refusal { _ = try vault.client.updateKeychainItems(vault.query("guarded"), label) } != nil)
        try vault.show(.passcode)
        try vault.write("new", "guarded")
        let former = try #require(try vault.client.keychainHistory(of: vault.query("guarded")).first).number
        #expect(
            try refusal { try vault.client.restoreFormerValue(former, of: vault.query("guarded")) }?.need == .passcode
        )
        try vault.show(.passcode)
        #expect(try vault.read("guarded") == "new")
        try vault.show(.passcode)
        #expect(try vault.client.deleteKeychainItems(vault.query("guarded")) == 1)
    }

    @Test func `a new secret is bound to the same application password, and so are the former ones`() throws {
        let vault = try Fixture()
        for flags: Flags in [[.applicationPassword], [.devicePasscode, .applicationPassword]] {
            let account = "\(flags.count)"
            try vault.add(flags, account)
            #expect(try refusal { try vault.write("new", account) }?.need == .applicationPassword)
            try vault.show(.applicationPassword, "another")
            #expect(try refusal { try vault.write("new", account) }?.code == .authFailed)
            try vault.show(.applicationPassword)
            try vault.write("new", account)
            try vault.show(.applicationPassword)
            try vault.show(.passcode)
            #expect(try vault.read(account) == "new")
            let values = try vault.client.keychainHistory(of: vault.query(account))
            let number = try #require(values.first).number
            let refused = try refusal { _ = try vault.client.formerValue(number, of: vault.query(account)) }
            #expect(refused?.code == .interactionRequired)
            try vault.show(.applicationPassword)
            try vault.show(.passcode)
            let former = try vault.client.formerValue(number, of: vault.query(account))
            let bytes = former?.exposeBytes()
            #expect(bytes == Array("secret".utf8))
        }
        // With `or`, the password is kept although it was not presented.
        try vault.add([.devicePasscode, .applicationPassword, .or], "or")
        try vault.write("new", "or")
        try vault.show(.applicationPassword)
        #expect(try vault.read("or") == "new")
    }

    @Test func `another access control, and another accessibility, want all that reading wants`() throws {
        let vault = try Fixture()
        try vault.add([.devicePasscode])
        let none = KeychainChange(removesAccessControl: true)
        let weaker = KeychainChange(accessibility: .always)
        for change in [none, weaker] {
            let error = try refusal { _ = try vault.client.updateKeychainItems(vault.query(), change) }
            #expect(error?.need == .passcode)
        }
        let name = try ItemName("anna")
        let byName = try refusal { _ = try vault.client.protect(name, as: .keychain(.always)) }
        #expect(byName?.need == .passcode)
        try vault.show(.passcode)
        _ = try vault.client.protect(name, as: .keychain(.afterFirstUnlock))
        try vault.show(.passcode)
        _ = try vault.client.updateKeychainItems(vault.query(), none)
        #expect(try vault.read() == "secret")
    }

    @Test(arguments: oracle.filter { $0.need == nil })
    func `an access control can be put in and taken out, and the history comes along`(
        flags: Set<AccessControl.Flag>,
        shown: [AuthenticationFactor],
        need: AuthenticationNeed?
    ) throws {
        let vault = try Fixture()
        let plain: SecretBytes? = try SecretBytes("first".utf8)
        let params = KeychainAddParameters(.genericPassword, [.account: .text("anna")])
        _ = try vault.client.addKeychainItem(params, secret: plain)
        try vault.write("second")
        if flags.contains(.applicationPassword) { try vault.show(.applicationPassword) }
        let change = KeychainChange(accessControl: try AccessControl(flags))
        _ = try vault.client.updateKeychainItems(vault.query(), change)
        #expect(try refusal { _ = try vault.read() }?.code == .interactionRequired)
        for factor in shown { try vault.show(factor) }
        #expect(try vault.read() == "second")
        for factor in shown { try vault.show(factor) }
        let values = try vault.client.keychainHistory(of: vault.query())
        #expect(values.count == 1)
        for factor in shown { try vault.show(factor) }
        let former = try vault.client.formerValue(values[0].number, of: vault.query())
        let bytes = former?.exposeBytes()
        #expect(bytes == Array("first".utf8))
        for factor in shown { try vault.show(factor) }
        _ = try vault.client.updateKeychainItems(vault.query(), KeychainChange(removesAccessControl: true))
        #expect(try vault.read() == "second")
        let bare = try vault.client.formerValue(values[0].number, of: vault.query())
        let bareBytes = bare?.exposeBytes()
        #expect(bareBytes == Array("first".utf8))
    }

    @Test func `an item with an access control is not made a file by a put`() throws {
        let vault = try Fixture()
        try vault.add([.devicePasscode])
        try vault.show(.passcode)
        let error = try refusal {
            _ = try vault.client.put("anna", [UInt8](repeating: 1, count: 40_000)) { $0.store = .file }
        }
        #expect(error?.code == .param)
        try vault.show(.passcode)
        #expect(try vault.read() == "secret")
    }

    // MARK: Keys

    @Test func `a private key is used when what it wants was shown, and not without the right word`() throws {
        let vault = try Fixture()
        try vault.add([.devicePasscode, .privateKeyUsage], "sign", .key, generates: .ed25519)
        try vault.add([.devicePasscode], "read", .key, generates: .ed25519, extractable: true)
        let message = Array("m".utf8)
        let usable = KeychainQuery(.key, [.label: .text("sign")])
        #expect(try refusal { _ = try vault.client.sign(message, with: usable) }?.need == .passcode)
        try vault.show(.passcode)
        #expect(try vault.client.sign(message, with: usable).count == 64)
        try vault.show(.passcode)
        let readable = KeychainQuery(.key, [.label: .text("read")])
        #expect(try refusal { _ = try vault.client.sign(message, with: readable) }?.code == .missingEntitlement)
        let useless = try refusal { try vault.add([.devicePasscode], "useless", .key, generates: .ed25519) }
        #expect(useless?.code == .param)
        #expect(try refusal { try vault.add([.privateKeyUsage], "password") }?.code == .param)
        try vault.add([.privateKeyUsage], "free", .key, generates: .ed25519)
        #expect(try vault.client.sign(message, with: KeychainQuery(.key, [.label: .text("free")])).count == 64)
    }

    // MARK: Without a passcode

    @Test func `without a passcode nothing that wants it can be added, and an application password is enough`() throws {
        let vault = try Fixture(passcode: nil)
        #expect(try refusal { try vault.add([.userPresence]) }?.code == .authFailed)
        #expect(try refusal { try vault.show(.passcode, "p") }?.code == .notAvailable)
        try vault.add([.applicationPassword])
        #expect(try refusal { _ = try vault.read() }?.need == .applicationPassword)
        try vault.show(.applicationPassword)
        #expect(try vault.read() == "secret")
    }

    @Test func `an item that wants the passcode outlives it, and is read when there is one again`() throws {
        let vault = try Fixture()
        try vault.add([.devicePasscode])
        let typed: SecretBytes? = try SecretBytes(DaemonProcess.passcode.utf8)
        _ = try vault.client.removePasscode(with: typed, destroying: 0)
        #expect(try refusal { _ = try vault.read() }?.code == .authFailed)
        let new: SecretBytes? = try SecretBytes("new".utf8)
        _ = try vault.client.setPasscode(new, kdf: .interactive)
        try vault.show(.passcode, "new")
        #expect(try vault.read() == "secret")
    }

    @Test func `an item keeps its access control over a restart`() throws {
        let directory = try TemporaryDirectory()
        do {
            let vault = try Fixture(in: directory)
            try vault.add([.devicePasscode, .applicationPassword, .or])
        }
        let server = try TestServer(in: directory)
        let client = try server.connect()
        try client.unlock()
        let params = KeychainFindParameters(KeychainQuery(.genericPassword, [.account: .text("anna")]))
        #expect(try refusal { _ = try client.findKeychainItems(params) }?.need == .passcodeOrApplicationPassword)
        let password: SecretBytes? = try SecretBytes(Fixture.password.utf8)
        try client.authenticate(.applicationPassword, password)
        let found = try client.findKeychainItems(params).takePayload()?.exposeBytes()
        #expect(found == Array("secret".utf8))
        withExtendedLifetime(server) {}
    }
}
