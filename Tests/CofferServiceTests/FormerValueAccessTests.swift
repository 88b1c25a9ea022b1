import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Testing

/// The former values of a secret that wants an authentication of each connection.
@Suite struct FormerValueAccessTests {
    private let server: TestServer
    private let client: BlockingClient
    private let query = KeychainQuery(.genericPassword, [.account: .text("tok")])

    init() throws {
        server = try TestServer()
        client = try server.connect()
        try client.makeVault(passcode: DaemonProcess.passcode)
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
