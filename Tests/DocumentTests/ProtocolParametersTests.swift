import CofferCore
import CofferWire
import Foundation
import Testing

/// The parameters and results of each method, as `proto-docs/PROTOCOL.md` has them.
@Suite struct ProtocolParametersTests {
    private let page: Page

    init() throws { page = try Page("PROTOCOL.md") }

    /// The methods that are on this page: others have pages of their own.
    static let methods = Method.allCases.filter {
        !(KeychainPageTests.methods + AccessControlPageTests.methods + DoctorPageTests.methods + AuditPageTests.methods
            + AccessPageTests.methods + FilesPageTests.methods + LeasesPageTests.methods + TrashPageTests.methods
            + AccessRulesPageTests.methods + SnapshotsPageTests.methods + [.requestCancel, .vaultWatch])
            .contains($0)
    }

    @Test(arguments: methods)
    func `the parameters of the page are those that the method reads, in their order`(method: Method) throws {
        let known = Self.parametersRead(by: method)
        let found = try parameters(of: method).map(\.name)
        #expect(found == known)
    }

    @Test func `a parameter that is required on the page is required`() throws {
        for method in Self.methods {
            let required = try parameters(of: method).filter(\.isRequired).map(\.name)
            #expect(required == Self.parametersMissed(by: method), "\(method)")
        }
    }

    /// The parameters that the page gives a method: in its section, or in its row of the table that many share.
    private func parameters(of method: Method) throws -> [(name: String, isRequired: Bool)] {
        let header = ["parameter", "type", "bounds", "default"]
        let shared = try page.table(["method", "parameters", "payload", "result"])
        guard let row = shared.first(where: { $0[0].quotedWords == [method.rawValue] }) else {
            return try page.table(header, below: try heading(of: method)).flatMap { row in
                row[0].quotedWords.map { ($0, row[3] == "required") }
            }
        }
        let described = try page.table(header, below: Self.sharedHeading)
        return try row[1].quotedWords.map { name in
            let description = try #require(described.first { $0[0].quotedWords.contains(name) })
            return (name, description[3] == "required")
        }
    }

    /// The heading of the section that is about a method, and maybe about others.
    private func heading(of method: Method) throws -> String {
        let headings = page.headings(level: 3)
        return "### " + (try #require(headings.first { $0.quotedWords.contains(method.rawValue) }))
    }

    private static let sharedHeading = "### The vault, its passcode and its keyslots"

    @Test func `the members of each result are on the page`() throws {
        let info = ItemInfo(
            name: "a",
            group: "b",
            protection: .file(.complete),
            byteCount: 1,
            kind: .key,
            created: 1,
            modified: 1,
            isReadable: true,
            expiryDate: 1,
            isExpired: true
        )
        let status = VaultStatus(
            state: .locking,
            keychainCount: 1,
            fileCount: 1,
            graceMilliseconds: 1,
            vaultID: ItemID(),
            retrySeconds: 1,
            faults: [VaultFault(what: "", hint: "")]
        )
        let placement = Placement(
            protection: .keychain(.always),
            rule: "R1",
            reason: "",
            protectionSource: "",
            warnings: []
        )
        let results: [(Method, JSONObject)] = [
            (.hello, HelloResult(protocolNumber: 1, version: "", group: "").json),
            (.itemPut, placement.json),
            (.itemGet, ItemGetResult(store: .file, byteCount: 1, delivery: .payload).json),
            (.itemShow, info.json),
            (.itemList, ItemPage(items: [info], next: "a", damagedCount: 0).json),
            (.vaultBlockers, BlockerPage(blockers: [], next: 1).json),
            (.itemSimulate, SimulationPage(items: [], next: "a", damagedCount: 0).json),
        ]
        for (method, result) in results {
            let text = try page.section(try heading(of: method)).joined(separator: " ")
            let start = try #require(text.range(of: "Result")).upperBound
            let named = Set(String(text[start...]).quotedWords)
            let members = Set(result.members.map(\.key))
            #expect(members.isSubset(of: named), "\(method): \(members.subtracting(named))")
        }
        let text = try page.section(Self.sharedHeading).joined(separator: " ")
        let named = Set(text.quotedWords)
        let slots = SlotList(slots: [KeyslotInfo(number: 1, kind: .device)])
        for result in [status.json, slots.json, SlotResult(number: 1).json] {
            let members = Set(result.members.map(\.key))
            #expect(members.isSubset(of: named), "\(members.subtracting(named))")
        }
        #expect(KeyslotKind.allCases.allSatisfy { named.contains($0.rawValue) })
    }

    /// What the method says is missing, one parameter after the other.
    static func parametersMissed(by method: Method) -> [String] {
        var params = JSONObject()
        var missed: [String] = []
        while let match = refusal(of: method, params)?.message.firstMatch(of: /parameter '(\w+)' is missing/) {
            let name = String(match.1)
            missed.append(name)
            guard let value = required[method, default: ["name": "a"]][name] else { break }
            params.set(name, value)
        }
        return missed
    }

    /// The parameters that the method lists when it gets an unknown one.
    static func parametersRead(by method: Method) -> [String] {
        var params = required[method] ?? ["name": "a"]
        params.set("nobodyKnowsThis", true)
        let hint = refusal(of: method, params)?.hint ?? ""
        return hint.matches(of: /'(\w+)'/).map { String($0.1) }
    }

    /// What the methods can't do without, where it is not a name.
    static let required: [Method: JSONObject] = [
        .accessAllow: ["client": "uid:1000", "verbs": .array(["read"]), "pattern": "a"],
        .accessDeny: ["client": "uid:1000", "verbs": .array(["read"]), "pattern": "a"],
        .accessList: [:],
        .accessRemove: ["rule": 1],
        .auditList: [:],
        .auditVerify: [:],
        .backupBegin: [:],
        .backupContents: [:],
        .backupEnd: [:],
        .backupRead: ["part": "keybag"],
        .backupRegister: ["repository": "a"],
        .backupSign: ["number": 1],
        .backupStatus: [:],
        .entitlementExplain: [:],
        .entitlementList: [:],
        .contextAuthenticate: [:],
        .contextEnd: [:],
        .hello: ["protocol": 1],
        .vaultCheck: [:],
        .vaultErase: ["vaultID": "00112233445566778899aabbccddeeff"],
        .vaultInit: [:],
        .vaultLock: [:],
        .vaultQuarantine: [:],
        .vaultStatus: [:],
        .vaultUnlock: [:],
        .vaultWatch: [:],
        .requestCancel: ["request": 1],
        .passcodeChange: [:],
        .passcodeRemove: ["destroys": 0],
        .passcodeSet: [:],
        .slotAdd: [:],
        .slotList: [:],
        .slotRemove: ["slot": 1],
        .slotTest: [:],
        .fileAllocate: ["handle": 1, "offset": 0, "length": 0],
        .fileClose: ["handle": 1],
        .fileExtent: ["handle": 1, "offset": 0],
        .fileList: [:],
        .fileGetExtendedAttribute: ["name": "a", "attribute": "user.a"],
        .fileLink: ["name": "a", "to": "b"],
        .fileProtect: ["name": "a", "class": "complete"],
        .filePunch: ["handle": 1, "offset": 0, "length": 1],
        .fileRemoveExtendedAttribute: ["name": "a", "attribute": "user.a"],
        .fileSetExtendedAttribute: ["name": "a", "attribute": "user.a"],
        .fileSpace: [:],
        .fileSymlink: ["name": "a", "target": "b"],
        .fileRename: ["name": "a", "to": "b"],
        .fileRestore: ["name": "a", "version": 1],
        .fileRead: ["handle": 1, "offset": 0, "length": 0],
        .fileSync: ["handle": 1],
        .fileSyncTree: [:],
        .fileTruncate: ["handle": 1, "bytes": 0],
        .fileWrite: ["handle": 1],
        .itemList: [:],
        .itemMove: ["name": "a", "to": "b"],
        .itemSimulate: [:],
        .vaultBlockers: [:],
        .keychainAdd: ["class": "key"],
        .keychainAgree: ["class": "key", "peer": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="],
        .keychainDelete: ["class": "key", "all": true],
        .keychainFind: ["class": "key"],
        .keychainHistory: ["class": "key"],
        .keychainPublicKey: ["class": "key"],
        .keychainRestore: ["class": "key", "number": 1],
        .keychainSign: ["class": "key"],
        .keychainUpdate: ["class": "key", "all": true],
        .leaseGrant: ["name": "a", "to": "uid:1000", "seconds": 1],
        .leaseList: [:],
        .leaseRevoke: ["lease": 1],
        .trashEmpty: [:],
        .trashList: [:],
        .trashRestore: ["entry": 1],
    ]

    static func refusal(of method: Method, _ params: JSONObject) -> CofferError? {
        do throws(CofferError) {
            _ = try method.parameters.init(params: params)
            return nil
        } catch {
            return error
        }
    }
}
