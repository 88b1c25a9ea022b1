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
        try talk.fail(.param, .trashList, ["after": "0"])
        try talk.fail(.duplicateItem, .trashRestore, ["entry": entry, "to": "github.com/token"])
        try talk.succeed(.trashRestore, ["entry": entry, "to": "rubbish/other"])
        try talk.fail(.itemNotFound, .trashRestore, ["entry": entry])
        try talk.fail(.itemNotFound, .trashEmpty, ["entry": entry])
        try talk.succeed(.trashEmpty)
        try talk.succeed(.itemRemove, ["name": "rubbish/other"])
    }

    /// What is said of versions.
    func keepVersions(_ talk: Conversation) throws {
        let name: JSONObject = ["name": "versions/file"]
        try talk.succeed(.fileMkdir, ["name": "versions", "keep": 2])
        for _ in 1...2 { try talk.succeed(.itemPut, ["name": "versions/file", "keep": 3], payload: Self.secret) }
        try talk.fail(.param, .itemPut, ["name": "versions/file", "keep": 101], payload: Self.secret)
        try talk.succeed(.fileVersions, ["name": "versions"])
        let found = try talk.succeed(.fileVersions, name)
        let first = found.result?["versions"]?.arrayValue?.first?.objectValue
        let number = try #require(first?["number"])
        var one = name
        one.set("version", number)
        let handle = try Self.integer(try talk.succeed(.fileOpen, one), "handle")
        try talk.succeed(.fileClose, ["handle": .integer(handle)])
        var written = one
        written.set("access", "write")
        try talk.fail(.param, .fileOpen, written)
        try talk.succeed(.fileRestore, one)
        try talk.fail(.itemNotFound, .fileRestore, one)
        try talk.fail(.param, .fileRestore, name)
        try talk.succeed(.fileKeepVersions, name)
        try talk.fail(.itemNotFound, .fileKeepVersions, Self.nobody)
        try talk.fail(.itemNotFound, .fileVersions, Self.nobody)
        try talk.fail(.itemNotFound, .fileRemoveVersions, one)
        try talk.succeed(.fileRemoveVersions, name)
        try talk.succeed(.fileRemove, ["name": "versions", "recursive": true])
    }
}
