import CofferTestSupport
import Foundation
import Testing

/// What a mount does when its daemon ends without a service manager that keeps it, and beside other clients.
@Suite(.enabled(if: MountedVault.isPossible, "there is no /dev/fuse that this user may open"))
struct MountFaultTests {
    private enum End: CaseIterable { case kill, stop }

    private func end(_ daemon: DaemonProcess, by end: End) {
        switch end {
        case .kill: daemon.kill()
        case .stop: #expect(daemon.stop() == 0)
        }
    }

    @Test(arguments: End.allCases)
    private func `when the daemon ends, everything is ENOTCONN at once, until it is mounted again`(by how: End) throws {
        let mount = try MountedVault()
        let file = try OpenDescriptor(mount.appending("a"), O_RDWR | O_CREAT)
        #expect(file.write("kept") == 0)
        end(mount.daemon, by: how)
        #expect(file.write("x") == ENOTCONN)
        #expect(file.sync() == ENOTCONN)
        #expect(errnoOf { Int(access(mount.appending("b"), F_OK)) } == ENOTCONN)
        #expect(errnoOf { Int(mkdir(mount.appending("d"), 0o755)) } == ENOTCONN)
        #expect(errnoOf { Int(open(mount.appending("b"), O_WRONLY | O_CREAT, 0o600)) } == ENOTCONN)
        // It is not an empty directory for who writes there.
        #expect(mount.isMounted)
        try mount.daemon.restart()
        #expect(errnoOf { Int(mkdir(mount.appending("d"), 0o755)) } == ENOTCONN)
        try mount.mount()
        #expect(errnoOf { Int(mkdir(mount.appending("d"), 0o755)) } == 0)
        #expect(try content(of: mount.appending("a")) == "kept")
        #expect(file.write("x") == ENOTCONN)
    }

    @Test func `a program that waits for the daemon gets an error when that is killed`() throws {
        let mount = try MountedVault()
        try put("x", to: mount.appending("a"))
        kill(mount.daemon.processID, SIGSTOP)
        let waiting = Background { errnoOf { Int(mkdir(mount.appending("d"), 0o755)) } }
        usleep(50_000)
        mount.daemon.kill()
        #expect([ENOTCONN, ECONNABORTED].contains(try waiting.wait()))
    }

    @Test(arguments: End.allCases)
    private func `what was written is kept when the daemon ends, synced or not`(by how: End) throws {
        let mount = try MountedVault()
        var open: [OpenDescriptor] = []
        for round in 1...5 {
            let file = try OpenDescriptor(mount.appending("f\(round)"), O_RDWR | O_CREAT)
            #expect(file.write("synced") == 0)
            #expect(file.sync() == 0)
            #expect(file.write(" not", at: 6) == 0)
            open.append(file)
            do {
                let closed = try OpenDescriptor(mount.appending("closed"), O_WRONLY | O_CREAT | O_TRUNC)
                #expect(closed.write("round \(round)") == 0)
            }
            #expect(rename(mount.appending("closed"), mount.appending("c\(round)")) == 0)
            #expect(mkdir(mount.appending("d\(round)"), 0o755) == 0)
            end(mount.daemon, by: how)
            try mount.restart()
        }
        for round in 1...5 {
            #expect(try content(of: mount.appending("f\(round)")) == "synced not")
            #expect(try content(of: mount.appending("c\(round)")) == "round \(round)")
            #expect(try names(in: mount.appending("d\(round)")) == [])
        }
        #expect(try mount.daemon.coffer(["doctor"]).status == 0)
    }

    @Test func `before the first unlock after a restart, a file is kept and can't be renamed`() throws {
        let mount = try MountedVault(passcode: DaemonProcess.passcode)
        do {
            let file = try OpenDescriptor(mount.appending("a"), O_WRONLY | O_CREAT)
            #expect(file.write("kept") == 0)
        }
        try mount.restart()
        #expect(errnoOf { Int(rename(mount.appending("a"), mount.appending("b"))) } == EACCES)
        #expect(try mount.daemon.coffer(["unlock"], passcode: DaemonProcess.passcode).status == 0)
        #expect(errnoOf { Int(rename(mount.appending("a"), mount.appending("b"))) } == 0)
        #expect(try content(of: mount.appending("b")) == "kept")
    }

    @Test(.enabled(if: geteuid() == 0, "only root may end the kernel's connection"))
    func `a mount that the kernel ends leaves the daemon and what was written`() throws {
        let mount = try MountedVault()
        let file = try OpenDescriptor(mount.appending("a"), O_RDWR | O_CREAT)
        #expect(file.write("kept") == 0)
        let removed = try OpenDescriptor(mount.appending("removed"), O_RDWR | O_CREAT)
        #expect(removed.write("gone") == 0)
        #expect(unlink(mount.appending("removed")) == 0)
        try mount.abort()
        #expect(file.sync() == ENOTCONN)
        #expect(settles { mount.daemon.removedFiles.isEmpty })
        #expect(try mount.daemon.coffer(["file", "read", "a"]).text == "kept")
        try mount.mount()
        #expect(try content(of: mount.appending("a")) == "kept")
        #expect(errnoOf { Int(access(mount.appending("removed"), F_OK)) } == ENOENT)
    }

    @Test func `a mount that is taken out of the tree goes on for who has files open`() throws {
        let mount = try MountedVault()
        let file = try OpenDescriptor(mount.appending("a"), O_RDWR | O_CREAT)
        mount.kill()
        #expect(!mount.isMounted)
        #expect(file.write("kept") == 0)
        #expect(file.sync() == 0)
        try mount.mount()
        #expect(try content(of: mount.appending("a")) == "kept")
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

    @Test func `two mounts write one file at once, and see each other's changes after a sync`() throws {
        let one = try MountedVault()
        let other = try MountedVault(of: one.daemon)
        let first = try OpenDescriptor(one.appending("a"), O_RDWR | O_CREAT)
        #expect(first.write("first ") == 0)
        let second = try OpenDescriptor(other.appending("a"), O_RDWR)
        #expect(try second.read().get() == "first ")
        #expect(second.write("second", at: 6) == 0)
        #expect(second.sync() == 0)
        #expect(settles { (try? first.read().get()) == "first second" })
        #expect(first.write("FIRST", at: 0) == 0)
        #expect(first.sync() == 0)
        #expect(settles { (try? second.read().get()) == "FIRST second" })
    }

    @Test func `a verb that replaces a file's content waits for none, and is refused while a mount writes it`() throws {
        let mount = try MountedVault()
        let file = try OpenDescriptor(mount.appending("a"), O_RDWR | O_CREAT)
        #expect(file.write("x") == 0)
        let refused = try mount.daemon.coffer(["file", "write", "a"], input: Array("y".utf8))
        #expect(refused.status != 0)
        #expect(refused.errors.contains("open for writing elsewhere"), "\(refused.errors)")
    }

    @Test func `what one mount has written and not synced, another sees soon`() throws {
        let one = try MountedVault()
        let other = try MountedVault(of: one.daemon)
        try put("before", to: one.appending("a"))
        let reader = try OpenDescriptor(other.appending("a"), O_RDONLY)
        #expect(try reader.read().get() == "before")
        let writer = try OpenDescriptor(one.appending("a"), O_RDWR)
        #expect(writer.write("after!") == 0)
        #expect(settles { (try? reader.read().get()) == "after!" })
        #expect(writer.write(" and longer", at: 6) == 0)
        #expect(settles { reader.size == 17 })
    }

    @Test func `a file that a verb has replaced is found by its name at once`() throws {
        let mount = try MountedVault()
        for number in 1...5 {
            try put("of the mount", to: mount.appending("a"))
            let replaced = try mount.daemon.coffer(["put", "a", "--kind", "document"], input: Array("\(number)".utf8))
            #expect(replaced.status == 0, "\(replaced.errors)")
            usleep(100_000)
            #expect(try content(of: mount.appending("a")) == "\(number)")
        }
    }
}
