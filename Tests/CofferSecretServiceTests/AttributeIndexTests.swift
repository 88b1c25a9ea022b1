import CofferClient
import CofferSecretService
import CofferTestSupport
import Testing

/// Which items a search finds, beside a model that looks through all of them.
@Suite struct AttributeIndexTests {
    private static func item(
        _ attributes: [String: String],
        modified: Int64 = 0,
        _ protection: Protection = .keychain(.whenUnlocked)
    ) -> ServiceItem {
        ServiceItem(
            label: "",
            attributes: attributes,
            contentType: "text/plain",
            protection: protection,
            created: 0,
            modified: modified
        )
    }

    /// Random attributes, of few names and values, so that many items share some.
    private static func attributes(_ generator: inout SeededGenerator) -> [String: String] {
        var attributes: [String: String] = [:]
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            attributes["n\(Int.random(in: 0..<4, using: &generator))"] = "v\(Int.random(in: 0..<3, using: &generator))"
        }
        return attributes
    }

    private static func subsets(of attributes: [String: String]) -> [[String: String]] {
        attributes.reduce([[:]]) { subsets, attribute in
            subsets + subsets.map { $0.merging([attribute.key: attribute.value]) { $1 } }
        }
    }

    @Test func `a search finds the items that have all attributes, and no other, through all changes`() throws {
        var generator = SeededGenerator(seed: 7)
        var index = AttributeIndex()
        var model: [ItemKey: (attributes: [String: String], modified: Int64)] = [:]
        for modified in 0..<Int64(600) {
            let collection = ["one", "two"].randomElement(using: &generator) ?? ""
            let key = ItemKey(collection: collection, name: "\(Int.random(in: 0..<40, using: &generator))")
            if Int.random(in: 0..<4, using: &generator) == 0 {
                index.remove(key)
                model[key] = nil
            } else {
                let attributes = Self.attributes(&generator)
                index.set(key, Self.item(attributes, modified: modified))
                model[key] = (attributes, modified)
            }
            let wanted = Self.attributes(&generator)
            for subset in Self.subsets(of: wanted) {
                for collection in [nil, "one", "two", "three"] {
                    let expected = model.filter { known in
                        (collection == nil || known.key.collection == collection)
                            && subset.allSatisfy { known.value.attributes[$0.key] == $0.value }
                    }
                    .sorted { $0.value.modified > $1.value.modified }.map(\.key)
                    #expect(index.items(with: subset, in: collection) == expected)
                }
                let exact = index.item(withExactly: subset, in: "one")
                let expected = model.filter { $0.key.collection == "one" && $0.value.attributes == subset }
                    .max { $0.value.modified < $1.value.modified }?.key
                #expect(exact == expected)
            }
            #expect(index.contains(key) == (model[key] != nil) && index.modified(key) == model[key]?.modified)
        }
        for collection in ["one", "two", "three"] {
            #expect(Set(index.items(of: collection)) == Set(model.keys.filter { $0.collection == collection }))
        }
    }

    @Test func `names and values are told apart by their bytes`() {
        var index = AttributeIndex()
        let key = ItemKey(collection: "c", name: "i")
        index.set(key, Self.item(["ab": "c", "\u{E9}": "x"]))
        #expect(index.items(with: ["ab": "c"], in: nil) == [key])
        for other in [["a": "bc"], ["abc": ""], ["": "abc"], ["c": "ab"], ["e\u{301}": "x"], ["AB": "c"]] {
            #expect(index.items(with: other, in: nil).isEmpty, "\(other)")
        }
    }

    @Test func `items whose names have other bytes are apart, also where they look the same`() {
        var index = AttributeIndex()
        let keys = ["\u{E9}", "e\u{301}"].map { ItemKey(collection: "c", name: $0) }
        for (key, value) in zip(keys, ["1", "2"]) { index.set(key, Self.item(["a": value])) }
        #expect(index.items(with: ["a": "1"], in: nil) == [keys[0]])
        index.remove(keys[0])
        #expect(index.items(with: [:], in: nil) == [keys[1]])
    }

    @Test func `items of a collection keep their order when they change`() {
        var index = AttributeIndex()
        let keys = (0..<5).map { ItemKey(collection: "c", name: "\(9 - $0)") }
        for key in keys { index.set(key, Self.item([:])) }
        index.set(keys[1], Self.item(["a": "b"], modified: 9))
        #expect(index.items(of: "c") == keys)
        index.remove(keys[1])
        index.set(keys[1], Self.item([:]))
        #expect(index.items(of: "c") == [keys[0], keys[2], keys[3], keys[4], keys[1]])
    }

    @Test func `the items that differ between two states are those that are readable in one of them`() {
        var index = AttributeIndex()
        let protections: [Protection] = [
            .keychain(.whenUnlocked), .keychain(.afterFirstUnlock), .keychain(.always), .file(.complete),
            .file(.completeUntilFirstUserAuthentication), .file(.none),
        ]
        let keys = protections.indices.map { ItemKey(collection: "c", name: "\($0)") }
        for (key, protection) in zip(keys, protections) { index.set(key, Self.item([:], protection)) }
        #expect(Set(index.items(thatDifferBetween: .unlocked, .locked)) == [keys[0], keys[3]])
        #expect(Set(index.items(thatDifferBetween: .locked, .unlocked)) == [keys[0], keys[3]])
        let differing = Set(index.items(thatDifferBetween: .beforeFirstUnlock, .unlocked))
        #expect(differing == [keys[0], keys[1], keys[3], keys[4]])
        #expect(index.items(thatDifferBetween: .unlocked, .noPasscode).isEmpty)
        for (key, protection) in zip(keys, protections) {
            for state in [VaultState.unlocked, .locked, .beforeFirstUnlock] {
                #expect(index.isReadable(key, in: state) == protection.isReadable(in: state))
            }
        }
        #expect(!index.isReadable(ItemKey(collection: "c", name: "none"), in: .unlocked))
    }
}
