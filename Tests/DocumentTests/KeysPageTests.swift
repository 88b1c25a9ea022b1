import CofferCore
import CofferCrypto
import CofferKeys
import Foundation
import Testing

/// The tables of `proto-docs/KEYS.md`, and the strings of it and of `FORMATS.md`.
@Suite struct KeysPageTests {
    private let page: Page

    init() throws { page = try Page("KEYS.md") }

    @Test func `every class key is in the table, with its code and what wraps it`() throws {
        let rows = try page.table(["key", "code", "wrapped by", "protects"])
        let expected = ClassKeyName.allCases.map { name in
            ["`\(name)`", "\(name.rawValue)", name.isHeldByDeviceKey ? "device key" : "keybag key"]
        }
        let found = rows.map { Array($0.prefix(3)) }
        #expect(found == expected)
    }

    @Test func `every class and accessibility stands beside its key`() throws {
        let rows = try page.table(["key", "code", "wrapped by", "protects"])
        let protected = Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[3].quotedWords.first ?? "") })
        for protectionClass in ProtectionClass.allCases {
            #expect(protected["`\(ClassKeyName(protectionClass))`"] == protectionClass.rawValue)
        }
        for accessibility in Accessibility.allCases {
            #expect(protected["`\(ClassKeyName(accessibility))`"] == accessibility.rawValue)
        }
    }

    @Test func `every cost of a guess is in the table`() throws {
        let rows = try page.table(["cost", "passes", "memory KiB", "about"])
        let expected = PasscodeCost.allCases.map { ["`\($0.rawValue)`", "\($0.operations)", "\($0.memoryKiB)"] }
        let found = rows.map { Array($0.prefix(3)) }
        #expect(found == expected)
        for bound in [KeyDerivation.acceptedMemoryKiB.lowerBound, KeyDerivation.acceptedMemoryKiB.upperBound] {
            #expect(page.text.contains("\(bound)"))
        }
    }

    @Test func `the table of states says which keys are there`() throws {
        let header = ["state"] + Self.keyGroups
        let rows = try page.table(header)
        let expected = VaultState.allCases.map { state in
            let groups: [ProtectionClass] = [
                .none, .completeUntilFirstUserAuthentication, .completeWhenUserInactive, .complete,
            ]
            return ["`\(state.rawValue)`"] + groups.map { $0.permits(.read, in: state) ? "yes" : "no" }
        }
        #expect(rows == expected)
    }

    private static let keyGroups = ["d, dk, dku, store", "c, ck, cku", "cx", "a, bPrivate, ak, aku, akpu"]

    @Test func `the groups of the table of states are all class keys`() throws {
        let named = Self.keyGroups.flatMap { $0.components(separatedBy: ", ") }.sorted()
        #expect(named == ClassKeyName.allCases.map { "\($0)" }.sorted())
    }

    @Test func `every string of the sources that keys hang on is on a page`() throws {
        let described = try Self.strings(in: page.text + Page("FORMATS.md").text)
        let missing = try Self.stringsOfSources().subtracting(described)
        #expect(missing == [])
    }

    @Test func `every such string on a page is in the sources`() throws {
        let described = try Self.strings(in: page.text + Page("FORMATS.md").text)
        let unknown = described.subtracting(try Self.stringsOfSources())
        #expect(unknown == [])
        #expect(described.count >= 15)
    }

    private static func strings(in text: String) -> Set<String> {
        Set(text.matches(of: /coffer [a-zA-Z -]+ v1/).map { String($0.0) })
    }

    private static func stringsOfSources() throws -> Set<String> {
        let sources = Page.root.appending(path: "Sources")
        let names = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }
        return try names.reduce(into: []) { found, name in
            found.formUnion(strings(in: try String(contentsOf: sources.appending(path: name), encoding: .utf8)))
        }
    }
}
