import CofferCore
import CofferTestSupport
import CofferWire
import Testing

// Links and extended attributes.

extension OpenRPCConversationTests {
    func changeAttributes(_ talk: Conversation) throws {
        let times: JSONObject = ["accessedNanoseconds": -1, "modifiedNanoseconds": 1_700_000_000_123_456_789]
        try talk.succeed(.fileSetAttributes, ["name": "d", "mode": 0o750, "uid": 0, "gid": 4_294_967_294])
        var both = times
        both.set("name", "d/e")
        try talk.succeed(.fileSetAttributes, both)
        try talk.fail(.itemNotFound, .fileSetAttributes, Self.nobody)
        try talk.fail(.param, .fileSetAttributes, ["name": "d", "mode": 4096])
        try talk.fail(.param, .fileSetAttributes, ["name": "d", "handle": 1])
        try linkFiles(talk)
    }

    private func linkFiles(_ talk: Conversation) throws {
        try talk.succeed(.fileSymlink, ["name": "d/s", "target": "../e", "uid": 1, "gid": 1])
        try talk.fail(.duplicateItem, .fileSymlink, ["name": "d/s", "target": "f"])
        try talk.fail(.param, .fileSymlink, ["name": "d/t", "target": ""])
        try talk.succeed(.fileStat, ["name": "d/s"])
        try talk.succeed(.fileLink, ["name": "d/e", "to": "d/l"])
        try talk.fail(.param, .fileLink, ["name": "d", "to": "d/m"], knownToDaemon: true)
        try talk.fail(.itemNotFound, .fileLink, ["name": "nobody", "to": "d/m"])
        try talk.succeed(.fileRename, ["name": "d/s", "to": "d/l", "exchange": true])
        try talk.fail(.param, .fileRename, ["name": "d/s", "to": "d/l", "exchange": true, "replace": true])
        try talk.succeed(.fileRemove, ["name": "d/l", "keepDirectories": true])
        try talk.succeed(.fileRemove, ["name": "d/s"])
        let attribute: JSONObject = ["name": "d/e", "attribute": "user.note"]
        try talk.succeed(.fileSetExtendedAttribute, attribute, payload: Self.secret)
        var again = attribute
        again.set("create", true)
        try talk.fail(.duplicateItem, .fileSetExtendedAttribute, again, payload: Self.secret)
        again.set("replace", true)
        try talk.fail(.param, .fileSetExtendedAttribute, again, payload: Self.secret)
        let found = try talk.succeed(.fileGetExtendedAttribute, attribute)
        #expect(found.payload == Self.secret)
        try talk.succeed(.fileListExtendedAttributes, ["name": "d/e"])
        try talk.succeed(.fileRemoveExtendedAttribute, attribute)
        try talk.fail(.itemNotFound, .fileRemoveExtendedAttribute, attribute)
        try talk.fail(.itemNotFound, .fileGetExtendedAttribute, attribute)
        try talk.fail(.itemNotFound, .fileListExtendedAttributes, Self.nobody)
        try talk.fail(.param, .fileGetExtendedAttribute, ["name": "d/e", "attribute": ""])
        try talk.succeed(.fileSpace, [:])
    }
}
