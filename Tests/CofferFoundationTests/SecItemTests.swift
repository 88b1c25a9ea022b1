import CofferClient
import CofferCore
import CofferFoundation
import CofferTestSupport
import Foundation
import Testing

/// The calls on the keychain: what they take, what they give, and what they refuse.
@Suite struct SecItemTests {
    private let device: Device
    private let item: [String: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrAccount: "anna", kSecAttrService: "mail",
    ]

    init() throws { device = try Device(passcode: nil) }

    private func add(_ more: [String: Any] = [:]) -> OSStatus {
        SecItemAdd(item.merging([kSecValueData: Data("secret".utf8)]) { $1 }.merging(more) { $1 } as CFDictionary, nil)
    }

    private func find(_ more: [String: Any]) -> (status: OSStatus, result: CFTypeRef?) {
        var result: CFTypeRef?
        let status = SecItemCopyMatching(item.merging(more) { $1 } as CFDictionary, &result)
        return (status, result)
    }

    @Test func `an item is added, found, changed and deleted`() {
        device.run {
            #expect(add() == errSecSuccess)
            #expect(add() == errSecDuplicateItem)
            #expect(find([kSecReturnData: true]).result as? Data == Data("secret".utf8))
            #expect(SecItemUpdate(item, [kSecValueData: Data("other".utf8), kSecAttrLabel: "Post"]) == errSecSuccess)
            #expect(find([kSecReturnData: kCFBooleanTrue!]).result as? Data == Data("other".utf8))
            #expect(SecItemUpdate(item, [kSecValueData: Data()]) == errSecSuccess)
            #expect(find([kSecReturnData: kCFBooleanTrue!]).result as? Data == Data())
            let query: [String: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrLabel: "Post"]
            #expect(SecItemDelete(query) == errSecSuccess)
            #expect(find([:]).status == errSecItemNotFound)
            var result: CFTypeRef? = "left over"
            #expect(SecItemCopyMatching(item.merging([kSecReturnData: true]) { $1 }, &result) == errSecItemNotFound)
            #expect(result == nil)
            #expect(SecItemUpdate(item, [kSecAttrLabel: "a"]) == errSecItemNotFound)
            #expect(SecItemDelete(item) == errSecItemNotFound)
        }
    }

    @Test func `each kind of result has the form that it has on iOS`() throws {
        try device.run {
            #expect(add([kSecAttrGeneric: Data([1]), kSecAttrIsInvisible: true, kSecAttrCreator: 7]) == errSecSuccess)
            let nothing = find([:])
            #expect(nothing.status == errSecSuccess && nothing.result == nil)
            let reference = try #require(find([kSecReturnRef: true]).result as? SecItemReference)
            let persistent = try #require(find([kSecReturnPersistentRef: true]).result as? Data)
            let attributes = try #require(find([kSecReturnAttributes: true]).result as? [String: Any])
            #expect(attributes[kSecAttrAccount] as? String == "anna")
            #expect(attributes[kSecAttrGeneric] as? Data == Data([1]))
            #expect(attributes[kSecAttrIsInvisible] as? Bool == true)
            #expect(attributes[kSecAttrCreator] as? Int == 7)
            #expect(attributes[kSecAttrAccessible] as? String == kSecAttrAccessibleWhenUnlocked)
            #expect(attributes[kSecAttrSynchronizable] as? Bool == false)
            #expect(attributes[kSecClass] as? String == kSecClassGenericPassword)
            let age = (attributes[kSecAttrCreationDate] as? Date)?.timeIntervalSinceNow ?? .infinity
            #expect(age <= 0)
            #expect(attributes[kSecValueData] == nil && attributes[kSecValueRef] == nil)
            let both = try #require(find([kSecReturnAttributes: true, kSecReturnData: true]).result as? [String: Any])
            #expect(both[kSecValueData] as? Data == Data("secret".utf8) && both[kSecAttrService] as? String == "mail")
            let references = try #require(
                find([kSecReturnRef: true, kSecReturnPersistentRef: true]).result as? [String: Any]
            )
            #expect(references[kSecValueRef] as? SecItemReference == reference)
            #expect(references[kSecValuePersistentRef] as? Data == persistent)
            for query: [String: Any] in [[kSecValueRef: reference], [kSecValuePersistentRef: persistent]] {
                var result: CFTypeRef?
                let wanted = query.merging([kSecReturnData: true]) { $1 }
                #expect(SecItemCopyMatching(wanted, &result) == errSecSuccess)
                #expect(result as? Data == Data("secret".utf8))
            }
            #expect(SecItemUpdate([kSecValuePersistentRef: persistent], [kSecAttrComment: "new"]) == errSecSuccess)
            #expect(SecItemDelete([kSecValueRef: reference]) == errSecSuccess)
        }
    }

    @Test func `adding gives what is asked for`() {
        device.run {
            var result: CFTypeRef?
            let returning: [String: Any] = [kSecValueData: Data([1]), kSecReturnData: true, kSecReturnAttributes: true]
            #expect(SecItemAdd(item.merging(returning) { $1 }, &result) == errSecSuccess)
            let given = result as? [String: Any]
            #expect(given?[kSecValueData] as? Data == Data([1]) && given?[kSecAttrAccount] as? String == "anna")
            #expect(SecItemDelete(item) == errSecSuccess)
            #expect(SecItemAdd(item.merging([kSecReturnPersistentRef: true]) { $1 }, &result) == errSecSuccess)
            #expect((result as? Data)?.count == 16)
            #expect(find([kSecReturnData: true]).result as? Data == Data())
        }
    }

    @Test func `a limit gives an array of at most so many`() {
        device.run {
            for number in 0..<5 {
                #expect(add([kSecAttrAccount: "\(number)", kSecValueData: Data([UInt8(number)])]) == errSecSuccess)
            }
            func found(_ limit: Any) -> [Data]? {
                var result: CFTypeRef?
                let query: [String: Any] = [
                    kSecClass: kSecClassGenericPassword, kSecMatchLimit: limit, kSecReturnData: true,
                ]
                return SecItemCopyMatching(query, &result) == errSecSuccess ? result as? [Data] : nil
            }
            #expect(found(kSecMatchLimitAll) == (0..<5).map { Data([$0]) })
            #expect(found(2) == [Data([0]), Data([1])])
            #expect(found(NSNumber(value: 9))?.count == 5)
            #expect(found(0) == nil && SecCopyLastError()?.code == .param)
            #expect(found(kSecMatchLimitOne) == nil)
        }
    }

    @Test func `more items than an answer holds come all the same`() {
        device.run {
            let secret = Data(repeating: 7, count: 30_000)
            for number in 0..<12 {
                #expect(add([kSecAttrAccount: "\(number)", kSecValueData: secret]) == errSecSuccess)
            }
            var result: CFTypeRef?
            let query: [String: Any] = [
                kSecClass: kSecClassGenericPassword, kSecMatchLimit: kSecMatchLimitAll, kSecReturnData: true,
            ]
            #expect(SecItemCopyMatching(query, &result) == errSecSuccess)
            let isComplete = result as? [Data] == Array(repeating: secret, count: 12)
            #expect(isComplete)
        }
    }

    @Test(
        arguments: [
            (kSecMatchLimit, "two"), ("m_CaseInsensitive", true), ("unknown", 1), (kSecAttrServer, "a"),
            (kSecAttrAccount, 7), (kSecAttrIsInvisible, "yes"), (kSecReturnData, "yes"), (kSecAttrGeneric, "text"),
            (kSecAttrAccessible, "always"), (kSecUseDataProtectionKeychain, false), (kSecAttrCreator, 1.5),
            (kSecUseAuthenticationUI, "u_AuthUIX"), (kSecAttrCreationDate, 0), (kSecValuePersistentRef, Data([1])),
            (kSecClass, "apls"), (kSecUseAuthenticationContext, "me"), (kSecValueData, Data()),
        ] as [(String, any Sendable)]
    )
    func `what is not understood is refused, never passed over`(key: String, value: any Sendable) {
        device.run {
            #expect(add() == errSecSuccess)
            #expect(find([key: value]).status == errSecParam)
            #expect(SecCopyLastError()?.message.contains("'\(key)'") ?? false)
            #expect(SecItemUpdate(item.merging([key: value]) { $1 }, [kSecAttrLabel: "a"]) == errSecParam)
            #expect(find([:]).status == errSecSuccess)
        }
    }

    @Test func `what can't be is refused`() throws {
        try device.run {
            #expect(SecItemAdd([kSecAttrAccount: "a"], nil) == errSecParam)
            #expect(SecItemCopyMatching([kSecAttrAccount: "a"], nil) == errSecParam)
            #expect(SecItemDelete([:]) == errSecParam)
            #expect(SecItemAdd([kSecClass: kSecClassIdentity], nil) == errSecParam)
            #expect(add([kSecMatchLimit: kSecMatchLimitOne]) == errSecParam)
            #expect(add([kSecAttrCreationDate: Date()]) == errSecParam)
            #expect(add([kSecAttrSynchronizable: kSecAttrSynchronizableAny]) == errSecParam)
            #expect(add() == errSecSuccess)
            #expect(SecItemUpdate(item, [:]) == errSecParam)
            #expect(SecItemUpdate(item, [kSecClass: kSecClassKey]) == errSecParam)
            #expect(SecItemUpdate(item, [kSecReturnData: true]) == errSecParam)
            let persistent = try #require(find([kSecReturnPersistentRef: true]).result)
            #expect(find([kSecValuePersistentRef: persistent]).status == errSecParam)
            #expect(add([kSecAttrAccount: "b", kSecValueData: Data(count: 40_000)]) == errSecDataTooLarge)
        }
    }

    @Test func `synchronizable items are others, and are meant only where that is said`() {
        device.run {
            #expect(add() == errSecSuccess)
            #expect(add([kSecAttrSynchronizable: true, kSecValueData: Data("cloud".utf8)]) == errSecSuccess)
            func found(_ synchronizable: Any?) -> [Data]? {
                var more: [String: Any] = [kSecReturnData: true, kSecMatchLimit: kSecMatchLimitAll]
                more[kSecAttrSynchronizable] = synchronizable
                return find(more).result as? [Data]
            }
            #expect(found(nil) == [Data("secret".utf8)])
            #expect(found(true) == [Data("cloud".utf8)])
            #expect(found(kSecAttrSynchronizableAny)?.count == 2)
            #expect(SecItemDelete(item) == errSecSuccess)
            #expect(found(kSecAttrSynchronizableAny) == [Data("cloud".utf8)])
        }
    }

    @Test func `an update that makes two of one changes nothing`() {
        device.run {
            #expect(add() == errSecSuccess)
            #expect(add([kSecAttrAccount: "bert"]) == errSecSuccess)
            #expect(SecItemUpdate(item, [kSecAttrAccount: "bert"]) == errSecDuplicateItem)
            #expect(find([kSecReturnData: true]).status == errSecSuccess)
        }
    }

    @Test func `the dictionary that added an item deletes it, as many programs do`() {
        device.run {
            let dictionary = item.merging([
                kSecValueData: Data([1]), kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlock,
            ]) { $1 }
            #expect(SecItemAdd(dictionary, nil) == errSecSuccess)
            #expect(SecItemDelete(dictionary) == errSecSuccess)
            #expect(SecItemAdd(dictionary, nil) == errSecSuccess)
        }
    }

    @Test func `keys, certificates and internet passwords have the attributes of theirs`() throws {
        try device.run {
            let key: [String: Any] = [
                kSecClass: kSecClassKey, kSecAttrKeyType: kSecAttrKeyTypeEd25519,
                kSecAttrApplicationTag: Data("t".utf8),
                kSecAttrKeyClass: kSecAttrKeyClassPrivate, kSecValueData: Data(repeating: 9, count: 32),
            ]
            #expect(SecItemAdd(key, nil) == errSecSuccess)
            var result: CFTypeRef?
            let query: [String: Any] = [
                kSecClass: kSecClassKey, kSecAttrApplicationTag: Data("t".utf8), kSecReturnAttributes: true,
                kSecReturnData: true,
            ]
            #expect(SecItemCopyMatching(query, &result) == errSecSuccess)
            let found = try #require(result as? [String: Any])
            #expect(found[kSecAttrKeyType] as? String == kSecAttrKeyTypeEd25519)
            #expect(found[kSecAttrKeyClass] as? String == kSecAttrKeyClassPrivate)
            #expect(found[kSecAttrKeySizeInBits] as? Int == 256)
            #expect(found[kSecAttrCanSign] as? Bool == true)
            #expect(found[kSecValueData] as? Data == Data(repeating: 9, count: 32))
            let rsa = key.merging([kSecAttrKeyType: "42"]) { $1 }
            #expect(SecItemAdd(rsa, nil) == errSecParam)
            let web: [String: Any] = [
                kSecClass: kSecClassInternetPassword, kSecAttrServer: "example.org", kSecAttrPort: 443,
                kSecAttrProtocol: kSecAttrProtocolHTTPS, kSecValueData: Data([1]),
            ]
            #expect(SecItemAdd(web, nil) == errSecSuccess)
            #expect(SecItemAdd(web, nil) == errSecDuplicateItem)
            #expect(SecItemAdd(web.merging([kSecAttrPort: 8443]) { $1 }, nil) == errSecSuccess)
            let junk: [String: Any] = [kSecClass: kSecClassCertificate, kSecValueData: Data([1])]
            #expect(SecItemAdd(junk, nil) != errSecSuccess)
        }
    }

    @Test func `every status that can come has a text, and a constant of its number`() {
        for row in ErrorCode.table {
            #expect(SecCopyErrorMessageString(OSStatus(row.osStatus), nil) == row.code.rawValue)
        }
        #expect(SecCopyErrorMessageString(errSecSuccess, nil) != nil)
        #expect(SecCopyErrorMessageString(1, nil) == nil)
    }
}
