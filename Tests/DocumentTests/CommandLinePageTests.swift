import CofferCore
import CofferTerminal
import Foundation
import Testing

/// The tables and synopses of `proto-docs/CLI.md`, and the synopses of the other pages with verbs.
@Suite struct CommandLinePageTests {
    private let page: Page
    private let keychainPage: Page
    private let filesPage: Page
    private let passwordsPage: Page
    private let sessionsPage: Page
    private let agentPage: Page
    private let secretServicePage: Page
    private let importPage: Page
    private let backupPage: Page

    init() throws {
        page = try Page("CLI.md")
        keychainPage = try Page("KEYCHAIN.md")
        filesPage = try Page("FILES.md")
        passwordsPage = try Page("PASSWORDS.md")
        sessionsPage = try Page("SESSIONS.md")
        agentPage = try Page("SSH-AGENT.md")
        secretServicePage = try Page("SECRET-SERVICE.md")
        importPage = try Page("IMPORT.md")
        backupPage = try Page("BACKUP.md")
    }

    @Test func `every exit code is in the table`() throws {
        let rows = try page.table(["code", "meaning", "errors"])
        #expect(rows.map { $0[0] } == ExitStatus.allCases.map { "\($0.rawValue)" })
        let meanings = rows.map { $0[1] }
        #expect(!meanings.contains(""))
    }

    @Test func `every error code stands beside the exit code that it gives`() throws {
        let rows = try page.table(["code", "meaning", "errors"])
        for row in rows {
            let expected = ErrorCode.table.map(\.code).filter { "\(ExitStatus($0).rawValue)" == row[0] }
            #expect(Set(row[2].quotedWords) == Set(expected.map(\.rawValue)), "\(row[0])")
        }
    }

    @Test func `an unknown error code counts as another version`() {
        #expect(ExitStatus(ErrorCode(rawValue: "ofTheFuture")) == .protocol)
    }

    @Test func `every verb of the sources has a synopsis, and no other`() throws {
        let folder = Page.root.appending(path: "Sources/cli")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).flatMap { room in
            (try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: "\(room)/Verbs").path)) ?? []
        }
        let verbs = files.filter { $0 != "PlacementArguments.swift" }.map {
            $0.replacing(".swift", with: "").lowercased()
        }
        let documented = synopses().keys.compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(Set(documented.map { $0.replacing("-", with: "") }) == Set(verbs))
    }

    @Test func `every verb below another one has a synopsis, and no other`() throws {
        let parents = [
            "backup", "device-key", "entitlement", "passcode", "slot", "keychain", "file", "login", "otp",
            "trash",
        ]
        for verb in parents + ["access", "secret-service", "ssh-agent"] {
            let help = try Programs.run(Programs.program("coffer"), [verb, "--help"])
            let lines = help.text.split(separator: "SUBCOMMANDS:").last?.split(separator: "\n") ?? []
            let below = lines.compactMap {
                $0.wholeMatch(of: #/  ([a-z-]+)(?: \(default\))?  .*/#).map { "\(verb) \($0.1)" }
            }
            #expect(Set(synopses().keys.filter { $0.hasPrefix(verb + " ") }) == Set(below))
        }
    }

    @Test func `each synopsis has the options that the verb has`() throws {
        let common: Set = ["--socket", "--no-start", "--timeout", "--version", "--help"]
        for (verb, synopsis) in synopses() {
            let help = try Programs.run(
                Programs.program("coffer"),
                verb.split(separator: " ").map(String.init) + ["--help"]
            )
            #expect(help.status == 0)
            // Two verbs have a version of a file to be named.
            let own = ["file read", "file restore"].contains(verb) ? common.subtracting(["--version"]) : common
            let options = Self.options(in: Self.optionColumn(of: help.text)).subtracting(own)
            #expect(Self.options(in: synopsis) == options, "\(verb)")
        }
    }

    @Test func `the synopsis of the daemon has the options that it has`() throws {
        let help = try Programs.run(Programs.program("cofferd"), ["--help"])
        let synopsis = try #require(page.blocks("").joined().first { $0.hasPrefix("cofferd ") })
        #expect(Self.options(in: String(synopsis)) == Self.options(in: help.text))
        let wrong = try Programs.run(Programs.program("cofferd"), ["--nonsense"])
        #expect(wrong.status == 64)
    }

    @Test func `every variable of the environment that is read is on the page`() throws {
        for file in ["cli/Terminal/Environment.swift", "programs/cofferd/Options.swift"] {
            let source = try String(contentsOf: Page.root.appending(path: "Sources/\(file)"), encoding: .utf8)
            for match in source.matches(of: /environment\("(\w+)"\)/) {
                #expect(page.text.contains("`\(match.1)`"), "\(match.1)")
            }
        }
    }

    /// The synopsis of each verb of `coffer`, its lines joined, with each placeholder replaced by its meaning.
    private func synopses() -> [String: String] {
        var found: [String: String] = [:]
        var meanings: [(word: String, meaning: String)] = []
        var verb: String?
        let pages = [
            page, keychainPage, filesPage, passwordsPage, sessionsPage, agentPage, secretServicePage, importPage,
            backupPage,
        ]
        for line in pages.flatMap({ $0.blocks("").joined() }) {
            if let match = line.wholeMatch(of: /([A-Z]+): +(.+)/) {
                meanings.append(("[\(match.1)]", String(match.2)))
                continue
            }
            let words = line.split(separator: " ")
            if words.first == "coffer", words.count > 1 {
                let isBelow = words.count > 2 && words[2].allSatisfy { ("a"..."z").contains($0) || $0 == "-" }
                verb = words[1...(isBelow ? 2 : 1)].joined(separator: " ")
            }
            if words.first == "cofferd" { verb = nil }
            if let verb { found[verb, default: ""] += line }
        }
        return found.mapValues { synopsis in
            meanings.reduce(synopsis) { $0.replacing($1.word, with: $1.meaning) }
        }
    }

    private static func options(in text: String) -> Set<String> {
        Set(text.matches(of: /--[a-z][a-z-]*/).map { String($0.0) })
    }

    /// The left column of the options of a help: an option in a sentence is not an option of the verb.
    private static func optionColumn(of help: String) -> String {
        help.split(separator: "\n").filter { $0.hasPrefix("  -") }.joined(separator: "\n")
    }
}
