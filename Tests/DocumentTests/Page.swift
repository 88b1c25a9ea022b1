import Foundation

/// A page of `proto-docs`, read as a program reads it.
struct Page {
    /// Something that the tests look for is not there.
    struct Missing: Error { let what: String }

    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    let text: String
    private let lines: [Substring]

    init(_ name: String) throws {
        text = try String(contentsOf: Self.root.appending(path: "proto-docs/\(name)"), encoding: .utf8)
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// The rows of the first table with that header, below a heading if one is given.
    func table(_ header: [String], below heading: String? = nil) throws -> [[String]] {
        let part = try section(heading)
        guard let start = part.firstIndex(where: { Self.cells(of: $0) == header }) else {
            throw Missing(what: header.joined(separator: " | "))
        }
        return part[(start + 2)...].prefix { $0.hasPrefix("|") }.map(Self.cells)
    }

    /// The lines from a heading to the next one of any level; all lines where none is given.
    func section(_ heading: String?) throws -> ArraySlice<Substring> {
        guard let heading else { return lines[...] }
        guard let start = lines.firstIndex(where: { $0 == heading }) else { throw Missing(what: heading) }
        return lines[(start + 1)...].prefix { !$0.hasPrefix("#") }
    }

    /// The headings of a level, without their marks.
    func headings(level: Int) -> [String] {
        let mark = String(repeating: "#", count: level) + " "
        return lines.filter { $0.hasPrefix(mark) }.map { String($0.dropFirst(mark.count)) }
    }

    /// The fenced blocks of a language.
    func blocks(_ language: String) -> [[Substring]] {
        var blocks: [[Substring]] = []
        var rest = lines[...]
        while let start = rest.firstIndex(where: { $0.hasPrefix("```") }) {
            let body = rest[(start + 1)...].prefix { $0 != "```" }
            if rest[start] == "```\(language)" { blocks.append(Array(body)) }
            rest = rest[(body.endIndex + 1)...]
        }
        return blocks
    }

    private static func cells(of line: Substring) -> [String] {
        guard line.hasPrefix("|"), line.hasSuffix("|") else { return [] }
        return line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
    }
}

extension String {
    /// What stands between back-quotes in a cell.
    var quotedWords: [String] { matches(of: /`([^`]+)`/).map { String($0.1) } }
}
