import CofferTestSupport
import Foundation
import Testing

/// The scripts in `packaging`.
@Suite struct ScriptsTests {
    private static let names: [String] = {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "\(Project.root)/packaging")) ?? []
        return all.filter { name in
            var isDirectory: ObjCBool = false
            let path = "\(Project.root)/packaging/\(name)"
            return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && !isDirectory.boolValue
        }.sorted()
    }()

    /// Runs a script where neither a compiler nor a package manager is found.
    private func run(_ name: String, _ arguments: [String]) throws -> CommandResult {
        let folder = try TemporaryDirectory()
        for program in ["swift", "apt-get", "sudo"] {
            let path = folder.appending(program)
            let script = "#!/bin/sh\necho \"$0 was run\" >&2\nexit 99\n"
            try script.write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        return try runCommand(
            "\(Project.root)/packaging/\(name)",
            arguments,
            environment: ["PATH": "\(folder.path):/usr/bin:/bin:/usr/sbin", "HOME": "/nonexistent"]
        )
    }

    @Test(arguments: names)
    func `--help says how a script is used, and does nothing`(name: String) throws {
        let help = try run(name, ["--help"])
        #expect(help.status == 0, "\(help.errors)")
        #expect(help.text.contains(name))
        #expect(!help.errors.contains("was run"), "\(help.errors)")
    }

    @Test(arguments: names.filter { $0 != "test" && $0 != "systemd-testbed" })
    func `an unknown option is 64, and does nothing`(name: String) throws {
        let refused = try run(name, ["--nonsense"])
        #expect(refused.status == 64, "\(refused.text)\(refused.errors)")
        #expect(!refused.errors.contains("was run"), "\(refused.errors)")
    }

    @Test func `the list of texts that a person may read is up to date`() throws {
        let listed = try run("strings", [])
        #expect(listed.status == 0, "\(listed.errors)")
        let kept = try String(contentsOfFile: "\(Project.root)/Tests/Vectors/texts.txt", encoding: .utf8)
        let changed = Set(listed.text.split(separator: "\n")).symmetricDifference(kept.split(separator: "\n"))
        #expect(
            changed.isEmpty && listed.text.count == kept.count,
            "read what changed, and write it anew: packaging/strings >Tests/Vectors/texts.txt"
        )
    }
}
