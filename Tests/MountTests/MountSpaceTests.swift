import CofferTestSupport
import Foundation
import Testing

/// What a mount does with the space of the disk, and without it.
@Suite(.enabled(if: MountedVault.isPossible, "there is no /dev/fuse that this user may open"))
struct MountSpaceTests {
    /// The bytes that the contents of a vault take on the disk.
    private func stored(_ mount: MountedVault) throws -> Int {
        let blobs = mount.daemon.statePath + "/blobs"
        return try FileManager.default.subpathsOfDirectory(atPath: blobs).reduce(0) { sum, name in
            var status = stat()
            guard stat("\(blobs)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return sum }
            // A content that is being placed has two names.
            return sum + Int(status.st_blocks) * 512 / Int(status.st_nlink)
        }
    }

    private func fill(_ file: OpenDescriptor, _ count: Int, by pieceBytes: Int) {
        let piece = String(repeating: "x", count: pieceBytes)
        for offset in stride(from: 0, to: count, by: pieceBytes) { #expect(file.write(piece, at: offset) == 0) }
    }

    @Test(arguments: [4096, 65_536])
    func `what is punched or cut off is space of the disk again`(pieceBytes: Int) throws {
        let mount = try MountedVault()
        let file = try OpenDescriptor(mount.appending("a"), O_RDWR | O_CREAT)
        let count = 4 << 20
        fill(file, count, by: pieceBytes)
        #expect(file.sync() == 0)
        let full = try stored(mount)
        #expect(full >= count)
        #expect(GNUCalls.allocate(file.number, mode: GNUCalls.punchHole, at: 0, count: count / 2) == 0)
        #expect(file.sync() == 0)
        #expect(try stored(mount) < full * 6 / 10)
        #expect(try file.read(3, at: count / 2 - 1).get() == "\0xx")
        #expect(errnoOf { Int(ftruncate(file.number, 10)) } == 0)
        #expect(file.sync() == 0)
        #expect(try stored(mount) < full / 10)
        fill(file, count, by: pieceBytes)
        #expect(file.sync() == 0)
        #expect(try file.read(3, at: count - 3).get() == "xxx")
        #expect(try mount.daemon.coffer(["doctor"]).status == 0)
    }

    @Test func `a hole of any length is punched, and found`() throws {
        let mount = try MountedVault()
        let file = try OpenDescriptor(mount.appending("a"), O_RDWR | O_CREAT)
        // More pieces than one step punches, and than one step looks at.
        let count = 6 << 20
        fill(file, count, by: 4096)
        #expect(seek(file, 0, Self.hole) == count)
        #expect(GNUCalls.allocate(file.number, mode: GNUCalls.punchHole, at: 0, count: count - 4096) == 0)
        #expect(seek(file, 0, Self.data) == count - 4096)
        #expect(try file.read(2, at: count - 4097).get() == "\0x")
        let end = 1 << 40
        #expect(errnoOf { Int(ftruncate(file.number, off_t(end))) } == 0)
        #expect(file.write("x", at: end - 1) == 0)
        #expect(GNUCalls.allocate(file.number, mode: GNUCalls.punchHole, at: 0, count: end) == 0)
        #expect(seek(file, 0, Self.data) == -Int(ENXIO))
        #expect(file.sync() == 0)
        #expect(try mount.daemon.coffer(["doctor"]).status == 0)
    }

    /// `SEEK_DATA` and `SEEK_HOLE`.
    private static let (data, hole) = (Int32(3), Int32(4))

    /// The offset that lseek(2) finds, or its negative `errno`.
    private func seek(_ file: OpenDescriptor, _ offset: Int, _ whence: Int32) -> Int {
        let found = lseek(file.number, off_t(offset), whence)
        return found < 0 ? -Int(errno) : Int(found)
    }

    @Test func `a file has its holes in lseek, in du, and in what cp and tar make of it`() throws {
        let mount = try MountedVault()
        let file = try OpenDescriptor(mount.appending("a"), O_RDWR | O_CREAT)
        let (first, second, size, count) = (1 << 20, 700 << 20, 1 << 30, 65_536)
        #expect(errnoOf { Int(ftruncate(file.number, off_t(size))) } == 0)
        #expect(file.status?.st_blocks == 0)
        for offset in [first, second] { #expect(file.write(String(repeating: "x", count: count), at: offset) == 0) }
        for isSynced in [false, true] {
            if isSynced { #expect(file.sync() == 0) }
            #expect(seek(file, 0, Self.data) == first)
            #expect(seek(file, 0, Self.hole) == 0)
            #expect(seek(file, first + 5, Self.data) == first + 5)
            #expect(seek(file, first, Self.hole) == first + count)
            #expect(seek(file, first + count, Self.data) == second)
            #expect(seek(file, second, Self.hole) == second + count)
            #expect(seek(file, second + count, Self.data) == -Int(ENXIO))
            #expect(seek(file, size - 1, Self.hole) == size - 1)
            for whence in [Self.data, Self.hole] {
                for offset in [size, size + 1, -1, Int.min, Int.max, 1 << 40, 1 << 41] {
                    #expect(seek(file, offset, whence) == -Int(ENXIO), "\(offset)")
                }
            }
            #expect(seek(file, 0, SEEK_END) == size)
            let blocks = Int(file.status?.st_blocks ?? 0) * 512
            #expect((2 * count..<(1 << 20)).contains(blocks))
        }
        let script = """
            cp --sparse=auto a ../copy; cp --sparse=auto a b; tar -S -cf ../archive a
            test $(du --block-size=1 a | cut -f1) -lt 1000000
            for name in ../copy b; do
                test $(stat -c %s $name) = \(size); test $(du --block-size=1 $name | cut -f1) -lt 1000000
                cmp -n \(2 * count) -i \(second - count / 2) a $name
            done
            test $(stat -c %s ../archive) -lt 1000000
            """
        let made = try mount.run(script)
        #expect(made.status == 0, "\(made.errors)")
        #expect(GNUCalls.allocate(file.number, mode: GNUCalls.punchHole, at: first, count: count) == 0)
        #expect(seek(file, 0, Self.data) == second)
        #expect(errnoOf { Int(ftruncate(file.number, off_t(second + 10))) } == 0)
        #expect(seek(file, second, Self.hole) == second + 10)
    }

    @Test func `a file without holes takes as much as it has, and ends with a hole`() throws {
        let mount = try MountedVault()
        let file = try OpenDescriptor(mount.appending("a"), O_RDWR | O_CREAT)
        fill(file, 1 << 20, by: 65_536)
        for _ in 0..<2 {
            #expect(Int(file.status?.st_blocks ?? 0) * 512 >= 1 << 20)
            #expect(seek(file, 0, Self.hole) == 1 << 20)
            #expect(file.sync() == 0)
        }
        let content = [UInt8](repeating: 1, count: 100_000)
        #expect(try mount.daemon.coffer(["put", "b", "--kind", "document"], input: content).status == 0)
        let put = try OpenDescriptor(mount.appending("b"), O_RDONLY)
        #expect(put.status?.st_blocks == 196)
        #expect(seek(put, 99_999, Self.hole) == 100_000)
    }

    @Test func `after a lock, a hole is sought as the file is read`() throws {
        let mount = try MountedVault(passcode: DaemonProcess.passcode)
        var files: [(OpenDescriptor, isReadable: Bool)] = []
        for (word, isReadable) in [("complete", false), ("completeUntilFirstUserAuthentication", true)] {
            try put("x", to: mount.appending(word))
            #expect(setClass(word, of: mount.appending(word)) == 0)
            files.append((try OpenDescriptor(mount.appending(word), O_RDONLY), isReadable))
        }
        #expect(try mount.daemon.coffer(["lock", "--now"]).status == 0)
        for (file, isReadable) in files {
            #expect(seek(file, 0, Self.hole) == (isReadable ? 1 : -Int(EACCES)))
            #expect(seek(file, -1, Self.data) == -Int(isReadable ? ENXIO : EACCES))
            #expect(file.readError == (isReadable ? 0 : EACCES))
        }
        #expect(try mount.daemon.coffer(["unlock"], passcode: DaemonProcess.passcode).status == 0)
        for (file, _) in files { #expect(seek(file, 0, Self.hole) == 1) }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can mount a disk that is full so soon"))
    func `a full disk is ENOSPC at the write or the sync, and the mount is usable again`() throws {
        let disk = try SmallDisk(mebibytes: 16)
        #expect(try disk.daemon.coffer(["init", "--no-passcode", "--no-recovery-key"]).status == 0)
        let mount = try MountedVault(of: disk.daemon)
        let kept = try OpenDescriptor(mount.appending("kept"), O_RDWR | O_CREAT)
        #expect(kept.write("kept") == 0)
        #expect(kept.sync() == 0)
        var large: OpenDescriptor? = try OpenDescriptor(mount.appending("large"), O_RDWR | O_CREAT)
        let piece = String(repeating: "x", count: 65_536)
        var (count, outcome) = (0, Int32(0))
        while outcome == 0, count < 400 {
            outcome = large?.write(piece, at: count * piece.utf8.count) ?? EBADF
            if outcome == 0 { outcome = large?.sync() ?? EBADF }
            if outcome == 0 { count += 1 }
        }
        #expect(outcome == ENOSPC)
        #expect(count > 10)
        try disk.fill()
        #expect([ENOSPC, 0].contains(errnoOf { Int(mkdir(mount.appending("d"), 0o755)) }))
        #expect(try kept.read().get() == "kept")
        #expect(try large?.read(1, at: (count - 1) * piece.utf8.count).get() == "x")
        large = nil
        #expect(errnoOf { Int(unlink(mount.appending("large"))) } == 0)
        // What is removed is free space once the removal is on the disk.
        #expect(settles { disk.freeBytes > 1 << 20 })
        #expect(kept.write("again", at: 4) == 0)
        #expect(kept.sync() == 0)
        try mount.restart()
        #expect(try content(of: mount.appending("kept")) == "keptagain")
        #expect(try disk.daemon.coffer(["doctor"]).status == 0)
    }
}
