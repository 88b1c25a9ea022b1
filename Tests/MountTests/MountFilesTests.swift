import CofferTestSupport
import Foundation
import Testing

/// Files and directories of a mount, by system calls.
@Suite(.enabled(if: MountedVault.isPossible, "there is no /dev/fuse that this user may open"))
struct MountFilesTests {
    private let mount: MountedVault

    init() throws { mount = try MountedVault() }

    private func path(_ name: String) -> String { mount.appending(name) }

    @Test func `what one program writes another reads, and so does the command line`() throws {
        try put("hello", to: path("a"))
        #expect(try content(of: path("a")) == "hello")
        #expect(try mount.daemon.coffer(["file", "read", "a"]).text == "hello")
        #expect(try mount.daemon.coffer(["file", "create", "b"], input: Array("there".utf8)).status == 0)
        #expect(try content(of: path("b")) == "there")
        #expect(try names(in: mount.path) == ["a", "b"])
    }

    @Test func `exclusive creation fails if there is a file`() throws {
        try put("first", to: path("a"))
        #expect(errnoOf { Int(open(path("a"), O_WRONLY | O_CREAT | O_EXCL, 0o600)) } == EEXIST)
        #expect(try content(of: path("a")) == "first")
    }

    @Test func `the name of a secret is taken, however a file is made`() throws {
        #expect(try mount.daemon.coffer(["put", "token", "--kind", "token"], input: Array("x".utf8)).status == 0)
        for flags in [0, O_EXCL, O_TRUNC] {
            #expect(errnoOf { Int(open(path("token"), O_WRONLY | O_CREAT | flags, 0o600)) } == EEXIST)
        }
        #expect(errnoOf { Int(open(path("token"), O_WRONLY)) } == ENOENT)
        #expect(errnoOf { Int(mkdir(path("token"), 0o700)) } == EEXIST)
        #expect(errnoOf { Int(symlink("x", path("token"))) } == EEXIST)
        #expect(errnoOf { Int(mknod(path("token"), S_IFREG | 0o600, 0)) } == EEXIST)
        try put("y", to: path("a"))
        #expect(errnoOf { Int(link(path("a"), path("token"))) } == EEXIST)
        #expect(errnoOf { Int(rename(path("a"), path("token"))) } == EEXIST)
        #expect(try mount.daemon.coffer(["get", "token"]).text == "x")
    }

    @Test func `a directory that was removed goes on for those who are in it`() throws {
        mkdir(path("d"), 0o755)
        mkdir(path("d/e"), 0o755)
        let file = try OpenDescriptor(path("d/e/f"), O_RDWR | O_CREAT)
        #expect(file.write("text") == 0)
        let directory = try OpenDescriptor(path("d/e"), O_RDONLY | O_DIRECTORY)
        #expect(unlink(path("d/e/f")) == 0)
        #expect(rmdir(path("d/e")) == 0)
        #expect(directory.status?.st_nlink == 0)
        #expect(file.status?.st_size == 4)
        let above = openat(directory.number, "..", O_RDONLY | O_DIRECTORY)
        #expect(above >= 0)
        var (one, other) = (stat(), stat())
        #expect(fstat(above, &one) == 0 && stat(path("d"), &other) == 0)
        #expect(one.st_ino == other.st_ino)
        close(above)
        #expect(errnoOf { Int(openat(directory.number, "g", O_WRONLY | O_CREAT, 0o600)) } == ENOENT)
        #expect(errnoOf { Int(openat(directory.number, ".", O_RDONLY | O_DIRECTORY)) } == 0)
    }

    @Test func `the command line lists the size of a file that was just written`() throws {
        let file = try OpenDescriptor(path("a"), O_WRONLY | O_CREAT)
        #expect(file.write("hello") == 0)
        #expect(try mount.daemon.coffer(["list", "--json"]).text.contains(#""size":5"#))
        #expect(try mount.daemon.coffer(["show", "a", "--json"]).text.contains(#""size":5"#))
    }

    @Test func `appending writes at the end, whatever the offset`() throws {
        try put("one", to: path("a"))
        let file = try OpenDescriptor(path("a"), O_WRONLY | O_APPEND)
        #expect(file.write("two") == 0)
        #expect(try content(of: path("a")) == "onetwo")
    }

    @Test func `several threads that read a file at once get its bytes, also after it was renamed and removed`() throws
    {
        let block = 64 << 10
        let bytes = (0..<(32 * block)).map { UInt8(truncatingIfNeeded: $0 / block &+ $0) }
        try Data(bytes).write(to: URL(filePath: path("a")))
        let file = try OpenDescriptor(path("a"), O_RDONLY)
        for step in [{ 0 }, { rename(path("a"), path("b")) }, { unlink(path("b")) }] {
            #expect(step() == 0)
            posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED)
            let number = file.number
            DispatchQueue.concurrentPerform(iterations: 32) { place in
                var buffer = [UInt8](repeating: 0, count: block)
                #expect(pread(number, &buffer, block, off_t(place * block)) == block)
                #expect(buffer == Array(bytes[(place * block)..<((place + 1) * block)]))
            }
        }
    }

    @Test func `files that are looked at one after the other show what others change, within a second`() throws {
        for number in 0..<20 { try put("text", to: path("\(number)")) }
        func size(_ number: Int) -> Int {
            var status = stat()
            return stat(path("\(number)"), &status) == 0 ? Int(status.st_size) : -1
        }
        usleep(1_100_000)
        #expect((0..<20).map(size) == Array(repeating: 4, count: 20))
        #expect(try mount.daemon.coffer(["file", "truncate", "7", "2"]).status == 0)
        #expect(try mount.daemon.coffer(["file", "remove", "8"]).status == 0)
        let limit = ContinuousClock.now + .seconds(1)
        while size(7) != 2 || size(8) != -1, .now < limit { usleep(10_000) }
        #expect((6..<10).map(size) == [4, 2, -1, 4])
    }

    @Test func `truncating cuts and extends, by path and by descriptor`() throws {
        try put("123456", to: path("a"))
        #expect(errnoOf { Int(truncate(path("a"), 3)) } == 0)
        #expect(try content(of: path("a")) == "123")
        let file = try OpenDescriptor(path("a"), O_RDWR)
        #expect(errnoOf { Int(ftruncate(file.number, 5)) } == 0)
        #expect(try file.read().get() == "123\0\0")
        #expect(errnoOf { Int(open(path("a"), O_WRONLY | O_TRUNC)) } == 0)
        #expect(file.size == 0)
    }

    @Test func `a file that was removed goes on for who has it open`() throws {
        try put("still", to: path("a"))
        let file = try OpenDescriptor(path("a"), O_RDWR)
        #expect(errnoOf { Int(unlink(path("a"))) } == 0)
        #expect(errnoOf { Int(access(path("a"), F_OK)) } == ENOENT)
        #expect(file.write("!", at: 5) == 0)
        #expect(try file.read().get() == "still!")
    }

    @Test func `a file that was renamed over goes on, and the name leads to the new one`() throws {
        try put("old", to: path("a"))
        try put("new", to: path("b"))
        let old = try OpenDescriptor(path("a"), O_RDONLY)
        #expect(errnoOf { Int(rename(path("b"), path("a"))) } == 0)
        #expect(try old.read().get() == "old")
        #expect(try content(of: path("a")) == "new")
        #expect(try names(in: mount.path) == ["a"])
    }

    @Test func `directories are made, listed, renamed with their content, and removed when empty`() throws {
        #expect(errnoOf { Int(mkdir(path("d"), 0o755)) } == 0)
        #expect(errnoOf { Int(mkdir(path("d"), 0o755)) } == EEXIST)
        try put("x", to: path("d/f"))
        #expect(errnoOf { Int(rmdir(path("d"))) } == ENOTEMPTY)
        #expect(errnoOf { Int(unlink(path("d"))) } == EISDIR)
        #expect(errnoOf { Int(rmdir(path("d/f"))) } == ENOTDIR)
        #expect(errnoOf { Int(open(path("d/f/g"), O_RDONLY)) } == ENOTDIR)
        let file = try OpenDescriptor(path("d/f"), O_RDWR)
        #expect(errnoOf { Int(rename(path("d"), path("e"))) } == 0)
        #expect(file.write("y", at: 1) == 0)
        #expect(try content(of: path("e/f")) == "xy")
        #expect(errnoOf { Int(unlink(path("e/f"))) } == 0)
        #expect(try names(in: path("e")) == [])
        #expect(errnoOf { Int(rmdir(path("e"))) } == 0)
    }

    @Test func `a directory keeps its place in a listing while it changes`() throws {
        for number in 0..<300 { try put("", to: path("f\(number)")) }
        let directory = try #require(opendir(mount.path))
        defer { closedir(directory) }
        var seen: [String] = []
        func next() -> String? {
            guard let entry = readdir(directory) else { return nil }
            return withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
        }
        for _ in 0..<100 { seen.append(try #require(next())) }
        let cookie = telldir(directory)
        let following = try #require(next())
        for name in seen where name.hasPrefix("f") { unlink(path(name)) }
        while let name = next() { seen.append(name) }
        seekdir(directory, cookie)
        #expect(next() == following)
        #expect(Set(seen + [following]).count == 302)
        rewinddir(directory)
        var left = 0
        while next() != nil { left += 1 }
        #expect(left == 302 - seen.prefix(100).count { $0.hasPrefix("f") })
    }

    @Test func `shared and private mappings work, and what is shared is written`() throws {
        try put(String(repeating: "a", count: 10_000), to: path("a"))
        let file = try OpenDescriptor(path("a"), O_RDWR)
        let shared = try #require(mmap(nil, 10_000, PROT_READ | PROT_WRITE, MAP_SHARED, file.number, 0))
        let own = try #require(mmap(nil, 10_000, PROT_READ | PROT_WRITE, MAP_PRIVATE, file.number, 0))
        own.storeBytes(of: UInt8(ascii: "p"), toByteOffset: 1, as: UInt8.self)
        shared.storeBytes(of: UInt8(ascii: "s"), toByteOffset: 5000, as: UInt8.self)
        #expect(errnoOf { Int(msync(shared, 10_000, MS_SYNC)) } == 0)
        munmap(shared, 10_000)
        munmap(own, 10_000)
        let text = Array(try content(of: path("a")).utf8)
        #expect(text[1] == UInt8(ascii: "a"))
        #expect(text[5000] == UInt8(ascii: "s"))
        #expect(try mount.daemon.coffer(["file", "read", "a"]).output == text)
    }

    @Test func `locks of files exclude each other within the mount`() throws {
        try put("", to: path("a"))
        let one = try OpenDescriptor(path("a"), O_RDWR)
        let other = try OpenDescriptor(path("a"), O_RDWR)
        #expect(errnoOf { Int(flock(one.number, LOCK_EX | LOCK_NB)) } == 0)
        #expect(errnoOf { Int(flock(other.number, LOCK_EX | LOCK_NB)) } == EWOULDBLOCK)
        #expect(errnoOf { Int(flock(one.number, LOCK_UN)) } == 0)
        #expect(errnoOf { Int(flock(other.number, LOCK_EX | LOCK_NB)) } == 0)
        let script = "import fcntl; fcntl.lockf(open('a', 'r+'), fcntl.LOCK_EX | fcntl.LOCK_NB)"
        var lock = flock(l_type: Int16(F_WRLCK), l_whence: 0, l_start: 0, l_len: 0, l_pid: 0)
        #expect(errnoOf { Int(fcntl(one.number, F_SETLK, &lock)) } == 0)
        #expect(try mount.run("python3 -c \"\(script)\"").status != 0)
        lock.l_type = Int16(F_UNLCK)
        #expect(errnoOf { Int(fcntl(one.number, F_SETLK, &lock)) } == 0)
        #expect(try mount.run("python3 -c \"\(script)\"").status == 0)
    }

    @Test func `O_DIRECT is accepted`() throws {
        let file = try OpenDescriptor(path("a"), O_RDWR | O_CREAT | 0o40000)
        var memory: UnsafeMutableRawPointer?
        try #require(posix_memalign(&memory, 4096, 4096) == 0)
        let page = try #require(memory)
        defer { free(page) }
        memset(page, 7, 4096)
        #expect(pwrite(file.number, page, 4096, 4096) == 4096)
        memset(page, 0, 4096)
        #expect(pread(file.number, page, 4096, 4096) == 4096)
        #expect(page.load(as: UInt8.self) == 7)
        #expect(file.size == 8192)
    }

    @Test func `names that the vault can't have are refused`() throws {
        let long = String(repeating: "n", count: 256)
        #expect(errnoOf { Int(mkdir(path(long), 0o755)) } == ENAMETOOLONG)
        let bad = Array(path("x").utf8CString.dropLast()) + [CChar(bitPattern: 0xff), 0]
        #expect(errnoOf { Int(mkdir(bad, 0o755)) } == EILSEQ)
        #expect(errnoOf { Int(mknod(path("fifo"), S_IFIFO | 0o600, 0)) } != 0)
    }

    /// Makes directories in each other.
    ///
    /// - Returns: The deepest one.
    private func nest(_ name: String, _ count: Int) throws -> OpenDescriptor {
        var deepest = try OpenDescriptor(mount.path, O_RDONLY | O_DIRECTORY)
        for _ in 0..<count {
            #expect(errnoOf { Int(mkdirat(deepest.number, name, 0o755)) } == 0)
            deepest = try OpenDescriptor("/proc/self/fd/\(deepest.number)/\(name)", O_RDONLY | O_DIRECTORY)
        }
        return deepest
    }

    @Test func `a path has at most 4096 bytes`() throws {
        // 4095 bytes.
        let deepest = try nest(String(repeating: "d", count: 255), 16)
        #expect(errnoOf { Int(mkdirat(deepest.number, "d", 0o755)) } == ENAMETOOLONG)
        #expect(errnoOf { Int(openat(deepest.number, "d", O_WRONLY | O_CREAT, 0o644)) } == ENAMETOOLONG)
    }

    @Test func `a tree may be deep`() throws {
        let deepest = try nest("d", 300)
        let file = openat(deepest.number, "a", O_WRONLY | O_CREAT, 0o644)
        #expect(file >= 0)
        #expect(write(file, "x", 1) == 1)
        close(file)
        let listed = try mount.daemon.coffer(["file", "read", String(repeating: "d/", count: 300) + "a"])
        #expect(listed.text == "x", "\(listed.errors)")
        let removed = try mount.run("find . -name a -delete && rm -r d && ls")
        #expect(removed.status == 0 && removed.text.isEmpty, "\(removed.errors)")
    }

    @Test func `a mount for reading refuses every change`() throws {
        try put("x", to: path("a"))
        let reading = try MountedVault(of: mount.daemon, ["--read-only"])
        #expect(try content(of: reading.appending("a")) == "x")
        #expect(errnoOf { Int(open(reading.appending("a"), O_WRONLY)) } == EROFS)
        #expect(errnoOf { Int(unlink(reading.appending("a"))) } == EROFS)
        #expect(errnoOf { Int(mkdir(reading.appending("d"), 0o755)) } == EROFS)
    }

    @Test func `a part of the vault can be mounted, and another group`() throws {
        mkdir(path("photos"), 0o755)
        try put("x", to: path("photos/a"))
        let photos = try MountedVault(of: mount.daemon, ["--path", "photos"])
        #expect(try names(in: photos.path) == ["a"])
        try put("y", to: photos.appending("b"))
        #expect(try content(of: path("photos/b")) == "y")
        let other = try MountedVault(of: mount.daemon, ["--group", "other"])
        #expect(try names(in: other.path) == [])
        try put("z", to: other.appending("a"))
        #expect(try mount.daemon.coffer(["file", "read", "a", "--group", "other"]).text == "z")
    }
}
