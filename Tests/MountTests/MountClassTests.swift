import CofferFoundation
import CofferTestSupport
import Foundation
import Testing

/// Classes of files on a mount, and what a lock does to them.
@Suite(.enabled(if: MountedVault.isPossible, "there is no /dev/fuse that this user may open"))
struct MountClassTests {
    private let mount: MountedVault

    init() throws { mount = try MountedVault(passcode: DaemonProcess.passcode, daemonOptions: ["--grace", "1"]) }

    private func path(_ name: String) -> String { mount.appending(name) }

    private func lock() throws {
        #expect(try mount.daemon.coffer(["lock", "--now"]).status == 0)
    }

    private func unlock() throws {
        #expect(try mount.daemon.coffer(["unlock"], passcode: DaemonProcess.passcode).status == 0)
    }

    @Test func `the class of a file is an attribute that can be read and set`() throws {
        try put("x", to: path("a"))
        #expect(classOf(path("a")) == "completeUntilFirstUserAuthentication")
        #expect(setClass("complete", of: path("a")) == 0)
        #expect(classOf(path("a")) == "complete")
        #expect(try mount.daemon.coffer(["file", "stat", "a"]).text.contains("while unlocked"))
        #expect(setClass("unknown", of: path("a")) == EINVAL)
    }

    @Test func `a class that is removed becomes that of a new file in the directory`() throws {
        try put("x", to: path("a"))
        #expect(setClass("complete", of: path("a")) == 0)
        #expect(removeClass(of: path("a")) == 0)
        #expect(classOf(path("a")) == "completeUntilFirstUserAuthentication")
        for directory in ["d", "d/e"] { mkdir(path(directory), 0o755) }
        #expect(removeClass(of: path("d/e")) == ENODATA)
        #expect(setClass("complete", of: path("d")) == 0)
        #expect(setClass("none", of: path("d/e")) == 0)
        try put("x", to: path("d/e/f"))
        #expect(classOf(path("d/e/f")) == "none")
        #expect(removeClass(of: path("d/e")) == 0)
        #expect(removeClass(of: path("d/e/f")) == 0)
        #expect(classOf(path("d/e")) == "complete")
        #expect(classOf(path("d/e/f")) == "complete")
    }

    @Test func `cp -a neither takes a class out of the mount, nor removes one`() throws {
        try put("x", to: path("a"))
        #expect(setClass("complete", of: path("a")) == 0)
        let outside = mount.daemon.directory.appending("copy")
        let copied = try mount.run("cp -a a '\(outside)'; cp -a '\(outside)' b")
        #expect(copied.status == 0, "\(copied.errors)")
        #expect(classOf(outside) == "errno \(ENODATA)")
        #expect(classOf(path("b")) == "completeUntilFirstUserAuthentication")
    }

    @Test func `a copy that the kernel makes has at least the class of its source`() throws {
        try put("secret", to: path("a"))
        #expect(setClass("complete", of: path("a")) == 0)
        mkdir(path("weak"), 0o755)
        #expect(setClass("none", of: path("weak")) == 0)
        try put("y", to: path("weak/open"))
        let script = """
            import os
            for source, target in [('a', 'b'), ('a', 'weak/c'), ('weak/open', 'd'), ('weak/open', 'weak/e')]:
                a, b = os.open(source, os.O_RDONLY), os.open(target, os.O_WRONLY | os.O_CREAT)
                assert os.copy_file_range(a, b, 100) > 0
            """
        let copied = try runCommand("/usr/bin/python3", ["-c", script], directory: mount.path)
        #expect(copied.status == 0, "\(copied.errors)")
        #expect(try content(of: path("weak/c")) == "secret")
        #expect(
            ["b", "weak/c", "d", "weak/e"].map { classOf(path($0)) }
                == ["complete", "complete", "completeUntilFirstUserAuthentication", "none"]
        )
    }

    @Test func `what is saved beside and renamed over a file has at least its class`() throws {
        try put("1", to: path("a"))
        #expect(setClass("complete", of: path("a")) == 0)
        try put("2", to: path("beside"))
        #expect(rename(path("beside"), path("a")) == 0)
        #expect(classOf(path("a")) == "complete")
        #expect(try content(of: path("a")) == "2")
        try put("3", to: path("beside"))
        try lock()
        #expect(errnoOf { Int(rename(path("beside"), path("a"))) } == EACCES)
        #expect(try content(of: path("beside")) == "3")
        try unlock()
        #expect(try content(of: path("a")) == "2")
    }

    @Test func `FileProtectionType is read and set by the path in the mount, and nowhere else`() throws {
        let files = Foundation.FileManager.default
        try put("x", to: path("a"))
        #expect(try files.fileProtection(ofMountedItemAtPath: path("a")) == .completeUntilFirstUserAuthentication)
        try files.setFileProtection(.complete, ofMountedItemAtPath: path("a"))
        #expect(classOf(path("a")) == "complete")
        mkdir(path("d"), 0o755)
        #expect(try files.fileProtection(ofMountedItemAtPath: path("d")) == FileProtectionType?.none)
        try files.setFileProtection(.completeUnlessOpen, ofMountedItemAtPath: path("d"))
        #expect(try files.fileProtection(ofMountedItemAtPath: path("d")) == .completeUnlessOpen)
        let outside = mount.daemon.directory.appending("outside")
        try put("x", to: outside)
        #expect(throws: CocoaError.self) { try files.setFileProtection(.complete, ofMountedItemAtPath: outside) }
        #expect(throws: (any Error).self) { try files.fileProtection(ofMountedItemAtPath: outside) }
        try lock()
        #expect(throws: CocoaError.self) { try files.setFileProtection(.none, ofMountedItemAtPath: path("a")) }
        #expect(try files.fileProtection(ofMountedItemAtPath: path("a")) == .complete)
    }

    @Test func `the class of a directory is the default of new files in it`() throws {
        mkdir(path("d"), 0o755)
        #expect(classOf(path("d")) == "errno \(ENODATA)")
        try put("x", to: path("d/before"))
        #expect(setClass("completeUnlessOpen", of: path("d")) == 0)
        try put("x", to: path("d/after"))
        #expect(classOf(path("d/before")) == "completeUntilFirstUserAuthentication")
        #expect(classOf(path("d/after")) == "completeUnlessOpen")
    }

    @Test func `the class of the root is that of new files, and without it they have the usual one`() throws {
        let usual = "completeUntilFirstUserAuthentication"
        #expect(classOf(mount.path) == "errno \(ENODATA)")
        #expect(removeClass(of: mount.path) == ENODATA)
        try put("x", to: path("before"))
        #expect(setClass("complete", of: mount.path) == 0)
        #expect(classOf(mount.path) == "complete")
        #expect(try mount.daemon.coffer(["status", "--json"]).text.contains(#""defaultClass":"complete""#))
        try put("x", to: path("after"))
        mkdir(path("d"), 0o755)
        try put("x", to: path("d/after"))
        #expect(["before", "after", "d/after"].map { classOf(path($0)) } == [usual, "complete", "complete"])
        // As the class of a file, it is not listed.
        #expect(GNUCalls.attributes(of: mount.path) == [])
        #expect(removeClass(of: mount.path) == 0)
        #expect(classOf(mount.path) == usual)
        try put("x", to: path("last"))
        #expect(["after", "last"].map { classOf(path($0)) } == ["complete", usual])
    }

    @Test func `what is cached and mapped of class complete is gone after a lock`() throws {
        try put(String(repeating: "secret", count: 2000), to: path("a"))
        #expect(setClass("complete", of: path("a")) == 0)
        let script = """
            import mmap, os, sys
            m = mmap.mmap(os.open('a', os.O_RDONLY), 0, prot=mmap.PROT_READ)
            assert m[:6] == b'secret' and m[8000:8003] == b'cre'
            open('mapped', 'w').close()
            sys.stdin.read()
            sys.stdout.buffer.write(m[:6])
            """
        let program = Process()
        program.executableURL = URL(filePath: "/usr/bin/python3")
        program.arguments = ["-c", script]
        program.currentDirectoryURL = URL(filePath: mount.path)
        let (input, output) = (Pipe(), Pipe())
        (program.standardInput, program.standardOutput) = (input, output)
        try program.run()
        #expect(settles { access(path("mapped"), F_OK) == 0 })
        try lock()
        try input.fileHandleForWriting.close()
        let seen = output.fileHandleForReading.readDataToEndOfFile()
        program.waitUntilExit()
        #expect(seen.isEmpty)
        #expect(program.terminationReason == .uncaughtSignal)
        #expect(program.terminationStatus == SIGBUS)
        try unlock()
        #expect(try content(of: path("a")).hasPrefix("secret"))
    }

    @Test func `changes of mapped memory are written when a lock begins`() throws {
        try put(String(repeating: "a", count: 5000), to: path("a"))
        #expect(setClass("complete", of: path("a")) == 0)
        let file = try OpenDescriptor(path("a"), O_RDWR)
        let memory = try #require(mmap(nil, 5000, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0))
        memory.storeBytes(of: UInt8(ascii: "b"), toByteOffset: 0, as: UInt8.self)
        #expect(try mount.daemon.coffer(["lock"]).status == 0)
        #expect(settles { file.readError == EACCES })
        munmap(memory, 5000)
        try unlock()
        #expect(try content(of: path("a")).hasPrefix("ba"))
    }

    @Test func `a change of mapped memory that a lock overtakes is written, or its sync fails`() throws {
        try put(String(repeating: "a", count: 5000), to: path("a"))
        #expect(setClass("complete", of: path("a")) == 0)
        let file = try OpenDescriptor(path("a"), O_RDWR)
        let memory = try #require(mmap(nil, 5000, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0))
        memory.storeBytes(of: UInt8(ascii: "b"), toByteOffset: 0, as: UInt8.self)
        try lock()
        let outcome = file.sync()
        munmap(memory, 5000)
        #expect(outcome == 0 || outcome == EIO)
        try unlock()
        #expect(try content(of: path("a")).hasPrefix(outcome == 0 ? "ba" : "aa"), "errno \(outcome)")
    }

    @Test func `a descriptor that a lock has ended works again after an unlock`() throws {
        try put("before", to: path("a"))
        #expect(setClass("complete", of: path("a")) == 0)
        let file = try OpenDescriptor(path("a"), O_RDWR)
        try lock()
        #expect(file.readError == EACCES)
        #expect(file.write("x") == EACCES)
        try unlock()
        #expect(try file.read().get() == "before")
        #expect(file.write("after!") == 0)
        #expect(file.sync() == 0)
        #expect(try content(of: path("a")) == "after!")
    }

    @Test func `a file of completeUnlessOpen that was created while locked can't be opened again`() throws {
        mkdir(path("d"), 0o755)
        #expect(setClass("completeUnlessOpen", of: path("d")) == 0)
        try lock()
        let file = try OpenDescriptor(path("d/new"), O_RDWR | O_CREAT)
        #expect(file.write("in the dark") == 0)
        #expect(file.sync() == 0)
        #expect(try file.read().get() == "in the dark")
        #expect(errnoOf { Int(open(path("d/new"), O_RDONLY)) } == EACCES)
        try unlock()
        #expect(try content(of: path("d/new")) == "in the dark")
    }
}
