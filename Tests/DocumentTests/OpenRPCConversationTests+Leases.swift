import CofferCore
import CofferWire
import Testing

extension OpenRPCConversationTests {
    /// What is said of leases.
    func lend(_ talk: Conversation) throws {
        let name: JSONObject = ["name": "github.com/token", "to": "unit:ci.service", "seconds": 600]
        var full = name
        full.set("uses", 3)
        full.set("reason", "the nightly deployment")
        let granted = try talk.succeed(.leaseGrant, name)
        let lease = JSONValue.integer(try Self.integer(granted, "lease"))
        try talk.succeed(.leaseGrant, full)
        for client in ["uid:1000", "gid:1000", "user-unit:mail.service", "unit:session-3.scope"] {
            try talk.succeed(.leaseGrant, ["name": "github.com/token", "to": .string(client), "seconds": 1])
        }
        try talk.fail(.itemNotFound, .leaseGrant, ["name": "nobody", "to": "uid:1", "seconds": 1])
        for client in ["exe:/usr/bin/ci", "unit:ci", "ci.service"] {
            try talk.fail(.param, .leaseGrant, ["name": "github.com/token", "to": .string(client), "seconds": 1])
        }
        try talk.succeed(.leaseList)
        try talk.succeed(.leaseList, ["after": lease])
        try talk.fail(.param, .leaseList, ["after": "0"])
        try talk.succeed(.leaseRevoke, ["lease": lease])
        try talk.fail(.itemNotFound, .leaseRevoke, ["lease": lease])
    }
}
