import CofferCore
import CofferSystem
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Each method in each state of a vault, without a daemon: one request that succeeds when the vault is unlocked.
@Suite struct MethodStateTests {
    private typealias Method = CofferWire.Method

    /// The kind of descriptor that a request passes.
    private enum Passed {
        case file, socket
    }

    /// A request, and the letters of its answers in the order of ``TestState``.
    private struct Row {
        let method: Method
        let params: JSONObject
        let payload: [UInt8]?
        let passing: Passed?
        let letters: String

        init(
            _ method: Method,
            _ letters: String,
            _ params: JSONObject = [:],
            _ payload: [UInt8]? = nil,
            passing: Passed? = nil
        ) {
            self.method = method
            self.params = params
            self.payload = payload
            self.passing = passing
            self.letters = letters
        }
    }

    /// `+` done, `l` locked, `a` not authenticated, `d` there already, `n` not possible now, `p` wrong parameters.
    private static func letter(_ failure: CofferError?) -> Character {
        switch failure?.code {
        case nil: "+"
        case .interactionNotAllowed: "l"
        case .authFailed: "a"
        case .duplicateItem: "d"
        case .notAvailable: "n"
        case .param: "p"
        case .itemNotFound: "m"
        default: "?"
        }
    }

    /// A vault that has one of everything.
    private struct Populated {
        let stepper: Stepper
        private(set) var numbers: [String: JSONValue] = [:]

        init(passcode: String?) throws {
            stepper = try Stepper(passcode: passcode)
            let large = pseudoRandomBytes(70_000)
            for name in ["secret", "old/secret", "gone/secret", "trash/a", "trash/b", "trash/c"] {
                try perform(.itemPut, ["name": .string(name)], [1])
            }
            try perform(.itemPut, ["name": "secret"], [2])
            for name in ["file", "old/file", "gone/file", "d/file", "linked", "versions/file", "moved/file"] {
                try perform(.itemPut, ["name": .string(name), "asFile": true, "keep": 5], large)
            }
            for content in [[3], [4], [5] as [UInt8]] {
                try perform(.itemPut, ["name": "versions/file", "asFile": true], content)
            }
            let attribute: JSONObject = ["name": "file", "attribute": "user.note"]
            try perform(.fileSetExtendedAttribute, attribute, [6])
            let opened = try perform(.fileOpen, ["name": "d/file", "access": "readWrite"])
            numbers["handle"] = opened["handle"]
            for name in ["a", "b", "c"] {
                let removed = try perform(.itemRemove, ["name": .string("trash/\(name)"), "trash": true])
                numbers["trash/\(name)"] = removed["entry"]
            }
            for (label, type) in [("sign", "ed25519"), ("agree", "x25519")] {
                let key: JSONObject = [
                    "class": "key", "attributes": ["label": .string(label)], "generate": .string(type),
                ]
                try perform(.keychainAdd, key)
            }
            for (account, values) in [("kept", [[1], [2]]), ("gone", [[1]] as [[UInt8]])] {
                let item: JSONObject = ["class": "genericPassword", "attributes": ["account": .string(account)]]
                try perform(.keychainAdd, item, values[0])
                for value in values.dropFirst() { try perform(.keychainUpdate, item, value) }
            }
            let rule: JSONObject = ["client": "uid:4711", "verbs": ["read"], "pattern": "site/*"]
            numbers["rule"] = try perform(.accessDeny, rule)["rule"]
            let versions = try perform(.fileVersions, ["name": "versions/file"])["versions"]?.arrayValue
            numbers["version"] = versions?.first?.objectValue?["number"]
            let kept: JSONObject = ["class": "genericPassword", "attributes": ["account": "kept"]]
            let values = try perform(.keychainHistory, kept)["values"]?.arrayValue
            numbers["value"] = values?.first?.objectValue?["number"]
            try perform(.backupRegister, ["repository": "/backup"])
            numbers["vault"] = try perform(.vaultStatus)["vaultID"]
            let secret = passcode.map { Array($0.utf8) }
            numbers["slot"] = try perform(.slotAdd, ["label": "second"], secret)["slot"]
            try stepper.commit()
        }

        @discardableResult
        private func perform(
            _ method: Method,
            _ params: JSONObject = [:],
            _ payload: [UInt8]? = nil
        ) throws -> JSONObject {
            let begun = try stepper.perform(method, params, payload)
            if let failure = begun.failure { throw CofferError(.internal, "\(method.rawValue): \(failure.message)") }
            return begun.result ?? [:]
        }

        subscript(_ name: String) -> JSONValue { numbers[name] ?? .null }
    }

    private static let passcode = Array(DaemonProcess.passcode.utf8)

    /// A request for each method, in an order in which none spoils the next one.
    private static func rows(_ vault: Populated) -> [Row] {
        let handle: JSONObject = ["handle": vault["handle"]]
        func at(_ offset: Int64, _ length: Int64? = nil) -> JSONObject {
            var params = handle
            params.set("offset", .integer(offset))
            if let length { params.set("length", .integer(length)) }
            return params
        }
        func password(_ account: String) -> JSONObject {
            ["class": "genericPassword", "attributes": ["account": .string(account)]]
        }
        var former = password("kept")
        former.set("number", vault["value"])
        func key(_ label: String) -> JSONObject { ["class": "key", "attributes": ["label": .string(label)]] }
        var agreement = key("agree")
        let peer = Data([9] + [UInt8](repeating: 0, count: 31)).base64EncodedString()
        agreement.set("peer", .string(peer))
        let note: JSONObject = ["name": "file", "attribute": "user.note"]
        return [
            Row(.hello, "++++++", ["protocol": 1]),
            Row(.requestCancel, "++++++", ["request": 99]),
            Row(.vaultStatus, "++++++"),
            Row(.vaultWatch, "++++++"),
            Row(.vaultBlockers, "++++++"),
            Row(.vaultCheck, "++++++"),
            Row(.vaultQuarantine, "++++++"),
            Row(.vaultInit, "dddddd", ["noPasscode": true]),
            Row(.entitlementExplain, "++++++"),
            Row(.entitlementList, "++++++"),
            Row(.auditList, "++++++"),
            Row(.auditVerify, "++++++"),
            Row(.accessList, "++++++"),
            Row(.accessAllow, "+l++++", ["client": "uid:0", "verbs": ["read"], "name": "secret"]),
            Row(.accessDeny, "++++++", ["client": "uid:0", "verbs": ["read"], "pattern": "other/*"]),
            Row(.accessRemove, "++++++", ["rule": vault["rule"]]),
            Row(.contextAuthenticate, "n+++++", [:], passcode),
            Row(.contextEnd, "++++++"),
            Row(.slotList, "++++++"),
            Row(.slotTest, "n+++++", ["credential": "passcode"], passcode),
            Row(.slotAdd, "n+++++", [:], passcode),
            Row(.slotRemove, "n+++++", ["slot": vault["slot"]], passcode),

            Row(.itemList, "++++++"),
            Row(.itemShow, "+l++++", ["name": "secret"]),
            Row(.itemGet, "+l++ll", ["name": "secret"]),
            Row(.itemGet, "+l++++", ["name": "file"]),
            Row(.itemExplain, "++++++", ["name": "secret"]),
            Row(.itemSimulate, "++++++"),
            Row(.itemPut, "+l++ll", ["name": "new/secret"], [1]),
            Row(.itemPut, "+l++ll", ["name": "secret"], [3]),
            Row(.itemPut, "+l++ll", ["name": "new/file", "asFile": true], [1]),
            Row(.itemPut, "+l++++", ["name": "file"], [1]),
            Row(.itemProtect, "+l++ll", ["name": "secret", "accessible": "AfterFirstUnlock"]),
            Row(.itemProtect, "+l++ll", ["name": "file", "class": "complete"]),
            Row(.itemMove, "+l++++", ["name": "old/secret", "to": "moved/secret"]),
            Row(.itemMove, "+l++++", ["name": "old/file", "to": "moved/other"]),
            Row(.itemRemove, "+l++++", ["name": "gone/secret"]),
            Row(.itemRemove, "++++++", ["name": "gone/file", "trash": true]),

            Row(.keychainFind, "+l++ll", password("kept")),
            Row(.keychainHistory, "+l++++", password("kept")),
            Row(.keychainRestore, "+l++ll", former),
            Row(.keychainUpdate, "+l++ll", password("kept"), [3]),
            Row(.keychainAdd, "+l++ll", password("new"), [1]),
            Row(.keychainAdd, "dddddd", password("kept"), [1]),
            Row(.keychainDelete, "+l++++", password("gone")),
            Row(.keychainSign, "+l++ll", key("sign"), [1]),
            Row(.keychainAgree, "+l++ll", agreement),
            Row(.keychainPublicKey, "+l++ll", key("sign")),

            Row(.fileSpace, "++++++"),
            Row(.fileStat, "+l++++", ["name": "file"]),
            Row(.fileList, "+l++++", ["name": "d"]),
            Row(.fileRead, "+p++++", at(0, 10)),
            Row(.fileExtent, "+p++++", at(0)),
            Row(.fileWrite, "+p++++", at(0), [1, 2, 3]),
            Row(.fileAllocate, "+p++++", at(0, 10)),
            Row(.filePunch, "+p++++", at(0, 10)),
            Row(.fileTruncate, "+p++++", ["handle": vault["handle"], "bytes": 5]),
            Row(.fileSync, "+p++++", handle),
            Row(.fileSyncTree, "++++++"),
            Row(.fileClose, "+p++++", handle),
            Row(.fileOpen, "+l++++", ["name": "d/file"]),
            Row(.fileOpen, "+l++++", ["name": "d/new", "access": "write", "create": true]),
            Row(.fileSetAttributes, "+l++++", ["name": "file", "mode": 0o600]),
            Row(.fileSetExtendedAttribute, "+l++++", ["name": "file", "attribute": "user.other"], [1]),
            Row(.fileGetExtendedAttribute, "+l++++", note),
            Row(.fileListExtendedAttributes, "+l++++", ["name": "file"]),
            Row(.fileRemoveExtendedAttribute, "+l++++", note),
            Row(.fileMkdir, "++++++", ["name": "made"]),
            Row(.fileSymlink, "++++++", ["name": "d/symlink", "target": "file"]),
            Row(.fileLink, "+l++++", ["name": "linked", "to": "d/link"]),
            Row(.fileVersions, "+l++++", ["name": "versions/file"]),
            Row(.fileRestore, "+l++++", ["name": "versions/file", "version": vault["version"]]),
            Row(.fileKeepVersions, "+l++++", ["name": "versions/file", "keep": 4]),
            Row(.fileRemoveVersions, "+l++++", ["name": "versions/file"]),
            Row(.fileProtect, "+l++++", ["name": "d", "class": "complete", "recursive": true]),
            Row(.fileSalvage, "+l++++", ["name": "versions/file"], passing: .file),
            Row(.fileRename, "+l++++", ["name": "moved/file", "to": "moved/there"]),
            Row(.fileRemove, "++++++", ["name": "linked"]),

            Row(.mountServe, "pppppp", ["place": "/mnt"], passing: .file),

            Row(.trashList, "++++++"),
            Row(.trashRestore, "+l++++", ["entry": vault["trash/a"]]),
            Row(.trashEmpty, "++++++", ["entry": vault["trash/b"]]),
            Row(.trashEmpty, "++++++"),

            Row(.backupStatus, "++++++"),
            Row(.backupRegister, "++++++", ["repository": "/other"]),
            Row(.backupBegin, "++++++"),
            Row(.backupContents, "++++++"),
            Row(.backupRead, "++++++", ["part": "keybag"], passing: .socket),
            Row(.backupSign, "++++++", ["number": 1], [UInt8](repeating: 1, count: 32)),
            Row(.backupEnd, "++++++"),

            Row(.vaultLock, "n+++++"),
            Row(.vaultUnlock, "n+++++", [:], passcode),
            Row(.passcodeSet, "+ddddd", ["kdf": "interactive"], passcode),
            Row(.passcodeChange, "++++++", ["kdf": "interactive"], credentials),
            Row(.passcodeRemove, "++++++", ["destroys": 0], passcode),
            Row(.vaultErase, "++++++", ["vaultID": vault["vault"]]),
        ]
    }

    /// The passcode twice, as `passcode.change` takes a credential and a new passcode.
    private static var credentials: [UInt8] {
        let one = [UInt8(0), UInt8(passcode.count)] + passcode
        return one + one
    }

    @Test(arguments: TestState.allCases)
    func `each method answers in a state as its table says`(state: TestState) throws {
        let vault = try Populated(passcode: state == .noPasscode ? nil : DaemonProcess.passcode)
        try vault.stepper.reach(state)
        let sockets = try UnixSocket.pair()
        let file = try FileHandle(forWritingTo: URL(filePath: vault.stepper.directory.write([], to: "salvaged")))
        let place = try #require(TestState.allCases.firstIndex(of: state))
        for row in Self.rows(vault) {
            let descriptor: Int32? =
                switch row.passing {
                case .socket: sockets.server.number
                case .file: file.fileDescriptor
                case nil: nil
                }
            let begun = try vault.stepper.perform(row.method, row.params, row.payload, passing: descriptor)
            try vault.stepper.commit()
            let expected = Array(row.letters)[place]
            let answer = Self.letter(begun.failure)
            #expect(answer == expected, "\(row.method.rawValue) \(row.params): \(begun.failure?.message ?? "done")")
        }
    }

    @Test func `each method has a row`() throws {
        let rows = Self.rows(try Populated(passcode: nil))
        #expect(Set(rows.map(\.method)) == Set(Method.allCases))
    }
}
