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
        try daemon.directory.write(Array("secret".utf8), to: "passcode")
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

    @Test func `the README is short and names the two commands`() throws {
        let readme = try String(contentsOfFile: "\(Project.root)/README.md", encoding: .utf8)
        #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count < 150)
        #expect(readme.contains("packaging/try") && readme.contains("packaging/test"))
    }
}
