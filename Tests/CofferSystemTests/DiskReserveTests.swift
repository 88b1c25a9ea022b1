import CofferSystem
import Foundation
import Testing

@Suite struct `A reserve of room on the disk` {
    private let temporary: TemporaryDirectory
    private static let byteCount = 256 << 10

    init() throws { temporary = try TemporaryDirectory() }

    private func reserve(_ fileSystem: FileSystem = .real, of byteCount: Int = byteCount) throws -> DiskReserve {
        DiskReserve("reserve", of: byteCount, in: try Directory(makingPath: temporary.path, fileSystem: fileSystem))
    }

    private var blockBytes: Int {
        get throws {
            guard temporary.contents("reserve") != nil else { return 0 }
            return Int(try Directory(makingPath: temporary.path).open("reserve").status().st_blocks) * 512
        }
    }

    @Test func `has its blocks once it is filled, and is found full by the next one`() throws {
        let reserve = try reserve()
        #expect(!reserve.isFull)
        reserve.fill()
        #expect(reserve.isFull)
        #expect(try blockBytes >= Self.byteCount)
        let next = try self.reserve()
        next.fill()
        #expect(next.isFull)
        #expect(temporary.contents("reserve")?.count == Self.byteCount)
    }

    @Test func `is kept where the disk has room enough besides`() throws {
        let reserve = try reserve()
        reserve.fill()
        reserve.giveUpIfShort()
        #expect(reserve.isFull)
        #expect(try blockBytes >= Self.byteCount)
    }

    @Test func `gets blocks where a copy of it has holes`() throws {
        let handle = try Directory(makingPath: temporary.path).create("reserve")
        try #require(ftruncate(handle.number, off_t(Self.byteCount)) == 0)
        try #require(blockBytes == 0)
        let reserve = try reserve()
        reserve.fill()
        #expect(reserve.isFull)
        #expect(try blockBytes >= Self.byteCount)
    }

    @Test func `is none where it can't be made, and is made later`() throws {
        let saboteur = Saboteur(failing: 1)
        let reserve = try reserve(saboteur.fileSystem)
        reserve.fill()
        #expect(!reserve.isFull)
        #expect(temporary.contents("reserve") == nil)
        reserve.giveUpIfShort()
        reserve.fill()
        #expect(reserve.isFull)
    }

    @Test func `is no file that a link points to`() throws {
        try temporary.write("outside", to: "outside")
        try FileManager.default.createSymbolicLink(
            atPath: temporary.path("reserve"),
            withDestinationPath: temporary.path("outside")
        )
        let reserve = try reserve()
        reserve.fill()
        reserve.giveUpIfShort()
        #expect(!reserve.isFull)
        #expect(temporary.contents("outside") == Array("outside".utf8))
    }

    @Test(.enabled(if: geteuid() == 0, "only root can mount a disk that is full so soon"))
    func `takes what there is, and gives it up where the disk has no more`() throws {
        let path = temporary.path("disk")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try #require(mount("tmpfs", path, "tmpfs", 0, "size=1m") == 0)
        defer { umount2(path, Int32(MNT_DETACH)) }
        func freeBytes() -> Int {
            var disk = statvfs()
            return statvfs(path, &disk) == 0 ? Int(disk.f_bavail) * Int(disk.f_frsize) : -1
        }
        let directory = try Directory(makingPath: path)
        let filler = try directory.create("filler")
        try filler.reserve(Int64(freeBytes() - 100_000), at: 0)
        let reserve = DiskReserve("reserve", of: Self.byteCount, in: directory)
        reserve.fill()
        #expect(!reserve.isFull)
        #expect(freeBytes() < 40_000, "it has as much as there was")
        reserve.giveUpIfShort()
        #expect(freeBytes() > 90_000)
        try directory.remove("filler")
        try #require(ftruncate(filler.number, 0) == 0)
        reserve.fill()
        #expect(reserve.isFull)
    }
}
