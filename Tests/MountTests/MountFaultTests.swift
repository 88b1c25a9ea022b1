import CofferTestSupport
import Foundation
import Synchronization
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

    @Test func `what one mount has written and not synced, another sees within a second`() throws {
        let one = try MountedVault()
        let other = try MountedVault(of: one.daemon)
        try put("before", to: one.appending("a"))
        let reader = try OpenDescriptor(other.appending("a"), O_RDONLY)
        #expect(try reader.read().get() == "before")
        let writer = try OpenDescriptor(one.appending("a"), O_RDWR)
        #expect(writer.write("after!") == 0)
        usleep(1_000_000)
        #expect(try reader.read().get() == "after!")
        #expect(writer.write(" and longer", at: 6) == 0)
        usleep(1_000_000)
        #expect(reader.size == 17)
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

    @Test func `each program that has a file open is told of a loss once`() throws {
        let mount = try MountedVault()
        let one = try OpenDescriptor(mount.appending("a"), O_RDWR | O_CREAT)
        let other = try OpenDescriptor(mount.appending("a"), O_RDWR)
        #expect(one.write("lost") == 0)
        try mount.daemon.restart()
        #expect(one.sync() == EIO)
        #expect(other.sync() == EIO)
        #expect(one.sync() == 0)
        #expect(other.sync() == 0)
        let later = try OpenDescriptor(mount.appending("a"), O_RDWR)
        #expect(later.sync() == 0)
    }

    @Test func `changes of the tree are made once, whenever the daemon is killed`() throws {
        let mount = try MountedVault()
        let script = """
            import os, sys
            n = 0
            while os.path.exists('go'):
                os.mkdir(f'd{n}'); os.rename(f'd{n}', f'e{n}'); os.symlink('x', f'e{n}/l'); os.link(f'e{n}/l', f'e{n}/m')
                os.unlink(f'e{n}/l'); os.unlink(f'e{n}/m')
                os.close(os.open(f'e{n}/f', os.O_CREAT | os.O_EXCL)); os.unlink(f'e{n}/f'); os.rmdir(f'e{n}')
                n += 1
            print(n)
            """
        try put("", to: mount.appending("go"))
        let program = Process()
        program.executableURL = URL(filePath: "/usr/bin/python3")
        program.arguments = ["-c", script]
        program.currentDirectoryURL = URL(filePath: mount.path)
        let (output, errors) = (Pipe(), Pipe())
        (program.standardOutput, program.standardError) = (output, errors)
        try program.run()
        for _ in 0..<12 {
            usleep(150_000)
            try mount.daemon.restart()
        }
        #expect(errnoOf { Int(unlink(mount.appending("go"))) } == 0)
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        program.waitUntilExit()
        #expect(program.terminationStatus == 0, "\(complaint)")
        #expect(Int(text.trimmingCharacters(in: .newlines)) ?? 0 > 0)
    }

    @Test func `what was written is not replaced by less when the daemon is killed before the rename`() throws {
        let mount = try MountedVault()
        try put("whole", to: mount.appending("a"))
        for _ in 0..<5 {
            do {
                let file = try OpenDescriptor(mount.appending("a.new"), O_WRONLY | O_CREAT | O_TRUNC)
                #expect(file.write("newer") == 0)
            }
            try mount.daemon.restart()
            let outcome = errnoOf { Int(rename(mount.appending("a.new"), mount.appending("a"))) }
            #expect([0, EIO].contains(outcome))
            #expect(try content(of: mount.appending("a")) == (outcome == 0 ? "newer" : "whole"))
            if outcome == 0 { try put("whole", to: mount.appending("a")) }
            unlink(mount.appending("a.new"))
        }
    }

    @Test func `a file that was closed and lost is told to the next that syncs it, once`() throws {
        let mount = try MountedVault()
        try put("", to: mount.appending("a"))
        do {
            let file = try OpenDescriptor(mount.appending("a"), O_WRONLY)
            #expect(file.write("lost") == 0)
        }
        try mount.daemon.restart()
        let file = try OpenDescriptor(mount.appending("a"), O_RDONLY)
        // The daemon may have synced it before the kill.
        let outcome = file.sync()
        #expect(try file.read().get() == (outcome == EIO ? "" : "lost"))
        #expect(outcome == EIO || outcome == 0)
        #expect(file.sync() == 0)
    }

    @Test func `of programs that sync a lost file at once, one is told of the loss`() throws {
        let mount = try MountedVault()
        for _ in 0..<5 {
            try put("", to: mount.appending("a"))
            do {
                let file = try OpenDescriptor(mount.appending("a"), O_WRONLY)
                #expect(file.write("lost") == 0)
            }
            try mount.daemon.restart()
            let path = mount.appending("a")
            let outcomes = Mutex<[Int32]>([])
            let programs = (0..<8).map { _ in
                Background {
                    let outcome = try OpenDescriptor(path, O_RDONLY).sync()
                    outcomes.withLock { $0.append(outcome) }
                }
            }
            for program in programs { try program.wait() }
            let told = outcomes.withLock { $0.filter { $0 != 0 } }
            #expect(told == [EIO] || told.isEmpty)
            #expect(try content(of: path) == (told.isEmpty ? "lost" : ""))
            #expect(try OpenDescriptor(path, O_RDONLY).sync() == 0)
        }
    }

    @Test func `a daemon that stops in order loses nothing of what was closed, and no program is told so`() throws {
        let mount = try MountedVault()
        do {
            let file = try OpenDescriptor(mount.appending("a.new"), O_WRONLY | O_CREAT)
            #expect(file.write("kept") == 0)
        }
        mount.daemon.stop()
        try mount.daemon.restart()
        #expect(errnoOf { Int(rename(mount.appending("a.new"), mount.appending("a"))) } == 0)
        #expect(try content(of: mount.appending("a")) == "kept")
        #expect(try OpenDescriptor(mount.appending("a"), O_RDONLY).sync() == 0)
    }

    @Test func `a file of which the locked vault says nothing is not lost`() throws {
        let mount = try MountedVault(passcode: DaemonProcess.passcode)
        do {
            let file = try OpenDescriptor(mount.appending("a"), O_WRONLY | O_CREAT)
            #expect(file.write("kept") == 0)
        }
        mount.daemon.stop()
        try mount.daemon.restart()
        #expect(errnoOf { Int(rename(mount.appending("a"), mount.appending("b"))) } == EACCES)
        #expect(try mount.daemon.coffer(["unlock"], passcode: DaemonProcess.passcode).status == 0)
        #expect(errnoOf { Int(rename(mount.appending("a"), mount.appending("b"))) } == 0)
        #expect(try OpenDescriptor(mount.appending("b"), O_RDONLY).sync() == 0)
    }

    @Test func `a mount ends in order although what it starts for that is ended with it`() throws {
        let mount = try MountedVault()
        let children = "/proc/\(mount.processID)/task/\(mount.processID)/children"
        // The mounts of root end without another program.
        #expect(FileManager.default.fileExists(atPath: children))
        // As the service manager does, which ends all processes of a unit until there are no new ones.
        let ending = Background {
            while let list = try? String(contentsOfFile: children, encoding: .utf8) {
                for child in list.split(separator: " ").compactMap({ Int32($0) }) { kill(child, SIGTERM) }
            }
        }
        #expect(mount.stop() == 0)
        try ending.wait()
        #expect(!mount.isMounted)
    }

    @Test func `a daemon that stops in order loses nothing of a file that is open`() throws {
        let mount = try MountedVault()
        let file = try OpenDescriptor(mount.appending("a"), O_RDWR | O_CREAT)
        #expect(file.write("kept") == 0)
        mount.daemon.stop()
        try mount.daemon.restart()
        #expect(errnoOf { Int(rename(mount.appending("a"), mount.appending("b"))) } == 0)
        #expect(file.sync() == 0)
        #expect(try file.read().get() == "kept")
        // It has stayed the one that writes.
        #expect(file.write("!", at: 4) == 0)
        #expect(file.sync() == 0)
        #expect(try content(of: mount.appending("b")) == "kept!")
    }

    @Test func `a program that has files open starts others while the daemon is away`() throws {
        let mount = try MountedVault(["--wait", "30"])
        let file = try OpenDescriptor(mount.appending("a"), O_RDWR | O_CREAT)
        #expect(file.write("kept") == 0)
        #expect(file.sync() == 0)
        mount.daemon.kill()
        // The read holds the file until the daemon is back.
        let reading = Background { try file.read(at: 0).get() }
        usleep(200_000)
        // The child closes what it has inherited before it becomes the program.
        #expect(try runCommand("/bin/true", []).status == 0)
        try mount.daemon.restart()
        #expect(try reading.wait() == "kept")
    }

    @Test func `files are opened whenever the daemon is killed`() throws {
        let mount = try MountedVault()
        try put("text", to: mount.appending("a"))
        let isOver = Shared(false)
        let opening = Background { () -> [Int32] in
            var codes: [Int32] = []
            while !isOver.value {
                let number = open(mount.appending("a"), O_RDWR | O_CLOEXEC)
                if number < 0 { codes.append(errno) } else { close(number) }
            }
            return codes
        }
        for _ in 0..<12 {
            usleep(50_000)
            try mount.daemon.restart()
        }
        isOver.value = true
        #expect(try opening.wait() == [])
    }
}
