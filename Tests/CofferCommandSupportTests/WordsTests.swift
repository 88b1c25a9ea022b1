import CofferCore
import CofferCommandSupport
import Testing

/// What a person reads and types: words, names, verbs.
@Suite struct WordsTests {
    private static let protections =
        Accessibility.allCases.map { Protection.keychain($0) } + ProtectionClass.allCases.map { Protection.file($0) }

    @Test func `the words for a protection agree with the states in which it can be read`() {
        for protection in Self.protections {
            let words = protection.words
            #expect(words.hasPrefix("always") == protection.isReadable(in: .beforeFirstUnlock), "\(protection)")
            #expect(words.hasPrefix("while unlocked") == !protection.isReadable(in: .locked), "\(protection)")
        }
    }

    @Test func `two accessibilities have the same words only if they are the same`() {
        let words = Set(Accessibility.allCases.map { Protection.keychain($0).words })
        #expect(words.count == Accessibility.allCases.count)
    }

    @Test(
        arguments: [
            ("list", "list", 0), ("lsit", "list", 1), ("lst", "list", 1), ("lists", "list", 1), ("kist", "list", 1),
            ("", "get", 3), ("put", "get", 2), ("unlcok", "unlock", 1),
        ]
    )
    func `the distance of two verbs counts an exchange of neighbours as one`(word: String, verb: String, distance: Int)
    {
        #expect(UnknownVerb.distance(from: word, to: verb) == distance)
        #expect(UnknownVerb.distance(from: verb, to: word) == distance)
    }

    @Test func `a listing is sorted by bytes, and an item that moved meanwhile is listed once`() {
        var names = ["b", "a/x", "B", "é", "a", "b", "e\u{301}"]
        names.sortByName { $0 }
        // Two spellings of one letter are two names.
        #expect(names.map { Array($0.utf8) } == ["B", "a", "a/x", "b", "e\u{301}", "é"].map { Array($0.utf8) })
    }

    @Test func `items of one name are all listed where their references differ`() {
        let (one, other) = (ItemID(), ItemID())
        var items: [(name: String, id: ItemID?)] = [("login", one), ("login", other), ("login", one)]
        items.sortByName({ $0.name }, { $0.id })
        #expect(items.count == 2)
        #expect(Set(items.map(\.id)) == [one, other])
    }

    @Test func `items of one name in two groups stand in the order of the groups`() {
        var items = [("a", "work"), ("a", "home"), ("a", "work")]
        items.sortByName({ $0.0 }, in: { $0.1 })
        #expect(items.map(\.1) == ["home", "work"])
    }

    @Test func `a client that a person names by its user has the user's number`() throws {
        #expect(try ClientPattern(argument: "user:root") == .user(0))
        #expect(try ClientPattern(argument: "uid:0") == .user(0))
        #expect(ClientPattern.user(0).words == "user:root")
        #expect(throws: CofferError.self) { try ClientPattern(argument: "user:no such user") }
    }

    @Test func `a user without a name keeps its number in words, which is read again`() throws {
        let number = ClientPattern.user(3_999_999_999)
        #expect(try ClientPattern(argument: number.words) == number)
    }
}
