import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// A daemon whose state is on a file system of its own, which can be made read-only.
private final class Snapshot {
    let daemon: DaemonProcess
    private let state: String

    init() throws {
        let directory = try TemporaryDirectory()
        state = directory.appending("state")
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: false)
        let mounted = try runCommand("/bin/mount", ["-t", "tmpfs", "-o", "size=16m,mode=0700", "tmpfs", state])
        try #require(mounted.status == 0, "\(mounted.errors)")
        daemon = try DaemonProcess(in: directory)
    }

    deinit {
        daemon.kill()
        _ = try? runCommand("/bin/umount", ["--lazy", state])
    }

    /// Ends the daemon and starts another one, on the same files.
    func remount(_ mode: String, afterCrash: Bool) throws {
        if afterCrash { daemon.kill() } else { daemon.stop() }
        let mounted = try runCommand("/bin/mount", ["-o", "remount,\(mode)", state])
        try #require(mounted.status == 0, "\(mounted.errors)")
        try daemon.restart()
    }

    var files: [String: [UInt8]] {
        get throws {
            var found: [String: [UInt8]] = [:]
            let names = try #require(FileManager.default.enumerator(atPath: state))
            for case let name as String in names {
                found[name] = FileManager.default.contents(atPath: "\(state)/\(name)").map { Array($0) } ?? []
            }
            return found
        }
    }
}

private let isRoot = geteuid() == 0
private let why: Comment = "only root can mount a file system"

@Suite struct `On a read-only file system` {
    private static let letter = pseudoRandomBytes(300_000)

    private static func fill(_ client: BlockingClient) throws -> [UInt8] {
        try client.put("s/always", [1]) {
            $0.kind = .token
            $0.accessibility = .alwaysThisDeviceOnly
        }
        try client.put("s/secret", [2, 3]) { $0.kind = .token }
        try client.put("letter", letter) { $0.kind = .database }
        let file = try client.openFile(try ItemName("letter"), for: .readWrite)
        try file.put([7, 7, 7], at: 70_000)
        try file.sync()
        try file.close()
        var changed = letter
        changed.replaceSubrange(70_000..<70_003, with: [7, 7, 7])
        return changed
    }

    @Test(.enabled(if: isRoot, why), arguments: [true, false])
    func `a vault is read, with all that was stored before, and nothing of it changes`(afterCrash: Bool) throws {
        let snapshot = try Snapshot()
        let daemon = snapshot.daemon
        try daemon.connect().makeVault(passcode: nil)
        let changed = try Self.fill(try daemon.connect())
        try snapshot.remount("ro", afterCrash: afterCrash)
        let before = try snapshot.files
        #expect((before["vault.sqlite-wal"] != nil) == afterCrash)
        let client = try daemon.connect()
        #expect(try client.status().state == .noPasscode)
        #expect(try client.get("s/secret") == [2, 3])
        #expect(try client.openFile(try ItemName("letter")).get() == changed)
        #expect(try client.list().items.map(\.name).sorted() == ["letter", "s/always", "s/secret"])
        for verb in [["show", "s/secret"], ["get", "letter", "--output", "copy"], ["list"], ["doctor"], ["status"]] {
            let result = try daemon.coffer(verb)
            #expect(result.status == 0, "\(verb): \(result.errors)")
        }
        #expect(daemon.directory.contents("copy") == changed)

        let writes: [[String]] = [
            ["put", "new", "--kind", "token"], ["put", "document", "--kind", "document"], ["remove", "s/secret"],
            ["remove", "letter"], ["move", "s/secret", "s/other"], ["protect", "s/secret", "WhenUnlocked"],
            ["file", "mkdir", "d"], ["file", "write", "letter", "--offset", "0"],
        ]
        for verb in writes {
            let result = try daemon.coffer(verb, input: [1, 2, 3])
            #expect(result.status == 74, "\(verb): \(result.errors)")
            #expect(result.errors.contains("read-only"), "\(verb): \(result.errors)")
            #expect(result.errors.contains("hint: make it writable"), "\(verb): \(result.errors)")
        }
        let change = try Outcome {
            let passcode: SecretBytes? = try SecretBytes("1234".utf8)
            _ = try client.setPasscode(passcode, kdf: .interactive)
        }
        #expect(change == .refused(.io))
        #expect(try client.get("s/secret") == [2, 3])
        #expect(try snapshot.files == before)

        try snapshot.remount("rw", afterCrash: true)
        let later = try daemon.connect()
        #expect(try later.get("s/secret") == [2, 3])
        try later.put("s/secret", [4])
        #expect(try later.get("s/secret") == [4])
    }

    @Test(.enabled(if: isRoot, why))
    func `no passcode is taken, as it can't be counted, and a recovery key opens the vault`() throws {
        let snapshot = try Snapshot()
        let daemon = snapshot.daemon
        let made = try daemon.coffer(
            ["init", "--kdf", "interactive", "--recovery-key-file", "recovery"],
            passcode: "pass one"
        )
        try #require(made.status == 0, "\(made.errors)")
        let recoveryKey = try #require(daemon.directory.contents("recovery"))
        _ = try Self.fill(try daemon.connect())
        try snapshot.remount("ro", afterCrash: true)
        let client = try daemon.connect()
        #expect(try client.status().state == .beforeFirstUnlock)
        #expect(try client.get("s/always") == [1])
        for passcode in ["1234", "wrong"] {
            let refused = try daemon.coffer(["unlock"], passcode: passcode)
            #expect(refused.status == 74, "\(refused.errors)")
            #expect(refused.errors.contains("can't count the attempt, so it is not made"), "\(refused.errors)")
            #expect(refused.errors.contains("read-only"), "\(refused.errors)")
        }
        #expect(try client.status().failedAttempts == 0)
        #expect(try Outcome { _ = try client.get("s/secret") } == .refused(.interactionNotAllowed))
        let typed: SecretBytes? = try SecretBytes(recoveryKey.filter { !" \n".utf8.contains($0) })
        _ = try client.unlock(recoveryKey: typed)
        #expect(try client.get("s/secret") == [2, 3])
    }
}
