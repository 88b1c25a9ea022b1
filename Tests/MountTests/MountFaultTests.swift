import CofferTestSupport
import Foundation
import Testing

/// What a mount does when the daemon or its own process dies.
@Suite(.enabled(if: MountedVault.isPossible, "there is no /dev/fuse that this user may open"))
struct MountFaultTests {
    @Test func `a mount goes on when the daemon is back, and says what was lost once`() throws {
        let mount = try MountedVault()
        let file = try OpenDescriptor(mount.appending("a"), O_RDWR | O_CREAT)
        #expect(file.write("synced") == 0)
        #expect(file.sync() == 0)
        #expect(file.write("lost", at: 6) == 0)
        try mount.daemon.restart()
        #expect(file.sync() == EIO)
        #expect(file.sync() == 0)
        #expect(try file.read().get() == "synced")
        #expect(file.write("!", at: 6) == 0)
        #expect(file.sync() == 0)
        #expect(try content(of: mount.appending("a")) == "synced!")
    }

    @Test func `a child that closes what it has inherited does not take the report of a loss`() throws {
        let mount = try MountedVault()
        let file = try OpenDescriptor(mount.appending("a"), O_RDWR | O_CREAT)
        #expect(file.write("lost") == 0)
        try mount.daemon.restart()
        #expect(try file.read().get() == "")
        #expect(try runCommand("/bin/true", []).status == 0)
        #expect(file.sync() == EIO)
        #expect(file.sync() == 0)
    }

    @Test func `without a daemon everything is ENOTCONN, and the mount stays`() throws {
        let mount = try MountedVault(["--wait", "0"])
        try put("x", to: mount.appending("a"))
        mount.daemon.kill()
        #expect(errnoOf { Int(access(mount.appending("b"), F_OK)) } == ENOTCONN)
        #expect(errnoOf { Int(mkdir(mount.appending("d"), 0o755)) } == ENOTCONN)
        #expect(mount.isMounted)
        try mount.daemon.restart()
        #expect(settles { (try? content(of: mount.appending("a"))) == "x" })
    }

    @Test func `the directory of a mount whose process was killed is not an empty directory`() throws {
        let mount = try MountedVault()
        let file = try OpenDescriptor(mount.appending("a"), O_RDWR | O_CREAT)
        #expect(file.write("synced") == 0)
        #expect(file.sync() == 0)
        mount.kill()
        #expect(errnoOf { Int(access(mount.path, F_OK)) } == ENOTCONN)
        #expect(errnoOf { Int(open(mount.appending("b"), O_WRONLY | O_CREAT, 0o600)) } == ENOTCONN)
        #expect(try mount.daemon.coffer(["file", "read", "a"]).text == "synced")
    }

    @Test func `a signal ends the mount after a sync`() throws {
        let mount = try MountedVault()
        let file = try OpenDescriptor(mount.appending("a"), O_RDWR | O_CREAT)
        #expect(file.write("written") == 0)
        #expect(mount.stop() == 0)
        #expect(!mount.isMounted)
        #expect(try mount.daemon.coffer(["file", "read", "a"]).text == "written")
    }

    @Test func `what was synced is there after each of many kills of the daemon`() throws {
        let mount = try MountedVault()
        for round in 1...8 {
            let file = try OpenDescriptor(mount.appending("f\(round)"), O_RDWR | O_CREAT)
            #expect(file.write("round \(round)") == 0)
            #expect(file.sync() == 0)
            _ = file.write("not synced", at: 100)
            try mount.daemon.restart()
        }
        for round in 1...8 { #expect(try content(of: mount.appending("f\(round)")).hasPrefix("round \(round)")) }
    }

    @Test func `two mounts of one vault see each other's changes`() throws {
        let one = try MountedVault()
        let other = try MountedVault(of: one.daemon)
        try put("first", to: one.appending("a"))
        #expect(try content(of: other.appending("a")) == "first")
        let reader = try OpenDescriptor(other.appending("a"), O_RDONLY)
        #expect(try reader.read().get() == "first")
        try put("second, longer", to: one.appending("a"))
        #expect(settles { (try? reader.read().get()) == "second, longer" })
        #expect(errnoOf { Int(rename(one.appending("a"), one.appending("b"))) } == 0)
        #expect(settles { access(other.appending("a"), F_OK) != 0 })
        #expect(try content(of: other.appending("b")) == "second, longer")
    }

    @Test func `a file that one mount writes can't be opened for writing by another`() throws {
        let one = try MountedVault()
        let other = try MountedVault(of: one.daemon)
        let writer = try OpenDescriptor(one.appending("a"), O_RDWR | O_CREAT)
        #expect(writer.write("x") == 0)
        #expect(errnoOf { Int(open(other.appending("a"), O_RDWR)) } == EBUSY)
        #expect(errnoOf { Int(open(other.appending("a"), O_RDONLY)) } == 0)
    }
}
