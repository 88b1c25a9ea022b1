import CofferAudit
import CofferRights
import CofferCore
import CofferDatabase
import CofferTestSupport
import CofferService
import CofferSystem
import CofferVault
import CofferWire
import Testing

/// The gate's verdict for every method and state.
@Suite struct GateTests {
    /// The verdicts of the gate, by what a method needs of the vault.
    ///
    /// The columns are the states: noVault, noPasscode, beforeFirstUnlock, unlocked, locking, locked,
    /// lockedExpired, deviceKeyMissing. `+` admits, `v` means no vault, `e` an existing vault (or passcode),
    /// `p` no passcode, `d` no device key.
    private static let table: [VaultNeed: String] = [
        .nothing: "++++++++",
        .noVault: "+eeeeeee",
        .keybag: "v+++++++",
        .vault: "v++++++d",
        .passcode: "vp+++++d",
        .noPasscode: "v+eeeeed",
        .passcodeToReplace: "vp++++++",
    ]

    /// What a method needs, where that is not the vault with its device key.
    private static let needs: [VaultNeed: [Method]] = [
        .nothing: [.hello, .entitlementExplain, .entitlementList, .requestCancel, .vaultStatus, .vaultWatch],
        .noVault: [.vaultInit],
        .keybag: [.slotList, .vaultErase],
        .passcode: [.passcodeRemove, .vaultLock, .vaultUnlock],
        .noPasscode: [.passcodeSet],
        .passcodeToReplace: [.passcodeChange],
    ]

    /// The entitlements that a method without parameters requires, where they are not those of what it reads or changes.
    private static let exceptionalVerbs: [(verbs: Set<Verb>, methods: [Method])] = [
        (
            [],
            [
                .hello, .contextEnd, .entitlementExplain, .fileClose, .fileSync, .requestCancel, .vaultStatus,
                .vaultWatch,
            ]
        ),
        (
            [.admin],
            [
                .accessAllow, .accessDeny, .accessList, .accessRemove, .backupRegister, .entitlementList,
                .passcodeChange, .passcodeRemove, .passcodeSet, .slotAdd, .slotList,
                .slotRemove, .slotTest, .vaultBlockers, .vaultCheck, .vaultErase, .vaultInit, .vaultQuarantine,
            ]
        ),
        ([.audit], [.auditList, .auditVerify]),
        ([.backup], [.backupBegin, .backupContents, .backupEnd, .backupRead, .backupSign, .backupStatus]),
        ([.delete], [.fileRemove, .fileRemoveVersions, .itemRemove, .keychainDelete, .trashEmpty]),
        ([.lock], [.vaultLock]),
        ([.unlock], [.contextAuthenticate, .vaultUnlock]),
        // What else may be done with the file is a parameter, and by a mount each request of the kernel.
        ([.read], [.fileOpen, .mountServe]),
    ]

    /// A rule that permits a request.
    private static let rule = Result {
        let vault = try CofferTestSupport.Vault()
        let connection = try Connection(path: "\(try vault.directory.resolvedPath())/vault.sqlite")
        try connection.migrate(AccessRuleStore.migrations, applicationID: 1)
        let store = AccessRuleStore(connection: connection, keys: try vault.open(.locked))
        var rule = AccessRule(number: 0, kind: .allow, client: .user(1), verbs: [.read], group: "g")
        rule.pattern = try NamePattern("site/*")
        _ = try store.add(rule, until: nil)
        return try #require(try store.all.first)
    }

    private static func need(of method: Method) -> VaultNeed {
        needs.first { $0.value.contains(method) }?.key ?? .vault
    }

    /// - Throws: If a new method neither reads nor changes something that is stored: its verbs are to be named above.
    private static func verbs(of method: Method) throws -> Set<Verb> {
        if let exception = exceptionalVerbs.first(where: { $0.methods.contains(method) }) { return exception.verbs }
        switch method.claim {
        case .reads: return [.read]
        case .changes: return [.write]
        case .nothing, .barrier, .keys: return try #require(nil, "\(method) has no verbs here")
        }
    }

    @Test(arguments: Method.allCases, VaultState.allCases)
    func `the gate answers as its table says`(method: Method, state: VaultState) throws {
        let row = Array(try #require(Self.table[Self.need(of: method)]))
        let column = try #require(VaultState.allCases.firstIndex(of: state))
        let refusal = Gate.refusal(of: method, in: state)
        switch row[column] {
        case "v", "p", "d": #expect(refusal?.code == .notAvailable)
        case "e": #expect(refusal?.code == .duplicateItem)
        default: #expect(refusal == nil)
        }
        #expect((row[column] == "v") == (refusal?.message == "there is no vault yet"))
        let missing = refusal?.message == "the device key of this vault is not on this machine"
        #expect((row[column] == "d") == missing)
    }

    /// The entitlements that differ because of parameters.
    static let exceptions: [(method: Method, params: JSONObject, verbs: Set<Verb>)] = [
        (.accessAllow, ["verbs": .array(["read"])], [.admin]),
        (.accessAllow, ["verbs": .array(["write", "delete"])], [.admin]),
        (.accessAllow, ["verbs": .array(["read", "something"])], [.admin]),
        (.accessAllow, ["verbs": .array([])], [.admin]),
        (.accessAllow, ["verbs": "read"], [.admin]),
        (.accessList, ["mine": true], []),
        (.accessList, ["mine": false], [.admin]),
        (.accessList, ["mine": 1], [.admin]),
        (.entitlementExplain, ["pid": 1], [.admin]),
        (.entitlementExplain, ["unit": "a.service"], [.admin]),
        (.entitlementExplain, ["userUnit": "a.service"], [.admin]),
        (.entitlementExplain, ["pid": false], [.admin]),
        (.entitlementExplain, ["pid": .null], []),
        (.vaultWatch, ["audit": true], [.read, .audit]),
        (.vaultWatch, ["audit": false], []),
        (.vaultWatch, ["items": true], [.read]),
        (.vaultWatch, ["attempts": 1], [.read]),
        (.vaultWatch, ["items": .null, "attempts": .null, "audit": .null], []),
        (.vaultWatch, ["items": true, "audit": true], [.read, .audit]),
        (.vaultWatch, ["audit": 1], [.read, .audit]),
        (.contextAuthenticate, ["factor": "passcode"], [.unlock]),
        (.contextAuthenticate, ["factor": "applicationPassword"], [.read]),
        (.contextAuthenticate, ["factor": "something"], [.unlock]),
        (.contextAuthenticate, ["factor": .array(["applicationPassword"])], [.unlock]),
        (.fileOpen, ["access": "read"], [.read]),
        (.fileOpen, ["access": "write"], [.write]),
        (.fileOpen, ["access": "readWrite"], [.read, .write]),
        (.fileOpen, ["access": "something"], [.read, .write]),
        (.fileOpen, ["create": true], [.read, .write]),
        (.fileOpen, ["create": 1], [.read, .write]),
        (.fileOpen, ["create": false], [.read]),
        (.fileOpen, ["truncate": true], [.read, .write]),
        (.fileOpen, ["append": true], [.read, .write]),
        (.fileOpen, ["access": "write", "create": true], [.write]),
    ]

    /// All sets of verbs.
    private static let everySet = (0..<1 << Verb.allCases.count).map { mask in
        Set(Verb.allCases.enumerated().filter { mask >> $0.offset & 1 == 1 }.map(\.element))
    }

    @Test(arguments: Method.allCases)
    func `a method runs where the client has every verb for it and the state allows it, and nowhere else`(
        method: Method
    ) throws {
        let states = Array(try #require(Self.table[Self.need(of: method)]))
        let plain: (JSONObject, Set<Verb>) = ([:], try Self.verbs(of: method))
        let cases = [plain] + Self.exceptions.filter { $0.method == method }.map { ($0.params, $0.verbs) }
        for (params, wanted) in cases {
            for held in Self.everySet {
                let rights = AccessRights(groups: ["g"], verbs: held, reason: "it is a test")
                for (column, state) in VaultState.allCases.enumerated() {
                    var refusal: CofferError?
                    do throws(CofferError) {
                        try Gate.check(method, params, for: rights, and: .somethingElse) { () throws(CofferError) in
                            state
                        }
                    } catch {
                        refusal = error
                    }
                    let isDenied = refusal?.code == .missingEntitlement
                    let isEnough = wanted.isSubset(of: held) || Self.stands(method, params, held)
                    #expect(isDenied == !isEnough, "\(params) \(state) \(held)")
                    if !isDenied { #expect((refusal == nil) == (states[column] == "+"), "\(state)") }
                }
            }
        }
    }

    /// Whether 'share' stands for 'admin', because a request may be about what the client shares, or 'admin' for others.
    private static func stands(_ method: Method, _ params: JSONObject, _ held: Set<Verb>) -> Bool {
        let isSharing =
            switch method {
            case .accessAllow: params["verbs"] == .array(["read"]) && held.contains(.read)
            case .accessList, .accessRemove: true
            default: false
            }
        return isSharing && held.contains(.share) || administered.contains(method) && held.contains(.admin)
    }

    /// What an administrator may do to items that it may not read.
    private static let administered: Set<Method> = [
        .fileList, .fileStat, .fileVersions, .itemExplain, .itemList, .itemMove, .itemRemove, .itemShow, .itemSimulate,
        .trashEmpty, .trashList, .trashRestore,
    ]

    @Test func `what an administrator may do gives no content`() {
        for method in Self.administered { #expect(method.givenPayload == nil && method.descriptor == nil, "\(method)") }
        #expect(Self.administered == Set(Method.allCases.filter(\.isAdministered)))
    }

    @Test(arguments: Method.allCases)
    func `a client of one class uses the keychain by that class, and nothing else of items`(method: Method) throws {
        let rights = AccessRights(groups: ["g"], verbs: Set(Verb.allCases), itemClass: .key, reason: "it is a test")
        func isRefused(_ params: JSONObject) -> Bool {
            Gate.refusal(of: method, params, to: rights, and: .somethingElse)?.code == .missingEntitlement
        }
        let wanted = try Self.verbs(of: method)
        let concernsItems = !wanted.isDisjoint(with: [.read, .write, .delete])
        #expect(isRefused([:]) == concernsItems)
        #expect(isRefused(["class": "key"]) == (concernsItems && !method.rawValue.hasPrefix("keychain.")))
        for other: JSONValue in ["genericPassword", "internetPassword", "certificate", "identity", .null, 1] {
            #expect(isRefused(["class": other]) == concernsItems)
        }
    }

    @Test(arguments: Method.allCases)
    func `an access rule lets its item be fetched, shown, stored and removed, and nothing else`(method: Method) throws {
        let wanted = try Self.verbs(of: method)
        let ruled: Set<Method> = [.itemGet, .itemShow, .itemPut, .itemRemove]
        let locked = CofferError(.interactionNotAllowed, "locked")
        let rule = try Self.rule.get()
        for held in Self.everySet {
            let rights = AccessRights(groups: ["g"], verbs: held, reason: "it is a test")
            func refusal(_ cover: Cover) -> CofferError? { Gate.refusal(of: method, [:], to: rights, and: cover) }
            let isMissing = !wanted.isSubset(of: held) && !Self.stands(method, [:], held)
            let isRefused = refusal(.item(rule)) != nil
            #expect(isRefused == (isMissing && !ruled.contains(method)), "\(held)")
            let sealed = refusal(.sealed(locked))?.code
            #expect(
                sealed == (ruled.contains(method) ? .interactionNotAllowed : isMissing ? .missingEntitlement : nil),
                "\(held)"
            )
        }
    }

    @Test func `one who may not is not told the state`() {
        let rights = AccessRights(groups: ["g"], verbs: [.read], reason: "it is a test")
        #expect(throws: CofferError(.missingEntitlement, "")) {
            try Gate.check(.vaultUnlock, [:], for: rights, and: .nothing) { () throws(CofferError) in
                throw CofferError(.internal, "the state was asked for")
            }
        }
    }

    @Test func `a refusal says what is wanted, what is held and why`() throws {
        let rights = AccessRights(groups: ["g"], verbs: [.delete, .read], reason: "it is a test")
        let refusal = try #require(Gate.refusal(of: .fileOpen, ["access": "readWrite"], to: rights, and: .nothing))
        #expect(refusal.message == "you lack the right 'write', which 'file.open' needs")
        #expect(refusal.hint == "your rights are read, delete: it is a test")
    }
}
