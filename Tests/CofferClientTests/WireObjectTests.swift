import CofferClient
import CofferCore
import CofferWire
import Testing

private func object(_ text: String) throws -> JSONObject {
    try #require(try JSONValue(parsing: Array(text.utf8).span.bytes).objectValue)
}

private func text(_ object: JSONObject) -> String {
    var writer = JSONWriter()
    writer.write(object)
    return String(decoding: writer.bytes, as: UTF8.self)
}

private func name(_ path: String) throws -> ItemName { try ItemName(path) }

/// A type-erased value of the protocol with its text on the wire.
private struct Sample: CustomStringConvertible {
    let description: String
    let json: String
    let wire: String
    /// Decodes the text as parameters and as a result, and encodes both again.
    let rewrite: (JSONObject) throws -> (params: String, result: String)

    init<Value: WireObject>(_ value: Value, _ wire: String) {
        description = "\(Value.self) \(wire)"
        json = text(value.json)
        self.wire = wire
        rewrite = { object in
            (text(try Value(params: object).json), text(try Value(result: .object(object)).json))
        }
    }

    static func all() throws -> [Sample] {
        var wishes = PlacementOptions()
        wishes.kind = .token
        wishes.scenario = .backgroundToken
        wishes.protectionClass = .completeUnlessOpen
        wishes.accessibility = .afterFirstUnlockThisDeviceOnly
        wishes.store = .keychain
        wishes.isStructured = true
        wishes.isPresentedAsFile = true
        wishes.group = "a group"
        let rules = [
            AccessRule(number: 3, kind: .deny, client: .unit("a@*.service"), verbs: [.write, .read], group: "g"),
            AccessRule(
                number: 4,
                kind: .allow,
                client: .user(1),
                verbs: [.delete],
                group: "g",
                pattern: try NamePattern("a/*")
            ),
        ]
        let ruled = """
            {"rules":[{"rule":3,"kind":"deny","client":"unit:a@*.service","verbs":["read","write"],"group":"g"},\
            {"rule":4,"kind":"allow","client":"uid:1","verbs":["delete"],"group":"g","pattern":"a/*"}],"next":4,"damaged":[2]}
            """
        let wished = """
            "kind":"token","scenario":"backgroundToken","protection":"completeUnlessOpen",\
            "accessible":"AfterFirstUnlockThisDeviceOnly","store":"keychain","structured":true,"asFile":true,\
            "group":"a group"
            """
        let item = ItemInfo(
            name: "a/b",
            group: "g",
            protection: .file(.complete),
            byteCount: 1 << 40,
            kind: .document,
            created: 1,
            modified: -2,
            isReadable: true,
            expiryDate: 3,
            isExpired: true
        )
        let bare = ItemInfo(
            name: "c",
            group: "default",
            protection: .keychain(.always),
            byteCount: 0,
            kind: nil,
            created: 0,
            modified: 0,
            isReadable: false
        )
        let itemText = """
            {"name":"a/b","group":"g","store":"file","protection":"complete","size":1099511627776,"kind":"document","created":1,\
            "modified":-2,"readable":true,"expiryDate":3,"isExpired":true}
            """
        let bareText = """
            {"name":"c","group":"default","store":"keychain","accessible":"Always","size":0,"created":0,"modified":0,"readable":false}
            """
        let vault = try #require(ItemID(hexadecimal: "00112233445566778899aabbccddeeff"))
        return [
            Sample(Empty(), "{}"),
            Sample(HelloParameters(protocolNumber: 1), #"{"protocol":1}"#),
            Sample(HelloParameters(protocolNumber: 1, group: "a"), #"{"protocol":1,"group":"a"}"#),
            Sample(HelloResult(protocolNumber: 1, version: "1.2"), #"{"protocol":1,"version":"1.2"}"#),
            Sample(
                HelloResult(protocolNumber: 1, version: "1.2", group: "a"),
                #"{"protocol":1,"version":"1.2","group":"a"}"#
            ),
            Sample(
                VaultInitParameters(kdf: .sensitive, hasNoPasscode: false),
                #"{"kdf":"sensitive","noPasscode":false}"#
            ),
            Sample(VaultInitParameters(kdf: nil, hasNoPasscode: true), #"{"noPasscode":true}"#),
            Sample(
                VaultInitParameters(kdf: nil, hasNoPasscode: false, hasNoRecoveryKey: true, erasesData: true),
                #"{"noPasscode":false,"noRecoveryKey":true,"eraseData":true}"#
            ),
            Sample(VaultEraseParameters(vaultID: vault), #"{"vaultID":"00112233445566778899aabbccddeeff"}"#),
            Sample(VaultUnlockParameters(credential: nil), "{}"),
            Sample(VaultUnlockParameters(credential: .recoveryKey), #"{"credential":"recoveryKey"}"#),
            Sample(PasscodeSetParameters(kdf: nil, erasesData: nil), "{}"),
            Sample(
                PasscodeSetParameters(kdf: .interactive, erasesData: true),
                #"{"kdf":"interactive","eraseData":true}"#
            ),
            Sample(
                PasscodeChangeParameters(credential: .passcode, kdf: .moderate, erasesData: false),
                #"{"credential":"passcode","kdf":"moderate","eraseData":false}"#
            ),
            Sample(
                PasscodeRemoveParameters(credential: .recoveryKey, destroyedCount: 3),
                #"{"credential":"recoveryKey","destroys":3}"#
            ),
            Sample(SlotRemoveParameters(number: 2, credential: .passcode), #"{"slot":2,"credential":"passcode"}"#),
            Sample(SlotResult(number: 255), #"{"slot":255}"#),
            Sample(SlotList(slots: []), #"{"slots":[]}"#),
            Sample(
                SlotList(slots: KeyslotKind.allCases.enumerated().map { KeyslotInfo(number: $0, kind: $1) }),
                #"{"slots":[{"slot":0,"kind":"device"},{"slot":1,"kind":"passcode"},{"slot":2,"kind":"recoveryKey"}]}"#
            ),
            Sample(VaultLockParameters(graceSeconds: 0), #"{"grace":0}"#),
            Sample(VaultLockParameters(graceSeconds: nil), "{}"),
            Sample(
                VaultStatus(
                    state: .locking,
                    keychainCount: 3,
                    fileCount: 0,
                    graceMilliseconds: 9999,
                    vaultID: vault,
                    failedAttempts: 6,
                    retrySeconds: 60,
                    attemptsEnded: false,
                    erasesData: true,
                    version: "1",
                    protocolNumber: 1
                ),
                """
                {"state":"locking","keychainItems":3,"files":0,"graceMilliseconds":9999,\
                "vaultID":"00112233445566778899aabbccddeeff","failedAttempts":6,"retrySeconds":60,\
                "attemptsEnded":false,"erasesData":true,"version":"1","protocol":1}
                """
            ),
            Sample(
                VaultStatus(
                    state: .noVault,
                    keychainCount: nil,
                    fileCount: nil,
                    graceMilliseconds: nil,
                    version: "1",
                    protocolNumber: 1
                ),
                #"{"state":"noVault","version":"1","protocol":1}"#
            ),
            Sample(PlacementOptions(), "{}"),
            Sample(wishes, "{\(wished)}"),
            Sample(ItemPutParameters(name: try name("a/b"), wishes: PlacementOptions()), #"{"name":"a/b"}"#),
            Sample(
                ItemPutParameters(name: try name("a/b"), wishes: wishes, wantsProgress: true),
                "{\(wished),\"name\":\"a/b\",\"progress\":true}"
            ),
            Sample(ItemGetParameters(name: try name("a")), #"{"name":"a"}"#),
            Sample(
                ItemGetParameters(name: try name("a"), offset: 0, length: 1 << 40, wantsProgress: true),
                #"{"name":"a","offset":0,"length":1099511627776,"progress":true}"#
            ),
            Sample(
                ItemGetResult(store: .file, byteCount: 0, delivery: .descriptor),
                #"{"store":"file","size":0,"delivery":"descriptor"}"#
            ),
            Sample(
                ItemGetResult(store: .keychain, byteCount: 5, delivery: .payload),
                #"{"store":"keychain","size":5,"delivery":"payload"}"#
            ),
            Sample(
                ItemProtectParameters(name: try name("a"), protection: .file(.completeUnlessOpen)),
                #"{"name":"a","class":"completeUnlessOpen"}"#
            ),
            Sample(
                ItemProtectParameters(name: try name("a"), protection: .keychain(.afterFirstUnlock)),
                #"{"name":"a","accessible":"AfterFirstUnlock"}"#
            ),
            Sample(
                ProtectionChange(item: item, warnings: ["a", "b"]),
                itemText.dropLast() + #","warnings":["a","b"]}"#
            ),
            Sample(ItemShowParameters(name: try name("\u{E9}/\u{1F512}")), "{\"name\":\"\u{E9}/\u{1F512}\"}"),
            Sample(ItemListParameters(), "{}"),
            Sample(
                ItemListParameters(prefix: "", store: .file, after: "a\"b\\", limit: 1000),
                #"{"prefix":"","store":"file","after":"a\"b\\","limit":1000}"#
            ),
            Sample(ItemListParameters(pattern: try NamePattern("health/**")), #"{"pattern":"health/**"}"#),
            Sample(ItemMoveParameters(name: try name("a"), target: try name("b")), #"{"name":"a","to":"b"}"#),
            Sample(
                AccessAllowParameters(
                    client: .user(1),
                    verbs: [.read],
                    name: try name("a"),
                    seconds: 9,
                    uses: 2,
                    reason: "b"
                ),
                #"{"client":"uid:1","verbs":["read"],"name":"a","seconds":9,"uses":2,"reason":"b"}"#
            ),
            Sample(
                AccessAllowParameters(
                    client: .user(1),
                    verbs: [.delete, .read],
                    pattern: try NamePattern("a"),
                    group: "g"
                ),
                #"{"client":"uid:1","verbs":["read","delete"],"pattern":"a","group":"g"}"#
            ),
            Sample(
                AccessDenyParameters(client: .executable("/a"), verbs: [.write], pattern: try NamePattern("a/**")),
                #"{"client":"exe:/a","verbs":["write"],"pattern":"a/**"}"#
            ),
            Sample(AccessRuleResult(number: 3), #"{"rule":3}"#),
            Sample(AccessRuleResult(number: 3, held: [.read]), #"{"rule":3,"held":["read"]}"#),
            Sample(AccessListParameters(after: 3), #"{"after":3}"#),
            Sample(AccessRemoveParameters(number: 3), #"{"rule":3}"#),
            Sample(AccessRulePage(rules: rules, next: 4, damaged: [2]), ruled),
            Sample(
                FileRenameParameters(name: try name("a"), target: try name("b"), replaces: true),
                #"{"name":"a","to":"b","replace":true}"#
            ),
            Sample(ItemExplainParameters(name: nil, byteCount: nil, wishes: PlacementOptions()), "{}"),
            Sample(
                ItemExplainParameters(name: try name("n"), byteCount: 4096, wishes: wishes),
                "{\(wished),\"name\":\"n\",\"size\":4096}"
            ),
            Sample(item, itemText),
            Sample(bare, bareText),
            Sample(ItemPage(items: [], next: nil, damagedCount: 0), #"{"items":[],"damaged":0}"#),
            Sample(
                ItemPage(items: [item, bare], next: "c", damagedCount: 2),
                "{\"items\":[\(itemText),\(bareText)],\"next\":\"c\",\"damaged\":2}"
            ),
            Sample(
                Placement(
                    protection: .keychain(.whenUnlocked),
                    rule: "R1",
                    reason: "it is small",
                    protectionSource: "standard",
                    warnings: []
                ),
                """
                {"store":"keychain","accessible":"WhenUnlocked","rule":"R1","reason":"it is small",\
                "protectionSource":"standard","warnings":[]}
                """
            ),
            Sample(
                Placement(
                    protection: .file(.none),
                    rule: "R8",
                    reason: "r",
                    protectionSource: "caller",
                    warnings: ["a", "b"]
                ),
                """
                {"store":"file","protection":"none","rule":"R8","reason":"r","protectionSource":"caller",\
                "warnings":["a","b"]}
                """
            ),
            Sample(ProgressParameters(done: 1, total: nil, request: .integer(7)), #"{"done":1,"id":7}"#),
            Sample(ProgressParameters(done: 1, total: 2, request: nil), #"{"done":1,"total":2}"#),
        ]
    }
}

@Suite struct `A value on the wire` {
    @Test func `is the text of the protocol, and the same again when it is read`() throws {
        for sample in try Sample.all() {
            #expect(sample.json == sample.wire)
            let (params, result) = try sample.rewrite(try object(sample.wire))
            #expect(params == sample.wire)
            #expect(result == sample.wire)
        }
    }

    @Test func `may have members that are new as a result, and may not as parameters`() throws {
        for sample in try Sample.all() {
            var larger = try object(sample.wire)
            larger.set("aMemberOfALaterVersion", true)
            #expect(throws: CofferError(.param, ""), "\(sample)") { _ = try sample.rewrite(larger) }
        }
        var status = try object(#"{"state":"locked","version":"1","protocol":1}"#)
        status.set("aMemberOfALaterVersion", true)
        #expect(try VaultStatus(result: .object(status)).state == .locked)
    }

    @Test func `has no member of another type`() throws {
        for sample in try Sample.all() {
            let whole = try object(sample.wire)
            for (key, value) in whole.members {
                // None of their members is an object.
                for wrong in [JSONValue.object([:]), .number(0.5)] {
                    var changed = whole
                    changed.set(key, wrong)
                    #expect(value != wrong)
                    #expect(throws: CofferError(.param, ""), "\(key) in \(sample)") { _ = try sample.rewrite(changed) }
                }
            }
        }
    }

    @Test(arguments: Accessibility.allCases)
    func `says an accessibility with the store that has it`(accessibility: Accessibility) throws {
        let placement = Placement(
            protection: .keychain(accessibility),
            rule: "R1",
            reason: "",
            protectionSource: "caller",
            warnings: []
        )
        #expect(try Placement(result: .object(placement.json)) == placement)
    }

    @Test(arguments: ProtectionClass.allCases)
    func `says a class with the store that has it`(protectionClass: ProtectionClass) throws {
        let placement = Placement(
            protection: .file(protectionClass),
            rule: "R8",
            reason: "",
            protectionSource: "caller",
            warnings: []
        )
        #expect(try Placement(result: .object(placement.json)) == placement)
    }

    @Test(
        arguments: [
            #"{"store":"keychain","protection":"complete","rule":"","reason":"","protectionSource":"","warnings":[]}"#,
            #"{"store":"file","accessible":"Always","rule":"","reason":"","protectionSource":"","warnings":[]}"#,
            #"{"accessible":"Always","rule":"","reason":"","protectionSource":"","warnings":[]}"#,
            #"{"store":"attic","accessible":"Always","rule":"","reason":"","protectionSource":"","warnings":[]}"#,
        ]
    )
    func `has no protection that its store does not have`(wire: String) throws {
        let value = try object(wire)
        #expect(throws: CofferError(.protocolViolation, "")) { try Placement(result: .object(value)) }
    }

    @Test(
        arguments: [
            ("grace", 0, true), ("grace", 10, true), ("grace", 11, false), ("grace", -1, false),
        ] as [(String, Int64, Bool)]
    )
    func `has a grace of ten seconds at most`(key: String, value: Int64, isPossible: Bool) throws {
        let found = try? VaultLockParameters(params: [key: .integer(value)]).graceSeconds
        #expect(found == (isPossible ? value : nil))
    }

    @Test(arguments: [(0, false), (1, true), (1000, true), (1001, false)] as [(Int64, Bool)])
    func `has pages of a thousand items at most`(limit: Int64, isPossible: Bool) throws {
        let found = try? ItemListParameters(params: ["limit": .integer(limit)]).limit
        #expect(found == (isPossible ? limit : nil))
    }

    @Test(arguments: [(-1, false), (0, true), (1 << 40, true), (1 << 40 + 1, false)] as [(Int64, Bool)])
    func `has no place outside of a file`(offset: Int64, isPossible: Bool) throws {
        for key in ["offset", "length"] {
            let found = try? ItemGetParameters(params: ["name": "a", .init(key): .integer(offset)])
            #expect((found != nil) == isPossible)
        }
    }

    @Test(arguments: ["", "/", "a/", "/a", "a//b", ".", "a/../b", "a\0"])
    func `has no name that is none`(path: String) throws {
        #expect(throws: CofferError(.param, "")) { try ItemShowParameters(params: ["name": .string(path)]) }
        #expect(throws: CofferError(.param, "")) { try ItemGetParameters(params: ["name": .string(path)]) }
        #expect(throws: CofferError(.param, "")) { try ItemPutParameters(params: ["name": .string(path)]) }
        #expect(throws: CofferError(.param, "")) { try ItemExplainParameters(params: ["name": .string(path)]) }
    }

    @Test func `is an object`() {
        for value in [JSONValue.null, .array([]), "text", 1, true] {
            #expect(throws: CofferError(.protocolViolation, "")) { try VaultStatus(result: value) }
        }
    }
}
