import CofferCore
import CofferRouting
import Testing

@Suite struct MatrixTests {
    @Test func `every combination of facts gets the rule and the store of the oracle`() throws {
        #expect(RoutingFacts.product.count == 11 * 18 * 16)
        for facts in RoutingFacts.product {
            let rule = try Oracle.rule(for: facts)
            switch Oracle.stores[rule] {
            case "refused":
                #expect(throws: CofferError(.dataTooLarge, "")) { try Routing.route(facts) }
            case "file" where rule == "R0" && Oracle.statedKinds[facts.kind?.rawValue ?? ""] == "R1 R2":
                #expect(throws: CofferError(.param, "")) { try Routing.route(facts) }
            case let store:
                let verdict = try Routing.route(facts)
                #expect(verdict.rule.rawValue == rule, "\(facts)")
                #expect(verdict.store.rawValue == store, "\(facts)")
                #expect(verdict.storeSource == .matrix)
                #expect(verdict.protection.store == verdict.store)
                #expect(verdict.reason == verdict.rule.reason(RoutingBounds()))
            }
        }
    }

    @Test(arguments: Rule.allCases)
    func `every rule can be reached`(rule: Rule) {
        #expect(RoutingFacts.product.contains { Rule(for: $0) == rule })
    }

    @Test(arguments: ItemKind.allCases)
    func `every kind of the system has a row in the oracle`(kind: ItemKind) {
        #expect(Oracle.statedKinds[kind.rawValue] != nil)
    }

    @Test(
        arguments: ["password", "token", "key", "certificate"],
        [(32767, "R1"), (32768, "R1"), (32769, nil), (0, "R1"), (1025, "R1"), (4097, "R1")] as [(Int64, String?)]
    )
    func `a secret kind belongs in the keychain up to 32 KiB and is refused above`(
        kind: String,
        boundary: (size: Int64, rule: String?)
    ) throws {
        let kind = try #require(ItemKind(rawValue: kind))
        let facts = RoutingFacts(
            kind: kind,
            size: .exactly(boundary.size),
            looksStructured: true,
            isPresentedAsFile: true
        )
        if let rule = boundary.rule {
            #expect(try Routing.route(facts).rule.rawValue == rule)
            #expect(try Routing.route(facts).store == .keychain)
        } else {
            #expect(throws: CofferError(.dataTooLarge, "")) { try Routing.route(facts) }
        }
    }

    @Test(
        arguments: ["document", "database", "image", "download", "cache", "temporary"],
        [0, 1023, 1024, 1025, 4095, 4096, 4097, 32767, 32768, 32769] as [Int64]
    )
    func `a file kind belongs in the file store at any size`(kind: String, size: Int64) throws {
        let kind = try #require(ItemKind(rawValue: kind))
        let verdict = try Routing.route(RoutingFacts(kind: kind, size: .exactly(size), isDeclaredStructured: true))
        #expect(verdict.rule == .r4)
        #expect(verdict.store == .file)
    }

    @Test(arguments: [(4095, Rule.r3), (4096, .r3), (4097, .r8)] as [(Int64, Rule)])
    func `a declared structure belongs in the keychain up to 4 KiB`(size: Int64, rule: Rule) throws {
        #expect(try Routing.route(RoutingFacts(size: .exactly(size), isDeclaredStructured: true)).rule == rule)
    }

    @Test(arguments: [(1023, Rule.r6), (1024, .r6), (1025, .r5)] as [(Int64, Rule)])
    func `what comes as a file stays one above 1024 bytes`(size: Int64, rule: Rule) throws {
        #expect(try Routing.route(RoutingFacts(size: .exactly(size), isPresentedAsFile: true)).rule == rule)
    }

    @Test(arguments: [(1023, Rule.r6), (1024, .r6), (1025, .r8)] as [(Int64, Rule)])
    func `a value of no stated kind belongs in the keychain up to 1024 bytes`(size: Int64, rule: Rule) throws {
        #expect(try Routing.route(RoutingFacts(size: .exactly(size))).rule == rule)
    }

    @Test(arguments: [(1024, Rule.r6), (1025, .r7), (4095, .r7), (4096, .r7), (4097, .r8)] as [(Int64, Rule)])
    func `text that parses as fields belongs in the keychain up to 4 KiB`(size: Int64, rule: Rule) throws {
        #expect(try Routing.route(RoutingFacts(size: .exactly(size), looksStructured: true)).rule == rule)
    }

    @Test(arguments: [0, 1024, 32768, Int64.max])
    func `a pipe whose end was not seen is never taken for small`(seen: Int64) throws {
        #expect(try Routing.route(RoutingFacts(size: .moreThan(seen), isDeclaredStructured: true)).store == .file)
    }

    @Test(arguments: Rule.allCases)
    func `every reason is a sentence part without a full stop`(rule: Rule) {
        #expect(rule.reason(RoutingBounds()).first?.isLowercase == true)
        #expect(!rule.reason(RoutingBounds()).hasSuffix("."))
        #expect(Set(Rule.allCases.map { $0.reason(RoutingBounds()) }).count == Rule.allCases.count)
    }

    @Test(arguments: [0, 1, 1023, 1024, 1025, 32767, 32768, 32769] as [Int64])
    func `a directory holds what is put in it, at any size, and no password`(size: Int64) throws {
        for kind in [nil] + ItemKind.allCases.filter({ $0.scenario != nil }) {
            let facts = RoutingFacts(kind: kind, size: .exactly(size), isDeclaredStructured: true, isInDirectory: true)
            let verdict = try Routing.route(facts, wishes: RoutingWishes(directory: .complete))
            #expect(verdict.rule == .r0)
            #expect(verdict.protection == .file(.complete))
            #expect(verdict.protectionSource == .directory)
        }
        for kind in ItemKind.allCases.filter({ $0.scenario == nil }) {
            let facts = RoutingFacts(kind: kind, size: .exactly(size), isInDirectory: true)
            let error = try #require(throws: CofferError.self) { try Routing.route(facts) }
            #expect(error.code == .param)
            #expect(error.message.contains("a \(kind.rawValue) belongs in the keychain"))
        }
    }

    @Test func `a password that is in the keychain stays there when a directory is made around it`() throws {
        let verdict = try Routing.route(
            RoutingFacts(formerKind: .password, size: .exactly(10), isInDirectory: true),
            wishes: RoutingWishes(existing: .keychain(.whenUnlocked), directory: .complete)
        )
        #expect(verdict.rule == .r1)
        #expect(verdict.protection == .keychain(.whenUnlocked))
    }

    @Test func `the rules are named R0 to R8`() {
        #expect(Rule.allCases.map(\.rawValue) == ["R0", "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8"])
    }
}
