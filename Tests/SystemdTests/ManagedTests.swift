import CofferTestSupport
import Testing

extension SystemdTests {
    /// What the daemon reports to its service manager, and what it receives from it.
    @Suite struct ManagedTests {
        @Test func `systemctl status shows in which state the vault is`() throws {
            let service = try Service("coffer-told")
            #expect(try service.state() == "noVault")
            #expect(try service.property("StatusText") == "There is no vault yet.")
            try service.makeVault()
            #expect(try service.property("StatusText") == "Unlocked.")
            _ = try service.coffer("lock", "--now")
            #expect(try service.property("StatusText") == "Locked.")
            try service.control("restart", "coffer-told.service")
            #expect(try service.property("StatusText") == "Before first unlock.")
        }

        @Test func `a daemon that turns says so, and one that is stuck is ended and started again`() throws {
            let service = try Service("coffer-watched", ["WatchdogSec=2", "Restart=on-watchdog", "RestartSec=0"])
            _ = try service.state()
            let first = try service.property("MainPID")
            let started = try service.property("WatchdogTimestampMonotonic")
            let isAlive = try service.comes { try service.property("WatchdogTimestampMonotonic") != started }
            #expect(isAlive)
            try service.control("kill", "--signal=STOP", "coffer-watched.service")
            let isOther = try service.comes {
                try service.isActive && ![first, "0"].contains(service.property("MainPID"))
            }
            #expect(isOther)
        }

        @Test func `an idle daemon ends when no key is there, and the next connection starts it again`() throws {
            let service = try Service("coffer-idle", options: ["--idle-exit", "1"])
            #expect(try service.state() == "noVault")
            let hasEnded = try service.comes { try !service.isActive }
            #expect(hasEnded)
            #expect(try service.property("Result") == "success")
            try service.makeVault()
            let process = try service.property("MainPID")
            #expect(try service.state() == "unlocked")
            #expect(try service.property("MainPID") == process)
            try service.control("restart", "coffer-idle.service")
            let hasEndedAgain = try service.comes { try !service.isActive }
            #expect(hasEndedAgain)
            #expect(try service.state() == "beforeFirstUnlock")
        }

        @Test func `several sockets are served, and one with an unknown name is refused with its name`() throws {
            let machine = try #require(Machine.shared)
            let service = try Service("coffer-doors", ["Sockets=coffer-doors.socket coffer-back.socket"])
            try machine.write(
                """
                [Socket]
                ListenStream=/run/coffer-back.sock
                SocketMode=0666
                Service=coffer-doors.service
                FileDescriptorName=coffer
                """,
                to: "/etc/systemd/system/coffer-back.socket"
            )
            try service.control("daemon-reload")
            try service.control("start", "coffer-back.socket")
            try service.makeVault()
            let behind = try service.run(
                ["\(Machine.programs)/coffer", "status", "--socket", "/run/coffer-back.sock"]
            )
            #expect(behind.text.contains("unlocked"), "\(behind.errors)")
            try service.control("stop", "coffer-doors.service", "coffer-back.socket")
            try machine.succeed(
                ["sed", "-i", "s/=coffer$/=letters/", "/etc/systemd/system/coffer-back.socket"]
            )
            try service.control("daemon-reload")
            try service.control("start", "coffer-back.socket")
            let started = try machine.run(["systemctl", "start", "coffer-doors.service"])
            #expect(started.status != 0)
            let said = try service.journal { $0.contains("'letters'") }
            #expect(said.contains("nothing is known to do with the socket 'letters'"), "\(said)")
            try machine.succeed(["systemctl", "stop", "coffer-back.socket", "coffer-doors.socket"])
        }
    }
}
