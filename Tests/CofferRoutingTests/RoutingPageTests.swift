import CofferCore
import CofferRouting
import Foundation
import Testing

/// `proto-docs/ROUTING.md`, executed.
@Suite struct RoutingPageTests {
    @Test func `the rules of the page are the rules of the code, cell by cell`() throws {
        let rows = try MarkdownTable(header: ["rule", "facts", "store"]).rows
        #expect(rows.map { $0[0] } == Rule.allCases.map(\.rawValue))
        for (row, rule) in zip(rows, Rule.allCases) {
            #expect(row[2] == (rule.store?.rawValue ?? "refused: `dataTooLarge`"))
        }
        for facts in RoutingFacts.product {
            let first = try rows.first { row in try Clause.all(of: row[1], holdFor: facts) }
            #expect(first?[0] == Rule(for: facts).rawValue, "\(facts)")
        }
    }

    @Test func `the signatures of the page are those of the code`() throws {
        let rows = try MarkdownTable(header: ["signature", "taken for", "told by"]).rows
        #expect(
            rows.map { Array($0.prefix(2)) }
                == ContentSignature.allCases.map { ["`\($0.rawValue)`", $0.kind.rawValue] }
        )
    }

    @Test func `the bounds of the page are the standard bounds`() throws {
        let rows = try MarkdownTable(header: ["setting of `[Routing]`", "bytes", "standard", "decides"]).rows
        let bounds = RoutingBounds()
        let expected = [
            ("`SmallBytes`", bounds.smallBytes, Limits.secretBytes),
            ("`FileBytes`", bounds.fileBytes, Limits.secretBytes),
            ("`StructuredBytes`", bounds.structuredBytes, Limits.structuredBytes),
        ]
        #expect(rows.map { Array($0.prefix(3)) } == expected.map { [$0.0, "0 to \($0.2)", "\($0.1)"] })
    }

    @Test func `the scenarios of the page are the scenarios of the code, cell by cell`() throws {
        let rows = try MarkdownTable(header: ["scenario", "file class", "keychain accessibility"]).rows
        let expected = Scenario.allCases.map { scenario in
            [
                scenario.rawValue, scenario.protection.converted(to: .file)?.name ?? "-",
                scenario.protection.converted(to: .keychain)?.name ?? "-",
            ]
        }
        #expect(rows == expected)
    }

    @Test func `the conversions of the page are the conversions of the code, cell by cell`() throws {
        let toKeychain = try MarkdownTable(header: ["file class", "becomes accessibility"]).rows
        #expect(
            toKeychain
                == ProtectionClass.allCases.map {
                    [$0.rawValue, Protection.file($0).converted(to: .keychain)?.name ?? "-"]
                }
        )
        let toFile = try MarkdownTable(header: ["accessibility", "becomes file class"]).rows
        #expect(
            Set(toFile)
                == Set(
                    Accessibility.allCases.map {
                        [$0.rawValue, Protection.keychain($0).converted(to: .file)?.name ?? "-"]
                    }
                )
        )
        #expect(toFile.count == Accessibility.allCases.count)
    }

    @Test func `the kinds of the page say the scenarios of the code`() throws {
        let rows = try MarkdownTable(header: ["kind", "scenario where none is named"]).rows
        let expected = ItemKind.allCases.compactMap { kind in kind.scenario.map { [kind.rawValue, $0.rawValue] } }
        #expect(Set(rows) == Set(expected))
        #expect(rows.count == expected.count)
    }

    @Test func `the page names every source in the order of precedence`() throws {
        let rows = try MarkdownTable(header: ["won", "who said it"]).rows
        #expect(rows.map { $0[0] } == ProtectionSource.allCases.map { "`\($0.rawValue)`" })
    }

    @Test func `the worked examples of the page come out as it says`() throws {
        let rows = try MarkdownTable(header: ["item", "bytes", "asked", "verdict"]).rows
        #expect(rows.count >= 15)
        for row in rows {
            let example = try Example(item: row[0], bytes: row[1], asked: row[2])
            let answer: String
            do throws(CofferError) {
                let verdict = try Routing.route(example.facts, wishes: example.wishes)
                answer = [
                    verdict.rule.rawValue, verdict.store.rawValue, verdict.protection.name,
                    verdict.protectionSource.rawValue,
                ].joined(separator: " ")
            } catch {
                answer = error.code.rawValue
            }
            #expect(answer == row[3], "\(row)")
        }
    }
}

/// A word of the page that the tests do not know.
private struct Unreadable: Error { let text: String }

/// One condition of a cell of facts, read as a person reads it.
private enum Clause {
    static func all(of cell: String, holdFor facts: RoutingFacts) throws -> Bool {
        try cell.components(separatedBy: "; ").allSatisfy { try holds($0, for: facts) }
    }

    private static func holds(_ text: String, for facts: RoutingFacts) throws -> Bool {
        let numbers = text.split(separator: " ").compactMap { Int64($0) }
        switch text {
        case "anything else": return true
        case "kind unstated": return facts.kind == nil
        case "declared structured": return facts.isDeclaredStructured
        case "looks structured": return facts.looksStructured
        case "presented as a file": return facts.isPresentedAsFile
        case "lies in a directory": return facts.isInDirectory
        case _ where text.hasPrefix("kind "):
            return text.dropFirst(5).components(separatedBy: ", ").contains(facts.kind?.rawValue ?? "")
        case _ where text.hasPrefix("at most ") && numbers.count == 1: return fits(facts.size, numbers[0])
        case _ where text.hasPrefix("more than ") && numbers.count == 1: return !fits(facts.size, numbers[0])
        default: throw Unreadable(text: text)
        }
    }

    private static func fits(_ size: RoutingFacts.Size, _ limit: Int64) -> Bool {
        if case .exactly(let count) = size { count <= limit } else { false }
    }
}

/// A row of the worked examples.
private struct Example {
    let facts: RoutingFacts
    let wishes: RoutingWishes

    init(item: String, bytes: String, asked: String) throws {
        let known = try Self.words(item, allowed: Self.itemNames)
        let said = try Self.words(asked, allowed: Self.wishNames)
        guard let count = Int64(bytes.drop { $0 == ">" }) else { throw Unreadable(text: bytes) }
        facts = RoutingFacts(
            kind: try known["kind"].map { try Self.value(ItemKind(rawValue: $0), $0) },
            size: bytes.hasPrefix(">") ? .moreThan(count) : .exactly(count),
            isDeclaredStructured: known["declared"] == "structured",
            looksStructured: known["looks"] == "structured",
            looksSecret: known["looks"] == "secret",
            signature: try known["signature"].map { try Self.value(ContentSignature(rawValue: $0), $0) },
            isPresentedAsFile: known["presented"] == "as a file",
            scenario: try known["scenario"].map { try Self.value(Scenario(rawValue: $0), $0) },
            isInDirectory: known["lies"] == "in a directory"
        )
        wishes = RoutingWishes(
            store: try said["store"].map { try Self.value(StoreName(rawValue: $0), $0) },
            protectionClass: try said["class"].map { try Self.value(ProtectionClass(rawValue: $0), $0) },
            accessibility: try said["accessibility"].map { try Self.value(Accessibility(rawValue: $0), $0) },
            leastClass: try said["copied"].map { try Self.value(ProtectionClass(rawValue: $0), $0) },
            existing: try said["existing"].map(Self.protection),
            directory: try said["directory"].map { try Self.value(ProtectionClass(rawValue: $0), $0) },
            entitled: try said["entitled"].map(Self.protection),
            configured: try said["configured"].map(Self.protection)
        )
    }

    private static let itemNames: Set = [
        "kind", "scenario", "signature", "declared", "looks", "presented", "lies",
    ]
    private static let wishNames: Set = [
        "store", "class", "accessibility", "copied", "existing", "directory", "entitled", "configured",
    ]

    private static func words(_ cell: String, allowed: Set<String>) throws -> [String: String] {
        guard cell != "-" else { return [:] }
        return try Dictionary(
            uniqueKeysWithValues: cell.components(separatedBy: ", ").map { part in
                let words = part.split(separator: " ", maxSplits: 1).map(String.init)
                guard words.count == 2, allowed.contains(words[0]) else { throw Unreadable(text: part) }
                return (words[0], words[1])
            }
        )
    }

    private static func value<Value>(_ value: Value?, _ text: String) throws -> Value {
        guard let value else { throw Unreadable(text: text) }
        return value
    }

    private static func protection(_ name: String) throws -> Protection {
        if let protectionClass = ProtectionClass(rawValue: name) { return .file(protectionClass) }
        return .keychain(try value(Accessibility(rawValue: name), name))
    }
}
