import CofferCore
import CofferHandlers
import CofferKeys
import CofferTestSupport
import CofferVault
import CofferWire
import Testing

/// Items that expire, step by step, by a clock that the tests set.
@Suite struct ExpiryTests {
    private let stepper: Stepper

    init() throws { stepper = try Stepper() }

    private func put(_ name: String, expiring date: Int64?, _ count: Int = 1) throws {
        var params: JSONObject = ["name": .string(name)]
        if let date { params.set("attributes", ["expiryDate": .integer(date)]) }
        let put = try stepper.perform(.itemPut, params, [UInt8](repeating: 1, count: count))
        #expect(put.failure == nil, "\(put.failure?.message ?? "")")
    }

    private struct Followed: Equatable {
        let reported: [String]
        let wait: Int64?

        init(_ reported: [String], wait: Int64?) {
            self.reported = reported
            self.wait = wait
        }
    }

    /// What is reported at a time, and how long the next report takes.
    private func follow(at now: Int64) -> Followed {
        var reported: [String] = []
        while true {
            let (expired, wait) = stepper.handlers.item.followExpiry(isWanted: true, at: now)
            reported += expired.map { "\($0.kind.rawValue) \($0.store.rawValue) \($0.name ?? "") in \($0.group)" }
            guard let chore = stepper.beginChore() else { return Followed(reported, wait: wait) }
            chore.finish()
            #expect(chore.failure == nil)
        }
    }

    @Test func `an item is reported once, when its date has passed, and the time until the next one is known`() throws {
        for (name, date) in [("old", 100), ("a", 5000), ("b", 9000), ("c", nil)] as [(String, Int64?)] {
            try put(name, expiring: date)
        }
        #expect(follow(at: 1000) == Followed([], wait: 4001))
        #expect(follow(at: 5000) == Followed([], wait: 1), "it is not over before the next millisecond")
        #expect(follow(at: 5001) == Followed(["expired keychain a in default"], wait: 4000))
        #expect(follow(at: 6000) == Followed([], wait: 3001))
        #expect(follow(at: 20_000) == Followed(["expired keychain b in default"], wait: nil))
        #expect(follow(at: 30_000) == Followed([], wait: nil))
    }

    @Test func `what is stored, changed or restored meanwhile is followed, and what is removed is not`() throws {
        #expect(follow(at: 1000) == Followed([], wait: nil))
        try put("a", expiring: 9000)
        #expect(follow(at: 1000) == Followed([], wait: 8001))
        try put("a", expiring: 3000)
        try put("b", expiring: 3000)
        #expect(follow(at: 1000) == Followed([], wait: 2001))
        let removed = try stepper.perform(.itemRemove, ["name": "a", "trash": true])
        let entry = try #require(removed.result?["entry"])
        #expect(follow(at: 3500) == Followed(["expired keychain b in default"], wait: nil))
        try put("b", expiring: 4000)
        #expect(try stepper.perform(.trashRestore, ["entry": entry]).failure == nil)
        #expect(follow(at: 3600) == Followed([], wait: 401), "the date of what came back was over before")
        #expect(follow(at: 4001) == Followed(["expired keychain b in default"], wait: nil))
        try put("c", expiring: 9000)
        try put("b", expiring: 500)
        #expect(follow(at: 4002) == Followed([], wait: 4999))
    }

    @Test func `many items are reported, of all groups, and a secret that has become a file as well`() throws {
        for number in 0..<1200 { try put("s/\(number)", expiring: number < 1100 ? 2000 : 3000) }
        try put("large", expiring: 2000)
        try put("large", expiring: nil, 40_000)
        let other: JSONObject = ["name": "x", "group": "other", "attributes": ["expiryDate": 2000]]
        #expect(try stepper.perform(.itemPut, other, [1]).failure == nil)
        #expect(follow(at: 1000) == Followed([], wait: 1001))
        let followed = follow(at: 2001)
        #expect(followed.reported.count == 1102 && followed.wait == 1000)
        #expect(followed.reported.contains("expired file large in default"))
        #expect(followed.reported.contains("expired keychain x in other"))
    }

    @Test func `without a client that watches, nothing is searched, and nothing is reported afterwards`() throws {
        try put("a", expiring: 2000)
        let (expired, wait) = stepper.handlers.item.followExpiry(isWanted: false, at: 1000)
        #expect(expired.isEmpty && wait == nil)
        #expect(stepper.shared.chores.isEmpty)
        #expect(follow(at: 2500) == Followed([], wait: nil))
    }

    @Test func `before the first unlock nothing is reported, and after it what has expired meanwhile`() throws {
        try put("a", expiring: 2000)
        try put("b", expiring: 8000)
        #expect(follow(at: 1000) == Followed([], wait: 1001))
        stepper.lock()
        #expect(follow(at: 1500) == Followed([], wait: 501), "locked, names can be read")
        stepper.vault.openKeys?.forget()
        #expect(follow(at: 5000) == Followed([], wait: nil))
        let passcode = Array(DaemonProcess.passcode.utf8)
        #expect(try stepper.perform(.vaultUnlock, [:], passcode).failure == nil)
        #expect(follow(at: 6000) == Followed(["expired keychain a in default"], wait: 2001))
    }

    @Test func `a search of the daemon is no use of the vault, and hides none`() throws {
        try put("a", expiring: 2000)
        let keys = try #require(stepper.vault.openKeys)
        _ = keys.takeUse()
        #expect(follow(at: 3000) == Followed([], wait: nil))
        #expect(!keys.takeUse())
        keys.noteUse()
        try put("b", expiring: 4000)
        #expect(follow(at: 5000) == Followed(["expired keychain b in default"], wait: nil))
        #expect(keys.takeUse())
    }

    @Test func `a search that fails is repeated a minute later`() throws {
        try put("a", expiring: 2000)
        #expect(follow(at: 1000) == Followed([], wait: 1001))
        #expect(stepper.handlers.item.followExpiry(isWanted: true, at: 3000).wait == nil)
        let chore = try #require(stepper.beginChore())
        chore.call.cancel()
        chore.finish()
        #expect(chore.failure != nil)
        #expect(follow(at: 3000) == Followed([], wait: Limits.expiryRetryMilliseconds + 1))
        let again = 3001 + Limits.expiryRetryMilliseconds
        #expect(follow(at: again) == Followed(["expired keychain a in default"], wait: nil))
    }
}
