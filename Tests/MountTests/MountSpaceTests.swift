import CFuse
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
        try disk.daemon.restart()
        #expect(try content(of: mount.appending("kept")) == "keptagain")
        #expect(try disk.daemon.coffer(["doctor"]).status == 0)
    }
}
