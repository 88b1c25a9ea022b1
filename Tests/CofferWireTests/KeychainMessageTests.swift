import CofferCore
import CofferMemory
import CofferWire
import Testing

/// What a request of the keychain is read as, and what it is refused for.
@Suite struct KeychainMessageTests {
    private static let reference = ItemID()

    /// The error of reading parameters; `nil` where they are read.
    private func refusal<Value: WireObject>(_ params: JSONObject, as type: Value.Type) -> CofferError? {
        do throws(CofferError) {
            _ = try Value(params: params)
            return nil
        } catch {
            return error
        }
    }

    private static let query = KeychainQuery(
        .internetPassword,
        [
            .account: .text("anna"), .port: .integer(443), .isInvisible: .bool(true), .expiryDate: .date(-5),
            .accessible: .text("AfterFirstUnlock"),
        ],
        user: ["colour": "red", "\u{E9}": "1", "e\u{301}": "2"],
        prefix: [.server: "mail."],
        contains: [.label: "été", .account: "a"],
        expiringBefore: 1_000
    )

    @Test func `a query says the same on the other side`() throws {
        let byReference = KeychainQuery(reference: Self.reference, itemClass: .key)
        for query in [Self.query, byReference, KeychainQuery(.identity), KeychainQuery(reference: Self.reference)] {
            #expect(try KeychainQuery(params: query.json) == query)
        }
        let bytes = KeychainQuery(.genericPassword, [.generic: .bytes([0, 1])])
        #expect(bytes.json == ["class": "genericPassword", "attributes": ["generic": "AAE="]])
        #expect(try KeychainQuery(params: bytes.json) == bytes)
    }

    @Test func `the parameters of each method say the same on the other side`() throws {
        let find = KeychainFindParameters(
            Self.query,
            limit: .all,
            cursor: "c",
            order: .modificationDateDescending,
            returns: [.data, .attributes, .persistentReference]
        )
        let found = try KeychainFindParameters(params: find.json)
        #expect(found.query == find.query && found.limit == .all && found.cursor == "c")
        #expect(found.order == find.order && found.returns == find.returns)
        let add = KeychainAddParameters(
            .key,
            [.keyType: .text("ed25519"), .applicationTag: .bytes([9]), .canSign: .bool(false)],
            user: ["a": "b"],
            accessibility: .always,
            historyCount: 0,
            generates: .ed25519,
            returns: [.attributes]
        )
        #expect(try KeychainAddParameters(params: add.json).json == add.json)
        let change = KeychainChange(
            attributes: [.comment: .text("")],
            removedAttributes: [.label, .creator],
            user: ["a": "1"],
            removedUser: ["b"],
            accessibility: .whenPasscodeSetThisDeviceOnly,
            historyCount: 100
        )
        let update = try KeychainUpdateParameters(params: KeychainUpdateParameters(Self.query, change).json)
        #expect(update.query == Self.query && update.change == change)
        #expect(!update.isSecretEmpty)
        let emptying = KeychainUpdateParameters(Self.query, isSecretEmpty: true)
        #expect(try KeychainUpdateParameters(params: emptying.json).isSecretEmpty)
        let agree = try KeychainAgreeParameters(
            params: KeychainAgreeParameters(Self.query, peer: Array(0..<32)).json
        )
        #expect(agree.peer == Array(0..<32))
        let history = try KeychainHistoryParameters(
            params: KeychainHistoryParameters(Self.query, number: 3, returns: [.data]).json
        )
        #expect(history.number == 3 && history.returns == [.data])
        let restore = try KeychainRestoreParameters(params: KeychainRestoreParameters(Self.query, number: 7).json)
        #expect(restore.number == 7)
    }

    @Test func `results say the same on the other side`() throws {
        let item = KeychainItemInfo(
            itemClass: .certificate,
            reference: Self.reference,
            attributes: [.serialNumber: .bytes([255]), .creationDate: .date(1)],
            user: [:],
            byteCount: 0,
            isLocked: true,
            isExpired: true
        )
        let page = KeychainPage(items: [item], lockedCount: 1, cursor: "next")
        #expect(try KeychainPage(result: .object(page.json)) == page)
        let bare = KeychainItemInfo(itemClass: .key, reference: Self.reference)
        #expect(bare.json == ["class": "key", "reference": .string(Self.reference.hexadecimal)])
        #expect(try KeychainItemInfo(result: .object(bare.json)) == bare)
        let added = KeychainAddResult(reference: Self.reference, item: bare)
        #expect(try KeychainAddResult(result: .object(added.json)).item == bare)
        let values = [KeychainFormerValue(number: 2, replaced: 5, byteCount: 0)]
        #expect(
            try KeychainHistory(result: .object(KeychainHistory(values: values, damaged: [7]).json)).values == values
        )
        let key = KeychainPublicKey(bytes: [1, 2], keyType: "x25519")
        #expect(try KeychainPublicKey(result: .object(key.json)) == key)
    }

    @Test func `an attribute that a newer daemon added is passed over`() throws {
        let json: JSONObject = [
            "class": "key", "reference": .string(Self.reference.hexadecimal),
            "attributes": ["ofTheFuture": [1], "label": "a"], "more": true,
        ]
        #expect(try KeychainItemInfo(result: .object(json)).attributes == [.label: .text("a")])
    }

    @Test(
        arguments: [
            ("genericPassword", ["colour": "red"], "an item of class 'genericPassword' has no attribute 'colour'"),
            ("genericPassword", ["server": "a"], "an item of class 'genericPassword' has no attribute 'server'"),
            ("key", ["subject\u{212A}eyID": "a"], "an item of class 'key' has no attribute 'subject\u{212A}eyID'"),
            ("key", ["label": 1], "attribute 'label': expected a string"),
            ("internetPassword", ["port": "443"], "attribute 'port': expected a whole number"),
            ("internetPassword", ["port": .number(1)], "attribute 'port': expected a whole number"),
            ("key", ["canSign": 1], "attribute 'canSign': expected true or false"),
            ("genericPassword", ["generic": "AAE"], "attribute 'generic': expected a string of base64"),
            (
                "key", ["expiryDate": "now"],
                "attribute 'expiryDate': expected a whole number of milliseconds since 1970"
            ),
        ] as [(String, JSONObject, String)]
    )
    func `an attribute is read by class and form`(itemClass: String, attributes: JSONObject, message: String) {
        let params: JSONObject = ["class": .string(itemClass), "attributes": .object(attributes)]
        let refused = refusal(params, as: KeychainQuery.self)
        #expect(refused?.code == .param)
        #expect(refused?.message == "parameter 'attributes': " + message)
        #expect(refusal(params, as: KeychainAddParameters.self)?.message == refused?.message)
        let update: JSONObject = ["class": .string(itemClass), "set": ["attributes": .object(attributes)]]
        #expect(refusal(update, as: KeychainUpdateParameters.self)?.message == refused?.message)
    }

    @Test(
        arguments: [
            ([:], "parameter 'class' is missing"),
            (["class": "password"], "parameter 'class': expected one of 'genericPassword', 'internetPassword'"),
            (["reference": "12"], "parameter 'reference': expected 32 lower-case hexadecimal digits"),
            (
                ["class": "key", "prefix": ["subject": "a"]],
                "parameter 'prefix': an item of class 'key' has no attribute"
            ),
            (
                ["class": "key", "contains": ["keyType": "a"]],
                "parameter 'contains': attribute 'keyType' is not searched"
            ),
            (["class": "key", "prefix": ["label": 1]], "parameter 'prefix': attribute 'label': expected a string"),
            (["class": "key", "user": ["a": 1]], "parameter 'user': attribute 'a': expected a string"),
            (["class": "key", "user": ["": "a"]], "parameter 'user': an attribute has an empty name"),
            (["class": "key", "attributes": []], "parameter 'attributes': expected an object"),
            (["class": "key", "expiringBefore": "30d"], "parameter 'expiringBefore': expected a whole number"),
            (["class": "key", "account": "a"], "unknown parameter 'account'"),
            (
                ["class": "key", "attributes": ["accessible": "Never"]],
                "parameter 'attributes': attribute 'accessible': expected one of"
            ),
        ] as [(JSONObject, String)]
    )
    func `a query that makes no sense is refused`(params: JSONObject, message: String) {
        let refused = refusal(params, as: KeychainQuery.self)
        #expect(refused?.code == .param)
        #expect(refused?.message.hasPrefix(message) == true, "\(refused?.message ?? "it was read")")
    }

    @Test(
        arguments: [
            ["attributes": ["label": "a"]], ["user": ["a": "b"]], ["prefix": ["label": "a"]],
            ["contains": ["label": ""]],
            ["expiringBefore": 0],
        ] as [JSONObject]
    )
    func `beside a reference stands nothing but the class`(other: JSONObject) {
        var params: JSONObject = ["reference": .string(Self.reference.hexadecimal), "class": "key"]
        #expect(refusal(params, as: KeychainQuery.self) == nil)
        for (key, value) in other.members { params.set(key, value) }
        #expect(refusal(params, as: KeychainQuery.self)?.code == .param)
    }

    @Test func `64 attributes of the user's own are taken, and not one more`() {
        for (count, code) in [(64, nil), (65, .dataTooLarge)] as [(Int, ErrorCode?)] {
            var user = JSONObject()
            for number in 0..<count { user.set("a\(number)", "b") }
            let refused = refusal(["class": "key", "user": .object(user)], as: KeychainAddParameters.self)
            #expect(refused?.code == code)
        }
    }

    @Test(arguments: [0, -1, .number(1), "ALL", "1", [1], true] as [JSONValue])
    func `a limit is a number from 1 on, or all`(limit: JSONValue) {
        let refused = refusal(["class": "key", "limit": limit], as: KeychainFindParameters.self)
        #expect(refused?.message == "parameter 'limit': expected a whole number from 1 on, or 'all'")
    }

    @Test func `one item with its data is what a query gives if nothing is said`() throws {
        let params = try KeychainFindParameters(params: ["class": "key"])
        #expect(params.limit == .count(1) && params.returns == [.data] && params.order == nil)
        #expect(try KeychainFindParameters(params: ["class": "key", "return": []]).returns.isEmpty)
        #expect(try KeychainFindParameters(params: ["class": "key", "limit": 7]).limit == .count(7))
    }

    @Test(arguments: ["data", ["secret"], [1], ["data", "data"], [.null]] as [JSONValue])
    func `what is given is a list of known words, each once`(returns: JSONValue) {
        for refused in [
            refusal(["class": "key", "return": returns], as: KeychainFindParameters.self),
            refusal(["class": "key", "return": returns], as: KeychainHistoryParameters.self),
        ] {
            #expect(refused?.code == .param)
        }
    }

    @Test(
        arguments: [
            (["class": "identity"], "an identity can't be added"),
            (
                ["class": "genericPassword", "generate": "x25519"],
                "parameter 'generate' is for items of class 'key' only"
            ),
            (["class": "key", "generate": "rsa"], "parameter 'generate': expected one of 'ed25519', 'x25519'"),
            (["class": "key", "history": 101], "parameter 'history': expected a whole number from 0 to 100"),
            (
                ["class": "key", "attributes": ["accessible": "Always"]],
                "parameter 'attributes': 'accessible' stands beside 'attributes', not in it"
            ),
        ] as [(JSONObject, String)]
    )
    func `an item that makes no sense is refused`(params: JSONObject, message: String) {
        let refused = refusal(params, as: KeychainAddParameters.self)
        #expect(refused?.code == .param)
        #expect(refused?.message.hasPrefix(message) == true, "\(refused?.message ?? "it was read")")
    }

    @Test func `null takes an attribute away in a change, and is an error elsewhere`() throws {
        let attributes: JSONValue = ["label": .null, "comment": "a"]
        let set: JSONValue = ["attributes": attributes, "user": ["x": .null]]
        let all: JSONObject = ["class": "genericPassword", "set": set, "all": true]
        let change = try KeychainUpdateParameters(params: all).change
        #expect(change.removedAttributes == [.label] && change.attributes == [.comment: .text("a")])
        #expect(change.removedUser == ["x"] && change.user.isEmpty)
        let refusals: [(JSONObject, String)] = [
            (["class": "genericPassword", "attributes": attributes], "attributes.label"),
            (["class": "genericPassword", "user": ["x": .null]], "user.x"),
            (["class": "genericPassword", "set": ["accessible": .null]], "set.accessible"),
            (["class": "genericPassword", "set": ["attributes": .null]], "set.attributes"),
        ]
        for (params, place) in refusals {
            let refused = refusal(params, as: KeychainUpdateParameters.self)
            #expect(refused?.message == "parameter '\(place)': null is no value")
        }
        #expect(try KeychainUpdateParameters(params: ["class": "key", "all": true]).change.isEmpty)
        let wrong = refusal(["class": "key", "set": ["label": "a"]], as: KeychainUpdateParameters.self)
        #expect(wrong?.message == "unknown parameter 'label'")
    }

    @Test(
        arguments: [
            (["class": "key"], false), (["class": "key", "all": false], false), (["class": "key", "all": true], true),
            (["class": "key", "attributes": [:]], false),
            (["class": "key", "attributes": ["accessGroup": "a"]], false),
            (["class": "key", "attributes": ["synchronizable": false]], false),
            (["class": "key", "attributes": ["accessGroup": "a", "label": ""]], true),
            (["class": "key", "user": [:]], false), (["class": "key", "user": ["a": ""]], true),
            (["class": "key", "prefix": ["label": ""]], false), (["class": "key", "prefix": ["label": "a"]], true),
            (["class": "key", "contains": ["label": ""], "prefix": [:]], false),
            (["class": "key", "contains": ["label": "a"]], true),
            (["class": "key", "expiringBefore": 1], true), (["reference": "00112233445566778899aabbccddeeff"], true),
        ] as [(JSONObject, Bool)]
    )
    func `a delete and an update want a condition, or say that they mean all`(params: JSONObject, isTaken: Bool) {
        #expect((refusal(params, as: KeychainDeleteParameters.self) == nil) == isTaken)
        #expect((refusal(params, as: KeychainUpdateParameters.self) == nil) == isTaken)
        let everything = refusal(["class": "key"], as: KeychainDeleteParameters.self)
        #expect(everything?.message == "the query has no condition, and would delete every item of class 'key'")
    }

    @Test(arguments: [31, 33, 0])
    func `a peer's public key has 32 bytes`(count: Int) {
        let peer = Base64.encode([UInt8](repeating: 1, count: count))
        let refused = refusal(["class": "key", "peer": .string(peer)], as: KeychainAgreeParameters.self)
        #expect(refused?.message == "parameter 'peer' has \(count) bytes: expected 32 in base64")
    }
}
