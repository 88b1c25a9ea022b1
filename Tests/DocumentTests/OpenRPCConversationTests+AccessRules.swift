import CofferCore
import CofferWire
import Testing

extension OpenRPCConversationTests {
    /// What is said of access rules.
    func allow(_ talk: Conversation) throws {
        let rule: JSONObject = [
            "client": "unit:ci@*.service", "verbs": .array(["read", "write"]), "pattern": "github.com/*",
        ]
        try talk.fail(.interactionRequired, .accessAllow, rule)
        try talk.succeed(.contextAuthenticate, payload: Self.passcode)
        let added = try talk.succeed(.accessAllow, rule)
        try talk.fail(.interactionRequired, .itemList, ["export": true])
        try talk.succeed(.contextAuthenticate, payload: Self.passcode)
        try talk.succeed(.itemList, ["export": true])
        let number = JSONValue.integer(try Self.integer(added, "rule"))
        for client in ["uid:4242", "gid:1000", "user-unit:mail.service", "exe:/usr/bin/ci"] {
            try talk.succeed(
                .accessDeny,
                ["client": .string(client), "verbs": .array(["delete"]), "pattern": "a", "group": "work"]
            )
        }
        for client in ["unit:ci", "ci.service", "service:no"] {
            try talk.fail(.param, .accessAllow, ["client": .string(client), "verbs": .array(["read"]), "pattern": "a"])
        }
        for verbs in [JSONValue.array([]), .array(["admin"]), .array([1]), "read"] {
            try talk.fail(.param, .accessAllow, ["client": "uid:1", "verbs": verbs, "pattern": "a"])
        }
        try talk.succeed(.accessList)
        try talk.succeed(.accessList, ["after": number])
        try talk.succeed(.accessList, ["mine": true])
        try talk.fail(.param, .accessList, ["after": "0"])
        try talk.succeed(.accessRemove, ["rule": number])
        try talk.fail(.itemNotFound, .accessRemove, ["rule": number])
    }
}
