import CofferClient
import CofferCore
import CofferTestSupport
import CofferWire
import Testing

extension AccessRuleTests {
    @Test func `a rule outlives its items and a restart, and is sealed before the first unlock`() throws {
        let directory: TemporaryDirectory
        do {
            let place = try Place()
            directory = place.server.directory
            try place.owner.put("boot/token", [3]) { $0.accessibility = .always }
            try place.owner.allow(.user(Self.stranger.userID), [.read], "deploy/*")
            try place.owner.deny(.user(Self.stranger.userID), [.read], "deploy/other")
            try place.owner.remove(try ItemName("deploy/token"))
        }
        let again = try Place(in: directory)
        #expect(try again.owner.status().state == .beforeFirstUnlock)
        let sealed = try again.owner.rules()
        #expect(sealed.rules.map(\.kind) == [.allow, .deny] && sealed.rules.allSatisfy { $0.pattern == nil })
        for name in ["deploy/token", "boot/token", "nothing"] {
            #expect(try again.fetch(name, by: Self.stranger) == .locked)
        }
        // A rule for one name is told by its tag.
        #expect(try again.fetch("deploy/other", by: Self.stranger) == Self.denied)
        // What is not about reading is known to be denied.
        let client = try again.connect(Self.stranger)
        try expect(Self.denied) { try client.put("deploy/token", [1]) }
        try again.owner.unlock()
        try again.owner.put("deploy/token", [4])
        #expect(try client.get("deploy/token") == [4])
        try expect(Self.denied) { _ = try client.get("deploy/other") }
        try expect(Self.denied) { _ = try client.get("boot/token") }
        // The lock is the same for a rule.
        _ = try again.owner.lock(graceSeconds: 0)
        try expect(.locked) { _ = try client.get("deploy/token") }
    }

    @Test func `before the first unlock, a rule for one name gives what can be read then, and nothing else`() throws {
        let directory: TemporaryDirectory
        do {
            let place = try Place()
            directory = place.server.directory
            try place.owner.put("boot/token", [3]) { $0.accessibility = .always }
            for name in ["boot/token", "deploy/token"] {
                try place.owner.allow(.user(Self.stranger.userID), [.read], name)
            }
        }
        let again = try Place(in: directory)
        #expect(try again.owner.status().state == .beforeFirstUnlock)
        #expect(try again.fetch("boot/token", by: Self.stranger) == .done)
        #expect(try again.fetch("deploy/token", by: Self.stranger) == .locked)
        #expect(try again.fetch("other", by: Self.stranger) == Self.denied)
        // A pattern that may be an exception keeps it shut.
        try again.owner.deny(.user(Self.stranger.userID), [.read], "boot/*")
        #expect(try again.fetch("boot/token", by: Self.stranger) == .locked)
    }
}
