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

    @Test func `what a killed mount has left is replaced by the next`() throws {
        let killed = try MountedVault(of: daemon)
        // The kernel knows the directory, and says so for a while without asking.
        #expect(try names(in: killed.path) == [])
        #expect(access(killed.path, F_OK) == 0)
        killed.kill()
        let again = try daemon.coffer(["mount", killed.path])
        #expect(again.status == 0, "\(again.errors)")
        #expect(try names(in: killed.path) == [])
        #expect(try daemon.coffer(["umount", killed.path]).status == 0)
    }

    @Test func `what a killed mount has left goes away even if nothing can be mounted`() throws {
        let killed = try MountedVault()
        killed.kill()
        #expect(killed.isMounted)
        #expect(try killed.daemon.coffer(["mount", killed.path, "--path", "none"]).status == 66)
        #expect(!killed.isMounted)
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
