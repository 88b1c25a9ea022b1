import CofferCore
import CofferWire
import Testing

/// The tables of `proto-docs/KEYCHAIN.md`.
@Suite struct KeychainPageTests {
    private let page: Page

    init() throws { page = try Page("KEYCHAIN.md") }

    /// The methods that are on this page, and not on the other.
    static let methods = Method.allCases.filter { $0.rawValue.hasPrefix("keychain.") }

    @Test func `every class is in the table with its attributes`() throws {
        let rows = try page.table(["class", "unique on", "other attributes of its own"])
        let stored = ItemClass.allCases.filter { $0 != .identity }
        #expect(rows.map { $0[0] } == stored.map { "`\($0.rawValue)`" })
        let sentence = try #require(page.text.firstMatch(of: #/Every class has ([^.]+)\./#)?.1)
        let common = String(sentence).quotedWords
        for (row, itemClass) in zip(rows, stored) {
            let key = KeychainAttribute.primaryKey(of: itemClass).map(\.rawValue)
            #expect(row[1].quotedWords == key)
            let all = Set(KeychainAttribute.attributes(of: itemClass).map(\.rawValue))
            #expect(Set(common + key + row[2].quotedWords) == all, "\(itemClass)")
        }
        let parts = KeychainAttribute.attributes(of: .certificate) + KeychainAttribute.attributes(of: .key)
        #expect(Set(KeychainAttribute.attributes(of: .identity)) == Set(parts))
    }

    @Test func `every attribute is in the table of forms`() throws {
        let rows = try page.table(["form", "in JSON", "attributes"])
        for row in rows {
            let expected = KeychainAttribute.allCases.filter { "\($0.form)" == row[0] }.map(\.rawValue)
            #expect(Set(row[2].quotedWords) == Set(expected), "\(row[0])")
        }
        let count = rows.map { $0[2].quotedWords.count }.reduce(0, +)
        #expect(count == KeychainAttribute.allCases.count)
    }

    @Test func `every method is in both tables`() throws {
        let states = try page.stateRows(below: "## Methods").flatMap { $0[0].quotedWords }
        #expect(states == Self.methods.map(\.rawValue))
        let rows = try page.table(["method", "parameters", "payload", "result"]).map { $0[0] }
        #expect(Set(rows) == Set(Self.methods.map { "`\($0.rawValue)`" }))
    }

    @Test(arguments: methods, VaultState.allCases)
    func `the table of states is the gate`(method: Method, state: VaultState) throws {
        try Page.expectGate(method, in: state, try page.stateRows(below: "## Methods"))
    }

    @Test(arguments: methods)
    func `the parameters of the page are those that the method reads, in their order`(method: Method) throws {
        let known = ProtocolParametersTests.parametersRead(by: method)
        let found = try parameters(of: method).map(\.name)
        #expect(found == known)
    }

    @Test(arguments: methods)
    func `a parameter that is required on the page is required`(method: Method) throws {
        let required = try parameters(of: method).filter(\.isRequired).map(\.name)
        let missed = ProtocolParametersTests.parametersMissed(by: method)
        #expect(required == missed)
    }

    @Test func `the members of the results are on the page`() throws {
        let rows = try page.table(["method", "parameters", "payload", "result"])
        let named = Set(rows.flatMap { $0[3].quotedWords })
        let item = KeychainItemInfo(
            itemClass: .key,
            reference: ItemID(),
            attributes: [:],
            user: [:],
            byteCount: 0,
            accessControl: try AccessControl([.userPresence]),
            isLocked: true,
            isExpired: true
        )
        let results: [any WireObject] = [
            KeychainAddResult(reference: ItemID(), item: item), KeychainPage(items: [], lockedCount: 0, cursor: ""),
            KeychainUpdateResult(count: 1), CountResult(count: 1), KeychainPublicKey(bytes: [], keyType: ""),
            KeychainHistory(values: []),
            KeychainFormerValue(number: 1, replaced: 1, byteCount: 1),
        ]
        for result in results {
            let members = Set(result.json.members.map(\.key))
            #expect(members.isSubset(of: named), "\(members.subtracting(named))")
        }
        let words = Set(page.text.quotedWords)
        let members = Set(item.json.members.map(\.key))
        #expect(members.isSubset(of: words), "\(members.subtracting(words))")
    }

    @Test func `every word that a parameter takes is on the page`() {
        let words = Set(page.text.quotedWords)
        let taken =
            KeychainReturn.allCases.map(\.rawValue) + KeychainOrder.allCases.map(\.rawValue)
            + KeyType.allCases.map(\.rawValue) + ItemClass.allCases.map(\.rawValue)
            + KeychainAttribute.searchable.map(\.rawValue)
        #expect(Set(taken).isSubset(of: words), "\(Set(taken).subtracting(words))")
    }

    @Test func `the limits of items are those of the code`() {
        let text = page.text
        #expect(text.contains("A secret has at most \(Limits.secretBytes) bytes"))
        #expect(text.contains("together at most \(Limits.metadataBytes),"))
        #expect(text.contains("0 to \(Limits.historyValues) former values"))
    }

    /// The parameters that the page gives a method, those of the query in the place of their word.
    private func parameters(of method: Method) throws -> [(name: String, isRequired: Bool)] {
        let rows = try page.table(["method", "parameters", "payload", "result"])
        let row = try #require(rows.first { $0[0].quotedWords == [method.rawValue] })
        let queried = try described(below: "## Queries")
        let own = try described(below: "## Methods")
        let others = row[1].quotedWords.map { name in (name, own[name]) }
        let query = row[1].hasPrefix("*query*") ? try names(below: "## Queries").map { ($0, queried[$0]) } : []
        return try (query + others).map { name, standard in
            let standard = try #require(standard, "\(name)")
            let isOptionalHere = standard.contains("of `\(method.rawValue)`")
            return (name, standard.hasPrefix("required") && !isOptionalHere)
        }
    }

    /// The default of each parameter in the table below a heading.
    private func described(below heading: String) throws -> [String: String] {
        let rows = try page.table(Self.header, below: heading)
        return Dictionary(uniqueKeysWithValues: rows.flatMap { row in row[0].quotedWords.map { ($0, row[3]) } })
    }

    private func names(below heading: String) throws -> [String] {
        try page.table(Self.header, below: heading).flatMap { $0[0].quotedWords }
    }

    private static let header = ["parameter", "type", "bounds", "default"]
}
