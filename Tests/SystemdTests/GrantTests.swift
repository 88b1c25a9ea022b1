import CofferTestSupport
import Testing

extension SystemdTests {
    /// Rules that end, for real units.
    @Suite struct GrantTests {
        @Test func `a unit gets what it was granted three times, over a restart of the daemon, and not a fourth time`()
            throws
        {
            let service = try Service("coffer-leases")
            try service.makeVault()
            try service.put("deploy/token", "owner's", "Always")
            #expect(try service.coffer("get", "deploy/token", in: "ci.service").status == 66)
            let granted = try service.coffer(
                "grant",
                "deploy/token",
                "--to",
                "unit",
                "ci",
                "--for",
                "10m",
                "--uses",
                "3",
                "--reason",
                "nightly"
            )
            #expect(granted.text == "added rule 1\n", "\(granted.errors)")
            #expect(try service.coffer("get", "deploy/token", in: "other.service").status == 66)
            for count in 1...3 {
                let read = try service.coffer("get", "deploy/token", in: "ci.service")
                #expect(read.text == "owner's", "\(count): \(read.errors)")
                if count == 1 { try service.control("restart", "coffer-leases.service") }
                if count == 2 { try service.control("kill", "--signal=KILL", "coffer-leases.service") }
            }
            let refused = try service.coffer("get", "deploy/token", in: "ci.service")
            #expect(refused.status == 66)
            #expect(refused.errors.contains("you see 'unit:ci.service' only"), "\(refused.errors)")
        }

        @Test func `root, which is otherwise refused, is admitted for a grant, and for nothing besides`() throws {
            let service = try Service("coffer-lent")
            try service.makeVault()
            try service.put("deploy/token", "owner's", "Always")
            let machine = try #require(Machine.shared)
            func run(_ arguments: String...) throws -> CommandResult {
                try machine.run(
                    ["\(Machine.programs)/coffer"] + arguments,
                    environment: ["COFFER_SOCKET": "/run/\(service.name).sock"]
                )
            }
            #expect(try run("get", "deploy/token").status == 77)
            let granted = try service.coffer("grant", "deploy/token", "--to", "uid:0", "--for", "10m")
            #expect(granted.status == 0, "\(granted.errors)")
            #expect(try run("get", "deploy/token").text == "owner's")
            #expect(try run("list").status == 77)
            let revoked = try service.coffer("access", "remove", "1")
            #expect(revoked.status == 0, "\(revoked.errors)")
            let refused = try run("get", "deploy/token")
            #expect(refused.status == 77)
            #expect(refused.errors.contains("user 0 may not use this vault"), "\(refused.errors)")
        }
    }
}
