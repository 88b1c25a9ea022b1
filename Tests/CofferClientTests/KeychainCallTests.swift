import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Testing

private let reference = ItemID()
private let digits = JSONValue.string(reference.hexadecimal)
private let anna = KeychainQuery(.genericPassword, [.account: .text("anna")])
private let annaParams: JSONObject = ["class": "genericPassword", "attributes": ["account": "anna"]]

/// The parameters of a query, followed by others.
private func annaAnd(_ others: JSONObject) -> JSONObject {
    var params = annaParams
    for (key, value) in others.members { params.set(key, value) }
    return params
}

@Suite struct `A call of the keychain` {
    private func secret(_ text: String) throws -> SecretBytes? { try SecretBytes(text) }

    @Test func `lists items without their secrets`() throws {
        let item: JSONValue = ["class": "genericPassword", "reference": digits, "attributes": ["account": "anna"]]
        let daemon = try ScriptedDaemon([
            answer(1, ["items": [item], "lockedCount": 0, "cursor": "next"]),
            answer(2, ["items": [], "lockedCount": 2]),
        ])
        let page = try daemon.client.keychainItems(anna, order: .creationDateDescending)
        #expect(page.items.first?.reference == reference && page.cursor == "next")
        let end = try daemon.client.keychainItems(anna, limit: .count(3), cursor: page.cursor)
        #expect(end.lockedCount == 2 && end.cursor == nil)
        let expected =
            request(
                1,
                "keychain.find",
                annaAnd(["limit": "all", "sort": "-creationDate", "return": ["attributes"]])
            )
            + request(2, "keychain.find", annaAnd(["limit": 3, "cursor": "next", "return": ["attributes"]]))
        #expect(daemon.requests == expected)
    }

    @Test func `gives each item the bytes that are its`() throws {
        let items: JSONValue = [
            ["class": "genericPassword", "reference": digits, "bytes": 2],
            ["class": "genericPassword", "reference": digits, "isLocked": true],
            ["class": "genericPassword", "reference": digits, "bytes": 0],
            ["class": "genericPassword", "reference": digits, "bytes": 3],
        ]
        let daemon = try ScriptedDaemon([answer(1, ["items": items, "lockedCount": 1], Array("abcde".utf8))])
        let found = try daemon.client.findKeychainItems(KeychainFindParameters(anna, limit: .all))
        let secrets = try found.secrets().map { $0?.exposeText() }
        #expect(secrets == ["ab", nil, "", "cde"])
        #expect(daemon.requests == request(1, "keychain.find", annaAnd(["limit": "all", "return": ["data"]])))
    }

    @Test(arguments: [0, 4, 6])
    func `refuses data that is not as long as announced`(count: Int) throws {
        let item: JSONValue = ["class": "genericPassword", "reference": digits, "bytes": 5]
        let payload = [UInt8](repeating: 1, count: count)
        let daemon = try ScriptedDaemon([answer(1, ["items": [item], "lockedCount": 0], payload)])
        let error = #expect(throws: CofferError.self) {
            _ = try daemon.client.findKeychainItems(KeychainFindParameters(anna))
        }
        #expect(error?.code == .protocolViolation)
    }

    @Test func `adds with the secret as payload, and makes keys without one`() throws {
        let daemon = try ScriptedDaemon([answer(1, ["reference": digits]), answer(2, ["reference": digits])])
        let params = KeychainAddParameters(.genericPassword, [.account: .text("anna")], historyCount: 0)
        let added = try daemon.client.addKeychainItem(params, secret: secret("s3cret"))
        #expect(added.value.reference == reference)
        let made = try daemon.client.makeKeychainKey(.x25519, user: ["for": "tests"], accessibility: .afterFirstUnlock)
        #expect(made == reference)
        let expected =
            request(1, "keychain.add", annaAnd(["history": 0]), Array("s3cret".utf8))
            + request(
                2,
                "keychain.add",
                ["class": "key", "user": ["for": "tests"], "accessible": "AfterFirstUnlock", "generate": "x25519"]
            )
        #expect(daemon.requests == expected)
    }

    @Test func `updates and deletes, and says how many there were`() throws {
        let daemon = try ScriptedDaemon([
            answer(1, ["count": 2]), answer(2, ["count": 1]), answer(3, ["count": 7]),
        ])
        let change = KeychainChange(attributes: [.label: .text("l")], removedAttributes: [.comment])
        let changed = try daemon.client.updateKeychainItems(anna, change)
        let renewed = try daemon.client.updateKeychainItems(anna, KeychainChange(), secret: secret("new"))
        let deleted = try daemon.client.deleteKeychainItems(KeychainQuery(reference: reference))
        #expect([changed, Int(renewed.count), deleted] == [2, 1, 7])
        let expected = [
            request(1, "keychain.update", annaAnd(["set": ["attributes": ["comment": .null, "label": "l"]]])),
            request(2, "keychain.update", annaParams, Array("new".utf8)),
            request(3, "keychain.delete", ["reference": digits]),
        ]
        #expect(daemon.requests == expected.flatMap { $0 })
    }

    @Test func `signs and agrees without seeing the key`() throws {
        let signature = [UInt8](repeating: 7, count: 64)
        let shared = [UInt8](repeating: 9, count: 32)
        let daemon = try ScriptedDaemon([
            answer(1, [:], signature), answer(2, [:], shared),
            answer(3, ["publicKey": "AAE=", "keyType": "ed25519"]),
        ])
        let key = KeychainQuery(.key, [.label: .text("k")])
        let signed = try daemon.client.sign(Array("message".utf8), with: key)
        #expect(signed == signature)
        let agreed = try daemon.client.agree(with: Array(repeating: 0, count: 32), by: key).exposeBytes()
        #expect(agreed == shared)
        let published = try daemon.client.publicKey(of: key)
        #expect(published == KeychainPublicKey(bytes: [0, 1], keyType: "ed25519"))
        let params: JSONObject = ["class": "key", "attributes": ["label": "k"]]
        var withPeer = params
        withPeer.set("peer", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
        let expected = [
            request(1, "keychain.sign", params, Array("message".utf8)), request(2, "keychain.agree", withPeer),
            request(3, "keychain.publicKey", params),
        ]
        #expect(daemon.requests == expected.flatMap { $0 })
    }

    @Test(arguments: [0, 7, 1025])
    func `refuses a signature that is none`(count: Int) throws {
        let daemon = try ScriptedDaemon([answer(1, [:], [UInt8](repeating: 7, count: count))])
        let error = #expect(throws: CofferError.self) {
            _ = try daemon.client.sign(Array("m".utf8), with: KeychainQuery(.key))
        }
        #expect(error?.code == .protocolViolation)
    }

    @Test func `does not send a message that no frame holds`() throws {
        let daemon = try ScriptedDaemon([answer(1, [:])])
        let message = [UInt8](repeating: 0, count: Limits.framePayloadBytes + 1)
        let error = #expect(throws: CofferError.self) {
            _ = try daemon.client.sign(message, with: KeychainQuery(.key))
        }
        #expect(error?.code == .dataTooLarge)
        #expect(error?.hint == "sign a hash of them")
        _ = try daemon.client.call(.keychainDelete, anna, returning: Empty.self)
        #expect(daemon.requests == request(1, "keychain.delete", annaParams))
    }

    @Test func `tells the former values, fetches one and restores it`() throws {
        let values: JSONValue = [["number": 4, "replaced": 9, "bytes": 3]]
        let daemon = try ScriptedDaemon([
            answer(1, ["values": values, "damaged": []]),
            answer(2, ["values": values, "damaged": []], Array("old".utf8)), answer(3, [:]),
        ])
        let history = try daemon.client.keychainHistory(of: anna)
        #expect(history == [KeychainFormerValue(number: 4, replaced: 9, byteCount: 3)])
        let old = try daemon.client.formerValue(4, of: anna)?.exposeBytes()
        #expect(old == Array("old".utf8))
        try daemon.client.restoreFormerValue(4, of: anna)
        let expected = [
            request(1, "keychain.history", annaParams),
            request(2, "keychain.history", annaAnd(["number": 4, "return": ["data"]])),
            request(3, "keychain.restore", annaAnd(["number": 4])),
        ]
        #expect(daemon.requests == expected.flatMap { $0 })
    }
}
