import CofferCore
import CofferTestSupport
import CofferWire
import Testing

/// Numbers that a client may send, or that lie on the disk: none of them ends the daemon.
@Suite struct NumberTests {
    @Test(arguments: [Int64.min, -1, 0, 1, .max])
    func `a backup may have been completed at any time`(time: Int64) throws {
        let stepper = try Stepper()
        let repository: JSONObject = ["repository": "/backup", "warnAfter": 1]
        #expect(try stepper.perform(.backupRegister, repository).failure == nil)
        try stepper.commit()
        #expect(try stepper.perform(.backupBegin).failure == nil)
        let digest = [UInt8](repeating: 7, count: Limits.snapshotDigestBytes)
        let signed = try stepper.perform(.backupSign, ["number": .integer(.max)], digest)
        #expect(signed.failure == nil)
        #expect(try stepper.perform(.backupEnd).failure == nil)
        var newest = repository
        newest.set("newest", .integer(.max))
        newest.set("completed", .integer(time))
        let registered = try stepper.perform(.backupRegister, newest, digest + signed.payload)
        #expect(registered.failure == nil)
        let status = try stepper.perform(.vaultStatus)
        #expect(status.failure == nil && (status.result?["backupDueSeconds"]?.integerValue ?? 0) >= 0)
        #expect(try stepper.perform(.backupStatus).failure == nil)
    }

    @Test(
        arguments: CheckStage.allCases.flatMap { stage in
            ["", "0", "-1", "\(Int64.min)", "\(Int64.max)"].flatMap { number in
                ["", ":kept", ":" + String(repeating: "f", count: 32)].map { "\(stage.rawValue):\(number)\($0)" }
            }
        }
    )
    func `a check goes on at any place, or refuses it`(cursor: String) throws {
        let checked = try Stepper(passcode: nil).perform(.vaultCheck, ["cursor": .string(cursor)])
        #expect(checked.failure == nil || checked.failure?.code == .param, "\(checked.failure?.message ?? "")")
    }

    /// Of the attributes of an Internet password some are of its primary key, and are compared before their size is.
    @Test(arguments: [
        "account", "server", "path", "securityDomain", "protocol", "authenticationType", "label", "comment",
    ])
    func `an attribute that is too long is refused, and looked for in vain`(attribute: String) throws {
        let stepper = try Stepper()
        let item: JSONObject = ["class": "internetPassword", "attributes": ["server": "site"]]
        #expect(try stepper.perform(.keychainAdd, item, [1]).failure == nil)
        var long = JSONObject()
        long.set(attribute, .string(String(repeating: "x", count: 70_000)))
        let params: JSONObject = ["class": "internetPassword", "attributes": .object(long)]
        #expect(try stepper.perform(.keychainAdd, params, [1]).failure?.code == .dataTooLarge)
        #expect(try stepper.perform(.keychainFind, params).failure?.code == .itemNotFound)
        var change = item
        change.set("set", ["attributes": .object(long)])
        #expect(try stepper.perform(.keychainUpdate, change).failure?.code == .dataTooLarge)
    }

    @Test func `a name of an attribute that is too long for a file is refused`() throws {
        let stepper = try Stepper()
        for count in [300, 70_000] {
            var user = JSONObject()
            user.set(String(repeating: "x", count: count), "value")
            let params: JSONObject = ["name": "a", "store": "file", "user": .object(user)]
            #expect(try stepper.perform(.itemPut, params, [1]).failure?.code == .dataTooLarge)
        }
        #expect(try stepper.perform(.itemPut, ["name": "a", "store": "file"], [1]).failure == nil)
    }

    @Test func `a symbolic link has no class, and a change of all in a directory passes over it`() throws {
        let stepper = try Stepper()
        #expect(try stepper.perform(.fileMkdir, ["name": "d"]).failure == nil)
        #expect(try stepper.perform(.itemPut, ["name": "d/f", "store": "file"], [1]).failure == nil)
        #expect(try stepper.perform(.fileSymlink, ["name": "d/l", "target": "f"]).failure == nil)
        for more: JSONObject in [[:], ["recursive": true]] {
            var params: JSONObject = ["name": "d/l", "class": "complete"]
            for (key, value) in more.members { params.set(key, value) }
            let refused = try stepper.perform(.fileProtect, params).failure
            #expect(refused?.code == .param && refused?.reason == .notSupported, "\(more)")
        }
        let done = try stepper.perform(.fileProtect, ["name": "d", "class": "complete", "recursive": true])
        // The file, and what new files get.
        #expect(done.result?["changed"] == 2 && done.result?["unchangedCount"] == 0, "\(done.failure?.message ?? "")")
        #expect(try stepper.perform(.fileStat, ["name": "d/f"]).result?["class"] == "complete")
    }
}
