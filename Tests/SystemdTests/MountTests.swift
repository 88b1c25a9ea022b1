import CofferTestSupport
import Testing

extension SystemdTests {
    /// The unit that mounts a user's vault at the login.
    @Suite(.enabled(if: Machine.hasFUSE, "there is no /dev/fuse that this user may open"))
    struct MountTests {
        private let machine: Machine
        private let own: Service

        init() throws {
            machine = try #require(Machine.shared)
            own = try Service(installedFor: Machine.person)
        }

        private func person(_ script: String) throws -> String {
            try machine.succeed(["bash", "-ec", script], as: Machine.person)
        }

        /// What a script prints once it succeeds, within ten seconds.
        private func eventually(_ script: String) throws -> String {
            try person("for i in {1..100}; do if (\(script)) 2>/dev/null; then exit; fi; sleep 0.1; done; \(script)")
        }

        @Test func `a vault is mounted at login, and again whatever dies, and its files lock with it`() throws {
            try Packages.install("0.1.0-2", on: machine)
            try machine.succeed(["sh", "-c", "rm -rf ~tester/.local/state/coffer"])
            // What would be left in other tests' way if this one failed.
            defer { #expect(throws: Never.self) { try removeAll() } }
            try own.control("enable", "--now", "cofferd.socket")
            try own.makeVault()
            try own.control("enable", "--now", "coffer-mount.service")
            #expect(try person("stat --file-system --format %T ~/Vault") == "fuseblk")
            let setting = #"python3 -c 'import os; os.setxattr("a", "user.coffer.class", b"complete")'"#
            _ = try person("mkdir ~/Vault/d; cd ~/Vault/d; touch a; \(setting); printf kept >a; sync a")

            try own.control("restart", "cofferd.service")
            try own.unlock()
            #expect(try eventually("cat ~/Vault/d/a") == "kept")
            _ = try person("pkill --signal KILL --exact coffer-mount")
            #expect(try eventually("cat ~/Vault/d/a") == "kept")

            #expect(try own.coffer("lock", "--now").status == 0)
            let locked = try machine.run(["sh", "-c", "cat ~/Vault/d/a"], as: Machine.person)
            #expect(locked.status == 1)
            #expect(locked.errors.contains("Permission denied"), "\(locked.errors)")
            try own.unlock()
            #expect(try eventually("cat ~/Vault/d/a") == "kept")

            try own.control("stop", "coffer-mount.service")
            #expect(try person("! mountpoint --quiet ~/Vault && ls -A ~/Vault") == "")

            // All of the person's processes end, and the machine's manager ends the person's.
            try own.control("start", "coffer-mount.service")
            try machine.succeed(["loginctl", "terminate-user", Machine.person])
            try own.unlock()
            #expect(try eventually("cat ~/Vault/d/a") == "kept")
            try own.control("stop", "coffer-mount.service")
            #expect(try person("! mountpoint --quiet ~/Vault && ls -A ~/Vault") == "")
        }

        private func removeAll() throws {
            try own.control("disable", "--now", "coffer-mount.service")
            _ = try person("fusermount3 -u -z -q ~/Vault || true")
            try own.control("stop", "cofferd.socket", "cofferd.service")
            try machine.succeed(["sh", "-c", "rm -rf ~tester/.local/state/coffer"])
            try Packages.purge(on: machine)
        }
    }
}
