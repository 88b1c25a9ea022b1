import CofferCore
import Testing

/// Patterns of names, against a matcher that tries everything.
@Suite struct NamePatternTests {
    @Test(
        arguments: [
            ("health/**", "health/a", true), ("health/**", "health/a/b", true), ("health/**", "health", false),
            ("health/*", "health/a", true), ("health/*", "health/a/b", false), ("*", "a", true), ("*", "a/b", false),
            ("**", "a/b/c", true), ("**/key", "a/b/key", true), ("**/key", "key", false), ("a?c", "abc", true),
            ("a?c", "a/c", false), ("a?c", "aéc", true), ("a?", "a", false), ("*.pem", "x.pem", true),
            ("*.pem", "x.pem2", false), ("a*b*c", "aXbYbc", true), ("**a*b", "x/aa/ab", true), ("[a]", "a", false),
            ("[a]", "[a]", true), ("\\*", "\\xy", true),
        ] as [(String, String, Bool)]
    )
    func `a name fits or it does not`(pattern: String, name: String, fits: Bool) throws {
        #expect(try NamePattern(pattern).matches(name) == fits)
    }

    @Test func `all short patterns agree with a matcher that tries everything`() throws {
        let names = Self.texts(of: ["a", "b", "/"], upTo: 5)
        for pattern in Self.texts(of: ["a", "/", "*", "?"], upTo: 5) where !pattern.isEmpty {
            let compiled = try NamePattern(pattern)
            for name in names {
                let expected = Self.matches(Array(pattern), Array(name))
                if compiled.matches(name) != expected { Issue.record("'\(pattern)' and '\(name)': \(expected)") }
            }
        }
    }

    @Test func `a pattern of many stars takes no long time`() throws {
        let pattern = try NamePattern(String(repeating: "**a*", count: 200) + "b")
        #expect(!pattern.matches(String(repeating: "a/", count: 1000)))
    }

    /// With going back in both kinds of stars, a billion steps for one name.
    @Test func `the longest names cost little with the worst patterns`() throws {
        let part = String(repeating: "a", count: 255)
        let name = Array(repeating: part, count: 16).joined(separator: "/")
        let half = String(repeating: "a", count: 127)
        let pattern = try NamePattern("**" + Array(repeating: "*" + half + "b", count: 31).joined())
        let parts = try NamePattern("**" + Array(repeating: "*" + half + "*", count: 15).joined(separator: "/") + "/b")
        #expect(!pattern.matches(name))
        #expect(!parts.matches(name))
    }

    @Test(arguments: ["", String(repeating: "a", count: 4097)])
    func `a pattern that can be none is refused`(text: String) {
        #expect(throws: CofferError(.param, "")) { _ = try NamePattern(text) }
    }

    private static func texts(of letters: [Character], upTo count: Int) -> [String] {
        var all = [""]
        var last = [""]
        for _ in 0..<count {
            last = last.flatMap { text in letters.map { text + String($0) } }
            all += last
        }
        return all
    }

    /// Stars side by side are one that crosses slashes.
    private static func matches(_ pattern: [Character], _ name: [Character]) -> Bool {
        guard let first = pattern.first else { return name.isEmpty }
        if first == "*" {
            let stars = pattern.prefix { $0 == "*" }.count
            let rest = Array(pattern.dropFirst(stars))
            for taken in 0...name.count {
                if stars == 1, name.prefix(taken).contains("/") { return false }
                if matches(rest, Array(name.dropFirst(taken))) { return true }
            }
            return false
        }
        guard let letter = name.first, first == letter || first == "?" && letter != "/" else { return false }
        return matches(Array(pattern.dropFirst()), Array(name.dropFirst()))
    }
}
