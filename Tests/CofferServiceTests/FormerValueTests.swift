import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Testing

/// The former values of a secret whose item changes its accessibility.
@Suite struct FormerValueTests {
    private let server: TestServer
    private let client: BlockingClient
    private let query = KeychainQuery(.genericPassword, [.account: .text("tok")])

    init() throws {
        server = try TestServer()
        client = try server.connect()
        try client.makeVault(passcode: DaemonProcess.passcode)
    }

    private func put(_ text: String, _ accessibility: Accessibility) throws {
        try client.put("tok", Array(text.utf8)) {
            $0.kind = .token
            $0.accessibility = accessibility
        }
    }

    private func former() throws -> [String] {
        try client.keychainHistory(of: query).map { value in
            String(decoding: try client.formerValue(value.number, of: query)?.exposeBytes() ?? [], as: UTF8.self)
        }
    }

    private func findings() throws -> [Finding] {
        var found: [Finding] = []
        var cursor: String?
        repeat {
            let page = try client.checkVault(cursor: cursor)
            found += page.findings
            cursor = page.cursor
        } while cursor != nil
        return found
    }

    @Test func `puts of another accessibility keep every former value, and what comes after them`() throws {
        try put("1", .whenUnlocked)
        try put("2", .afterFirstUnlock)
        try put("3", .whenUnlockedThisDeviceOnly)
        #expect(try former() == ["2", "1"])
        #expect(try findings() == [])
        _ = try client.protect(try ItemName("tok"), as: .keychain(.always))
        let secret: SecretBytes? = try SecretBytes("4".utf8)
        let change = KeychainChange(accessibility: .afterFirstUnlockThisDeviceOnly)
        _ = try client.updateKeychainItems(query, change, secret: secret)
        #expect(try former() == ["3", "2", "1"])
        let first = try #require(try client.keychainHistory(of: query).last)
        try client.restoreFormerValue(first.number, of: query)
        #expect(try client.get("tok") == Array("1".utf8))
        #expect(try former() == ["4", "3", "2", "1"])
        #expect(try findings() == [])
    }

    @Test func `an item that went through the file store has its whole history`() throws {
        try put("1", .whenUnlocked)
        try put("2", .afterFirstUnlock)
        try client.put("tok", Array("a file".utf8)) { $0.store = .file }
        try client.put("tok", Array("3".utf8)) { $0.store = .keychain }
        try put("4", .afterFirstUnlock)
        #expect(try former() == ["3", "a file", "2", "1"])
        #expect(try findings() == [])
    }

    @Test func `no former value is given while the item is locked, or the value`() throws {
        try put("1", .whenUnlocked)
        try put("2", .afterFirstUnlock)
        let values = try client.keychainHistory(of: query)
        _ = try client.lock(graceSeconds: 0)
        // The former value has the class of its item now.
        #expect(try former() == ["1"])
        try client.unlock()
        _ = try client.protect(try ItemName("tok"), as: .keychain(.whenUnlocked))
        _ = try client.lock(graceSeconds: 0)
        #expect(try client.keychainHistory(of: query).count == values.count)
        #expect(try Outcome { _ = try client.formerValue(values[0].number, of: query) } == .locked)
    }

    @Test(arguments: [
        Set([AccessControl.Flag.applicationPassword]), [.devicePasscode, .applicationPassword, .or],
        [.devicePasscode, .applicationPassword],
    ])
    func `former values stay bound to the application password in another class`(
        flags: Set<AccessControl.Flag>
    ) throws {
        func show() throws {
            let password: SecretBytes? = try SecretBytes("the item's own".utf8)
            try client.authenticate(.applicationPassword, password, reuseSeconds: 0)
            if flags.contains(.or) { return }
            let passcode: SecretBytes? = try SecretBytes(DaemonProcess.passcode.utf8)
            try client.authenticate(.passcode, passcode, reuseSeconds: 0)
        }
        let params = KeychainAddParameters(
            .genericPassword,
            [.account: .text("tok")],
            accessibility: .whenUnlocked,
            accessControl: try AccessControl(flags)
        )
        let first: SecretBytes? = try SecretBytes("first".utf8)
        try show()
        _ = try client.addKeychainItem(params, secret: first)
        let second: SecretBytes? = try SecretBytes("second".utf8)
        try show()
        _ = try client.updateKeychainItems(query, KeychainChange(accessibility: .always), secret: second)
        try show()
        _ = try client.protect(try ItemName("tok"), as: .keychain(.afterFirstUnlock))
        let number = try #require(try client.keychainHistory(of: query).first).number
        let refused = try Outcome { _ = try client.formerValue(number, of: query) }
        #expect(refused == .refused(.interactionRequired))
        try show()
        let former = try client.formerValue(number, of: query)?.exposeBytes()
        #expect(former == Array("first".utf8))
    }
}
