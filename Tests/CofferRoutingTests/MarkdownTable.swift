import Foundation

/// A table of `proto-docs/ROUTING.md`, found by its header.
struct MarkdownTable {
    struct Missing: Error { let header: [String] }

    let rows: [[String]]

    init(header: [String]) throws {
        let page = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "proto-docs/ROUTING.md")
        let lines = try String(contentsOf: page, encoding: .utf8).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        guard let start = lines.firstIndex(where: { Self.cells(of: $0) == header }) else {
            throw Missing(header: header)
        }
        rows = lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map(Self.cells)
    }

    private static func cells(of line: Substring) -> [String] {
        line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
