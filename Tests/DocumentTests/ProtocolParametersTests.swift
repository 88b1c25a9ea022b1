import CofferCore
import CofferWire
import Foundation
import Testing

/// The parameters and results of each method, as `proto-docs/PROTOCOL.md` has them.
@Suite struct ProtocolParametersTests {
    private let page: Page

    init() throws { page = try Page("PROTOCOL.md") }

    @Test(arguments: Method.allCases)
    func `the parameters of the page are those that the method reads, in their order`(method: Method) throws {
        let heading = "### `\(method.rawValue)`"
        let known = Self.parametersRead(by: method)
        if known.isEmpty {
            let text = try page.section(heading).joined(separator: "\n")
            #expect(text.contains("No parameters."))
        } else {
            let rows = try page.table(["parameter", "type", "bounds", "default"], below: heading)
            #expect(rows.map { $0[0] } == known.map { "`\($0)`" })
        }
    }

    @Test func `a parameter that is required on the page is required`() throws {
        let header = ["parameter", "type", "bounds", "default"]
        for method in Method.allCases {
            let heading = "### `\(method.rawValue)`"
            guard let rows = try? page.table(header, below: heading) else { continue }
            let required = rows.filter { $0[3] == "required" }.map { $0[0] }
            let missing = Self.refusal(of: method, [:])?.message.matches(of: /parameter '(\w+)' is missing/).first
            #expect(required == [missing.map { "`\($0.1)`" }].compactMap { $0 }, "\(method)")
        }
    }

    @Test func `the members of each result are on the page`() throws {
        let info = ItemInfo(
            name: "a",
            protection: .file(.complete),
            byteCount: 1,
            kind: .key,
            created: 1,
            modified: 1,
            isReadable: true
        )
        let status = VaultStatus(state: .locking, keychainCount: 1, fileCount: 1, graceMilliseconds: 1)
        let placement = Placement(
            protection: .keychain(.always),
            rule: "R1",
            reason: "",
            protectionSource: "",
            warnings: []
        )
        let results: [(Method, JSONObject)] = [
            (.hello, HelloResult(protocolNumber: 1, version: "").json),
            (.vaultStatus, status.json),
            (.itemPut, placement.json),
            (.itemGet, GetResult(store: .file, byteCount: 1, delivery: .payload).json),
            (.itemShow, info.json),
            (.itemList, ItemPage(items: [info], next: "a", damagedCount: 0).json),
        ]
        for (method, result) in results {
            let text = try page.section("### `\(method.rawValue)`").joined(separator: " ")
            let start = try #require(text.range(of: "Result: ")).upperBound
            let named = Set(String(text[start...]).quotedWords)
            let members = Set(result.members.map(\.key))
            #expect(members.isSubset(of: named), "\(method): \(members.subtracting(named))")
        }
    }

    /// What the method says of its parameters when it is given one that nobody knows.
    private static func parametersRead(by method: Method) -> [String] {
        let hint = refusal(of: method, ["name": "a", "protocol": 1, "nobodyKnowsThis": true])?.hint ?? ""
        return hint.matches(of: /'(\w+)'/).map { String($0.1) }
    }

    private static func refusal(of method: Method, _ params: JSONObject) -> CofferError? {
        var params = params
        // Each of the two that are required is unknown to the methods that do not require it.
        if method == .hello { params = params.without("name") } else { params = params.without("protocol") }
        if [.vaultInit, .vaultLock, .vaultStatus, .vaultUnlock, .vaultWatch, .itemList].contains(method) {
            params = params.without("name")
        }
        do throws(CofferError) {
            try read(method, params)
            return nil
        } catch {
            return error
        }
    }

    private static func read(_ method: Method, _ params: JSONObject) throws(CofferError) {
        switch method {
        case .hello: _ = try HelloParameters(params: params)
        case .vaultInit: _ = try InitParameters(params: params)
        case .vaultLock: _ = try LockParameters(params: params)
        case .vaultStatus, .vaultUnlock, .vaultWatch: _ = try Nothing(params: params)
        case .itemExplain: _ = try ExplainParameters(params: params)
        case .itemGet: _ = try GetParameters(params: params)
        case .itemList: _ = try ListParameters(params: params)
        case .itemPut: _ = try PutParameters(params: params)
        case .itemRemove, .itemShow: _ = try NameParameters(params: params)
        }
    }
}

extension JSONObject {
    fileprivate func without(_ key: String) -> JSONObject {
        var rest = JSONObject()
        for member in members where member.key != key { rest.set(member.key, member.value) }
        return rest
    }
}
