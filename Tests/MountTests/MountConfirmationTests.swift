import CofferTestSupport
import Foundation
import Testing

/// Whether a mount has dropped what a lock ended.
@Suite(.enabled(if: MountedVault.isPossible, "there is no /dev/fuse that this user may open"))
struct MountConfirmationTests {
    private let mount: MountedVault

    init() throws { mount = try MountedVault(passcode: DaemonProcess.passcode) }

    private func coffer(_ words: String...) throws -> CommandResult { try mount.daemon.coffer(words) }

    /// Makes a file of class `complete`, maps it, and counts its pages in the cache.
    private func makeSecret() throws -> (count: Int, pages: UnsafeMutableRawPointer) {
        let path = mount.appending("a")
        let count = 64 * 4096
        try put(String(repeating: "x", count: count), to: path)
        #expect(setClass("complete", of: path) == 0)
        let file = try OpenDescriptor(path, O_RDONLY)
        #expect(try file.read(count).get().utf8.count == count)
        return (count, try #require(mmap(nil, count, PROT_READ, MAP_SHARED, file.number, 0)))
    }

    private func cachedPages(_ secret: (count: Int, pages: UnsafeMutableRawPointer)) -> Int {
        var pages = [UInt8](repeating: 0, count: secret.count / 4096)
        #expect(mincore(secret.pages, secret.count, &pages) == 0)
        return pages.count { $0 & 1 != 0 }
    }

    @Test func `when lock has answered, no page is in the cache`() throws {
        let secret = try makeSecret()
        defer { munmap(secret.pages, secret.count) }
        for _ in 0..<5 {
            #expect(try content(of: mount.appending("a")).utf8.count == secret.count)
            let locked = try coffer("lock", "--now")
            #expect(cachedPages(secret) == 0)
            #expect(locked.status == 0)
            #expect(locked.errors.isEmpty, "\(locked.errors)")
            #expect(try mount.daemon.coffer(["unlock"], passcode: DaemonProcess.passcode).status == 0)
        }
    }
}
