import CofferTestSupport
import Testing

extension SystemdTests {
    /// Access rules for real units.
    @Suite struct AccessRuleTests {
        @Test func `a unit gets what a rule allows, without the exception, also after a restart of the daemon`() throws
        {
            let service = try Service("coffer-rules")
            try service.makeVault()
            try service.put("deploy/token", "owner's", "AfterFirstUnlock")
            try service.put("deploy/other", "owner's", "AfterFirstUnlock")
            for words in [
                ["allow", "unit", "ci@*.service", "read", "--item", "deploy/*", "--passcode-fd", "0"],
                ["deny", "unit", "ci@*.service", "read", "--item", "deploy/other"],
            ] {
                let added = try service.run(["\(Machine.programs)/coffer"] + words, input: DaemonProcess.passcode)
                #expect(added.status == 0, "\(added.errors)")
            }
            for count in 1...2 {
                let read = try service.coffer("get", "deploy/token", in: "ci@main.service")
                #expect(read.text == "owner's", "\(count): \(read.errors)")
                #expect(try service.coffer("get", "deploy/other", in: "ci@main.service").status == 66)
                let denied = try service.coffer("get", "deploy/other", "--group", "default", in: "ci@main.service")
                #expect(denied.status == 77, "\(denied.errors)")
                #expect(try service.coffer("get", "deploy/token", in: "other.service").status == 66)
                if count == 2 { break }
                try service.control("restart", "coffer-rules.service")
                #expect(try service.coffer("get", "deploy/token", in: "ci@main.service").status == 75)
                try service.unlock()
            }
            #expect(try service.coffer("access", "remove", "1").status == 0)
            #expect(try service.coffer("get", "deploy/token", in: "ci@main.service").status == 66)
        }

        @Test func `a unit that runs as another user is told not to reach a person's vault`() throws {
            let machine = try #require(Machine.shared)
            for (name, line) in [
                ("other", "User=nobody"), ("dynamic", "DynamicUser=yes"), ("root", ""), ("own", "User=1000"),
            ] {
                try machine.write(
                    "[Service]\nExecStart=/bin/true\n\(line)\n",
                    to: "/etc/systemd/system/reach-\(name).service"
                )
            }
            try machine.succeed(["systemctl", "daemon-reload"])
            let service = try Service("coffer-reach", of: Machine.person)
            try service.makeVault()
            for (name, status) in [("other", 64), ("dynamic", 64), ("root", 0), ("own", 0), ("unknown", 0)]
                as [(String, Int32)]
            {
                let added = try service.coffer("allow", "unit", "reach-\(name)", "read", "--item", "a")
                #expect(added.status == status, "\(name): \(added.errors)")
                if status != 0 { #expect(added.errors.contains("can't connect to this vault"), "\(added.errors)") }
            }
        }
    }
}
