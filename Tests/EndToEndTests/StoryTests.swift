import CofferTestSupport
import Foundation
import FoundationXML
import Testing

/// The commands that the README shows.
@Suite struct StoryTests {
    @Test func `packaging/try tells its whole story`() throws {
        let result = try runCommand(
            "\(Project.root)/packaging/try",
            [],
            environment: ["COFFER_BIN": Project.binaries, "TMPDIR": "/tmp", "HOME": "/nonexistent"]
        )
        #expect(result.status == 0, "\(result.errors)\n\(result.text)")
        #expect(result.text.hasSuffix("Done: all of it did what it says.\n"))
    }

    @Test func `the session in the README goes as it is printed, on a terminal`() throws {
        let readme = try String(contentsOfFile: "\(Project.root)/README.md", encoding: .utf8)
        let session = try #require(readme.components(separatedBy: "```console\n").dropFirst().first)
        let lines = try #require(session.components(separatedBy: "```").first).split(separator: "\n").map(String.init)
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault(passcode: "correct horse")
        try daemon.directory.write(pseudoRandomBytes(100_000), to: "scan.bin")
        let typed = lines.compactMap { line -> (prompt: String, answer: Answer)? in
            if line.hasPrefix("$ ") { return ("$ ", .line(String(line.dropFirst(2)))) }
            guard line.hasSuffix(":") else { return nil }
            return ("\(line) ", .line(line.contains("asscode") ? "correct horse" : "ghp_16C7e42F292c6912E7"))
        }
        let shown = try onTerminal(
            daemon,
            "stty cols 200; PS1='$ ' bash --noprofile --norc --noediting -i",
            typed + [("$ ", .line("exit"))],
            home: daemon.directory.path
        ).shown
        // Nothing stands behind a prompt that hides what is typed.
        func plain(_ lines: [String]) -> [String] { lines.map { $0.trimmingCharacters(in: .whitespaces) } }
        let printed = plain(shown.components(separatedBy: "\r\n"))
        #expect(Array(printed.prefix(lines.count)) == plain(lines), "\(shown)")
    }

    @Test func `packaging/bench names every benchmark in its help`() throws {
        let result = try runCommand("\(Project.root)/packaging/bench", ["--help"])
        #expect(result.status == 0)
        let files = try FileManager.default.contentsOfDirectory(atPath: "\(Project.root)/Tests/Benchmarks")
        let names = files.filter { $0.hasSuffix("Benchmark.swift") }.map { $0.replacing("Benchmark.swift", with: "") }
        #expect(!names.isEmpty)
        let listed = result.text.matches(of: /\n  ([a-z][a-z-]*)\s/).map { String($0.1) }
        let words = names.map { $0.replacing(/([a-z])([A-Z])/) { "\($0.1)-\($0.2)" }.lowercased() }
        #expect(listed == words.sorted())
    }

    @Test func `packaging/bench ends with its targets, and keeps lines of which targets and plots are made`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "coffer-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (kept, plots) = (folder.appending(path: "figures.jsonl").path, folder.appending(path: "plots").path)

        let run = try bench(["keychain", "--check", "--keep", kept])
        #expect(run.status == 0, "\(run.errors)")
        let row = try Regex(
            #"\n\| `item.get` and `keychain.find` by 8 clients, rate to a C daemon that does the same work "#
                + #"\| ≥ 0\.7 \| [0-9., ]+ \| (met|MISSED) \|\n"#
        )
        #expect(run.text.contains(row), "\(run.text)")

        let lines = try String(contentsOfFile: kept, encoding: .utf8).split(separator: "\n")
        #expect(lines.count > 20)
        let usage = try bench(["--help"]).text
        for line in lines {
            let figure = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            #expect(["of", "unit", "value", "what"].allSatisfy { figure[$0] != nil }, "\(line)")
            #expect(["s", "B", "1/s", "B/s", "ratio"].contains(figure["unit"] as? String), "\(line)")
            for member in figure.keys { #expect(usage.contains(member), "--help does not explain '\(member)'") }
        }

        let targets = try bench(["targets", kept])
        #expect(targets.status == 0)
        #expect(targets.text.contains(row), "\(targets.text)")
        let drawn = try bench(["plots", plots, kept])
        #expect(drawn.status == 0, "\(drawn.errors)")
        #expect(drawn.text == "\(plots)/latency.svg\n\(plots)/throughput.svg\n")
        for path in drawn.text.split(separator: "\n") { try expectPlot(at: String(path)) }
    }

    /// Expects a well-formed picture with a curve for Coffer and one for its floor.
    private func expectPlot(at path: String) throws {
        let data = try Data(contentsOf: URL(filePath: path))
        #expect(XMLParser(data: data).parse(), "\(path)")
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains("<polyline class=\"curve coffer\""), "\(path)")
        #expect(text.contains("<polyline class=\"curve equal C\""), "\(path)")
        #expect(text.contains("prefers-color-scheme: dark"))
    }

    @Test func `packaging/bench makes nothing of figures that are not there`() throws {
        #expect(try bench(["targets", "/nonexistent"]).status == 66)
        #expect(try bench(["plots", "/tmp", "/nonexistent"]).status == 66)
        #expect(try bench(["plots", "/tmp"]).status == 64)
        #expect(try bench(["start", "--keep"]).status == 64)
    }

    @Test(arguments: [[], ["nonsense"], ["--quick"], ["keys", "--nonsense"]])
    func `packaging/bench refuses what it does not know`(arguments: [String]) throws {
        #expect(try bench(arguments).status == 64)
    }

    @Test func `packaging/bench compare prints the figures of two builds side by side`() throws {
        let result = try bench(["compare", Project.binaries, Project.binaries, "start", "--check"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text.hasPrefix("A: \(Project.binaries)\nB: \(Project.binaries)\n"))
        let figures = /\nstart\n\n.*\n(?:ssh-agent.*\n)?coffer, 10 items +[0-9.]+ ms +[0-9.]+ ms +[0-9.]+\n/
        #expect(result.text.contains(figures), "\(result.text)")
        #expect(try bench(["compare", Project.binaries, "no-such-commit", "start", "--check"]).status == 64)
        #expect(try bench(["compare", Project.binaries]).status == 64)
    }

    @Test func `packaging/tools/lines counts the code of every room, and names what is too large or used once`() throws
    {
        let counted = try runCommand("\(Project.root)/packaging/tools/lines", [])
        #expect(counted.status == 0, "\(counted.errors)")
        for layer in ["base", "vault", "daemon", "client", "desktop", "cli", "programs"] {
            let part = try #require(counted.text.split(separator: try Regex("(?m)^\(layer)$")).last)
            for room in try FileManager.default.contentsOfDirectory(atPath: "\(Project.root)/Sources/\(layer)") {
                let line = try Regex("(?m)^  \(room) +[0-9]+(, and [0-9]+ generated)?$")
                #expect(part.contains(line), "\(room)")
            }
        }
        #expect(counted.text.contains(/\ntogether +[0-9]+, and [0-9]+ generated\n\n/))
        #expect(counted.text.contains("\n\ntypes with more than 80 methods or 12 stored properties\n"))
        let types = try runCommand("\(Project.root)/packaging/tools/lines", ["--types"])
        #expect(types.status == 0 && counted.text.contains("stored properties\n\(types.text)\nexported types "))
        #expect(counted.text.contains("\n  VaultCommands for Commands: "))
        #expect(try runCommand("\(Project.root)/packaging/tools/lines", ["--nonsense"]).status == 64)
    }

    private func bench(_ arguments: [String]) throws -> CommandResult {
        try runCommand(
            "\(Project.root)/packaging/bench",
            arguments,
            environment: ["COFFER_BIN": Project.binaries, "TMPDIR": "/tmp", "HOME": "/nonexistent"]
        )
    }

    @Test func `the README is short and names the four front doors of packaging`() throws {
        let readme = try String(contentsOfFile: "\(Project.root)/README.md", encoding: .utf8)
        #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count < 150)
        for command in ["try", "test", "bench", "deb"] { #expect(readme.contains("packaging/\(command)")) }
    }
}
