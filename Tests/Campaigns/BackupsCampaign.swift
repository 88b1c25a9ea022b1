import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import Foundation

/// Backups whose program, daemon or both are killed at random instants, and so are restores, forgetting and pruning.
///
/// The next backup goes on, every snapshot that was stored is whole, and a restore has what the vault had.
final class BackupsCampaign {
    private let daemon: DaemonProcess
    private var random: Generator
    /// What the vault has.
    private var items: [String: [UInt8]] = [:]

    static func run(_ report: Report) throws {
        var campaign: BackupsCampaign?
        for number in report.cases {
            let isGood = report.attempt(number) {
                let current = try campaign ?? BackupsCampaign(report.generator(of: number))
                campaign = current
                try current.interrupt(report)
                try current.check(isEverything: number % 10 == 9)
            }
            // After a fault, the same repository would report it again.
            if !isGood || number % 250 == 249 { campaign = nil }
        }
    }

    private init(_ random: Generator) throws {
        daemon = try DaemonProcess(launchedBy: DaemonProcess.endingWithUs)
        self.random = random
        let none: SecretBytes? = nil
        _ = try daemon.connectUnchecked().initialize(passcode: none, kdf: nil)
        try daemon.directory.write(Array("four words of it".utf8), to: "phrase")
        try succeed(
            "coffer backup init repository --kdf interactive --passphrase-fd 4 --recovery-key-file key 4<phrase"
        )
        for _ in 0..<20 { try change() }
        try succeed("coffer backup create")
    }

    // MARK: The program

    private func shell(_ line: String) throws -> CommandResult {
        try runCommand(
            "/bin/bash",
            ["-c", line],
            environment: [
                "COFFER_SOCKET": daemon.socketPath, "PATH": "\(Project.binaries):/usr/bin:/bin",
                "XDG_CONFIG_HOME": daemon.directory.appending("settings"),
            ],
            directory: daemon.directory.path
        )
    }

    @discardableResult private func succeed(_ line: String) throws -> CommandResult {
        let done = try shell(line)
        try expect(done.status == 0, "\(line): \(done.status), \(done.text)\(done.errors)")
        return done
    }

    // MARK: A case

    /// Stores or removes an item.
    private func change() throws {
        let client = try daemon.connectUnchecked()
        let name = "item \(random.below(30))"
        if items[name] != nil && random.chance(0.3) {
            try client.remove(try ItemName(name))
            items[name] = nil
            return
        }
        let count = random.chance(0.5) ? 1 + random.below(100) : 100_000 + random.below(200_000)
        let content = pseudoRandomBytes(count, seed: random.next())
        try client.put(name, content)
        items[name] = content
    }

    private func interrupt(_ report: Report) throws {
        for _ in 0..<random.below(3) { try change() }
        let kind = random.below(10)
        let (name, verb) =
            switch kind {
            case 0..<6: ("create", "create")
            case 6..<8: ("forget", "forget --keep-last 3 --prune")
            default: ("restore", "restore --to partial --passphrase-fd 4 4<phrase")
            }
        let killsDaemon = random.chance(0.5)
        let killsProgram = !killsDaemon || random.chance(0.3)
        let pause = random.below(name == "restore" ? 600_000 : 80_000)
        report.tally(killsDaemon ? killsProgram ? "of both" : "of the daemon" : "of the program")
        report.tally(name)
        let end = killsProgram ? "kill -9 $p" : ":"
        let work = Background { [self] in
            let wait = "sleep \(Double(pause) / 1_000_000); \(end); wait $p"
            _ = try shell("coffer backup \(verb) >/dev/null 2>&1 & p=$!; \(wait)")
            return 0
        }
        if killsDaemon {
            usleep(UInt32(pause))
            daemon.kill()
        }
        _ = try work.wait()
        if killsDaemon { try daemon.restart() }
    }

    private func check(isEverything: Bool) throws {
        // The lock of a program that was killed is gone with it; that of one that goes on without its daemon may not be.
        let made = try succeed("coffer backup create")
        try expect(!made.errors.contains("warning"), "the next backup: \(made.errors)")
        let check = try succeed("coffer backup check\(isEverything ? " --read-data" : "")")
        try expect(check.errors.isEmpty, "check: \(check.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: daemon.statePath)
        try expect(!names.contains { $0.hasPrefix("backup.") }, "left in the state directory: \(names)")
        guard isEverything else { return }
        try succeed("rm -rf whole partial; coffer backup restore --to whole --passphrase-fd 4 4<phrase")
        let found = try FileManager.default.contentsOfDirectory(atPath: daemon.directory.appending("whole"))
        try expect(Set(found) == Set(items.keys), "restored: \(found.sorted()), of \(items.keys.sorted())")
        for (name, content) in items {
            try expect(daemon.directory.contents("whole/\(name)") == content, "'\(name)' was restored as another one")
        }
        let findings = try daemon.connectUnchecked().checkAll()
        try expect(findings.isEmpty, "doctor: \(findings.map(\.damage.words))")
    }
}
