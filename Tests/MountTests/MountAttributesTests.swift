import CCofferShims
import CofferTestSupport
import Foundation
import Testing

/// Attributes, links and names of files on a mount.
@Suite(.enabled(if: MountedVault.isPossible, "there is no /dev/fuse that this user may open"))
struct MountAttributesTests {
    private let mount: MountedVault

    init() throws { mount = try MountedVault() }

    private func path(_ name: String) -> String { mount.appending(name) }

    /// Calls a function of the C library that Swift does not see.
    ///
    /// - Returns: The `errno`, or 0.
    private func gnu(_ call: String) throws -> Int32 {
        let script = """
            import ctypes, os
            library, long = ctypes.CDLL(None, use_errno=True), ctypes.c_long
            print(ctypes.get_errno() if library.\(call) < 0 else 0)
            """
        let result = try runCommand("/usr/bin/python3", ["-c", script], directory: mount.path)
        return try #require(Int32(result.text.trimmingCharacters(in: .newlines)), "\(result.errors)")
    }

    private func allocate(_ mode: Int, _ offset: Int, _ count: Int) throws -> Int32 {
        try gnu("fallocate(os.open('a', os.O_RDWR), \(mode), long(\(offset)), long(\(count)))")
    }

    private func status(_ name: String) throws -> stat {
        var status = stat()
        try #require(lstat(path(name), &status) == 0)
        return status
    }

    @Test func `a sync changes no time of a file`() throws {
        let file = try OpenDescriptor(path("a"), O_RDWR | O_CREAT)
        #expect(file.write("text") == 0)
        let written = try #require(file.status)
        usleep(20_000)
        #expect(file.sync() == 0)
        usleep(1_100_000)
        let synced = try #require(file.status)
        #expect(synced.st_ctim.tv_sec == written.st_ctim.tv_sec && synced.st_ctim.tv_nsec == written.st_ctim.tv_nsec)
        #expect(synced.st_mtim.tv_sec == written.st_mtim.tv_sec && synced.st_mtim.tv_nsec == written.st_mtim.tv_nsec)
    }

    @Test func `mode, owner and times with nanoseconds are kept, also by another mount`() throws {
        try put("x", to: path("a"))
        #expect(errnoOf { Int(chmod(path("a"), 0o4751)) } == 0)
        let times = [timespec(tv_sec: 981_173_106, tv_nsec: 123_456_789), timespec(tv_sec: -5, tv_nsec: 7)]
        #expect(errnoOf { Int(utimensat(AT_FDCWD, path("a"), times, 0)) } == 0)
        if geteuid() == 0 { #expect(errnoOf { Int(chown(path("a"), 12, 34)) } == 0) }
        let other = try MountedVault(of: mount.daemon)
        var seen = stat()
        #expect(lstat(other.appending("a"), &seen) == 0)
        #expect(seen.st_mode == S_IFREG | (geteuid() == 0 ? 0o751 : 0o4751))
        #expect(seen.st_atim.tv_sec == 981_173_106 && seen.st_atim.tv_nsec == 123_456_789)
        #expect(seen.st_mtim.tv_sec == -5 && seen.st_mtim.tv_nsec == 7)
        if geteuid() == 0 { #expect(seen.st_uid == 12 && seen.st_gid == 34) }
        #expect(try seen.st_ino == status("a").st_ino)
    }

    /// The calls of read(2) that the daemon makes meanwhile: some for each request of the kernel.
    private func readCount(during work: () throws -> Void) throws -> Int {
        func count() throws -> Int {
            let text = try String(contentsOfFile: "/proc/\(mount.daemon.processID)/io", encoding: .utf8)
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("syscr: ") })
            return try #require(Int(line.dropFirst(7)))
        }
        let before = try count()
        try work()
        return try count() - before
    }

    @Test(.enabled(if: geteuid() == 0, "only root may count the calls of a daemon"))
    func `a write is one request of the kernel`() throws {
        let file = try OpenDescriptor(path("a"), O_RDWR | O_CREAT)
        #expect(file.write("x") == 0)
        let questions = try readCount {
            var space = statvfs()
            // The kernel never answers this by itself.
            for _ in 0..<200 { #expect(fstatvfs(file.number, &space) == 0) }
        }
        let writes = try readCount { for _ in 0..<200 { #expect(file.write("text") == 0) } }
        // Each of them reads the chunk that it changes as well; with a question before each it would be three times as many.
        #expect(writes < questions * 5 / 2, "\(writes), and \(questions) for as many questions")
    }

    @Test(.enabled(if: geteuid() == 0))
    func `what root writes keeps its mode, and what gets another owner does not`() throws {
        try put("x", to: path("a"))
        #expect(errnoOf { Int(chmod(path("a"), 0o6755)) } == 0)
        let file = try OpenDescriptor(path("a"), O_RDWR)
        #expect(file.write("text") == 0)
        #expect(truncate(path("a"), 2) == 0)
        #expect(try status("a").st_mode == S_IFREG | 0o6755)
        #expect(errnoOf { Int(chown(path("a"), 12, 34)) } == 0)
        #expect(try status("a").st_mode == S_IFREG | 0o755)
        #expect(errnoOf { Int(chmod(path("a"), 0o2745)) } == 0)
        #expect(errnoOf { Int(chown(path("a"), 13, 35)) } == 0)
        #expect(try status("a").st_mode == S_IFREG | 0o2745)
    }

    @Test func `the time of a change is that of the write, and stays when the file is closed`() throws {
        let file = try OpenDescriptor(path("a"), O_RDWR | O_CREAT)
        #expect(file.write("x") == 0)
        let before = try #require(file.status).st_mtim
        usleep(50_000)
        #expect(file.sync() == 0)
        let after = try status("a").st_mtim
        #expect(before.tv_sec == after.tv_sec && before.tv_nsec == after.tv_nsec)
    }

    @Test func `two names of a file are one file`() throws {
        try put("x", to: path("a"))
        #expect(errnoOf { Int(link(path("a"), path("b"))) } == 0)
        #expect(errnoOf { Int(link(path("a"), path("b"))) } == EEXIST)
        #expect(try status("a").st_ino == status("b").st_ino)
        #expect(try status("a").st_nlink == 2)
        try put("changed", to: path("b"))
        #expect(try content(of: path("a")) == "changed")
        #expect(errnoOf { Int(rename(path("a"), path("b"))) } == 0)
        #expect(try names(in: mount.path) == ["a", "b"])
        #expect(errnoOf { Int(unlink(path("a"))) } == 0)
        #expect(try status("b").st_nlink == 1)
        mkdir(path("d"), 0o755)
        #expect(errnoOf { Int(link(path("d"), path("e"))) } == EPERM)
    }

    @Test func `symbolic links lead where they say`() throws {
        mkdir(path("d"), 0o755)
        try put("x", to: path("d/a"))
        #expect(errnoOf { Int(symlink("d/a", path("l"))) } == 0)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path("l")) == "d/a")
        #expect(try content(of: path("l")) == "x")
        #expect(try status("l").st_size == 3)
        #expect(errnoOf { Int(open(path("l"), O_RDONLY | O_NOFOLLOW)) } == ELOOP)
        #expect(errnoOf { Int(symlink("nowhere", path("m"))) } == 0)
        #expect(errnoOf { Int(open(path("m"), O_RDONLY)) } == ENOENT)
        #expect(errnoOf { Int(unlink(path("l"))) } == 0)
        #expect(try content(of: path("d/a")) == "x")
    }

    @Test func `a file that was removed has no names, and keeps its other attributes`() throws {
        let file = try OpenDescriptor(path("a"), O_RDWR | O_CREAT, mode: 0o640)
        #expect(file.write("12345") == 0)
        #expect(errnoOf { Int(unlink(path("a"))) } == 0)
        #expect(file.status?.st_nlink == 0)
        #expect(file.size == 5)
        #expect(errnoOf { Int(fchmod(file.number, 0o600)) } == 0)
        #expect(errnoOf { Int(ftruncate(file.number, 3)) } == 0)
        #expect(file.status.map { $0.st_mode & 0o777 } == 0o600)
        #expect(try file.read().get() == "123")
    }

    @Test func `renames can refuse to replace, and exchange`() throws {
        try put("a", to: path("a"))
        try put("b", to: path("b"))
        #expect(try gnu("renameat2(-100, b'a', -100, b'b', 1)") == EEXIST)
        #expect(try gnu("renameat2(-100, b'a', -100, b'b', 2)") == 0)
        #expect(try content(of: path("a")) == "b")
        #expect(try content(of: path("b")) == "a")
        mkdir(path("d"), 0o755)
        mkdir(path("d/e"), 0o755)
        mkdir(path("f"), 0o755)
        #expect(errnoOf { Int(rename(path("f"), path("d"))) } == ENOTEMPTY)
        #expect(errnoOf { Int(rename(path("d"), path("d/e/g"))) } == EINVAL)
        #expect(errnoOf { Int(rename(path("a"), path("d"))) } == EISDIR)
        #expect(errnoOf { Int(rename(path("d"), path("a"))) } == ENOTDIR)
        #expect(errnoOf { Int(rename(path("d"), path("f"))) } == 0)
        #expect(try names(in: path("f")) == ["e"])
    }

    @Test func `attributes of users are kept, and others are refused`() throws {
        try put("x", to: path("a"))
        #expect(errnoOf { Int(setxattr(path("a"), "user.note", "hello", 5, 0)) } == 0)
        #expect(errnoOf { Int(setxattr(path("a"), "user.note", "hello", 5, Int32(XATTR_CREATE))) } == EEXIST)
        #expect(errnoOf { Int(setxattr(path("a"), "user.other", "hello", 5, Int32(XATTR_REPLACE))) } == ENODATA)
        var bytes = [UInt8](repeating: 0, count: 100)
        #expect(getxattr(path("a"), "user.note", &bytes, 100) == 5)
        #expect(getxattr(path("a"), "user.note", nil, 0) == 5)
        #expect(errnoOf { getxattr(path("a"), "user.note", &bytes, 3) } == ERANGE)
        var list = [CChar](repeating: 0, count: 100)
        let count = listxattr(path("a"), &list, 100)
        let text = String(decoding: list.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #expect(text == "user.note\0")
        #expect(errnoOf { Int(removexattr(path("a"), "user.note")) } == 0)
        #expect(errnoOf { Int(removexattr(path("a"), "user.note")) } == ENODATA)
        if geteuid() == 0 {
            #expect(errnoOf { Int(setxattr(path("a"), "trusted.note", "hello", 5, 0)) } == EOPNOTSUPP)
        }
    }

    @Test(arguments: ["security.selinux", "security.capability", "system.posix_acl_access", "trusted.note"])
    func `attributes that no file can have are EOPNOTSUPP, so that ls asks for those of one file`(name: String) throws {
        try put("x", to: path("a"))
        var bytes = [UInt8](repeating: 0, count: 100)
        // Attributes "trusted.…" exist for root only.
        let expected = name.hasPrefix("trusted.") && geteuid() != 0 ? ENODATA : EOPNOTSUPP
        #expect(errnoOf { getxattr(path("a"), name, &bytes, 100) } == expected)
    }

    @Test func `space can be reserved, and holes can be made`() throws {
        let file = try OpenDescriptor(path("a"), O_RDWR | O_CREAT)
        #expect(file.write(String(repeating: "x", count: 200_000)) == 0)
        #expect(try allocate(3, 1000, 150_000) == 0)
        #expect(try file.read(2, at: 999).get() == "x\0")
        #expect(try file.read(2, at: 150_999).get() == "\0x")
        #expect(file.size == 200_000)
        #expect(try allocate(1, 0, 300_000) == 0)
        #expect(file.size == 200_000)
        #expect(try allocate(0, 0, 300_000) == 0)
        #expect(file.size == 300_000)
        #expect(try allocate(8, 0, 4096) == EOPNOTSUPP)
    }

    @Test func `the space of the disk is that of the vault's`() throws {
        var (own, disk) = (statvfs(), statvfs())
        #expect(errnoOf { Int(statvfs(mount.path, &own)) } == 0)
        #expect(errnoOf { Int(statvfs(mount.daemon.directory.path, &disk)) } == 0)
        #expect(own.f_blocks * own.f_frsize == disk.f_blocks * disk.f_frsize)
        #expect(own.f_namemax == 255)
    }

    @Test func `a directory that a program has made stays when it becomes empty`() throws {
        #expect(try mount.daemon.coffer(["file", "create", "implicit/a"], input: [1]).status == 0)
        #expect(errnoOf { Int(unlink(path("implicit/a"))) } == 0)
        #expect(try names(in: path("implicit")) == [])
    }

    @Test func `special files are refused`() throws {
        #expect(errnoOf { Int(mkfifo(path("fifo"), 0o600)) } == EPERM)
        #expect(errnoOf { Int(mknod(path("file"), S_IFREG | 0o600, 0)) } == 0)
        #expect(try status("file").st_size == 0)
    }
}
