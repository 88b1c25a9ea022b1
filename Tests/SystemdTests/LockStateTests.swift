import CofferTestSupport
import Testing

extension SystemdTests {
    /// The units that follow the lock of a vault.
    @Suite struct LockStateTests {
        private let machine: Machine

        init() throws { machine = try #require(Machine.shared) }

        private static let units = [
            "unlocked": "coffer-unlocked.target", "unlocked-once": "coffer-first-unlock.target",
        ]

        /// A unit that an unlock starts and a lock ends, as SECRET-SERVICE.md has it.
        private func unit(of target: String) -> String {
            """
            [Unit]
            PartOf=\(target)
            [Service]
            ExecStart=/bin/sleep infinity
            [Install]
            WantedBy=\(target)

            """
        }

        @Test(arguments: [nil, Machine.person])
        func `a unit of a target starts at the unlock, and ends when the keys go`(person: String?) throws {
            try Packages.install("0.1.0-2", on: machine)
            // Another test may have left the person's vault.
            try machine.succeed(["sh", "-c", "rm -rf ~\(Machine.person)/.local/state/coffer"])
            let service = try Service(installedFor: person)
            let folder = person == nil ? "/etc/systemd/system" : "/etc/systemd/user"
            for (name, target) in Self.units {
                try machine.write(unit(of: target), to: "\(folder)/\(name).service")
            }
            try service.control("daemon-reload")
            try service.control("enable", "unlocked.service", "unlocked-once.service")
            try service.control("enable", "--now", "cofferd.socket", "coffer-lock-state.service")
            try follow(service, person)
            try service.control("disable", "--now", "coffer-lock-state.service")
            try service.control("disable", "unlocked.service", "unlocked-once.service")
            try service.control("stop", "cofferd.socket", "cofferd.service")
            for name in Self.units.keys { try machine.succeed(["rm", "\(folder)/\(name).service"]) }
            try machine.succeed(["sh", "-c", "rm -rf ~\(Machine.person)/.local/state/coffer"])
            try Packages.purge(on: machine)
        }

        /// The story of a vault and its units.
        private func follow(_ service: Service, _ person: String?) throws {
            func isActive(_ unit: String) throws -> Bool {
                let words = ["systemctl"] + (person == nil ? [] : ["--user"]) + ["is-active", unit]
                return try machine.run(words, as: person).text == "active\n"
            }
            /// Whether both units come to be as they are to be, with their targets.
            func comes(unlocked: Bool, once: Bool) throws -> Bool {
                try service.comes {
                    try Self.units.allSatisfy { name, target in
                        let isWanted = name == "unlocked" ? unlocked : once
                        return try isActive("\(name).service") == isWanted && isActive(target) == isWanted
                    }
                }
            }
            #expect(try comes(unlocked: false, once: false), "there is no vault yet")
            try service.makeVault()
            #expect(try comes(unlocked: true, once: true))
            #expect(try service.coffer("lock", "--now").status == 0)
            #expect(try comes(unlocked: false, once: true))
            try service.unlock()
            #expect(try comes(unlocked: true, once: true))
            // It can still read what it uses when it is told to end.
            #expect(try service.coffer("lock").status == 0)
            #expect(try comes(unlocked: false, once: true))
            try service.unlock()
            #expect(try comes(unlocked: true, once: true))

            // A daemon that is killed has lost its keys but those that it carries over.
            func run() throws -> String {
                try service.control("show", "--value", "--property=InvocationID", "unlocked-once.service")
            }
            let first = try run()
            try service.control("kill", "--signal=KILL", "cofferd.service")
            #expect(try service.comes { try ![first, ""].contains(run()) })
            #expect(try comes(unlocked: false, once: true))
            try service.unlock()
            #expect(try comes(unlocked: true, once: true))

            try service.control("stop", "coffer-lock-state.service")
            #expect(try comes(unlocked: false, once: false), "nobody watches")
            try service.control("start", "coffer-lock-state.service")
            #expect(try comes(unlocked: true, once: true))
            try service.control("stop", "cofferd.service")
            #expect(try service.comes { try service.state() == "beforeFirstUnlock" })
            #expect(try comes(unlocked: false, once: false))
            try service.unlock()
            #expect(try comes(unlocked: true, once: true))
        }
    }
}
