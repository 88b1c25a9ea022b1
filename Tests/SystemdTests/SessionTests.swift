import CofferTestSupport
import Testing

extension SystemdTests {
    /// What logind tells of sleep, sessions and logouts.
    @Suite struct SessionTests {
        private let machine: Machine

        init() throws { machine = try #require(Machine.shared) }

        /// Whether sleep waits for the daemon of a service.
        private func isDelaying(_ service: Service) throws -> Bool {
            let process = try service.property("MainPID")
            return try machine.succeed(["systemd-inhibit", "--list", "--no-legend"]).split(separator: "\n").contains {
                $0.contains(" \(process) ") && $0.contains("sleep") && $0.contains("delay")
            }
        }

        /// Whether a daemon records a change of the state so.
        private func isRecorded(_ change: String) throws -> Bool {
            try machine.journal(["_COMM=cofferd", "COFFER_ACTION=vault.state"]) { $0.contains(change) }.contains(change)
        }

        /// Gives the person a session, and returns its number.
        private func logIn(_ unit: String, _ service: Service) throws -> String {
            let before = try sessions()
            try machine.succeed([
                "systemd-run", "--quiet", "--unit=\(unit)", "su", "-l", Machine.person, "-c", "sleep infinity",
            ])
            #expect(try service.comes { try sessions().count > before.count })
            return try #require(try sessions().first { !before.contains($0) })
        }

        private func sessions() throws -> [String] {
            try machine.succeed(["loginctl", "list-sessions", "--no-legend"]).split(separator: "\n").compactMap {
                $0.split(separator: " ").first.map(String.init)
            }
        }

        // MARK: Sleep

        @Test func `the machine does not sleep before the keys are gone`() throws {
            let service = try Service("coffer-sleep")
            let user = Machine.serviceUser
            let status = "setpriv --reuid=\(user) --regid=\(user) --clear-groups \(Machine.programs)/coffer status"
            try machine.write(
                """
                [Service]
                Environment=COFFER_SOCKET=/run/\(service.name).sock
                ExecStart=
                ExecStart=/bin/sh -c '\(status) > /run/coffer-at-sleep'

                """,
                to: "/etc/systemd/system/systemd-suspend.service.d/test.conf"
            )
            try service.control("daemon-reload")
            let start = try machine.succeed(["systemctl", "show", "--property=ExecStart", "systemd-suspend.service"])
            try #require(start.contains("coffer-at-sleep") && !start.contains("systemd-sleep"))
            try service.makeVault()
            #expect(try service.comes { try isDelaying(service) })
            try machine.succeed(["systemctl", "suspend"])
            #expect(try service.comes { try machine.run(["test", "-s", "/run/coffer-at-sleep"]).status == 0 })
            let atSleep = try machine.succeed(["cat", "/run/coffer-at-sleep"])
            #expect(atSleep.hasPrefix("state:     locked: "), "\(atSleep)")
            #expect(try isRecorded("the vault is locked: the machine goes to sleep"))
            #expect(try !isDelaying(service))
            #expect(try service.comes { try machine.run(["systemctl", "is-active", "sleep.target"]).status != 0 })
            try service.unlock()
            #expect(try service.comes { try isDelaying(service) }, "the next sleep waits again")
            let locked = try service.coffer("lock", "--now")
            #expect(locked.status == 0)
            #expect(try service.comes { try !isDelaying(service) }, "there is nothing to wait for")
        }

        @Test func `where no sleep is to lock, none waits`() throws {
            let service = try Service("coffer-sleepless", options: ["--lock-on-sleep", "no"])
            try service.makeVault()
            let other = try Service("coffer-sleeping")
            try other.makeVault()
            #expect(try other.comes { try isDelaying(other) })
            #expect(try !isDelaying(service))
        }

        // MARK: Sessions

        @Test func `a user's vault locks with each session of the user, however logind reports it`() throws {
            let service = try Service("coffer-session", of: Machine.person)
            try service.makeVault()
            #expect(try service.comes { try isDelaying(service) })
            let session = try logIn("session-one", service)
            try machine.succeed(["loginctl", "lock-session", session])
            #expect(try service.settled { $0 == "locking" } == "locking")
            try service.unlock()
            let answer = try machine.succeed([
                "busctl", "call", "org.freedesktop.login1", "/org/freedesktop/login1",
                "org.freedesktop.login1.Manager", "GetSession", "s", session,
            ])
            let path = try #require(answer.split(separator: "\"").last.map(String.init))
            func hint(_ isLocked: Bool) throws {
                try machine.succeed([
                    "busctl", "call", "org.freedesktop.login1", path, "org.freedesktop.login1.Session",
                    "SetLockedHint", "b", "\(isLocked)",
                ])
            }
            try hint(true)
            #expect(try service.settled { $0 == "locking" } == "locking")
            // A state that has not changed is not reported, and the end of a session unlocks nothing.
            try hint(false)
            try service.unlock()
            try machine.succeed(["systemctl", "restart", "systemd-logind"])
            #expect(try service.comes { try isDelaying(service) })
            try machine.succeed(["loginctl", "lock-session", session])
            #expect(try service.settled { $0 == "locking" } == "locking", "logind was started again")
            try machine.succeed(["loginctl", "unlock-session", session])
            #expect(try service.coffer("lock", "--now").status == 0)
            #expect(try service.state() == "locked")
            try machine.succeed(["loginctl", "terminate-session", session])
            #expect(try isRecorded("the vault is locking: user 1000 has locked a session"))
        }

        @Test func `the last logout locks a person's vault, although the service manager goes on`() throws {
            let service = try Service("coffer-logout", of: Machine.person)
            let sessions = [try logIn("logout-one", service), try logIn("logout-two", service)]
            try service.makeVault()
            #expect(try service.comes { try isDelaying(service) })
            try machine.succeed(["loginctl", "terminate-session", sessions[0]])
            #expect(try service.comes { try !self.sessions().contains(sessions[0]) })
            #expect(try service.state() == "unlocked")
            try machine.succeed(["loginctl", "terminate-session", sessions[1]])
            #expect(try service.settled { $0 == "locking" } == "locking")
            #expect(try isRecorded("the vault is locking: user 1000 has logged out"))
        }

        @Test func `who only says he is logind locks nothing, and a session only what its person has unlocked`() throws
        {
            let system = try Service("coffer-strangers")
            try system.makeVault()
            let service = try Service("coffer-forged", of: Machine.person)
            try service.makeVault()
            #expect(try service.comes { try isDelaying(service) && isDelaying(system) })
            let session = try logIn("forged-one", service)
            let process = try service.property("MainPID")
            let peers = try machine.succeed(["busctl", "list", "--no-legend"]).split(separator: "\n").map {
                $0.split(separator: " ").map(String.init)
            }
            let name = try #require(peers.first { $0.count > 1 && $0[1] == process }?[0])
            try machine.succeed([
                "busctl", "emit", "--destination=\(name)", "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
                "PrepareForSleep", "b", "true",
            ])
            // What is sent later comes later, and this one has a grace.
            try machine.succeed(["loginctl", "lock-session", session])
            #expect(try service.settled { $0 != "unlocked" } == "locking")
            #expect(try system.state() == "unlocked")
            try machine.succeed(["loginctl", "terminate-session", session])
        }

        @Test func `without a bus everything else works, which is said once, until there is one`() throws {
            let link = "/run/coffer-test-bus"
            let service = try Service("coffer-busless", ["Environment=DBUS_SYSTEM_BUS_ADDRESS=unix:path=\(link)"])
            try service.makeVault()
            for _ in 0..<2 {
                #expect(try service.coffer("lock", "--now").status == 0)
                try service.unlock()
            }
            let warning = "logind can't be heard"
            let said = try service.journal { $0.contains(warning) }
            let warnings = said.split(separator: "\n").filter { $0.contains(warning) }
            #expect(warnings.count == 1, "\(warnings)")
            try machine.succeed(["ln", "--symbolic", "/run/dbus/system_bus_socket", link])
            #expect(try service.coffer("lock", "--now").status == 0)
            try service.unlock()
            #expect(try service.comes { try isDelaying(service) })
        }
    }
}
