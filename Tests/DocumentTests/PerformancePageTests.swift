import Foundation
import Testing

/// The tables of `proto-docs/PERFORMANCE.md`.
@Suite struct PerformancePageTests {
    private let page: Page

    init() throws { page = try Page("PERFORMANCE.md") }

    @Test func `whether a target is met is what its numbers say`() throws {
        let rows = try page.table(["what", "target", "measured", "so"])
        #expect(rows.count >= 10)
        for row in rows {
            if row[2] == "not measured" || row[1] == "none" {
                #expect(row[3].isEmpty, "\(row)")
                continue
            }
            let target = try #require(row[1].firstMatch(of: /^(≤|≥) ([0-9.]+)/), "\(row[1])")
            let limit = try #require(Double(target.2))
            let measured = row[2].matches(of: /[0-9]+(?:\.[0-9]+)?/).compactMap { Double($0.0) }
            #expect(!measured.isEmpty, "\(row)")
            let isMet = measured.allSatisfy { target.1 == "≤" ? $0 <= limit : $0 >= limit }
            #expect(row[3] == (isMet ? "met" : "MISSED"), "\(row)")
        }
    }

    @Test func `the page has the targets of the benchmarks, in their order`() throws {
        let listed = try Programs.run(Programs.program("benchmarks"), ["targets"])
        #expect(listed.status == 0, "\(listed.errors)")
        // Behind the header and the line below it.
        let targets = listed.text.split(separator: "\n").dropFirst(2)
            .map { line in
                line.split(separator: "|").prefix(2).map { $0.trimmingCharacters(in: .whitespaces) }
            }
        let rows = try page.table(["what", "target", "measured", "so"])
        #expect(rows.map { Array($0.prefix(2)) } == targets)
    }

    @Test func `the page shows every plot that the benchmarks draw`() throws {
        let shown = page.text.matches(of: /!\[[^\]]+\]\(performance\/([a-z]+\.svg)\)/).map { String($0.1) }
        #expect(shown == ["latency.svg", "throughput.svg", "files.svg"])
    }

    @Test func `the page says on what it was measured, when, and by which command`() throws {
        let rows = try page.table(["setting", "value"])
        #expect(rows.map { $0[0] } == ["date", "command", "processor", "cores", "kernel", "file system", "sync"])
        for row in rows { #expect(!row[1].isEmpty) }
        let command = try #require(rows.first { $0[0] == "command" }?[1].quotedWords.first)
        #expect(command == "packaging/bench keychain")
    }

    @Test func `what is missed is explained`() throws {
        let rows = try page.table(["what", "target", "measured", "so"])
        let explanations = try page.section("## What is missed, and why").joined(separator: "\n")
        for row in rows where row[3] == "MISSED" {
            let subject = try #require(row[0].quotedWords.first ?? row[0].split(separator: ",").first.map(String.init))
            #expect(explanations.contains(subject), "\(row[0])")
        }
    }
}
