import CofferCore
import Testing

/// What a client in another pid namespace is given, and how rights are explained.
@Suite struct ContainmentTests {
    private static let daemon = ClientIdentity(userID: 990, groupID: 990, unit: "cofferd.service")

    private func policy(_ sections: String...) throws -> AccessPolicy {
        let text = sections.map { "[Client]\n\($0)\n" }.joined()
        let entitlements = try Entitlement.all(in: [("a.conf", Array(text.utf8))]) { (_) throws(CofferError) in
            34
        } groupID: { (_) throws(CofferError) in
            35
        }
        return AccessPolicy(daemon: Self.daemon, entitlements: entitlements)
    }

    private func client(_ user: UInt32, _ unit: String? = nil) -> ClientIdentity {
        ClientIdentity(userID: user, groupID: user, unit: unit, isContained: true, machine: "web")
    }

    private func refusal(_ client: ClientIdentity, by policy: AccessPolicy) -> String? {
        let explanation = policy.explanation(of: client)
        return explanation.isRefused ? explanation.reason : nil
    }

    @Test func `one in a container is not the owner by its user, and a service is what it is`() throws {
        let policy = try policy()
        #expect(
            refusal(client(990), by: policy)
                == "a process in the container 'web' can't use the vault of its user"
        )
        #expect(refusal(client(990, "run-u7.service"), by: policy) != nil)
        #expect(refusal(client(0), by: policy) == "user 0 may not use this vault")
        #expect(try policy.rights(of: client(33, "web.service")).groups == ["unit:web.service"])
    }

    @Test func `an entitlement means what is in a container where it names the unit, and gives it nothing elsewhere`()
        throws
    {
        let policy = try policy(
            "Unit=web.service\nUID=33\nGroups=web\nVerbs=read",
            "UID=33\nGroups=others\nVerbs=write",
            "GID=34\nVerbs="
        )
        #expect(try policy.rights(of: client(33, "web.service")).groups == ["web"])
        // It is meant by the second, which gives it nothing: not what a service has without any, either.
        #expect(
            refusal(client(33, "mail.service"), by: policy)
                == "a process in the container 'web' does not match 'a.conf', line 6, which does not name its unit"
        )
        var outside = client(33, "mail.service")
        outside.isContained = false
        #expect(try policy.rights(of: outside).groups == ["others"])
        #expect(
            refusal(client(34, "mail.service"), by: policy)
                == "the entitlements of this vault refuse you"
        )
    }

    @Test func `a group is the effective one or a supplementary one`() throws {
        let policy = try policy("GID=4242\nVerbs=lock")
        var client = ClientIdentity(userID: 7, groupID: 7, supplementaryGroupIDs: [4241, 4242])
        #expect(try policy.rights(of: client).verbs == [.lock])
        client.supplementaryGroupIDs = [4241, 4243]
        #expect(refusal(client, by: policy) == "user 7 may not use this vault")
        client.groupID = 4242
        #expect(try policy.rights(of: client).verbs == [.lock])
    }

    @Test func `rights rest on the program where the entitlement that decides names one`() throws {
        let policy = try policy("UID=7\nExecutable=/usr/bin/mail\nVerbs=lock", "UID=7\nVerbs=lock")
        var client = ClientIdentity(userID: 7, groupID: 7, executablePath: "/usr/bin/mail")
        let rights = try policy.rights(of: client)
        #expect(rights.restOnProgram)
        client.executablePath = "/usr/bin/cat"
        let others = try policy.rights(of: client)
        #expect(!others.restOnProgram)
        #expect(!rights.isSame(as: others), "a connection that was not held to its program begins anew")
    }

    @Test func `a unit is explained as the entitlement says that names it, else as the owner's`() throws {
        let policy = try policy(
            "UID=5\nVerbs=lock",
            "Unit=backup.service\nUser=backup\nGID=35\nExecutable=/usr/bin/backup\nGroups=default\nVerbs=read"
        )
        let named = policy.explanation(of: policy.client(in: .unit("backup.service")))
        #expect((named.client.userID, named.client.groupID) == (34, 35))
        #expect(named.client.executablePath == "/usr/bin/backup")
        #expect(named.path == "a.conf" && named.line == 4)
        #expect(named.groups == ["default"] && named.verbs == [.read] && !named.isRefused)
        let unnamed = policy.explanation(of: policy.client(in: .userUnit("mail.service")))
        #expect((unnamed.client.userID, unnamed.client.groupID) == (990, 990))
        #expect(unnamed.path == nil && unnamed.groups == ["user-unit:mail.service"])
        #expect(unnamed.reason == "it is the service 'user-unit:mail.service', which has a group of its own")
    }
}
