import CofferTestSupport
import Foundation
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

    @Test func `the session in the README goes as it is printed`() throws {
        let readme = try String(contentsOfFile: "\(Project.root)/README.md", encoding: .utf8)
        let session = try #require(readme.components(separatedBy: "```console\n").dropFirst().first)
        let lines = try #require(session.components(separatedBy: "```").first)
        let daemon = try DaemonProcess()
        try daemon.directory.write(Array("pass code".utf8), to: "passcode")
        try daemon.directory.write(Array("ghp_16C7".utf8), to: "token")
        try daemon.directory.write(pseudoRandomBytes(100_000), to: "scan.bin")
        var printed = ""
        for line in lines.split(separator: "\n") where line.hasPrefix("$ ") {
            let command = String(line.dropFirst(2))
            let result = try runCommand(
                "/bin/bash",
                ["-c", command + " 2>&1"],
                environment: ["COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin"],
                directory: daemon.directory.path
            )
            printed += "\(line)\n" + result.text
        }
        #expect(printed == lines)
    }

    @Test func `packaging/bench names every benchmark in its help`() throws {
        let result = try runCommand("\(Project.root)/packaging/bench", ["--help"])
        #expect(result.status == 0)
        let files = try FileManager.default.contentsOfDirectory(atPath: "\(Project.root)/Tests/Benchmarks")
        let names = files.filter { $0.hasSuffix("Benchmark.swift") }.map { $0.replacing("Benchmark.swift", with: "") }
        #expect(!names.isEmpty)
        let listed = result.text.matches(of: /\n  ([a-z]+)\s/).map { String($0.1) }
        #expect(listed == names.map { $0.lowercased() }.sorted())
    }

    @Test(arguments: [[], ["nonsense"], ["--quick"], ["keys", "--nonsense"]])
    func `packaging/bench refuses what it does not know`(arguments: [String]) throws {
        #expect(try bench(arguments).status == 64)
    }

    @Test func `packaging/bench compare prints the figures of two builds side by side`() throws {
        let result = try bench(["compare", Project.binaries, Project.binaries, "start", "--check"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text.hasPrefix("A: \(Project.binaries)\nB: \(Project.binaries)\n"))
        let figures = /\ncofferd, 10 items: median +[0-9.]+ ms +[0-9.]+ ms +[0-9.]+\n/
        #expect(result.text.contains(figures), "\(result.text)")
        #expect(try bench(["compare", Project.binaries, "no-such-commit", "start", "--check"]).status == 64)
        #expect(try bench(["compare", Project.binaries]).status == 64)
    }

    @Test func `packaging/lines counts the code of every room and says whether its budget holds`() throws {
        let counted = try runCommand("\(Project.root)/packaging/lines", [])
        #expect(counted.status == 0, "\(counted.errors)")
        let rooms = try FileManager.default.contentsOfDirectory(atPath: "\(Project.root)/Sources")
        for room in rooms where room.hasPrefix("Coffer") {
            let line = try Regex("(?m)^\(room) +[0-9]+ of +[0-9]+  (holds|over by [0-9]+)")
            #expect(counted.text.contains(line), "\(room)")
        }
        #expect(counted.text.contains("\ncofferd + coffer "))
        let strict = try runCommand("\(Project.root)/packaging/lines", ["--strict"])
        #expect(strict.status == (counted.text.contains("over by") ? 1 : 0))
        #expect(try runCommand("\(Project.root)/packaging/lines", ["--nonsense"]).status == 64)
    }

    private func bench(_ arguments: [String]) throws -> CommandResult {
        try runCommand(
            "\(Project.root)/packaging/bench",
            arguments,
            environment: ["COFFER_BIN": Project.binaries, "TMPDIR": "/tmp", "HOME": "/nonexistent"]
        )
    }

    @Test func `the README is short and names the three commands`() throws {
        let readme = try String(contentsOfFile: "\(Project.root)/README.md", encoding: .utf8)
        #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count < 150)
        for command in ["try", "test", "bench"] { #expect(readme.contains("packaging/\(command)")) }
    }
}
