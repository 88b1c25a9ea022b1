import CofferTestSupport
import Foundation
import Testing

/// The scripts in `packaging`, by their paths there.
@Suite struct ScriptsTests {
    private static let frontDoors = files(of: "")
    private static let names = frontDoors + files(of: "tools/") + ["pam/build"]

    private static func files(of folder: String) -> [String] {
        let path = "\(Project.root)/packaging/\(folder)"
        let all = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        return all.filter { name in
            var isDirectory: ObjCBool = false
            return FileManager.default.fileExists(atPath: path + name, isDirectory: &isDirectory)
                && !isDirectory.boolValue
        }.sorted().map { folder + $0 }
    }

    private static let none = "echo \"$0 was run\" >&2\nexit 99\n"

    /// Runs a script with programs of the test in place of some of the machine's: by default where neither a compiler nor
    /// a package manager is found.
    private func run(
        _ name: String,
        _ arguments: [String],
        with programs: [String: String] = ["swift": none, "apt-get": none, "sudo": none]
    ) throws -> CommandResult {
        let folder = try TemporaryDirectory()
        for (program, body) in programs {
            let path = folder.appending(program)
            let script = "#!/bin/sh\nfolder='\(folder.path)'\n\(body)"
            try script.write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        return try runCommand(
            "\(Project.root)/packaging/\(name)",
            arguments,
            environment: ["PATH": "\(folder.path):/usr/bin:/bin:/usr/sbin", "HOME": "/nonexistent"]
        )
    }

    @Test func `packaging has four front doors, and tools for the rest`() {
        #expect(Self.frontDoors == ["bench", "deb", "test", "try"])
        #expect(Self.names.count > 15)
    }

    @Test(arguments: names)
    func `--help says how a script is used, and does nothing`(name: String) throws {
        let help = try run(name, ["--help"])
        #expect(help.status == 0, "\(help.errors)")
        #expect(help.text.contains("packaging/\(name)"), "\(help.text)")
        #expect(!help.errors.contains("was run"), "\(help.errors)")
    }

    @Test(arguments: names)
    func `an unknown option is 64, and does nothing`(name: String) throws {
        let refused = try run(name, ["--nonsense"])
        #expect(refused.status == 64, "\(refused.text)\(refused.errors)")
        #expect(!refused.errors.contains("was run"), "\(refused.errors)")
    }

    @Test(arguments: [["--filter"], ["--sanitize", "nonsense"], ["--filter", "X", "--nonsense"], ["X"]])
    func `packaging/test refuses what it does not know`(arguments: [String]) throws {
        let refused = try run("test", arguments)
        #expect(refused.status == 64, "\(refused.text)\(refused.errors)")
        #expect(refused.errors.contains("see packaging/test --help") && !refused.errors.contains("was run"))
    }

    /// A package manager that installs nothing and prints what it was asked for, on a machine that has no package.
    private static let bare = [
        "apt-get": "echo \"apt-get $*\" >&2\n", "dpkg-query": "exit 1\n", "sudo": "\"$@\"\n",
    ]

    @Test func `packaging/try installs what a build needs, and no server`() throws {
        let tried = try run("try", [], with: Self.bare.merging(["swift": "exit 99\n"]) { $1 })
        #expect(tried.status == 99)
        let installed = try #require(tried.errors.firstMatch(of: /installing (.*)/)).1.split(separator: " ")
        #expect(
            installed == ["gcc", "libsodium-dev", "libsqlite3-dev", "libsystemd-dev", "pkg-config", "systemd"]
        )
    }

    @Test(arguments: [[], ["--no-order"]])
    func `packaging/deb links without an order if it is told to, or can't install valgrind`(options: [String]) throws {
        let lacking = "case \"$*\" in *valgrind*) echo 'E: Unable to locate package valgrind' >&2; exit 100 ;; esac\n"
        let compiler = "echo \"swift $*: ${COFFER_ORDER-no order}\" >&2\necho /nonexistent\n"
        let machine = ["apt-get": lacking, "swift": compiler, "dpkg-buildpackage": "exit 1\n"]
        let built = try run("deb", options, with: Self.bare.merging(machine) { $1 })
        #expect(built.status == 1)
        for product in ["cofferd", "coffer"] {
            #expect(built.errors.contains("--product \(product): no order\n"), "\(built.errors)")
        }
        #expect(built.errors.contains("E: Unable to locate package valgrind\n") == options.isEmpty)
        #expect(built.errors.contains("warning: the programs are linked without an order") == options.isEmpty)
    }

    @Test(arguments: ["/var/lib/apt/lists/lock", "/var/lib/dpkg/lock-frontend"])
    func `packaging/tools/apt waits for another apt, and reports it`(lock: String) throws {
        let held = """
            if test -e "$folder/asked"; then exit 0; fi
            touch "$folder/asked"
            echo "E: Could not get lock \(lock). It is held by process 7 (apt-get)" >&2
            exit 100

            """
        let machine = Self.bare.merging(["apt-get": held, "sleep": "exit 0\n"]) { $1 }
        let waited = try run("tools/apt", ["install", "hello"], with: machine)
        #expect(waited.status == 0, "\(waited.errors)")
        #expect(waited.errors.contains("waiting for another apt: \(lock). It is held by process 7 (apt-get)\n"))
    }

    @Test(arguments: ["running", "degraded", "offline"])
    func `packaging/tools/apt stops a server that came along, where one was started`(state: String) throws {
        let content = """
            case "$*" in *--listfiles*) ;; *) exit 1 ;; esac
            echo /usr/bin/hello
            echo /usr/lib/systemd/system/hello@.service
            echo /usr/lib/systemd/system/hello.socket
            echo /usr/lib/systemd/system/hello.service
            echo /lib/systemd/system/other.service

            """
        let manager = "if test $1 = is-system-running; then echo \(state); exit 1; fi\necho \"systemctl $*\" >&2\n"
        let machine = Self.bare.merging(["dpkg-query": content, "systemctl": manager]) { $1 }
        let installed = try run("tools/apt", ["install", "hello"], with: machine)
        #expect(installed.status == 0, "\(installed.errors)")
        let said = installed.errors.split(separator: "\n")
        let isInstalled = try #require(said.firstIndex { $0.hasPrefix("apt-get") && $0.contains("install") })
        let stopped = said[isInstalled...].filter { $0.hasPrefix("systemctl") }.map { String($0) }
        let servers = state == "offline" ? [] : ["hello.service", "other.service"]
        #expect(stopped == servers.map { "systemctl disable --quiet --now \($0)" }, "\(installed.errors)")
    }

    @Test func `packaging/tools/apt ends with apt-get's own error`() throws {
        let refuses = ["apt-get": "echo 'E: Unable to locate package hello' >&2\nexit 100\n"]
        let refused = try run("tools/apt", ["install", "hello"], with: Self.bare.merging(refuses) { $1 })
        #expect(refused.status == 100)
        #expect(refused.errors.contains("E: Unable to locate package hello"))
    }

    @Test(arguments: names)
    func `no script has a host of Debian packages`(name: String) throws {
        let script = try String(contentsOfFile: "\(Project.root)/packaging/\(name)", encoding: .utf8)
        #expect(!script.contains(/https?:\/\/[^ ]*debian/))
    }

    @Test func `the list of texts that a person may read is up to date`() throws {
        let listed = try run("tools/strings", [])
        #expect(listed.status == 0, "\(listed.errors)")
        let kept = try String(contentsOfFile: "\(Project.root)/Tests/Vectors/texts.txt", encoding: .utf8)
        let changed = Set(listed.text.split(separator: "\n")).symmetricDifference(kept.split(separator: "\n"))
        #expect(
            changed.isEmpty && listed.text.count == kept.count,
            "read what changed, and write it anew: packaging/tools/strings >Tests/Vectors/texts.txt"
        )
    }
}
