import CofferCore
import CofferTestSupport
import CofferWire
import Testing

extension RuleEndTests {
    @Test func `an administrator grants what it may not read to others, and not to itself`() throws {
        let place = try Place(entitlements: try Self.entitlement("Groups=default\nVerbs=admin"))
        let client = try place.connect(Self.stranger)
        let name = try ItemName("site/token")
        try expect(Self.denied) { _ = try client.get("site/token") }
        try expect(Self.denied) { try client.grant(name, to: .user(Self.stranger.userID), seconds: 9) }
        try client.grant(name, to: .unit("ci.service"), seconds: 9)
        #expect(try place.connect(Self.build).get("site/token") == [1])
        #expect(try client.list().items.map(\.name) == ["site/token"])
        #expect(try client.show(name).byteCount == 1)
    }
}
