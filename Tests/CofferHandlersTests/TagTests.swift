import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Testing

/// Listings of the items that have some tags: words of the attribute `tags`.
@Suite struct TagTests {
    private let stepper: Stepper

    init() throws {
        stepper = try Stepper()
        try put("secret", tags: "ci web", .keychain)
        try put("file", tags: "ci  Web\tother", .file)
        try put("other", tags: "city", .keychain)
        try put("none", tags: nil, .file)
    }

    private func put(_ name: String, tags: String?, _ store: StoreName) throws {
        var wishes = PlacementOptions()
        wishes.store = store
        let user: [AttributeName: String] = tags.map { ["tags": $0] } ?? [:]
        try stepper.call(
            ItemPutParameters(name: try ItemName(name), wishes: wishes, user: user),
            payload: try SecretBytes([1])
        )
    }

    private func listed(_ tags: String?, ignoreCase: Bool = false) throws -> [String] {
        let params = ItemListParameters(ignoresCase: ignoreCase, tags: tags)
        return try stepper.call(params).value.items.map(\.name).sortedByBytes()
    }

    @Test(
        arguments: [
            (nil, ["file", "none", "other", "secret"]), ("", ["file", "none", "other", "secret"]),
            ("ci", ["file", "secret"]), ("city", ["other"]), ("cit", []), ("web", ["secret"]), ("Web", ["file"]),
            ("ci web", ["secret"]), (" other  ci ", ["file"]), ("ci city", []),
        ] as [(String?, [String])]
    )
    func `name the items of both stores that have each word`(tags: String?, names: [String]) throws {
        #expect(try listed(tags) == names)
    }

    @Test func `ignore the case of letters if that is wanted`() throws {
        #expect(try listed("WEB", ignoreCase: true) == ["file", "secret"])
    }

    @Test func `leave out what is sealed, and count it`() throws {
        try stepper.reach(.beforeFirstUnlock)
        let page = try stepper.call(ItemListParameters(tags: "ci")).value
        #expect(page.items.isEmpty && page.sealedCount == 4)
    }

    @Test func `are not for completions`() throws {
        let outcome = try Outcome { try stepper.call(ItemListParameters(tags: "ci", wantsCompletions: true)) }
        #expect(outcome == .refused(.param))
    }
}
