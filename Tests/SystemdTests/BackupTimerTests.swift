import CofferTestSupport
import Testing

extension SystemdTests {
    /// Backups by the units of the package, and of the machine's vault.
    @Suite struct BackupTimerTests {
        private let machine: Machine

        init() throws { machine = try #require(Machine.shared) }

        @Test func `a user's timer stores a snapshot while the vault is locked, and asks for nothing else`() throws {
            try Packages.install("0.1.0-2", on: machine)
            func person(_ script: String) throws -> String {
                try machine.succeed(["bash", "-ec", "cd; umask 077\n\(script)"], as: Machine.person)
            }
            let timer = "coffer-backup.timer"
            // Another test may have left the person's vault.
            let remove = "rm -rf ~/.local/state/coffer ~/.config/coffer ~/.config/systemd/user/\(timer).d ~/backup"
            _ = try person(remove)
            let own = try Service(installedFor: Machine.person)
            try own.control("enable", "--now", "cofferd.socket")
            try own.makeVault()
            try own.put("here", "x", "AfterFirstUnlockThisDeviceOnly")
            _ = try person(
                """
                mkdir backup
                printf '\(DaemonProcess.passcode)' >backup/pass
                printf 'four words of it' >backup/phrase
                coffer backup init backup/repository --kdf interactive --recovery-key-file backup/key \
                    --passcode-fd 3 --passphrase-fd 4 3<backup/pass 4<backup/phrase
                coffer lock --now
                """
            )
            #expect(try person("coffer backup status || echo $?").hasSuffix("69"))
            // As the package has it, but every second.
            _ = try person(
                """
                mkdir -p .config/systemd/user/\(timer).d
                printf '[Timer]\\nOnCalendar=\\nOnCalendar=*:*:*\\nRandomizedDelaySec=0\\nAccuracySec=1ms\\n' \
                    >.config/systemd/user/\(timer).d/often.conf
                """
            )
            try own.control("daemon-reload")
            try own.control("enable", "--now", timer)
            #expect(try own.control("is-enabled", timer) == "enabled")
            let isStored = try own.comes { try person("coffer backup list | wc -l") != "0" }
            let log = try person("journalctl --user -u coffer-backup.service | tail -20")
            #expect(isStored, "\(log)")
            try own.control("disable", "--now", timer)
            #expect(try own.state() == "locked")
            #expect(try person("coffer backup check --read-data").contains("all of it read"))
            try own.unlock()
            let audit = try person("coffer audit --json | grep coffer-backup.service")
            #expect(audit.contains("backup.begin") && audit.contains("backup.end"), "\(audit)")
            #expect(!audit.contains("item.list") && !audit.contains("missingEntitlement"), "\(audit)")
            try own.control("stop", "cofferd.socket", "cofferd.service")
            _ = try person(remove)
            try Packages.purge(on: machine)
        }

        @Test func `root backs up the machine's vault, and restores from it`() throws {
            try Packages.install("0.1.0-2", on: machine)
            let service = try Service(installedFor: nil)
            try service.makeVault()
            try service.put("bank/pin", "1234", "AfterFirstUnlock")
            let script = """
                export HOME=/root; umask 077
                rm -rf /root/backup /root/.config/coffer; mkdir /root/backup; cd /root/backup
                printf '\(DaemonProcess.passcode)' >pass
                printf 'four words of it' >phrase
                coffer backup init repository --kdf interactive --recovery-key-file key --passcode-fd 3 --passphrase-fd 4 \
                    3<pass 4<phrase
                coffer lock --now
                coffer backup create
                coffer backup create
                coffer backup status
                coffer backup check --read-data
                coffer backup restore --to plain --passphrase-fd 4 4<phrase
                find plain -type f
                rm -rf /root/backup /root/.config/coffer
                """
            let done = try machine.run(["bash", "-ec", script])
            #expect(done.status == 0, "\(done.text)\(done.errors)")
            #expect(done.text.contains("stored snapshot 1, ") && done.text.contains(": nothing has changed\n"))
            #expect(done.text.contains("bank/pin"), "\(done.text)\(done.errors)")
            try Packages.purge(on: machine)
        }
    }
}
