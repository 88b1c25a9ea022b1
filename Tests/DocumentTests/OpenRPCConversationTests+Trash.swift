import CofferCore
import CofferWire
import Testing

extension OpenRPCConversationTests {
    /// What is said of the trash.
    func discard(_ talk: Conversation) throws {
        try talk.succeed(.itemPut, ["name": "rubbish/secret"])
        try talk.succeed(.itemPut, ["name": "rubbish/file", "asFile": true])
        let name: JSONObject = ["name": "rubbish/secret", "trash": true]
        let removed = try talk.succeed(.itemRemove, name)
        let entry = JSONValue.integer(try Self.integer(removed, "entry"))
        try talk.succeed(.itemRemove, ["name": "rubbish/file", "trash": true])
        try talk.fail(.itemNotFound, .itemRemove, name)
        try talk.succeed(.trashList)
        try talk.succeed(.trashList, ["after": entry])
        try talk.fail(.param, .trashList, ["after": 0])
        try talk.fail(.duplicateItem, .trashRestore, ["entry": entry, "to": "github.com/token"])
        try talk.succeed(.trashRestore, ["entry": entry, "to": "rubbish/other"])
        try talk.fail(.itemNotFound, .trashRestore, ["entry": entry])
        try talk.fail(.itemNotFound, .trashEmpty, ["entry": entry])
        try talk.succeed(.trashEmpty)
        try talk.succeed(.itemRemove, ["name": "rubbish/other"])
    }
}
