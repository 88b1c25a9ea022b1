import CofferTestSupport
import Testing

extension SystemdTests {
    /// Who sees what, as a real service manager tells clients apart.
    @Suite struct AccessTests {
        @Test func `services of one user see their own items, and the owner's terminal sees its`() throws {
            let service = try Service("coffer-groups")
            try service.makeVault()
            try service.put("mine", "owner's", "AfterFirstUnlock")
            for unit in ["backup.service", "mail.service"] {
                let put = try service.coffer("put", "mine", "/etc/hostname", in: unit)
                #expect(put.status == 0, "\(put.errors)")
            }
            let removed = try service.coffer("remove", "mine", in: "backup.service")
            #expect(removed.status == 0, "\(removed.errors)")
            let gone = try service.coffer("get", "mine", in: "backup.service")
            #expect(gone.status == 66)
            #expect(gone.errors.contains("you see 'unit:backup.service' only"), "\(gone.errors)")
            #expect(try service.coffer("get", "mine", in: "mail.service").status == 0)
            let own = try service.get("mine")
            #expect(own == "owner's")
            let named = try service.coffer("put", "x", "/etc/hostname", "--group", "default", in: "mail.service")
            #expect(named.status == 77)
            let locked = try service.coffer("lock", "--now", in: "mail.service")
            #expect(locked.status == 77)
            #expect(try service.state() == "unlocked")
        }

        @Test func `a service that has nothing is told whose items it has listed, and how it gets one of the owner's`()
            throws
        {
            let service = try Service("coffer-empty")
            try service.makeVault()
            let own = try service.coffer("ls")
            #expect(own.status == 0 && !own.errors.contains("this is the group"), "\(own.errors)")
            try service.put("mine", "owner's", "AfterFirstUnlock")
            let empty = try service.coffer("ls", in: "empty.service")
            #expect(empty.status == 0 && empty.text == "", "\(empty.errors)")
            #expect(empty.errors.contains("coffer: this is the group 'unit:empty.service': "), "\(empty.errors)")
            let way = "outside of the service, 'coffer allow unit empty.service read --item NAME' lets it read an item"
            #expect(empty.errors.contains(way), "\(empty.errors)")
            let named = try service.coffer("ls", "--group", "unit:empty.service", in: "empty.service")
            #expect(named.status == 0 && !named.errors.contains("this is the group"), "\(named.errors)")
            #expect(try service.coffer("put", "x", "/etc/hostname", in: "empty.service").status == 0)
            let full = try service.coffer("ls", in: "empty.service")
            #expect(full.text == "x\n" && !full.errors.contains("this is the group"), "\(full.errors)")
        }

        @Test func `the machine's daemon admits a service of another user, but not root outside of one`()
            throws
        {
            let service = try Service("coffer-others")
            try service.makeVault()
            let put = try service.coffer("put", "root's", "/etc/hostname", in: "rooted.service", as: "root")
            #expect(put.status == 0, "\(put.errors)")
            #expect(try service.coffer("get", "root's", in: "rooted.service", as: "root").status == 0)
            // The group is the unit's, regardless of its user.
            #expect(try service.coffer("get", "root's", in: "rooted.service").status == 0)
            let machine = try #require(Machine.shared)
            let outside = try machine.run(
                ["\(Machine.programs)/coffer", "list"],
                environment: ["COFFER_SOCKET": "/run/\(service.name).sock"]
            )
            #expect(outside.status == 77)
            #expect(outside.errors.contains("user 0 may not use this vault"), "\(outside.errors)")
        }

        @Test func `a user's services are distinguished from one another and from the terminal`() throws {
            let service = try Service("coffer-person", of: Machine.person)
            try service.makeVault()
            try service.put("mine", "owner's", "AfterFirstUnlock")
            func run(_ unit: String, _ arguments: String...) throws -> CommandResult {
                try service.run(
                    [
                        "systemd-run", "--user", unit, "--wait", "--pipe", "--collect", "--quiet",
                        "--setenv=COFFER_SOCKET=/run/user/1000/\(service.name).sock", "\(Machine.programs)/coffer",
                    ] + arguments
                )
            }
            let put = try run("--unit=mail.service", "put", "imap", "/etc/hostname")
            #expect(put.status == 0, "\(put.errors)")
            #expect(try run("--unit=mail.service", "get", "mine").status == 66)
            #expect(try run("--unit=sync.service", "get", "imap").status == 66)
            #expect(try run("--unit=app-editor@1f.service", "get", "mine").text == "owner's")
            #expect(try run("--description=nameless", "get", "mine").text == "owner's")
            let scoped = try service.run(
                ["systemd-run", "--user", "--scope", "--quiet", "\(Machine.programs)/coffer", "get", "mine"]
            )
            #expect(scoped.text == "owner's", "\(scoped.errors)")
        }

        @Test func `an entitlement of a unit counts for that unit and that user, after a reload`() throws {
            let machine = try #require(Machine.shared)
            let service = try Service(
                "coffer-entitled",
                options: ["--entitlements", "/etc/coffer-entitled"],
                ["ExecReload=/bin/kill -HUP $MAINPID"]
            )
            try service.makeVault()
            try service.put("mine", "owner's", "AfterFirstUnlock")
            #expect(try service.coffer("get", "mine", in: "reader.service").status == 66)
            try machine.write(
                "[Client]\nUnit=reader.service\nUser=\(Machine.serviceUser)\nGroups=default\nVerbs=read\n",
                to: "/etc/coffer-entitled/reader.conf"
            )
            try service.control("reload", "coffer-entitled.service")
            let read = try service.coffer("get", "mine", in: "reader.service")
            #expect(read.text == "owner's", "\(read.errors)")
            #expect(try service.coffer("remove", "mine", in: "reader.service").status == 77)
            #expect(try service.coffer("get", "mine", in: "other.service").status == 66)
            #expect(try service.coffer("get", "mine", in: "reader.service", as: "root").status == 66)
        }
    }
}
