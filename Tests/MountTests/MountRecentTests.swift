import CofferTestSupport
import Foundation
import Testing

/// What programs see right after a change, of their own mount and of another one.
@Suite(.enabled(if: MountedVault.isPossible, "there is no /dev/fuse that this user may open"))
struct MountRecentTests {
    private let mount: MountedVault
    private let other: MountedVault
    private let times = [timespec(tv_sec: 981_173_106, tv_nsec: 123_456_789), timespec(tv_sec: 12, tv_nsec: 7)]

    init() throws {
        mount = try MountedVault()
        other = try MountedVault(of: mount.daemon)
    }

    private func status(_ name: String, in mount: MountedVault) -> stat? {
        var status = stat()
        return lstat(mount.appending(name), &status) == 0 ? status : nil
    }

    private func isThere(_ name: String, in mount: MountedVault) -> Bool { status(name, in: mount) != nil }

    private func hasAttributes(_ status: stat?) -> Bool {
        status?.st_mode == S_IFREG | 0o640 && status?.st_atim.tv_nsec == 123_456_789 && status?.st_mtim.tv_sec == 12
            && status?.st_mtim.tv_nsec == 7 && status?.st_size == 4
    }

    @Test func `attributes that are set of an open file are there at once, and for another mount soon`() throws {
        let file = try OpenDescriptor(mount.appending("a"), O_RDWR | O_CREAT)
        #expect(file.write("text") == 0)
        #expect(errnoOf { Int(futimens(file.number, times)) } == 0)
        #expect(errnoOf { Int(fchmod(file.number, 0o640)) } == 0)
        #expect(hasAttributes(file.status))
        #expect(hasAttributes(status("a", in: mount)))
        #expect(settles { hasAttributes(status("a", in: other)) })
    }

    @Test(arguments: ["close", "fsync", "rename"])
    func `attributes that were set of an open file are there after`(_ end: String) throws {
        var file: OpenDescriptor? = try OpenDescriptor(mount.appending("a"), O_RDWR | O_CREAT)
        #expect(file?.write("text") == 0)
        #expect(file?.sync() == 0)
        let number = try #require(file?.number)
        #expect(errnoOf { Int(futimens(number, times)) } == 0)
        #expect(errnoOf { Int(fchmod(number, 0o640)) } == 0)
        switch end {
        case "close": file = nil
        case "fsync": #expect(file?.sync() == 0)
        default: #expect(errnoOf { Int(rename(mount.appending("a"), mount.appending("b"))) } == 0)
        }
        let name = end == "rename" ? "b" : "a"
        #expect(hasAttributes(status(name, in: mount)))
        let third = try MountedVault(of: mount.daemon)
        #expect(hasAttributes(status(name, in: third)))
    }

    /// As SQLite does by its WAL: what is written is published, the file is set to the size that it has, and another
    /// descriptor reads.
    @Test func `what was written is never read as it was before`() throws {
        let (path, slotCount, slotBytes) = (mount.appending("a"), 40, 1048)
        let writer = try OpenDescriptor(path, O_RDWR | O_CREAT)
        let reader = try OpenDescriptor(path, O_RDWR)
        let published = Shared([Int](repeating: 0, count: slotCount))
        let isOver = Shared(false)
        let reading = Background { () -> [String] in
            var findings: [String] = []
            var random = SeededGenerator(seed: 1)
            var slot = [Int](repeating: 0, count: slotBytes / 8)
            while !isOver.value {
                let index = Int.random(in: 0..<slotCount, using: &random)
                let expected = published.value[index]
                if expected == 0 { continue }
                let count = pread(reader.number, &slot, slotBytes, off_t(index * slotBytes))
                let oldest = slot.min() ?? 0
                if count != slotBytes || oldest < expected {
                    findings.append("slot \(index): \(count) bytes of \(oldest), behind \(expected)")
                }
            }
            return findings
        }
        var random = SeededGenerator(seed: 2)
        for number in 1...6000 {
            let index = number <= slotCount ? number - 1 : Int.random(in: 0..<slotCount, using: &random)
            let slot = [Int](repeating: number, count: slotBytes / 8)
            #expect(pwrite(writer.number, slot, slotBytes, off_t(index * slotBytes)) == slotBytes)
            published.change { $0[index] = number }
            if number > slotCount, number.isMultiple(of: 3) {
                #expect(ftruncate(writer.number, off_t(slotCount * slotBytes)) == 0)
            }
        }
        isOver.value = true
        let findings = try reading.wait()
        #expect(findings.isEmpty, "\(findings.count): \(findings.prefix(3))")
    }

    @Test func `the time of a write is its own, whatever was stated before`() throws {
        let file = try OpenDescriptor(mount.appending("a"), O_RDWR | O_CREAT)
        #expect(file.write("x") == 0)
        #expect(errnoOf { Int(futimens(file.number, times)) } == 0)
        #expect(file.write("y", at: 1) == 0)
        #expect(try #require(file.status).st_mtim.tv_sec > 12)
        #expect(try #require(file.status).st_atim.tv_nsec == 123_456_789)
        #expect(file.sync() == 0)
        #expect(try #require(file.status).st_mtim.tv_sec > 12)
    }

    @Test func `what another mount makes and removes is found, though the directory was known`() throws {
        #expect(errnoOf { Int(mkdir(mount.appending("d"), 0o755)) } == 0)
        for number in 0..<8 { #expect(!isThere("d/\(number)", in: mount)) }
        try put("x", to: other.appending("d/3"))
        #expect(settles { isThere("d/3", in: mount) })
        for number in 10..<20 { try put("x", to: mount.appending("d/\(number)")) }
        #expect(settles { isThere("d/12", in: other) })
        #expect(unlink(other.appending("d/12")) == 0)
        #expect(settles { !isThere("d/12", in: mount) })
        #expect(try names(in: mount.appending("d")).count == 10)
    }

    @Test func `a listing has changes of this mount at once, and those of another one soon`() throws {
        let directory = mount.appending("d")
        #expect(errnoOf { Int(mkdir(directory, 0o755)) } == 0)
        for number in 0..<4 { try put("x", to: "\(directory)/\(number)") }
        #expect(try names(in: directory) == ["0", "1", "2", "3"])
        #expect(unlink("\(directory)/1") == 0)
        #expect(try names(in: directory) == ["0", "2", "3"])
        try put("x", to: "\(directory)/4")
        #expect(try names(in: directory) == ["0", "2", "3", "4"])
        #expect(rename("\(directory)/4", "\(directory)/5") == 0)
        #expect(try names(in: directory) == ["0", "2", "3", "5"])
        #expect(errnoOf { Int(mkdir("\(directory)/e", 0o755)) } == 0)
        #expect(try names(in: "\(directory)/e") == [])
        #expect(rmdir("\(directory)/e") == 0)
        #expect(errnoOf { Int(open("\(directory)/e", O_RDONLY)) } == ENOENT)
        #expect(unlink(other.appending("d/0")) == 0)
        #expect(settles { (try? names(in: directory)) == ["2", "3", "5"] })
        try put("x", to: other.appending("d/6"))
        #expect(settles { (try? names(in: directory)) == ["2", "3", "5", "6"] })
    }

    @Test func `an entry that is removed while it has another name leaves that with one link`() throws {
        try put("x", to: mount.appending("a"))
        #expect(link(mount.appending("a"), mount.appending("b")) == 0)
        #expect(try names(in: mount.path).contains("a"))
        #expect(unlink(mount.appending("a")) == 0)
        var status = stat()
        #expect(stat(mount.appending("b"), &status) == 0)
        #expect(status.st_nlink == 1)
        #expect(!isThere("a", in: mount))
    }

    @Test func `what was removed is not found, and what was renamed is found by its new name only`() throws {
        #expect(errnoOf { Int(mkdir(mount.appending("d"), 0o755)) } == 0)
        for number in 0..<8 { try put("\(number)", to: mount.appending("d/\(number)")) }
        #expect(unlink(mount.appending("d/1")) == 0)
        #expect(rename(mount.appending("d/2"), mount.appending("d/new")) == 0)
        #expect(!isThere("d/1", in: mount) && !isThere("d/2", in: mount))
        #expect(try content(of: mount.appending("d/new")) == "2")
        try put("again", to: mount.appending("d/1"))
        #expect(try content(of: mount.appending("d/1")) == "again")
    }

    @Test func `a directory has changed when an entry was made in it, for every mount`() throws {
        #expect(errnoOf { Int(mkdir(mount.appending("d"), 0o755)) } == 0)
        for number in 0..<6 {
            usleep(5000)
            try put("x", to: mount.appending("d/\(number)"))
            let own = try #require(status("d", in: mount))
            let file = try #require(status("d/\(number)", in: mount))
            #expect(own.st_mtim.tv_sec == own.st_ctim.tv_sec && own.st_mtim.tv_nsec == own.st_ctim.tv_nsec)
            #expect((own.st_mtim.tv_sec, own.st_mtim.tv_nsec) <= (file.st_mtim.tv_sec, file.st_mtim.tv_nsec))
            #expect(
                settles {
                    let seen = status("d", in: other)?.st_mtim
                    return seen?.tv_sec == own.st_mtim.tv_sec && seen?.tv_nsec == own.st_mtim.tv_nsec
                }
            )
        }
    }
}
