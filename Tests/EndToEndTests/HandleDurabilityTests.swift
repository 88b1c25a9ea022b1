import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Files that are changed in place when the daemon is killed, or the disk is full.
@Suite struct HandleDurabilityTests {
    private static let chunk = Limits.chunkBytes

    /// The content of a chunk in a version: no two are alike.
    private static func bytes(_ chunk: Int, _ version: Int) -> [UInt8] {
        pseudoRandomBytes(Self.chunk, seed: UInt64(version * 16 + chunk + 1))
    }

    /// The chunks that a step writes: two that do not touch, and all of them once in a while.
    private static func chunks(of step: Int) -> [Int] { step % 7 == 0 ? [0, 1, 2, 3] : [step % 2, step % 2 + 2] }

    private func contents(_ daemon: DaemonProcess) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: daemon.statePath + "/blobs")
            .filter { ($0 as NSString).lastPathComponent.count >= 32 }
    }

    @Test(arguments: [true, false])
    func `a kill in the middle of a rewrite leaves each sync whole`(hasBase: Bool) throws {
        let daemon = try DaemonProcess()
        let client = try daemon.connect()
        try client.makeVault(passcode: nil)
        let name = try ItemName("a")
        let start = (0..<4).flatMap { Self.bytes($0, 0) }
        if hasBase {
            try client.put("a", start) { $0.kind = .database }
        } else {
            let file = try client.openFile(name, for: .write, .create)
            try file.put(start, at: 0)
            try file.close()
        }
        var versions = [0, 0, 0, 0]
        var step = 0
        var hitCount = 0
        for round in 0..<30 {
            let client = try daemon.connect()
            let first = step + 1
            let synced = Shared(0)
            let writer = Background { () -> Int in
                var last = first - 1
                do {
                    let file = try client.openFile(name, for: .write)
                    for step in first..<(first + 1000) {
                        for chunk in Self.chunks(of: step) {
                            try file.put(Self.bytes(chunk, step), at: Int64(chunk * Self.chunk))
                        }
                        try file.sync()
                        last = step
                        synced.value += 1
                    }
                } catch {}
                return last
            }
            // Somewhere within a step, and within a later one each time.
            for _ in 0..<2000 where synced.value < round % 3 { usleep(1000) }
            sleepSeconds(Double(round * 37 % 30) / 1000)
            daemon.kill()
            let last = try writer.wait()
            for step in first..<(last + 1) { for chunk in Self.chunks(of: step) { versions[chunk] = step } }
            var next = versions
            for chunk in Self.chunks(of: last + 1) { next[chunk] = last + 1 }
            try daemon.restart()
            let found = try daemon.connect().openFile(name).get()
            let isOld = found == versions.enumerated().flatMap { Self.bytes($0.offset, $0.element) }
            let isNew = found == next.enumerated().flatMap { Self.bytes($0.offset, $0.element) }
            #expect(isOld || isNew, "round \(round), step \(last + 1)")
            if isNew && !isOld { versions = next }
            if last >= first { hitCount += 1 }
            step = last + 1
        }
        #expect(hitCount > 5, "some rounds have come as far as a sync")
        #expect(try Set(contents(daemon).map { $0.replacing(".overlay", with: "") }).count == 1)
        #expect(try contents(daemon).count == (hasBase ? 2 : 1))
    }

    @Test func `a kill while files come and go leaves no content that no file has`() throws {
        let daemon = try DaemonProcess()
        try daemon.connect().makeVault(passcode: nil)
        let content = pseudoRandomBytes(70_000)
        // Written from its first byte on or from its second one, over what was there or not.
        let allowed: [[UInt8]] = [
            [], content, [0] + content, content + Array(content.suffix(1)), Array(content.prefix(1)) + content,
        ]
        for round in 0..<15 {
            let client = try daemon.connect()
            let writer = Background {
                for step in 0..<1000 {
                    do {
                        let name = try ItemName("d\(step % 3)/f")
                        let file = try client.openFile(name, for: .write, .create)
                        try file.put(content, at: Int64(step % 2))
                        try file.close()
                        if step % 3 == 1 { try client.put(name.path, content) { $0.kind = .database } }
                        if step % 3 == 2 { try client.remove(name) }
                    } catch { break }
                }
            }
            sleepSeconds(0.004 + Double(round * 37 % 60) / 1000)
            daemon.kill()
            try writer.wait()
            try daemon.restart()
            let later = try daemon.connect()
            let names = try later.list().items.map(\.name)
            for name in names {
                let found = try later.openFile(try ItemName(name)).get()
                let isWhole = allowed.contains(found)
                #expect(isWhole, "round \(round): \(name) has \(found.count) bytes")
            }
            let ids = try Set(contents(daemon).map { ($0 as NSString).lastPathComponent.prefix(32) })
            #expect(ids.count == names.count, "round \(round)")
            let staged = try FileManager.default.contentsOfDirectory(atPath: daemon.statePath + "/blobs/staging")
            #expect(staged == [])
        }
    }

    // MARK: A full disk

    /// A daemon whose state is on a disk of 8 MiB.
    private func daemonOnSmallDisk(_ directory: TemporaryDirectory) throws -> DaemonProcess {
        let state = directory.appending("state")
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        let mounted = try runCommand("/bin/mount", ["-t", "tmpfs", "-o", "size=8m,mode=0700", "tmpfs", state])
        try #require(mounted.status == 0, "\(mounted.errors)")
        return try DaemonProcess(in: directory)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can mount a disk that is full so soon"))
    func `a disk that is full in the middle of a write leaves what was synced, and goes on when there is room`() throws
    {
        let directory = try TemporaryDirectory()
        let daemon = try daemonOnSmallDisk(directory)
        defer {
            daemon.kill()
            _ = try? runCommand("/bin/umount", [directory.appending("state")])
        }
        let client = try daemon.connect()
        try client.makeVault(passcode: nil)
        let old = pseudoRandomBytes(500_000, seed: 1)
        try client.put("a", old) { $0.kind = .database }
        let name = try ItemName("a")
        let file = try client.openFile(name, for: .readWrite)
        try file.put([1, 2, 3], at: 70_000)
        try file.sync()
        var synced = old
        synced.replaceSubrange(70_000..<70_003, with: [1, 2, 3])
        // Over all of it, and far beyond its end.
        let outcome = try Outcome { try file.put(pseudoRandomBytes(20_000_000, seed: 2), at: 0) }
        #expect(outcome == .refused(.diskFull))
        let reserved = try Outcome { try file.allocate(at: 0, count: 20_000_000) }
        #expect(reserved == .refused(.diskFull))
        let put = try Outcome { try client.put("b", pseudoRandomBytes(20_000_000)) { $0.kind = .database } }
        #expect(put == .refused(.diskFull))
        daemon.kill()
        try daemon.restart()
        let later = try daemon.connect()
        #expect(try later.openFile(name).get() == synced)
        #expect(try later.list().items.map(\.name) == ["a"])
        // What does not fit into the catalog is refused, and what was acknowledged is there.
        let again = try later.openFile(name, for: .readWrite, .truncate)
        let new = pseudoRandomBytes(600_000, seed: 3)
        let rewritten = try Outcome {
            try again.put(new, at: 0)
            try again.close()
        }
        // The log has some room that it had taken before.
        let names = (0..<30).map { "secret \($0)" }
        let secrets = try names.map { name in
            try Outcome { try later.put(name, pseudoRandomBytes(30_000)) { $0.kind = .token } }
        }
        #expect([.done, .refused(.diskFull)].contains(rewritten))
        #expect(secrets.contains(.refused(.diskFull)))
        #expect(secrets.allSatisfy { [.done, .refused(.diskFull)].contains($0) })
        let kept = zip(names, secrets).filter { $0.1 == .done }.map(\.0)
        if rewritten != .done {
            let mounted = try runCommand("/bin/mount", ["-o", "remount,size=12m", directory.appending("state")])
            try #require(mounted.status == 0)
            // It was not closed: what was written is there still, and is kept now that there is room.
            try again.close()
        }
        daemon.kill()
        try daemon.restart()
        let last = try daemon.connect()
        let isNew = try last.openFile(name).get() == new
        #expect(isNew)
        #expect(try last.list().items.map(\.name).sortedByBytes() == (["a"] + kept).sortedByBytes())
    }
}
