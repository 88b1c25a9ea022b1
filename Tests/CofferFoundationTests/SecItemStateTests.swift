import CofferCore
import CofferFoundation
import CofferTestSupport
import Foundation
import Testing

/// The accessibilities in each state, by the names of Security; and authentication.
@Suite struct SecItemStateTests {
    private static let values: [(String, Accessibility)] = [
        (kSecAttrAccessibleWhenUnlocked, .whenUnlocked), (kSecAttrAccessibleAfterFirstUnlock, .afterFirstUnlock),
        (kSecAttrAccessibleAlways, .always),
        (kSecAttrAccessibleWhenUnlockedThisDeviceOnly, .whenUnlockedThisDeviceOnly),
        (kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, .afterFirstUnlockThisDeviceOnly),
        (kSecAttrAccessibleAlwaysThisDeviceOnly, .alwaysThisDeviceOnly),
        (kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, .whenPasscodeSetThisDeviceOnly),
        (kSecAttrAccessibleWhenUnlockedDeposit, .whenUnlockedDeposit),
    ]

    private func item(_ account: String, _ more: [String: Any] = [:]) -> [String: Any] {
        [kSecClass: kSecClassGenericPassword, kSecAttrAccount: account].merging(more) { $1 }
    }

    private func secret(_ query: [String: Any]) -> (status: OSStatus, data: Data?) {
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query.merging([kSecReturnData: true]) { $1 } as CFDictionary, &result)
        return (status, result as? Data)
    }

    @Test(arguments: TestState.allCases)
    func `a secret is there, added and changed when its accessibility says so`(state: TestState) throws {
        let device = try TimedDevice(passcode: state == .noPasscode ? nil : DaemonProcess.passcode)
        let values = Self.values.filter { state != .noPasscode || $0.1 != .whenPasscodeSetThisDeviceOnly }
        try device.run {
            for (value, _) in values {
                let new = item("old \(value)", [kSecAttrAccessible: value, kSecValueData: Data(value.utf8)])
                #expect(SecItemAdd(new, nil) == errSecSuccess)
            }
            try device.bring(into: state)
            for (value, accessibility) in values {
                let isThere = accessibility.isAvailable(in: state.name)
                let isWritable = accessibility.permits(.create, in: state.name)
                let expected = isThere ? errSecSuccess : errSecInteractionNotAllowed
                let writing = isWritable ? errSecSuccess : errSecInteractionNotAllowed
                let found = secret(item("old \(value)"))
                #expect(found.status == expected, "\(value)")
                #expect(found.data == (isThere ? Data(value.utf8) : nil), "\(value)")
                let new = item("new \(value)", [kSecAttrAccessible: value, kSecValueData: Data([1])])
                #expect(SecItemAdd(new, nil) == writing, "\(value)")
                let again = item("old \(value)", [kSecAttrAccessible: value, kSecValueData: Data([1])])
                #expect(SecItemAdd(again, nil) == errSecDuplicateItem, "\(value)")
                let update = SecItemUpdate(item("old \(value)"), [kSecValueData: Data([2])])
                #expect(update == writing, "\(value)")
                #expect(secret(item("none")).status == errSecItemNotFound)
                // Before the first unlock, nobody knows whether its access control protects it against that.
                let isNamed = state != .beforeFirstUnlock || isThere
                let deleting = isNamed ? errSecSuccess : errSecInteractionNotAllowed
                #expect(SecItemDelete(item("old \(value)")) == deleting, "\(value)")
            }
        }
    }

    @Test func `of many, those that are there come, and the locked ones don't hide them`() throws {
        let device = try Device()
        try device.run {
            for (value, _) in Self.values {
                let new = item(value, [kSecAttrAccessible: value, kSecValueData: Data(value.utf8)])
                #expect(SecItemAdd(new, nil) == errSecSuccess)
            }
            func all(_ returns: [String: Any]) -> (status: OSStatus, items: [Any]?) {
                var result: CFTypeRef?
                let query: [String: Any] = [kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll]
                let status = SecItemCopyMatching(query.merging(returns) { $1 }, &result)
                return (status, result as? [Any])
            }
            try device.lock()
            #expect(all([kSecReturnData: true]).items?.count == 4)
            #expect(all([kSecReturnAttributes: true]).items?.count == 8)
            for value in ["ck", "cku", "dk", "dku"] { #expect(SecItemDelete(item(value)) == errSecSuccess) }
            #expect(all([kSecReturnData: true]).status == errSecInteractionNotAllowed)
            #expect(all([kSecReturnAttributes: true]).items?.count == 4)
        }
    }

    @Test func `an item that wants a passcode is refused in a vault without one`() throws {
        let device = try Device(passcode: nil)
        device.run {
            let new = item("a", [kSecAttrAccessible: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly])
            #expect(SecItemAdd(new, nil) == errSecAuthFailed)
        }
    }

    @Test func `a deposit has no access control`() throws {
        let device = try Device()
        try device.run {
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlockedDeposit, [.userPresence], nil)
            )
            #expect(SecItemAdd(item("a", [kSecAttrAccessControl: control]), nil) == errSecParam)
            let accessible = kSecAttrAccessibleWhenUnlockedDeposit
            let open = try #require(SecAccessControlCreateWithFlags(nil, accessible, [], nil))
            #expect(SecItemAdd(item("a", [kSecAttrAccessControl: open]), nil) == errSecSuccess)
        }
    }

    @Test func `an access control asks for what it names, on that call alone`() throws {
        let device = try Device()
        try device.run {
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [.devicePasscode], nil)
            )
            let new = item("a", [kSecAttrAccessControl: control, kSecValueData: Data("secret".utf8)])
            #expect(SecItemAdd(new, nil) == errSecSuccess)
            #expect(secret(item("a")).status == errSecInteractionRequired)
            let context = LAContext()
            context.setCredential(Data(DaemonProcess.passcode.utf8), type: .devicePasscode)
            #expect(secret(item("a", [kSecUseAuthenticationContext: context])).data == Data("secret".utf8))
            #expect(secret(item("a")).status == errSecInteractionRequired)
            context.setCredential(Data("wrong".utf8), type: .devicePasscode)
            #expect(secret(item("a", [kSecUseAuthenticationContext: context])).status == errSecAuthFailed)
            context.invalidate()
            #expect(!context.isCredentialSet(.devicePasscode))
            #expect(secret(item("a", [kSecUseAuthenticationContext: context])).status == errSecInteractionRequired)
            var result: CFTypeRef?
            let query = item("a", [kSecReturnAttributes: true])
            #expect(SecItemCopyMatching(query, &result) == errSecSuccess)
            #expect((result as? [String: Any])?[kSecAttrAccessControl] as? SecAccessControl == control)
            let open = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAfterFirstUnlock, [], nil))
            #expect(SecItemUpdate(item("a"), [kSecAttrAccessControl: open]) != errSecSuccess)
            context.setCredential(Data(DaemonProcess.passcode.utf8), type: .devicePasscode)
            let shown = item("a", [kSecUseAuthenticationContext: context])
            #expect(SecItemUpdate(shown, [kSecAttrAccessControl: open]) == errSecSuccess)
            #expect(secret(item("a")).status == errSecSuccess)
        }
    }

    @Test func `without a prompt, what wants authentication fails or is left out`() throws {
        let device = try Device()
        try device.run {
            let control = try #require(
                SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [.devicePasscode], nil)
            )
            let guarded = item("a", [kSecAttrAccessControl: control, kSecValueData: Data("secret".utf8)])
            #expect(SecItemAdd(guarded, nil) == errSecSuccess)
            #expect(
                secret(item("a", [kSecUseAuthenticationUI: kSecUseAuthenticationUIAllow])).status
                    == errSecInteractionRequired
            )
            let fail = [kSecUseAuthenticationUI: kSecUseAuthenticationUIFail]
            #expect(secret(item("a", fail)).status == errSecInteractionNotAllowed)
            let context = LAContext()
            context.interactionNotAllowed = true
            let silent = item("a", [kSecUseAuthenticationContext: context])
            #expect(secret(silent).status == errSecInteractionNotAllowed)
            #expect(
                SecItemUpdate(silent, [kSecAttrAccessible: kSecAttrAccessibleAlways]) == errSecInteractionNotAllowed
            )
            context.setCredential(Data(DaemonProcess.passcode.utf8), type: .devicePasscode)
            #expect(secret(silent).data == Data("secret".utf8))
            let skip: [String: Any] = [
                kSecClass: kSecClassGenericPassword, kSecUseAuthenticationUI: kSecUseAuthenticationUISkip,
            ]
            #expect(secret(skip).status == errSecItemNotFound)
            for name in ["b", "c"] {
                #expect(SecItemAdd(item(name, [kSecValueData: Data(name.utf8)]), nil) == errSecSuccess)
            }
            #expect(secret(skip).data == Data("b".utf8))
            var result: CFTypeRef?
            let all = skip.merging([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll]) { $1 }
            #expect(SecItemCopyMatching(all, &result) == errSecSuccess)
            #expect(result as? [Data] == ["b", "c"].map { Data($0.utf8) })
            #expect(SecItemDelete(skip) == errSecParam)
        }
    }

    @Test func `an application password and the passcode are presented together`() throws {
        let device = try Device()
        try device.run {
            let flags: SecAccessControlCreateFlags = [.applicationPassword, .devicePasscode, .and]
            let control = try #require(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, nil))
            let context = LAContext()
            context.setCredential(Data("its own".utf8), type: .applicationPassword)
            context.setCredential(Data(DaemonProcess.passcode.utf8), type: .devicePasscode)
            let new: [String: Any] = [
                kSecAttrAccessControl: control, kSecUseAuthenticationContext: context, kSecValueData: Data("x".utf8),
            ]
            #expect(SecItemAdd(item("a", new), nil) == errSecSuccess)
            #expect(secret(item("a", [kSecUseAuthenticationContext: context])).data == Data("x".utf8))
            context.setCredential(nil, type: .devicePasscode)
            #expect(secret(item("a", [kSecUseAuthenticationContext: context])).status == errSecInteractionRequired)
        }
    }

    @Test(arguments: [
        [.userPresence, .devicePasscode], [.or, .devicePasscode], SecAccessControlCreateFlags(rawValue: 8),
    ])
    func `an access control that can't be met is none`(flags: SecAccessControlCreateFlags) {
        var error: CFError?
        #expect(SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, flags, &error) == nil)
        #expect(error?.domain == NSOSStatusErrorDomain && error?.code == Int(errSecParam))
        #expect(SecAccessControlCreateWithFlags(nil, "never", [], nil) == nil)
    }
}
