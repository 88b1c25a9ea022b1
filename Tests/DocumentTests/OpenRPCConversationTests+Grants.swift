import CofferCore
import CofferWire
import Testing

extension OpenRPCConversationTests {
    /// What is said of rules that end.
    func lend(_ talk: Conversation) throws {
        let name: JSONObject = [
            "name": "github.com/token", "client": "unit:ci.service", "verbs": ["read"], "seconds": 600,
        ]
        var full = name
        full.set("uses", 3)
        full.set("reason", "the nightly deployment")
        let granted = try talk.succeed(.accessAllow, name)
        let rule = JSONValue.integer(try Self.integer(granted, "rule"))
        try talk.succeed(.accessAllow, full)
        var other = name
        other.set("name", "nobody")
        try talk.fail(.itemNotFound, .accessAllow, other)
        full.set("verbs", ["read", "write"])
        try talk.fail(.param, .accessAllow, full)
        full.set("pattern", "github.com/*")
        try talk.fail(.param, .accessAllow, full)
        try talk.succeed(.accessList)
        try talk.succeed(.accessRemove, ["rule": rule])
        try talk.fail(.itemNotFound, .accessRemove, ["rule": rule])
    }
}
