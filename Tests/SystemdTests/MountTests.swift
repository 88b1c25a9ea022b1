import CofferTestSupport
import Foundation
import Testing

extension SystemdTests {
    /// The unit that mounts a user's vault at the login, and mounts whose daemon has a service manager.
    @Suite(.enabled(if: Machine.hasFUSE, "there is no /dev/fuse that this user may open"))
    struct MountTests {
        private let machine: Machine
        private let own: Service

        init() throws {
            machine = try #require(Machine.shared)
            own = try Service(installedFor: Machine.person)
        }

        /// Whether the kernel asks a daemon that takes a mount over for what the one before has not answered.
        private static let keepsMounts = ProcessInfo.processInfo.isOperatingSystemAtLeast(
            OperatingSystemVersion(majorVersion: 6, minorVersion: 9, patchVersion: 0)
        )

        private func person(_ script: String) throws -> String {
            try machine.succeed(["bash", "-ec", script], as: Machine.person)
        }

        /// What a script prints once it succeeds, within ten seconds.
        private func eventually(_ script: String) throws -> String {
            try person("for i in {1..100}; do if (\(script)) 2>/dev/null; then exit; fi; sleep 0.1; done; \(script)")
        }

        @Test func `a vault is mounted at login, and its files lock with it`() throws {
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

            #expect(try own.coffer("lock", "--now").status == 0)
            let locked = try machine.run(["sh", "-c", "cat ~/Vault/d/a"], as: Machine.person)
            #expect(locked.status == 1)
            #expect(locked.errors.contains("Permission denied"), "\(locked.errors)")
            try own.unlock()
            #expect(try person("cat ~/Vault/d/a") == "kept")

            try own.control("stop", "coffer-mount.service")
            #expect(try person("! mountpoint --quiet ~/Vault && ls -A ~/Vault") == "")

            // A program that uses it does not hold up the end of the session.
            try own.control("start", "coffer-mount.service")
            let shown = try person(
                """
                (cd ~/Vault && exec sleep 600) >/dev/null 2>&1 & program=$!
                until [[ $(readlink /proc/$program/cwd) == ~/Vault ]]; do sleep 0.1; done
                systemctl --user stop coffer-mount.service
                if mountpoint --quiet ~/Vault; then exit 1; fi
                ls -A ~/Vault
                kill $program
                """
            )
            #expect(shown == "")

            // All of the person's processes end, and the machine's manager ends the person's.
            try own.control("start", "coffer-mount.service")
            try machine.succeed(["loginctl", "terminate-user", Machine.person])
            try own.unlock()
            #expect(try eventually("cat ~/Vault/d/a") == "kept")
            try own.control("stop", "coffer-mount.service")
            #expect(try person("! mountpoint --quiet ~/Vault && ls -A ~/Vault") == "")
        }

        /// A program that works in the current directory until a file ends it, and checks what it has written.
        private static let worker = """
            import os, sys
            synced, other = (os.open(name, os.O_RDWR | os.O_CREAT) for name in ('synced', 'other'))
            number = 0
            while not os.path.exists(sys.argv[1]):
                number += 1
                os.pwrite(synced, b'%08d\\n' % number, 9 * (number - 1)); os.fsync(synced)
                os.pwrite(other, b'%08d\\n' % number, 0)
                os.mkdir('d'); os.rename('d', 'e'); os.close(os.open('e/f', os.O_CREAT | os.O_EXCL))
                os.unlink('e/f'); os.rmdir('e')
            assert list(map(int, os.pread(synced, 9 * number + 1, 0).split())) == list(range(1, number + 1))
            assert int(os.pread(other, 8, 0)) == number
            assert sorted(os.listdir('.')) == ['other', 'synced']
            print(number)
            """

        /// Runs the program while the daemon is restarted and killed.
        ///
        /// - Parameters:
        ///   - directory: Where it works.
        ///   - launcher: What starts it.
        ///   - manager: The service manager.
        /// - Returns: A script that fails if the program does.
        private func work(in directory: String, by launcher: String = "", _ manager: String) -> String {
            """
            end=$(mktemp --dry-run)
            (cd \(directory) && exec \(launcher) python3 /opt/worker.py $end) & worker=$!
            for round in 1 2; do
                sleep 0.3; \(manager) reset-failed cofferd.service; \(manager) restart cofferd.service
                sleep 0.3; \(manager) kill --signal=KILL cofferd.service
                for i in {1..100}; do if \(manager) --quiet is-active cofferd.service; then break; fi; sleep 0.1; done
            done
            sleep 0.3; touch $end; wait $worker
            """
        }

        @Test(.enabled(if: keepsMounts, "the kernel is older than 6.9"))
        func `programs in a mount go on when the user's daemon is restarted and killed`() throws {
            try Packages.install("0.1.0-2", on: machine)
            try machine.succeed(["sh", "-c", "rm -rf ~tester/.local/state/coffer"])
            defer { #expect(throws: Never.self) { try removeAll() } }
            try machine.write(Self.worker, to: "/opt/worker.py")
            try own.control("enable", "--now", "cofferd.socket")
            try own.makeVault()
            try own.control("enable", "--now", "coffer-mount.service")
            let count = try person(work(in: "~/Vault", "systemctl --user"))
            #expect(Int(count) ?? 0 > 0, "\(count)")
        }

        @Test(.enabled(if: keepsMounts, "the kernel is older than 6.9"))
        func `programs in a mount of the machine's vault go on when its daemon is restarted and killed`() throws {
            try Packages.install("0.1.0-2", on: machine)
            defer {
                #expect(throws: Never.self) {
                    try machine.succeed(["umount", "--lazy", "/srv/vault"])
                    try Packages.purge(on: machine)
                }
            }
            try machine.write(Self.worker, to: "/opt/worker.py")
            let service = try Service(installedFor: nil)
            try service.makeVault()
            let user = Machine.serviceUser
            try machine.succeed(["install", "--directory", "--owner=\(user)", "--group=\(user)", "/srv/vault"])
            let made = try service.coffer("mount", "/srv/vault")
            #expect(made.status == 0, "\(made.errors)")
            let launcher = "setpriv --reuid=\(user) --regid=\(user) --clear-groups --"
            // Only the user that has mounted it may enter it.
            let script = work(in: "/", by: "\(launcher) env --chdir=/srv/vault", "systemctl")
            let count = try machine.succeed(["bash", "-ec", script])
            #expect(Int(count) ?? 0 > 0, "\(count)")
            #expect(try service.coffer("umount", "/srv/vault").status == 0)
            #expect(try service.coffer("mount", "/srv/vault").status == 0)
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
