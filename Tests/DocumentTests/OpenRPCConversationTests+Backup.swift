import CofferCore
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

extension OpenRPCConversationTests {
    /// A backup from its setting up to its end.
    func backUp(_ talk: Conversation, _ daemon: ExampleDaemon) throws {
        let digest = [UInt8](repeating: 7, count: 32)
        try talk.succeed(.backupStatus)
        try talk.succeed(.backupStatus, ["count": true])
        try talk.fail(.param, .backupStatus, ["nobodyKnowsThis": 1])
        try talk.fail(.notAvailable, .backupBegin)
        try talk.fail(.param, .backupRegister, ["repository": 1])
        try talk.fail(.param, .backupRegister, ["newest": 1], payload: digest + digest + digest, knownToDaemon: true)
        try talk.succeed(.backupRegister)
        try talk.fail(.notAvailable, .backupBegin)
        try talk.fail(.notAvailable, .backupContents)
        try talk.fail(.notAvailable, .backupSign, ["number": 1], payload: digest)
        try talk.fail(.notAvailable, .backupEnd)
        try talk.succeed(.backupRegister, ["repository": "/mnt/backup", "warnAfter": 172_800])
        try talk.succeed(.backupBegin, ["progress": true])
        try talk.succeed(.backupContents)
        try talk.succeed(.backupContents, ["after": "00112233445566778899aabbccddeeff"])
        let pair = try UnixSocket.pair()
        try pair.split { server, client in
            try talk.succeed(.backupRead, ["part": "keybag"], passing: server.number)
            try talk.succeed(.backupRead, ["part": "catalog"], passing: server.number)
            let part: JSONObject = ["part": "00112233445566778899aabbccddeeff.overlay"]
            try talk.fail(.itemNotFound, .backupRead, part, passing: server.number)
            withExtendedLifetime(client) {}
        }
        try talk.fail(.param, .backupRead, ["part": "keybag"])
        try talk.succeed(.backupSign, ["number": 1], payload: digest)
        try talk.succeed(.backupEnd, ["completed": true])
        try talk.succeed(.backupStatus)
        try talk.succeed(.backupBegin, ["since": .string(hexadecimal(digest))])
        try talk.fail(.notAvailable, .backupContents)
        try talk.succeed(.backupEnd)
        let proof = digest + digest + digest
        let other: JSONObject = ["repository": "/srv", "newest": 1]
        try talk.fail(.param, .backupRegister, other, payload: proof, knownToDaemon: true)
    }
}
