import CofferTestSupport
import Foundation
import Testing

/// `coffer mount` and `coffer umount`.
@Suite(.enabled(if: MountedVault.isPossible, "there is no /dev/fuse that this user may open"))
final class MountVerbsTests {
    private let daemon: DaemonProcess
    private let directory: String

    init() throws {
        daemon = try DaemonProcess()
        #expect(try daemon.coffer(["init", "--no-passcode", "--no-recovery-key"]).status == 0)
        directory = daemon.directory.appending("vault")
        mkdir(directory, 0o700)
    }

    deinit { _ = try? runCommand("/bin/umount", ["-q", "-l", directory]) }

    private func mount(_ options: String...) throws -> CommandResult {
        try daemon.coffer(["mount", directory] + options)
    }

    private var isMounted: Bool {
        ((try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? "").contains(
            " \(directory) fuse.coffer "
        )
    }

    @Test func `a file of the vault's own mount can be put and got by its descriptor`() throws {
        #expect(try mount().status == 0)
        let coffer = "'\(Project.binaries)/coffer' --socket '\(daemon.socketPath)'"
        let script = """
            head -c 3000000 /dev/urandom >a; cp a '\(daemon.directory.path)/plain'
            for i in 1 2 3 4 5 6 7 8; do \(coffer) put copy$i <a & done; wait
            for i in 1 2 3 4 5 6 7 8; do \(coffer) get copy$i >b; cmp b '\(daemon.directory.path)/plain'; done
            """
        let result = try runCommand("/bin/bash", ["-euc", script], directory: directory)
        #expect(result.status == 0, "\(result.errors)")
        #expect(try daemon.coffer(["umount", directory]).status == 0)
    }

    @Test func `mount returns when the files are there, and umount ends it`() throws {
        let made = try mount()
        #expect(made.status == 0 && made.text.isEmpty, "\(made.errors)")
        #expect(made.errors.hasPrefix("new files are readable after first unlock"), "\(made.errors)")
        #expect(isMounted)
        try put("x", to: directory + "/a")
        #expect(try daemon.coffer(["file", "read", "a"]).text == "x")
        let ended = try daemon.coffer(["umount", directory])
        #expect(ended.status == 0 && ended.text.isEmpty, "\(ended.errors)")
        #expect(!isMounted)
        #expect(try daemon.coffer(["umount", directory]).status == 66)
    }

    @Test func `a directory that is not empty, or not there, is refused`() throws {
        #expect(try daemon.coffer(["mount", directory + "/none"]).status == 64)
        try put("hidden", to: directory + "/a")
        let refused = try mount()
        #expect(refused.status == 64)
        #expect(refused.errors.contains("is not empty"))
        #expect(!isMounted)
    }

    @Test func `one vault is mounted at one place, whatever leads there`() throws {
        let link = daemon.directory.appending("link")
        symlink(directory, link)
        mkdir(daemon.directory.appending("other"), 0o700)
        let roundabout = daemon.directory.appending("other/../vault")
        let spellings = [directory, directory + "/", directory + "/.", link, link + "/", roundabout]
        for first in spellings {
            #expect(try daemon.coffer(["mount", first]).status == 0)
            for second in spellings {
                let refused = try daemon.coffer(["mount", second])
                #expect(refused.status == 64)
                #expect(refused.errors.contains("is mounted at"), "\(refused.errors)")
            }
            #expect(mountCount == 1)
            let ended = try daemon.coffer(["umount", spellings.randomElement() ?? first])
            #expect(ended.status == 0, "\(ended.errors)")
            #expect(mountCount == 0)
        }
    }

    private var mountCount: Int {
        let table = (try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? ""
        return table.components(separatedBy: " \(directory) fuse.coffer ").count - 1
    }

    @Test func `of several that mount at one place at once, one does`() throws {
        let script = #"for i in 1 2 3 4; do "$0" --socket "$2" mount "$1" & done; wait"#
        let program = "\(Project.binaries)/coffer"
        _ = try runCommand("/bin/sh", ["-c", script, program, directory, daemon.socketPath])
        #expect(mountCount == 1)
        #expect(try daemon.coffer(["umount", directory]).status == 0)
    }

    @Test func `a directory inside of a mount is no mount`() throws {
        #expect(try mount().status == 0)
        mkdir(directory + "/d", 0o700)
        #expect(try daemon.coffer(["umount", directory + "/d"]).status == 66)
        #expect(try daemon.coffer(["umount", directory + "/d/.."]).status == 0)
    }

    @Test func `a directory of the vault that does not exist can't be mounted`() throws {
        let refused = try mount("--path", "none")
        #expect(refused.status == 66)
        #expect(!isMounted)
    }

    @Test func `umount names the programs that use the mount`() throws {
        #expect(try mount().status == 0)
        let program = Process()
        program.executableURL = URL(filePath: "/bin/sleep")
        program.arguments = ["60"]
        program.currentDirectoryURL = URL(filePath: directory)
        try program.run()
        // Foundation passes on the signals that the threads of tasks block, SIGTERM among them.
        defer { kill(program.processIdentifier, SIGKILL) }
        let refused = try daemon.coffer(["umount", directory])
        #expect(refused.status == 74)
        #expect(refused.errors.contains("sleep (process \(program.processIdentifier))"), "\(refused.errors)")
        kill(program.processIdentifier, SIGKILL)
        program.waitUntilExit()
        #expect(try settles { try daemon.coffer(["umount", directory]).status == 0 })
    }

    @Test func `what a killed daemon has left is replaced by the next mount`() throws {
        let mount = try MountedVault(of: daemon)
        // The kernel knows the directory, and says so for a while without asking.
        #expect(try names(in: mount.path) == [])
        #expect(access(mount.path, F_OK) == 0)
        try daemon.restart()
        let again = try daemon.coffer(["mount", mount.path])
        #expect(again.status == 0, "\(again.errors)")
        #expect(try names(in: mount.path) == [])
        #expect(try daemon.coffer(["umount", mount.path]).status == 0)
    }

    @Test func `what a killed daemon has left goes away even if nothing can be mounted`() throws {
        let mount = try MountedVault(of: daemon)
        try daemon.restart()
        #expect(mount.isMounted)
        #expect(try daemon.coffer(["mount", mount.path, "--path", "none"]).status == 66)
        #expect(!mount.isMounted)
    }

    @Test func `umount ends a mount whose daemon was killed, also while none runs`() throws {
        let mount = try MountedVault(of: daemon)
        daemon.kill()
        let ended = try daemon.coffer(["umount", mount.path])
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(!mount.isMounted)
    }

    @Test func `no process of coffer stays running`() throws {
        #expect(try mount().status == 0)
        let running = try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { number in
            let words = (try? String(contentsOfFile: "/proc/\(number)/cmdline", encoding: .utf8)) ?? ""
            return words.contains(directory) && !words.contains("cofferd")
        }
        #expect(running.isEmpty)
        try put("x", to: directory + "/a")
        #expect(try daemon.coffer(["umount", directory]).status == 0)
    }

    @Test func `umount keeps what was changed in mapped memory`() throws {
        #expect(try mount().status == 0)
        let script = """
            import mmap, os
            f = os.open('a', os.O_RDWR | os.O_CREAT)
            os.ftruncate(f, 5)
            mmap.mmap(f, 5)[:] = b'saved'
            """
        let wrote = try runCommand("/usr/bin/python3", ["-c", script], directory: directory)
        #expect(wrote.status == 0, "\(wrote.errors)")
        #expect(try daemon.coffer(["umount", directory]).status == 0)
        #expect(try daemon.coffer(["file", "read", "a"]).text == "saved")
    }

    @Test(.enabled(if: geteuid() == 0, "only root may let others use a mount here"), arguments: [true, false])
    func `other users may use a mount if it says so, as far as modes and their own rights permit`(
        allowsOthers: Bool
    ) throws {
        let place = try TemporaryDirectory()
        mkdir(place.appending("e"), 0o700)
        let right = "[Client]\nUID=65534\nGroups=default\nVerbs=read\n"
        try Data(right.utf8).write(to: URL(filePath: place.appending("e/others.conf")))
        let daemon = try DaemonProcess(in: place, ["--entitlements", place.appending("e")])
        #expect(try daemon.coffer(["init", "--no-passcode", "--no-recovery-key"]).status == 0)
        let directory = place.appending("vault")
        mkdir(directory, 0o700)
        defer { _ = try? runCommand("/bin/umount", ["-q", "-l", directory]) }
        #expect(try daemon.coffer(["mount", directory]).status == 0)
        mkdir(directory + "/d", 0o755)
        try put("open", to: directory + "/d/a")
        try put("secret", to: directory + "/d/b")
        chmod(directory + "/d/b", 0o600)
        #expect(try daemon.coffer(["umount", directory]).status == 0)
        let options = ["--path", "d"] + (allowsOthers ? ["--allow-other"] : [])
        #expect(try daemon.coffer(["mount", directory] + options).status == 0)
        daemon.openToOthers()
        func read(_ name: String, by user: Int) throws -> String {
            let other = ["--reuid=\(user)", "--regid=\(user)", "--clear-groups", "cat", "\(directory)/\(name)"]
            return try runCommand("/usr/bin/setpriv", other).text
        }
        #expect(try read("a", by: 65534) == (allowsOthers ? "open" : ""))
        #expect(try read("b", by: 65534) == "")
        // The vault knows nothing of this one.
        #expect(try read("a", by: 65533) == "")
        #expect(try content(of: directory + "/b") == "secret")
    }

    @Test func `a program whose client may only read syncs the files and the directories that it reads`() throws {
        #expect(try daemon.coffer(["file", "create", "a"], input: [7]).status == 0)
        daemon.stop()
        mkdir(daemon.directory.appending("e"), 0o700)
        let right = "[Client]\nUID=\(geteuid())\nGroups=default\nVerbs=read\n"
        try Data(right.utf8).write(to: URL(filePath: daemon.directory.appending("e/own.conf")))
        let reading = try DaemonProcess(in: daemon.directory, ["--entitlements", daemon.directory.appending("e")])
        let mount = try MountedVault(of: reading)
        let file = try OpenDescriptor(mount.appending("a"), O_RDONLY)
        let directory = try OpenDescriptor(mount.path, O_RDONLY | O_DIRECTORY)
        #expect(file.sync() == 0)
        #expect(directory.sync() == 0)
        #expect(errnoOf { Int(mkdir(mount.appending("d"), 0o700)) } == EPERM)
        #expect(mount.isMounted)
    }

    /// Runs `coffer mount` where the programs of a directory are the only ones.
    private func mount(withPrograms folder: String) throws -> CommandResult {
        let words = ["PATH=\(folder)", "\(Project.binaries)/coffer", "mount", directory]
        return try runCommand("/usr/bin/env", words, environment: ["COFFER_SOCKET": daemon.socketPath])
    }

    @Test(.enabled(if: geteuid() == 0, "only root may mount without a helper"))
    func `root mounts without fusermount3 if that is not there`() throws {
        let made = try mount(withPrograms: "/nonexistent")
        #expect(made.status == 0, "\(made.errors)")
        try put("x", to: directory + "/a")
        #expect(try daemon.coffer(["umount", directory]).status == 0)
    }

    @Test func `the words of fusermount3 say why nothing was mounted`() throws {
        let folder = daemon.directory.appending("programs")
        mkdir(folder, 0o755)
        let refusal = "option allow_other only allowed if 'user_allow_other' is set in /etc/fuse.conf"
        let answers = [("mount failed: Operation not permitted", nil), (refusal, "by a line 'user_allow_other'")]
        for (words, hint) in answers {
            let script = "#!/bin/sh\necho \"$0: \(words)\" >&2\nexit 1\n"
            try Data(script.utf8).write(to: URL(filePath: "\(folder)/fusermount3"))
            chmod("\(folder)/fusermount3", 0o755)
            let refused = try mount(withPrograms: "\(folder):/usr/bin:/bin")
            #expect(refused.status == 74)
            let expected = "error: can't mount at '\(directory)': \(words)\n"
            #expect(refused.errors.hasPrefix(expected), "\(refused.errors)")
            #expect(refused.errors.contains(hint ?? "error:"))
        }
        #expect(!isMounted)
    }

    @Test func `without a daemon, and before there is a vault, nothing is mounted`() throws {
        let empty = try DaemonProcess()
        let refused = try empty.coffer(["mount", directory])
        #expect(refused.status == 69)
        empty.kill()
        #expect(try empty.coffer(["mount", directory, "--no-start"]).status == 69)
        #expect(!isMounted)
    }
}
