import CCofferShims
import CofferTestSupport
import Foundation
import Testing

/// Numbers at the bounds of their types in every call that passes one to a mount: it lives, and answers as ext4 does.
@Suite(.enabled(if: MountedVault.isPossible, "there is no /dev/fuse that this user may open"))
struct MountExtremesTests {
    private let mount: MountedVault

    init() throws { mount = try MountedVault() }

    private func path(_ name: String) -> String { mount.appending(name) }

    private static let extremes: [Int64] = [
        .min, -1 << 62, -1, 0, 1 << 40, 1 << 40 + 1, 1 << 53, 1 << 62, .max - 1, .max,
    ]

    private func checkAlive() throws {
        try put("alive", to: path("alive"))
        #expect(try content(of: path("alive")) == "alive")
    }

    private func setTimes(_ seconds: Int, _ nanoseconds: Int, of name: String) -> Int32 {
        let time = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
        return errnoOf { Int(utimensat(AT_FDCWD, path(name), [time, time], 0)) }
    }

    private func modified(_ name: String) -> timespec? {
        var status = stat()
        return stat(path(name), &status) == 0 ? status.st_mtim : nil
    }

    @Test(arguments: [-9_223_372_036, -2_208_988_800, -1, 0, 4_294_967_296, 9_223_372_036])
    func `a date that 64 bits of nanoseconds hold is kept`(seconds: Int) throws {
        try put("x", to: path("a"))
        #expect(setTimes(seconds, 123, of: "a") == 0)
        #expect(modified("a")?.tv_sec == seconds)
        #expect(modified("a")?.tv_nsec == 123)
    }

    @Test(arguments: [9_223_372_037, 15_032_385_535, 253_402_300_799, 1 << 62, .max])
    func `a later date becomes the last one`(seconds: Int) throws {
        try put("x", to: path("a"))
        #expect(setTimes(seconds, 999_999_999, of: "a") == 0)
        #expect(modified("a")?.tv_sec == 9_223_372_036)
        try checkAlive()
    }

    @Test(arguments: [-9_223_372_038, -11_644_473_600, -1 << 62, .min])
    func `an earlier date becomes the first one`(seconds: Int) throws {
        try put("x", to: path("a"))
        #expect(setTimes(seconds, 0, of: "a") == 0)
        #expect(modified("a")?.tv_sec == -9_223_372_037)
        // Also through an open descriptor, whose changes wait.
        let file = try OpenDescriptor(path("a"), O_RDWR)
        let time = timespec(tv_sec: seconds, tv_nsec: 0)
        #expect(errnoOf { Int(futimens(file.number, [time, time])) } == 0)
        #expect(file.status?.st_mtim.tv_sec == -9_223_372_037)
        try checkAlive()
    }

    @Test(arguments: extremes)
    func `a size is set, or is EINVAL or EFBIG`(size: Int64) throws {
        let file = try OpenDescriptor(path("a"), O_RDWR | O_CREAT)
        let expected = size < 0 ? EINVAL : size > 1 << 40 ? EFBIG : 0
        #expect(errnoOf { Int(truncate(path("a"), off_t(size))) } == expected)
        #expect(errnoOf { Int(ftruncate(file.number, off_t(size))) } == expected)
        #expect(file.size == (expected == 0 ? Int(size) : 0))
        try checkAlive()
    }

    @Test(arguments: extremes)
    func `a write is refused behind the largest size, and a read finds the end`(offset: Int64) throws {
        let file = try OpenDescriptor(path("a"), O_RDWR | O_CREAT)
        // The kernel refuses what ends behind the largest number.
        let isInvalid = offset < 0 || offset > .max - 10
        let expected = isInvalid ? EINVAL : offset == 0 ? 0 : EFBIG
        #expect(file.write("text", at: Int(offset)) == expected)
        #expect(file.size == (offset == 0 ? 4 : 0))
        var bytes = [UInt8](repeating: 0, count: 10)
        let got = pread(file.number, &bytes, 10, off_t(offset))
        #expect(got == (isInvalid ? -1 : offset == 0 ? 4 : 0))
        try checkAlive()
    }

    @Test(arguments: extremes, extremes)
    func `space is reserved and punched, or is EINVAL or EFBIG`(offset: Int64, count: Int64) throws {
        let file = try OpenDescriptor(path("a"), O_RDWR | O_CREAT)
        #expect(file.write("text") == 0)
        let isInvalid = offset < 0 || count <= 0
        let isOver = !isInvalid && offset.addingReportingOverflow(count).overflow
        for mode in [0, GNUCalls.keepSize, GNUCalls.punchHole] {
            let isPunch = mode == GNUCalls.punchHole
            // A whole TiB is not reserved here.
            if !isInvalid && !isPunch && count <= 1 << 40 { continue }
            let expected = isInvalid ? EINVAL : isOver || !isPunch ? EFBIG : 0
            let got = errnoOf {
                GNUCalls.allocate(file.number, mode: mode, at: Int(offset), count: Int(count))
            }
            #expect(got == expected, "mode \(mode)")
        }
        #expect(file.size == 4)
        try checkAlive()
    }

    @Test(arguments: extremes)
    func `seeking and copying of ranges end the mount in no case`(offset: Int64) throws {
        let file = try OpenDescriptor(path("a"), O_RDWR | O_CREAT)
        #expect(file.write("text") == 0)
        // SEEK_DATA and SEEK_HOLE
        for whence in [Int32(3), 4] {
            let found = errnoOf { Int(lseek(file.number, off_t(offset), whence)) }
            #expect(found == (offset == 0 ? 0 : ENXIO))
        }
        let script = """
            import os, sys
            offset = int(sys.argv[1])
            a, b = os.open('a', os.O_RDWR), os.open('b', os.O_RDWR | os.O_CREAT)
            for source, target, count in [(offset, 0, 4), (0, offset, 4), (offset, offset, 4), (0, 0, abs(offset))]:
                try:
                    os.copy_file_range(a, b, min(count, 2 ** 63 - 1), source, target)
                except OSError as error:
                    assert error.errno in (22, 27, 75), error
            """
        let outcome = try runCommand("/usr/bin/python3", ["-c", script, "\(offset)"], directory: mount.path)
        #expect(outcome.status == 0, "\(outcome.errors)")
        try checkAlive()
    }

    @Test func `a directory is read from any place`() throws {
        for number in 0..<5 { try put("x", to: path("\(number)")) }
        for offset in Self.extremes {
            let directory = try #require(opendir(mount.path))
            defer { closedir(directory) }
            seekdir(directory, Int(offset))
            while readdir(directory) != nil {}
        }
        try checkAlive()
    }

    @Test func `owners, modes and attributes at their bounds are kept or refused`() throws {
        try put("x", to: path("a"))
        for mode in [mode_t(0), 0o7777, .max] { #expect(chmod(path("a"), mode) == 0) }
        #expect(chmod(path("a"), 0o600) == 0)
        if geteuid() == 0 {
            #expect(errnoOf { Int(chown(path("a"), .max - 1, .max - 1)) } == 0)
            #expect(errnoOf { Int(chown(path("a"), 0, 0)) } == 0)
        }
        let large = [UInt8](repeating: 1, count: (64 << 10) + 1)
        #expect(errnoOf { Int(setxattr(path("a"), "user.a", large, large.count, 0)) } == E2BIG)
        #expect(errnoOf { Int(setxattr(path("a"), "user.a", large, large.count - 1, 0)) } == 0)
        #expect(errnoOf { Int(setxattr(path("a"), "user.a", large, 0, 0)) } == 0)
        let longest = "user." + String(repeating: "n", count: 250)
        #expect(errnoOf { Int(setxattr(path("a"), longest, large, 1, 0)) } == 0)
        #expect(errnoOf { Int(setxattr(path("a"), longest + "n", large, 1, 0)) } == ERANGE)
        let invalid = [CChar](["user.".utf8.map { CChar(bitPattern: $0) }, [-1, 0]].joined())
        #expect(errnoOf { Int(setxattr(path("a"), invalid, large, 1, 0)) } == EILSEQ)
        try checkAlive()
    }
}
