import CofferCore
import CofferWire
import Testing

/// The tables of `proto-docs/KEYCHAIN.md`.
@Suite struct KeychainPageTests {
    private let page: Page

    init() throws { page = try Page("KEYCHAIN.md") }

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

    @Test func `the limits of items are those of the code`() {
        let text = page.text
        #expect(text.contains("A secret has at most \(Limits.secretBytes) bytes"))
        #expect(text.contains("together at most \(Limits.metadataBytes),"))
    }
}
