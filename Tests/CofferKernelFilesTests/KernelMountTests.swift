import CKernelFiles
import CofferCore
import CofferKernelFiles
import CofferSystem
import CofferTestSupport
import CofferVault
import CofferWire
import Glibc
import Testing

/// A mount as the kernel sees it: requests by number.
@Suite struct KernelMountTests {
    @Test func `what is made is found by its number, and what is not there is none`() throws {
        let kernel = try TestKernel()
        #expect(try kernel.find("d") == nil)
        let directory = try kernel.mkdir("d")
        #expect(try kernel.find("d") == directory)
        let file = try kernel.create("a", in: directory)
        #expect(try kernel.find("a", in: directory) == file)
        #expect(try kernel.write("hello", to: file) == 0)
        #expect(try kernel.read(file) == "hello")
        let attributes = try kernel.attributes(file)
        #expect(attributes.size == 5 && attributes.mode == S_IFREG | 0o644 && attributes.nlink == 1)
        #expect(attributes.uid == 1000 && attributes.ino == file)
        try kernel.release(file, O_RDWR)
    }

    @Test func `a file that has lost its name goes on while it is open`() throws {
        let kernel = try TestKernel()
        let file = try kernel.create("a")
        #expect(try kernel.write("kept", to: file) == 0)
        #expect(try kernel.ask(FUSE_UNLINK, 1, TestKernel.text("a")).error == 0)
        #expect(try kernel.find("a") == nil)
        #expect(try kernel.read(file) == "kept")
        #expect(try kernel.attributes(file).nlink == 0)
        try kernel.release(file, O_RDWR)
        #expect(throws: Errno(ESTALE)) { try kernel.attributes(file) }
    }

    @Test func `a directory that was removed has attributes, and lists nothing`() throws {
        let kernel = try TestKernel()
        let directory = try kernel.mkdir("d")
        #expect(try kernel.ask(FUSE_RMDIR, 1, TestKernel.text("d")).error == 0)
        #expect(try kernel.attributes(directory).nlink == 0)
        #expect(try kernel.ask(FUSE_READDIR, directory, TestKernel.bytes(of: fuse_read_in())).body.isEmpty)
    }

    @Test func `of directories that were removed, no more than a bound are remembered`() throws {
        let kernel = try TestKernel()
        var removed: [UInt64] = []
        for _ in 0...Limits.removedDirectoriesOfMount {
            removed.append(try kernel.mkdir("d"))
            #expect(try kernel.ask(FUSE_RMDIR, 1, TestKernel.text("d")).error == 0)
        }
        #expect(removed.filter { (try? kernel.attributes($0)) != nil }.count == Limits.removedDirectoriesOfMount)
        #expect(try kernel.find("d") == nil)
    }

    @Test func `unlink of a directory is EISDIR, rmdir of a file ENOTDIR`() throws {
        let kernel = try TestKernel()
        _ = try kernel.mkdir("d")
        _ = try kernel.create("a")
        #expect(try kernel.ask(FUSE_UNLINK, 1, TestKernel.text("d")).error == EISDIR)
        #expect(try kernel.ask(FUSE_RMDIR, 1, TestKernel.text("a")).error == ENOTDIR)
    }

    // MARK: Listings

    /// Lists the root in pages of some bytes; after each page, something is done.
    private func list(_ kernel: TestKernel, pageBytes: UInt32, _ between: () throws -> Void = {}) throws -> [String] {
        var names: [String] = []
        var wanted = fuse_read_in()
        wanted.size = pageBytes
        while true {
            let answer = try kernel.ask(FUSE_READDIR, 1, TestKernel.bytes(of: wanted))
            if answer.body.isEmpty { return names }
            var offset = 0
            while offset < answer.body.count {
                // A fuse_dirent: its number, its cookie, and the length of its name.
                wanted.offset = try answer.read(UInt64.self, at: offset + 8)
                let start = offset + 24
                let end = start + Int(try answer.read(UInt32.self, at: offset + 16))
                names.append(String(decoding: answer.body[start..<end], as: UTF8.self))
                offset = (end + 7) & ~7
            }
            try between()
        }
    }

    @Test func `a listing has what is behind any number of entries of other groups`() throws {
        let stepper = try Stepper(passcode: nil)
        for number in 0..<1000 { try stepper.call(FileMkdirParameters(name: ItemName("d\(number)"), group: "other")) }
        try stepper.commit()
        let kernel = try TestKernel(stepper)
        for name in ["a", "b", "c"] { try kernel.release(kernel.create(name), O_RDWR) }
        for pageBytes: UInt32 in [512, 4096] {
            #expect(try list(kernel, pageBytes: pageBytes).sorted() == [".", "..", "a", "b", "c"])
        }
    }

    @Test(arguments: [64, 100, 4096, 1 << 17])
    func `a listing has each entry once, however short its pages are`(_ pageBytes: UInt32) throws {
        let kernel = try TestKernel()
        let made = (0..<50).map { "file-\($0)" }
        for name in made { try kernel.release(kernel.create(name), O_RDWR) }
        #expect(try list(kernel, pageBytes: pageBytes).sorted() == ([".", ".."] + made).sorted())
    }

    @Test func `a listing goes on where it was, whatever is made and removed meanwhile`() throws {
        let kernel = try TestKernel()
        let made = (0..<40).map { "file-\($0)" }
        for name in made { try kernel.release(kernel.create(name), O_RDWR) }
        var next = 0
        let listed = try list(kernel, pageBytes: 200) {
            _ = try kernel.ask(FUSE_UNLINK, 1, TestKernel.text("file-\(39 - next)"))
            try kernel.release(kernel.create("new-\(next)"), O_RDWR)
            next += 1
        }
        #expect(Set(listed).count == listed.count)
        #expect(Set(made.prefix(40 - next)).isSubset(of: listed))
    }

    // MARK: Read only

    @Test func `a mount that is read only changes nothing`() throws {
        let stepper = try Stepper(passcode: nil)
        let writing = try TestKernel(stepper)
        let file = try writing.create("a")
        try writing.release(file, O_RDWR)
        let kernel = try TestKernel(stepper, isReadOnly: true)
        #expect(try kernel.find("a") == file)
        #expect(try kernel.open(file) == 0)
        #expect(try kernel.open(file, O_RDWR) == EROFS)
        #expect(try kernel.write("x", to: file) == EROFS)
        #expect(try kernel.ask(FUSE_UNLINK, 1, TestKernel.text("a")).error == EROFS)
        #expect(throws: Errno(EROFS)) { try kernel.mkdir("d") }
    }

    @Test func `attributes of the root are dropped once the kernel has some`() throws {
        let kernel = try TestKernel()
        kernel.mount.dropAll(withNames: false)
        #expect(try kernel.takeDroppedNodes() == [])
        _ = try kernel.attributes(1)
        kernel.mount.dropAll(withNames: false)
        #expect(try kernel.takeDroppedNodes() == [1])
    }

    /// Changes of that many files.
    private func changes(_ count: Int) -> [ItemChange] {
        (0..<count).map { ItemChange(.added, in: .file, group: "default", name: "a\($0)", inode: Int64($0 + 2)) }
    }

    @Test func `a notice that is given often while another one waits is given once`() throws {
        let kernel = try TestKernel()
        _ = try kernel.attributes(1)
        kernel.blockNotices()
        // So many fill what the kernel takes without an answer.
        for _ in 0..<1000 {
            kernel.note(changes(100))
            kernel.mount.dropAll(withNames: true)
        }
        #expect(!kernel.mount.notifier.isOverfull)
        kernel.unblockNotices()
    }

    @Test func `a mount whose kernel takes no more notices than can wait is to end`() throws {
        let kernel = try TestKernel()
        kernel.blockNotices()
        // The first of them are on their way.
        for _ in 0..<4 { kernel.note(changes(Limits.noticesOfMount)) }
        #expect(kernel.mount.notifier.isOverfull)
        kernel.mount.notifier.confirmDrops()
        kernel.unblockNotices()
        kernel.waitForDrops()
    }

    @Test func `notices for which no thread can be started wait, and are given once one can`() throws {
        let kernel = try TestKernel()
        let (mayStart, confirmedCount) = (Shared(false), Shared(0))
        let notifier = MountNotifier(kernel.mount.device) { run in
            mayStart.value && (try? NativeThread.startDetached(run)) != nil
        } confirm: { count in
            confirmedCount.value = count
        }
        for _ in 0..<2 { notifier.confirmDrops() }
        #expect(notifier.startIfStalled())
        #expect(confirmedCount.value == 0)
        mayStart.value = true
        #expect(!notifier.startIfStalled())
        #expect(settles { confirmedCount.value == 2 })
    }

    @Test func `what an earlier daemon has told the kernel is dropped once, and then what it has used since`() throws {
        let kernel = try TestKernel()
        let files = try ["a", "b"].map { try kernel.create($0) }
        try kernel.restartDaemon()
        kernel.mount.isResumed = true
        kernel.mount.dropAll(withNames: false)
        #expect(try kernel.takeDroppedNodes().filter(files.contains).sorted() == files.sorted())
        _ = try kernel.attributes(files[0])
        kernel.mount.dropAll(withNames: false)
        #expect(try kernel.takeDroppedNodes().filter(files.contains) == [files[0]])
    }

    @Test func `a kernel that can't be told to forget all names asks for each again before long`() throws {
        let kernel = try TestKernel()
        _ = try kernel.mkdir("d")
        let found = try kernel.ask(FUSE_LOOKUP, 1, TestKernel.text("d")).read(fuse_entry_out.self)
        #expect(found.entry_valid == Limits.kernelBelievesNamesSeconds)
        #expect(found.attr_valid == Limits.kernelBelievesSeconds)
    }

    // MARK: Another daemon

    @Test func `another daemon goes on with what programs have open`() throws {
        let kernel = try TestKernel()
        let file = try kernel.create("a")
        #expect(try kernel.write("one", to: file) == 0)
        try kernel.restartDaemon()
        #expect(try kernel.read(file) == "one")
        #expect(try kernel.write("two", to: file, at: 3) == 0)
        #expect(try kernel.read(file) == "onetwo")
        #expect(try kernel.ask(FUSE_FSYNC, file, TestKernel.bytes(of: fuse_fsync_in())).error == 0)
        try kernel.release(file, O_RDWR)
        #expect(try kernel.open(file) == 0)
    }

    @Test func `a change that was carried out and not answered is answered as done`() throws {
        let kernel = try TestKernel()
        let mkdir = TestKernel.bytes(of: fuse_mkdir_in(mode: 0o755, umask: 0)) + TestKernel.text("d")
        let link = TestKernel.text("l") + TestKernel.text("target")
        var file = fuse_mknod_in()
        file.mode = S_IFREG | 0o600
        let mknod = TestKernel.bytes(of: file) + TestKernel.text("n")
        let made = [
            (FUSE_MKDIR, mkdir), (FUSE_SYMLINK, link), (FUSE_CREATE, TestKernel.creation("c")), (FUSE_MKNOD, mknod),
        ]
        for (opcode, body) in made {
            try kernel.ask(opcode, 1, body, .carriedOut)
            try kernel.restartDaemon()
            let answer = try kernel.ask(opcode, 1, body, repeating: kernel.last)
            #expect(answer.error == 0 && answer.body.count >= MemoryLayout<fuse_entry_out>.size, "\(opcode.rawValue)")
            // A program that asks for the first time is told.
            #expect(try kernel.ask(opcode, 1, body).error == EEXIST, "\(opcode.rawValue)")
        }
        for (opcode, name) in [(FUSE_RMDIR, "d"), (FUSE_UNLINK, "l"), (FUSE_UNLINK, "n")] {
            try kernel.ask(opcode, 1, TestKernel.text(name), .carriedOut)
            try kernel.restartDaemon()
            #expect(try kernel.ask(opcode, 1, TestKernel.text(name), repeating: kernel.last).error == 0, "\(name)")
            #expect(try kernel.ask(opcode, 1, TestKernel.text(name)).error == ENOENT, "\(name)")
        }
    }

    @Test func `a rename and an exchange are made once`() throws {
        let kernel = try TestKernel()
        let (one, other) = (try kernel.create("a"), try kernel.create("b"))
        var renamed = fuse_rename2_in()
        renamed.newdir = 1
        let rename = TestKernel.bytes(of: renamed) + TestKernel.text("a") + TestKernel.text("c")
        try kernel.ask(FUSE_RENAME2, 1, rename, .carriedOut)
        try kernel.restartDaemon()
        #expect(try kernel.ask(FUSE_RENAME2, 1, rename, repeating: kernel.last).error == 0)
        #expect(try kernel.find("c") == one)
        renamed.flags = UInt32(RENAME_EXCHANGE)
        let exchange = TestKernel.bytes(of: renamed) + TestKernel.text("c") + TestKernel.text("b")
        try kernel.ask(FUSE_RENAME2, 1, exchange, .carriedOut)
        let number = kernel.last
        for _ in 0..<2 {
            try kernel.restartDaemon()
            #expect(try kernel.ask(FUSE_RENAME2, 1, exchange, repeating: number).error == 0)
            #expect(try kernel.find("b") == one && kernel.find("c") == other)
        }
        // Begun, and not carried out.
        #expect(try kernel.ask(FUSE_RENAME2, 1, exchange).error == 0)
        #expect(try kernel.find("c") == one && kernel.find("b") == other)
    }

    @Test func `a request that has ended two daemons is EIO, and no other one is`() throws {
        let kernel = try TestKernel()
        let wanted = TestKernel.bytes(of: fuse_getattr_in())
        try kernel.ask(FUSE_GETATTR, 1, wanted, .begun)
        let number = kernel.last
        for _ in 0..<2 {
            try kernel.restartDaemon()
            try kernel.ask(FUSE_GETATTR, 1, wanted, repeating: number, .begun)
        }
        try kernel.restartDaemon()
        #expect(try kernel.ask(FUSE_GETATTR, 1, wanted, repeating: number).error == EIO)
        #expect(try kernel.ask(FUSE_GETATTR, 1, wanted).error == 0)
        #expect(try kernel.ask(FUSE_GETATTR, 1, wanted, repeating: 4).error == 0)
    }

    // MARK: Files that are open

    @Test func `beyond the most files that may be open, one is opened when another one is closed`() throws {
        // Each of them takes descriptors of this process.
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let kernel = try TestKernel()
        // Of a file, all programs together have a handle that reads and one that writes.
        let nodes = try (0...Limits.handlesOfMount / 2).map { number in
            let node = try kernel.create("file-\(number)")
            try kernel.release(node, O_RDWR)
            return node
        }
        for node in nodes.dropLast() {
            #expect(try kernel.open(node, O_RDONLY) == 0)
            #expect(try kernel.open(node, O_RDWR) == 0)
        }
        #expect(kernel.mount.openFileCount == Limits.handlesOfMount)
        let last = nodes[nodes.count - 1]
        #expect(try kernel.open(last) == ENFILE)
        #expect(try kernel.ask(FUSE_CREATE, 1, TestKernel.creation("other")).error == ENFILE)
        #expect(try kernel.find("other") == nil)
        #expect(try kernel.open(nodes[0], O_RDWR) == 0, "what is open is opened once more")
        #expect(try kernel.write("x", to: nodes[1]) == 0)
        for flags in [O_RDONLY, O_RDWR, O_RDWR] { try kernel.release(nodes[0], flags) }
        #expect(try kernel.open(last) == 0)
        #expect(try kernel.read(last) == "")
    }

    // MARK: Numbers that the kernel knows

    @Test func `a mount whose kernel knows more nodes than may be is to end, each counted once while it is known`()
        throws
    {
        let kernel = try TestKernel(nodeLimit: 4)
        let nodes = try (0..<4).map { try kernel.mkdir("d\($0)") }
        for number in 0..<4 { #expect(try kernel.find("d\(number)") == nodes[number]) }
        #expect(!kernel.mount.isOverfull)
        let last = try kernel.mkdir("one more")
        #expect(kernel.mount.isOverfull)
        try kernel.forget(last, 1)
        #expect(!kernel.mount.isOverfull)
        // It was looked up twice.
        try kernel.forget(nodes[0], 1)
        #expect(try kernel.find("one more") == last)
        #expect(kernel.mount.isOverfull)
        try kernel.forget(nodes[0], 1)
        #expect(!kernel.mount.isOverfull)
    }

    // MARK: Numbers that nothing has

    @Test func `a number that no file has is ESTALE, and ends nothing`() throws {
        let kernel = try TestKernel()
        for node in [2, 1 << 63, .max] as [UInt64] {
            #expect(throws: Errno(ESTALE)) { try kernel.attributes(node) }
            #expect(try kernel.open(node) == ESTALE)
            #expect(try kernel.write("x", to: node) == ESTALE)
            #expect(throws: Errno(ESTALE)) { try kernel.read(node) }
            #expect(try kernel.find("a", in: node) == nil)
            #expect(throws: Errno(ESTALE)) { try kernel.mkdir("a", in: node) }
        }
    }
}
