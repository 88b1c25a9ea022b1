import CofferTestSupport
import Foundation
import Testing

/// Many programs in several mounts, which have more requests than are carried out at a time.
@Suite(.enabled(if: MountedVault.isPossible, "there is no /dev/fuse that this user may open"))
struct MountLoadTests {
    @Test func `however many programs read in however many mounts, each gets what is there`() throws {
        let mount = try MountedVault()
        let content = String(repeating: "x", count: 1 << 20)
        let places = ["b", "c"].map { mount.daemon.directory.appending($0) }
        for place in places {
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
            #expect(try mount.daemon.coffer(["mount", place]).status == 0)
        }
        defer { for place in places { _ = try? mount.daemon.coffer(["umount", place]) } }
        for number in 0..<16 { try put(content, to: mount.appending("\(number)")) }
        let readers = ([mount.path] + places).flatMap { place in
            (0..<16).map { number in
                Background {
                    let file = try OpenDescriptor("\(place)/\(number)", O_RDONLY)
                    return try (0..<4).map { _ in
                        posix_fadvise(file.number, 0, 0, POSIX_FADV_DONTNEED)
                        return try file.read(1 << 20).get() == content
                    }
                }
            }
        }
        for reader in readers { #expect(try reader.wait() == [true, true, true, true]) }
    }
}
