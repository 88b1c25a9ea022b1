import Foundation
import Testing

/// What the pages point at.
@Suite struct LinkTests {
    private static func pages() throws -> [URL] {
        let folder = Page.root.appending(path: "proto-docs")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".md") }
        let readme = Page.root.appending(path: "README.md")
        let hasReadme = FileManager.default.fileExists(atPath: readme.path)
        return names.sorted().map { folder.appending(path: $0) } + (hasReadme ? [readme] : [])
    }

    @Test func `every relative link leads to a file`() throws {
        for page in try Self.pages() {
            let text = try String(contentsOf: page, encoding: .utf8)
            for match in text.matches(of: /\]\(([^)\s]+)\)/) where !match.1.contains("://") && !match.1.hasPrefix("#") {
                let path = String(match.1.split(separator: "#")[0])
                let target = page.deletingLastPathComponent().appending(path: path).standardizedFileURL
                let exists = FileManager.default.fileExists(atPath: target.path)
                #expect(exists, "\(page.lastPathComponent): \(path)")
            }
        }
    }

    @Test func `every link to a heading finds it`() throws {
        var headings: [String: Set<String>] = [:]
        var count = 0
        for page in try Self.pages() {
            let text = try String(contentsOf: page, encoding: .utf8)
            for match in text.matches(of: /\]\(([^)\s#]*)#([^)\s]+)\)/) where !match.1.contains("://") {
                let target =
                    match.1.isEmpty
                    ? page : page.deletingLastPathComponent().appending(path: String(match.1)).standardizedFileURL
                guard target.pathExtension == "md" else { continue }
                let known = try headings[target.path] ?? Self.anchors(of: target)
                headings[target.path] = known
                count += 1
                #expect(known.contains(String(match.2)), "\(page.lastPathComponent): \(match.1)#\(match.2)")
            }
        }
        #expect(count > 50)
    }

    /// The anchors of the headings of a page, as GitHub makes them.
    private static func anchors(of page: URL) throws -> Set<String> {
        var anchors: Set<String> = []
        var isCode = false
        for line in try String(contentsOf: page, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix("```") { isCode.toggle() }
            guard !isCode, let match = line.prefixMatch(of: /#{1,6} +/) else { continue }
            let title = line[match.range.upperBound...].replacing(/\]\([^)]*\)/, with: "")
            let kept = title.lowercased().filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }
            let plain = kept.replacing(" ", with: "-")
            var (anchor, number) = (plain, 1)
            while anchors.contains(anchor) {
                anchor = "\(plain)-\(number)"
                number += 1
            }
            anchors.insert(anchor)
        }
        return anchors
    }

    @Test func `the index names every page`() throws {
        let index = try Page("README.md").text
        for page in try Self.pages() where page.lastPathComponent != "README.md" {
            let name = page.lastPathComponent
            #expect(index.contains("[\(name)](\(name))"), "\(name)")
        }
    }

    @Test(arguments: [
        ("PROTOCOL.md", 480), ("KEYS.md", 240), ("FORMATS.md", 430), ("CLI.md", 295), ("THREATS.md", 160),
        ("KEYCHAIN.md", 180), ("ACCESS-CONTROL.md", 90), ("ACCESS.md", 220), ("DOCTOR.md", 120),
        ("PERFORMANCE.md", 112), ("FILES.md", 262), ("AUDIT.md", 120), ("RULES.md", 105),
        ("PASSWORDS.md", 80), ("IMPORT.md", 90), ("BACKUP.md", 190), ("MOUNT.md", 140),
        ("SESSIONS.md", 80), ("TASKS.md", 60), ("PROGRAMS.md", 180),
        ("CREDENTIAL-HELPERS.md", 70), ("SSH-AGENT.md", 90), ("SECRET-SERVICE.md", 205),
        ("CREDENTIALS.md", 90), ("EVENTS.md", 105), ("ORDER.md", 80), ("FOUNDATION.md", 205), ("README.md", 57),
        ("GLOSSARY.md", 50), ("EXCHANGES.md", 960), ("TRASH.md", 90), ("VERSIONS.md", 60), ("SNAPSHOTS.md", 70),
    ])
    func `a page is short enough to be read`(name: String, limit: Int) throws {
        let lineCount = try Page(name).text.count { $0 == "\n" }
        #expect(lineCount <= limit)
    }
}
