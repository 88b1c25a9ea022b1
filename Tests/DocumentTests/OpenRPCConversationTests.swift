import CofferCore
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// `proto-docs/openrpc.json` beside what the daemon says: most methods are carried out, and each is refused.
@Suite struct OpenRPCConversationTests {
    static let passcode = Array("correct horse battery staple".utf8)
    static let secret = Array("s3cr3t".utf8)
    static let nobody: JSONObject = ["name": "nobody"]

    /// The text after its length.
    private static func counted(_ secrets: [UInt8]...) -> [UInt8] {
        secrets.flatMap { [UInt8($0.count >> 8), UInt8($0.count & 255)] + $0 }
    }

    private static func string(_ answer: Conversation.Answer, _ key: String) throws -> String {
        try #require(answer.result?[key]?.stringValue)
    }

    static func integer(_ answer: Conversation.Answer, _ key: String) throws -> Int64 {
        try #require(answer.result?[key]?.integerValue)
    }

    @Test func `all that is said, and all that is answered, is as the document has it`() throws {
        let rpc = try OpenRPC()
        let daemon = try ExampleDaemon()
        let talk = try Conversation(to: daemon.socket, rpc)
        try begin(talk)
        try keepItems(talk, daemon)
        try keepFiles(talk, daemon)
        try keepSecrets(talk)
        try useKeys(talk)
        try mend(talk)
        try lend(talk)
        try discard(talk)
        try keepVersions(talk)
        try backUp(talk, daemon)
        try allow(talk)
        try refuse(talk)
        try lock(talk)
        try changeKeys(talk)
        try end(talk)
        let names = Set(Method.allCases.map(\.rawValue))
        let refused = names.subtracting(talk.refused)
        #expect(refused == [], "never refused")
        let told = talk.told.union(try waitAfterLock(rpc))
        #expect(told == Set(Notification.allCases.map(\.rawValue)))
    }

    /// Before there is a vault, and its making.
    private func begin(_ talk: Conversation) throws {
        try talk.succeed(.hello, ["protocol": 1])
        try talk.succeed(.hello, ["protocol": 2])
        try talk.fail(.unimplemented, .hello, ["protocol": 0])
        try talk.fail(.param, .hello)
        try talk.succeed(.vaultStatus)
        try talk.fail(.param, .vaultStatus, ["nobodyKnowsThis": 1])
        try talk.succeed(.vaultWatch, ["items": true, "attempts": true, "audit": true])
        try talk.succeed(.requestCancel, ["request": 1])
        try talk.fail(.param, .requestCancel)
        try talk.succeed(.entitlementList, ["after": 1])
        try talk.fail(.param, .entitlementList, ["after": -1])
        try talk.succeed(.entitlementExplain)
        try talk.succeed(.entitlementExplain, ["unit": "backup.service"])
        try talk.succeed(.entitlementExplain, ["unit": "backup.service", "credential": "nas--key"])
        try talk.fail(.param, .entitlementExplain, ["credential": "nas--key"], knownToDaemon: true)
        try talk.succeed(.entitlementExplain, ["userUnit": "mail.service"])
        try talk.succeed(.entitlementExplain, ["pid": .integer(Int64(getpid()))])
        try talk.fail(.itemNotFound, .entitlementExplain, ["pid": .integer(Int64(Int32.max))])
        try talk.fail(.param, .entitlementExplain, ["pid": 1, "unit": "a.service"], knownToDaemon: true)
        try talk.fail(.notAvailable, .itemList)
        try talk.fail(.notAvailable, .vaultUnlock, payload: Self.passcode)
        try talk.fail(.param, .vaultInit, knownToDaemon: true)
        try talk.fail(.param, .vaultInit, ["noPasscode": true, "eraseData": true])
        let made = try talk.succeed(.vaultInit, ["kdf": "interactive"], payload: Self.passcode)
        #expect(made.payload.count == 44)
        try talk.expectNews("protectedDataDidBecomeAvailable")
        try talk.fail(.duplicateItem, .vaultInit, payload: Self.passcode)
    }

    private func keepItems(_ talk: Conversation, _ daemon: ExampleDaemon) throws {
        try talk.succeed(.itemPut, ["name": "github.com/token"], payload: Self.secret)
        try talk.succeed(.itemPut, ["name": "photo", "kind": "image", "protection": "complete"], payload: Self.secret)
        try talk.fail(.param, .itemPut, ["name": "a//b"], payload: Self.secret)
        try talk.fail(.param, .itemPut, ["name": "a", "protection": "complete", "accessible": "Always"])
        try talk.fail(.param, .itemPut, ["name": "a", "group": "a b"], payload: Self.secret, knownToDaemon: true)
        try slowly(talk)
        let get = try talk.succeed(.itemGet, ["name": "github.com/token", "offset": 1, "length": 2])
        #expect(get.payload == Array("3c".utf8))
        try withFile(daemon, "w") { try talk.succeed(.itemGet, ["name": "photo"], passing: $0) }
        try withFile(daemon, "w") { try talk.fail(.param, .itemShow, ["name": "photo"], passing: $0) }
        try talk.fail(.itemNotFound, .itemGet, Self.nobody)
        try talk.fail(.dataTooLarge, .itemGet, ["name": "slow"])
        try talk.succeed(.itemShow, ["name": "photo"])
        try talk.fail(.itemNotFound, .itemShow, Self.nobody)
        try talk.succeed(.itemList)
        let page = try talk.succeed(.itemList, ["prefix": "", "store": "file", "limit": 1, "expiringBefore": .null])
        try talk.succeed(.itemList, ["after": .string(try Self.string(page, "next"))])
        try talk.fail(.param, .itemList, ["limit": 1001])
        try talk.succeed(.itemProtect, ["name": "photo", "class": "none"])
        try talk.succeed(.itemProtect, ["name": "photo", "accessible": "WhenUnlocked"])
        try talk.succeed(.itemProtect, ["name": "photo", "class": "complete", "accessible": "WhenUnlocked"])
        try talk.fail(.param, .itemProtect, ["name": "photo"])
        try talk.fail(.param, .itemProtect, ["name": "photo", "class": "none", "accessible": "WhenUnlocked"])
        try talk.succeed(.itemMove, ["name": "photo", "to": "photos/one"])
        try talk.succeed(.itemMove, ["name": "photos/one", "to": "photo", "replace": true])
        try talk.fail(.duplicateItem, .itemMove, ["name": "photo", "to": "github.com/token"])
        try talk.fail(.itemNotFound, .itemMove, ["name": "nobody", "to": "photo"])
        try talk.fail(.param, .itemMove, ["name": "photo"])
        try talk.succeed(.itemList, ["pattern": "gith*/**"])
        try talk.fail(.param, .itemList, ["pattern": ""])
        try talk.succeed(.itemExplain, ["name": "photo", "state": "locked", "as": "uid:1"])
        try talk.succeed(.itemExplain, ["kind": "password"], payload: Self.secret)
        try talk.fail(.param, .itemExplain, ["as": "everybody"])
        try talk.fail(.param, .itemExplain, ["protection": "complete", "accessible": "Always"])
        try talk.succeed(.itemSimulate)
        try talk.succeed(.itemSimulate, ["state": "locked", "as": "uid:1", "limit": 1])
        try talk.fail(.param, .itemSimulate, ["state": "open"])
        try talk.succeed(.vaultBlockers)
        try talk.fail(.param, .vaultBlockers, ["after": -1])
        try talk.succeed(.itemRemove, ["name": "slow"])
        try talk.fail(.itemNotFound, .itemRemove, Self.nobody)
    }

    /// A put that lasts, from a pipe, so that there is progress to tell of.
    private func slowly(_ talk: Conversation) throws {
        let pipe = Pipe()
        let end = pipe.fileHandleForWriting
        let writer = Thread {
            // Progress is reported every 64 chunks at most.
            for _ in 0..<4 {
                try? end.write(contentsOf: Data(repeating: 7, count: 64 * Limits.chunkBytes))
                usleep(150_000)
            }
            try? end.close()
        }
        writer.start()
        let params: JSONObject = ["name": "slow", "asFile": true, "progress": true]
        try talk.succeed(.itemPut, params, passing: pipe.fileHandleForReading.fileDescriptor)
    }

    func withFile(_ daemon: ExampleDaemon, _ mode: String, _ body: (Int32) throws -> Void) throws {
        let path = daemon.folder.appending(path: "file")
        try Data().write(to: path)
        let handle = try FileHandle(forWritingTo: path)
        defer { try? handle.close() }
        try body(handle.fileDescriptor)
    }

    private func keepFiles(_ talk: Conversation, _ daemon: ExampleDaemon) throws {
        let opened = try talk.succeed(
            .fileOpen,
            ["name": "d/e", "access": "readWrite", "create": true, "exclusive": true, "class": "complete", "mode": 384]
        )
        let handle = JSONValue.integer(try Self.integer(opened, "handle"))
        try talk.fail(.duplicateItem, .fileOpen, ["name": "d/e", "access": "write", "create": true, "exclusive": true])
        try talk.fail(.itemNotFound, .fileOpen, Self.nobody)
        try talk.fail(.param, .fileOpen, ["name": "a", "create": true])
        try talk.fail(.param, .fileOpen, ["name": "a", "class": "none"])
        try talk.fail(.param, .fileOpen, ["name": "a", "access": "write", "exclusive": true])
        try talk.fail(.notAvailable, .fileOpen, ["name": "d/e", "access": "write"])
        try talk.fail(.notAvailable, .fileOpen, ["name": "d/e", "access": "write", "shared": true])
        try talk.fail(.param, .fileOpen, ["name": "d/e", "access": "write", "shared": true, "wait": true])
        try talk.succeed(.fileWrite, ["handle": handle], payload: Self.secret)
        try talk.succeed(.fileWrite, ["handle": handle, "offset": 10], payload: Self.secret)
        try talk.succeed(.fileAllocate, ["handle": handle, "offset": 0, "length": 1000])
        try talk.succeed(.fileAllocate, ["handle": handle, "offset": 0, "length": 5000, "keepSize": true])
        try talk.succeed(.filePunch, ["handle": handle, "offset": 900, "length": 100])
        try talk.succeed(.fileExtent, ["handle": handle, "offset": 900])
        try talk.succeed(.fileTruncate, ["handle": handle, "bytes": 12])
        try talk.succeed(.fileSync, ["handle": handle])
        try talk.succeed(.fileSyncTree)
        let read = try talk.succeed(.fileRead, ["handle": handle, "offset": 0, "length": 262144])
        #expect(read.payload == Self.secret + [0, 0, 0, 0] + Self.secret.prefix(2))
        try talk.succeed(.fileRead, ["handle": handle, "offset": 500, "length": 1])
        try talk.fail(.param, .fileRead, ["handle": handle, "offset": 0, "length": 262145])
        try talk.succeed(.fileStat, ["handle": handle])
        try talk.succeed(.fileSetAttributes, ["handle": handle, "mode": 0o600])
        try talk.succeed(.fileClose, ["handle": handle])
        for method in [Method.fileClose, .fileSync, .fileWrite] {
            try talk.fail(.param, method, ["handle": handle], knownToDaemon: true)
        }
        try talk.fail(.param, .fileTruncate, ["handle": handle, "bytes": 0], knownToDaemon: true)
        try talk.fail(.param, .fileAllocate, ["handle": handle, "offset": 0, "length": 0], knownToDaemon: true)
        try withFile(daemon, "w") { try talk.succeed(.fileSalvage, ["name": "d/e"], passing: $0) }
        try talk.fail(.param, .fileSalvage, ["name": "d/e"])
        try withFile(daemon, "w") {
            try talk.fail(.param, .mountServe, ["place": "/mnt"], passing: $0, knownToDaemon: true)
        }
        try talk.fail(.param, .mountServe, ["place": "/mnt"])
        try talk.succeed(.fileMkdir, ["name": "d/f/g", "class": "none", "parents": true])
        try talk.fail(.duplicateItem, .fileMkdir, ["name": "d/e"])
        try talk.succeed(.fileStat, ["name": "d"])
        try talk.succeed(.fileStat, ["name": "d/e"])
        try talk.fail(.itemNotFound, .fileStat, Self.nobody)
        try talk.fail(.param, .fileStat, [:])
        try changeAttributes(talk)
        let page = try talk.succeed(.fileList, ["recursive": true, "limit": 1])
        let cursor = JSONValue.string(try Self.string(page, "cursor"))
        try talk.succeed(.fileList, ["recursive": true, "cursor": cursor])
        try talk.fail(.itemNotFound, .fileList, Self.nobody)
        try talk.succeed(.fileProtect, ["name": "d", "class": "none", "recursive": true, "progress": true])
        try talk.fail(.param, .fileProtect, ["name": "d", "class": "none", "recursive": true, "default": true])
        try talk.fail(.param, .fileProtect, ["name": "d", "class": "none"], knownToDaemon: true)
        try talk.succeed(.fileRename, ["name": "d/e", "to": "d/h"])
        try talk.fail(.itemNotFound, .fileRename, ["name": "d/e", "to": "d/h"])
        try talk.fail(.param, .fileRemove, ["name": "d"], knownToDaemon: true)
        try talk.succeed(.fileRemove, ["name": "d", "recursive": true])
    }

    private func keepSecrets(_ talk: Conversation) throws {
        let anna: JSONObject = [
            "account": "anna", "service": "mail", "label": "l", "generic": "YQ==", "isNegative": false,
        ]
        let whole: JSONObject = [
            "class": "genericPassword", "attributes": .object(anna), "user": ["team": "a"], "history": 5,
            "accessible": "Always", "return": ["attributes", "data", "persistentReference"],
        ]
        let added = try talk.succeed(.keychainAdd, whole, payload: Self.secret)
        #expect(added.payload == Self.secret)
        let reference: JSONObject = ["reference": .string(try Self.string(added, "reference"))]
        try talk.fail(.duplicateItem, .keychainAdd, whole, payload: Self.secret)
        try talk.fail(.param, .keychainAdd, ["class": "identity"])
        try talk.fail(.param, .keychainAdd, ["class": "genericPassword", "generate": "ed25519"])
        try talk.fail(
            .dataTooLarge,
            .keychainAdd,
            ["class": "genericPassword"],
            payload: .init(repeating: 1, count: 32769)
        )
        let mail: JSONObject = ["class": "genericPassword", "attributes": ["service": "mail"]]
        let found = try talk.succeed(.keychainFind, mail)
        #expect(found.payload == Self.secret)
        try talk.succeed(.keychainFind, reference)
        try talk.succeed(
            .keychainFind,
            [
                "class": "genericPassword", "prefix": ["account": "an"], "contains": ["service": "ai"], "limit": "all",
                "sort": "-creationDate", "return": ["attributes", "reference"], "user": ["team": "a"],
            ]
        )
        try talk.fail(.param, .keychainFind, ["class": "genericPassword", "expiringBefore": .null])
        try talk.fail(.param, .keychainFind, ["class": "genericPassword", "attributes": ["account": .null]])
        try talk.fail(.itemNotFound, .keychainFind, ["class": "internetPassword"])
        try talk.fail(.param, .keychainFind, ["attributes": ["account": "anna"]])
        try talk.fail(.param, .keychainFind, ["reference": "a"])
        var beside = reference
        beside.set("attributes", ["account": "anna"])
        try talk.fail(.param, .keychainFind, beside)
        let change: JSONObject = [
            "attributes": ["comment": "c", "label": .null], "user": ["team": .null], "expiryDate": .null,
        ]
        var update = reference
        update.set("set", .object(change))
        try talk.fail(.param, .keychainUpdate, update)
        update.set("set", ["attributes": ["comment": "c", "label": .null, "expiryDate": 5], "user": ["team": .null]])
        try talk.succeed(.keychainUpdate, update, payload: Array("another".utf8))
        try talk.fail(.param, .keychainUpdate, reference, knownToDaemon: true)
        try talk.succeed(.keychainFind, ["class": "genericPassword", "expiringBefore": 6, "return": ["attributes"]])
        try talk.succeed(.itemList, ["expiringBefore": 6])
        let history = try talk.succeed(.keychainHistory, reference)
        let values = try #require(history.result?["values"]?.arrayValue)
        let number = try #require(values.first?.objectValue?["number"])
        var former = reference
        former.set("number", number)
        former.set("return", ["data"])
        #expect(try talk.succeed(.keychainHistory, former).payload == Self.secret)
        try talk.fail(.param, .keychainHistory, ["class": "genericPassword", "return": ["attributes"]])
        former.set("return", .null)
        try talk.fail(.param, .keychainRestore, reference)
        var restore = reference
        restore.set("number", number)
        try talk.succeed(.keychainRestore, restore)
        var emptying = reference
        emptying.set("emptySecret", true)
        try talk.fail(.param, .keychainUpdate, emptying, payload: Array("text".utf8), knownToDaemon: true)
        try talk.succeed(.keychainUpdate, emptying)
        #expect(try talk.succeed(.keychainFind, reference).payload.isEmpty)
        try talk.fail(.param, .keychainDelete, ["class": "internetPassword"])
        try talk.fail(.param, .keychainDelete, ["class": "internetPassword", "prefix": ["account": ""]])
        try talk.fail(.itemNotFound, .keychainDelete, ["class": "internetPassword", "all": true])
        try talk.succeed(.keychainDelete, reference)
        try showWhatIsWanted(talk)
    }

    /// An item with an access control.
    private func showWhatIsWanted(_ talk: Conversation) throws {
        let guarded: JSONObject = [
            "class": "genericPassword", "attributes": ["account": "guarded"],
            "accessControl": ["devicePasscode", "protectWrites"],
        ]
        try talk.succeed(.keychainAdd, guarded, payload: Self.secret)
        try talk.fail(
            .param,
            .keychainAdd,
            ["class": "genericPassword", "accessControl": ["or"]],
            payload: Self.secret,
            knownToDaemon: true
        )
        try talk.fail(.param, .keychainAdd, ["class": "genericPassword", "accessControl": []], payload: Self.secret)
        let query: JSONObject = ["class": "genericPassword", "attributes": ["account": "guarded"]]
        try talk.fail(.interactionRequired, .keychainFind, query)
        try talk.fail(.authFailed, .contextAuthenticate, payload: Array("wrong".utf8))
        try talk.fail(.param, .contextAuthenticate, ["reuse": 301], payload: Self.passcode)
        try talk.succeed(.contextAuthenticate, ["factor": "passcode", "reuse": 60], payload: Self.passcode)
        var shown = query
        shown.set("return", ["attributes", "data"])
        try talk.succeed(.keychainFind, shown)
        try talk.succeed(.contextEnd)
        try talk.fail(.param, .contextEnd, payload: [1])
        try talk.fail(.interactionRequired, .keychainDelete, query)
        let short: JSONObject = ["class": "genericPassword", "attributes": ["account": "short"]]
        try talk.succeed(.keychainAdd, short, payload: [1])
        let several = try talk.succeed(.keychainFind, ["class": "genericPassword", "limit": "all"])
        #expect(try Self.integer(several, "unauthenticatedCount") == 1)
    }

    private func useKeys(_ talk: Conversation) throws {
        let sign: JSONObject = ["class": "key", "attributes": ["label": "s", "keyClass": "private"]]
        try talk.succeed(.keychainAdd, ["class": "key", "attributes": ["label": "s"], "generate": "ed25519"])
        try talk.succeed(.keychainAdd, ["class": "key", "attributes": ["label": "x"], "generate": "x25519"])
        try talk.succeed(.keychainFind, ["class": "key", "limit": 10, "return": ["attributes"]])
        try talk.succeed(.keychainSign, sign, payload: Self.secret)
        try talk.fail(.itemNotFound, .keychainSign, ["class": "key", "attributes": ["label": "nobody"]])
        let exchange: JSONObject = ["class": "key", "attributes": ["label": "x", "keyClass": "private"]]
        let peer = try #require(try talk.succeed(.keychainPublicKey, exchange).result?["publicKey"])
        try talk.fail(.itemNotFound, .keychainPublicKey, ["class": "certificate"])
        var agree = exchange
        agree.set("peer", peer)
        try talk.succeed(.keychainAgree, agree)
        agree.set("peer", "YQ==")
        try talk.fail(.param, .keychainAgree, agree)
        let pem = try String(
            contentsOf: Page.root.appending(path: "Tests/Vectors/keys/ed25519-certificate.pem"),
            encoding: .utf8
        )
        let text = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        let certificate = [UInt8](try #require(Data(base64Encoded: text)))
        try talk.succeed(.keychainAdd, ["class": "certificate"], payload: certificate)
        try talk.succeed(.keychainFind, ["class": "certificate", "return": ["attributes"]])
        try talk.succeed(.keychainPublicKey, ["class": "certificate"])
    }

    private func mend(_ talk: Conversation) throws {
        let first = try talk.succeed(.auditList, ["limit": 2, "since": 0])
        let next = try #require(first.result?["next"])
        let query: JSONObject = [
            "after": next, "item": "nobody", "group": "default", "unit": "a.service", "refused": true,
        ]
        try talk.succeed(.auditList, query)
        try talk.fail(.param, .auditList, ["limit": 1001])
        try talk.succeed(.auditVerify, ["after": 0])
        try talk.fail(.param, .auditVerify, ["after": -1])
        var params: JSONObject = ["repair": true, "quick": false, "progress": true]
        repeat {
            let page = try talk.succeed(.vaultCheck, params)
            params.set("cursor", page.result?["cursor"] ?? .null)
        } while params["cursor"] != .null
        try talk.fail(.param, .vaultCheck, ["cursor": "nobody"], knownToDaemon: true)
        try talk.succeed(.vaultQuarantine)
        try talk.succeed(.vaultQuarantine, ["action": "restore"])
        try talk.fail(.param, .vaultQuarantine, ["action": "discard"])
        try talk.fail(.param, .vaultQuarantine, ["store": "file"])
        try talk.fail(.itemNotFound, .vaultQuarantine, ["action": "discard", "store": "file", "number": 1])
    }

    private func lock(_ talk: Conversation) throws {
        try talk.fail(.param, .vaultLock, ["grace": 11])
        try talk.succeed(.vaultLock, ["grace": 10])
        try talk.succeed(.vaultStatus)
        try talk.succeed(.vaultLock, ["grace": 0])
        try talk.succeed(.vaultStatus)
        try talk.fail(.interactionNotAllowed, .itemGet, ["name": "github.com/token"])
        try talk.succeed(.itemShow, ["name": "github.com/token"])
        try talk.fail(
            .interactionNotAllowed,
            .keychainSign,
            ["class": "key", "attributes": ["label": "s", "keyClass": "private"]]
        )
        try talk.succeed(.keychainFind, ["class": "key", "limit": "all", "return": []])
        try talk.fail(.authFailed, .vaultUnlock, payload: Array("wrong".utf8))
        try talk.fail(
            .param,
            .vaultUnlock,
            ["credential": "recoveryKey"],
            payload: Array("mistyped".utf8),
            knownToDaemon: true
        )
        try talk.succeed(.vaultUnlock, payload: Self.passcode)
    }

    private func changeKeys(_ talk: Conversation) throws {
        try talk.succeed(.slotList)
        let added = try talk.succeed(.slotAdd, ["credential": "passcode"], payload: Self.passcode)
        let slot = JSONValue.integer(try Self.integer(added, "slot"))
        try talk.fail(.param, .slotAdd, ["credential": "recoveryKey"], payload: added.payload)
        try talk.succeed(.slotTest, payload: added.payload)
        try talk.fail(.authFailed, .slotTest, ["credential": "passcode"], payload: Array("wrong".utf8))
        try talk.succeed(.slotRemove, ["slot": slot], payload: Self.passcode)
        try talk.fail(.itemNotFound, .slotRemove, ["slot": slot], payload: Self.passcode)
        try talk.fail(.authFailed, .slotAdd, payload: Array("wrong".utf8))
        let other = Array("another passcode".utf8)
        let both = Self.counted(Self.passcode, other)
        try talk.succeed(.passcodeChange, ["kdf": "interactive", "eraseData": false], payload: both)
        try talk.fail(.authFailed, .passcodeChange, payload: both)
        try talk.fail(.param, .passcodeChange, payload: other, knownToDaemon: true)
        try talk.fail(.duplicateItem, .passcodeSet, payload: other)
        try talk.fail(.param, .passcodeRemove, ["destroys": 5], payload: other, knownToDaemon: true)
        let bound: JSONObject = [
            "class": "internetPassword", "accessible": "WhenPasscodeSetThisDeviceOnly", "attributes": ["server": "a"],
        ]
        try talk.succeed(.keychainAdd, bound, payload: Self.secret)
        try talk.succeed(.passcodeRemove, ["destroys": 1], payload: other)
        try talk.fail(.notAvailable, .passcodeRemove, ["destroys": 0], payload: other)
        try talk.fail(.notAvailable, .vaultLock)
        try talk.succeed(.passcodeSet, ["kdf": "interactive"], payload: Self.passcode)
    }

    private func end(_ talk: Conversation) throws {
        try talk.fail(.param, .slotList, ["slot": 1])
        try talk.fail(.param, .vaultErase)
        try talk.fail(.param, .vaultErase, ["vaultID": "00112233445566778899aabbccddeeff"], knownToDaemon: true)
        try talk.fail(.param, .vaultErase, ["vaultID": "00112233445566778899aabbccddeeff", "whatever": true])
        try talk.fail(.param, .vaultWatch, ["state": 1])
        let vault = JSONValue.string(try Self.string(try talk.succeed(.vaultStatus), "vaultID"))
        try talk.succeed(.vaultErase, ["vaultID": vault])
        try talk.succeed(.vaultStatus)
    }
}
