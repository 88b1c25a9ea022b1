import CofferCore
import Testing

/// What service managers say of the credentials that they fetch.
@Suite struct CredentialAddressTests {
    private func address(_ text: String) -> CredentialAddress? { CredentialAddress([0] + Array(text.utf8)) }

    @Test func `unit and credential are read`() throws {
        let address = try #require(self.address("1f00ab/unit/web@1.service/github.com--token"))
        #expect(address.unit == "web@1.service")
        #expect(address.id == "github.com--token")
        #expect(address.contentBytes == (1 << 20) - 17)
    }

    @Test(arguments: [
        "", "/", "1f", "1f/unit", "1f/unit/a.service", "1f/unit/a.service/", "1f/unit//b", "1f/user/a.service/b",
        "1f/unit/a.service/b/c", "/1f/unit/a.service/b",
    ])
    func `what is no such address is none`(text: String) {
        #expect(address(text) == nil)
    }

    @Test func `a path is none, nor what is no text`() {
        #expect(CredentialAddress(Array("/1f/unit/a.service/b".utf8)) == nil)
        #expect(CredentialAddress([0] + Array("1f/unit/a.service/".utf8) + [0xFF]) == nil)
        #expect(CredentialAddress([]) == nil)
    }

    @Test(arguments: [
        ("token", "token"), ("a--b", "a/b"), ("a--b--c", "a/b/c"), ("a-b", "a-b"), ("a---b", "a/-b"),
        ("a----b", "a//b"),
        ("--a", "/a"), ("a--", "a/"),
    ])
    func `two hyphens are a slash`(id: String, name: String) {
        #expect(CredentialAddress(unit: "a.service", id: id).itemName == name)
    }

    private static let cases: [(name: String, unit: String, byteCount: Int64, isLoadable: Bool)] = [
        ("a/b", "web.service", 1, true), ("a--b", "web.service", 1, false), ("a/-b", "web.service", 1, true),
        ("a-/b", "web.service", 1, false),
        (String(repeating: "n", count: 72), "web.service", 1, true),
        (String(repeating: "n", count: 73), "web.service", 1, false),
        ("t", String(repeating: "u", count: 74) + ".service", 1, true),
        ("t", String(repeating: "u", count: 75) + ".service", 1, false),
        ("t", "web.service", (1 << 20) - 1, true), ("t", "web.service", 1 << 20, false),
        ("a:b", "web.service", 1, false), ("a b", "web.service", 1, false), ("ä", "web.service", 1, false),
        ("a\\b", "web.service", 1, false),
    ]

    @Test(arguments: cases)
    func `what no unit could load is known before`(
        name: String,
        unit: String,
        byteCount: Int64,
        isLoadable: Bool
    ) throws {
        let obstacle = CredentialAddress.obstacle(try ItemName(name), byteCount, in: unit)
        #expect((obstacle == nil) == isLoadable, "\(obstacle ?? "")")
        #expect(CredentialAddress.obstacle(try ItemName("t"), nil, in: "web.service") == nil)
    }

    @Test func `the name of a credential is that of the item again, where it can be loaded`() throws {
        for name in ["a", "a/b", "a/b/c-d", "a-b"] {
            let id = CredentialAddress.id(of: try ItemName(name))
            #expect(CredentialAddress(unit: "a.service", id: id).itemName == name)
        }
        #expect(CredentialAddress.unit(ofGroup: "unit:a@b.service") == "a@b.service")
        #expect(CredentialAddress.unit(ofGroup: "user-unit:a.service") == "a.service")
        for group in ["default", "user:1000", "program:/usr/bin/mail", nil] {
            #expect(CredentialAddress.unit(ofGroup: group) == nil)
        }
    }

    @Test func `only root starts units of the system, and only the owner's manager those of the owner`() {
        func client(_ user: UInt32, _ unit: String?, _ userUnit: String? = nil) -> ClientIdentity {
            ClientIdentity(userID: user, groupID: user, unit: unit, userUnit: userUnit)
        }
        #expect(client(0, "a.service").starts("a.service"))
        #expect(!client(0, "b.service").starts("a.service"))
        #expect(!client(0, nil).starts("a.service"))
        #expect(!client(1000, "a.service").starts("a.service"))
        #expect(client(1000, "user@1000.service", "a.service").starts("a.service"))
        #expect(!client(1000, "user@1000.service", "b.service").starts("a.service"))
        #expect(!client(0, "user@0.service", "a.service").starts("user@0.service"))
    }
}
