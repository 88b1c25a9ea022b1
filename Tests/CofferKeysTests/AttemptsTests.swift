import CofferCore
import CofferKeys
import CofferSystem
import CofferTestSupport
import Foundation
import Testing

private let second: UInt64 = 1_000_000_000

/// Section 7 of the semantics, in its own words.
private let oracle =
    "Failures 1–3 no delay; then 4: 1 min, 5: 5 min, 6: 15 min, 7: 1 h, 8: 3 h, 9: 8 h, 10: no more attempts"

/// The delay after a number of wrong passcodes; `nil` where no more are taken.
private struct Row: Sendable, CustomTestStringConvertible {
    let failures: Int
    let seconds: Int?

    var testDescription: String { "\(failures) wrong" }

    static let all: [Row] = {
        let units = ["min": 60, "h": 3600]
        let steps = oracle.split(separator: "then ")[1].split(separator: ", ").map { step in
            let parts = step.split(separator: ": ")
            let words = parts[1].split(separator: " ")
            return Row(
                failures: Int(parts[0]) ?? 0,
                seconds: words[0] == "no"
                    ? nil
                    : units[String(words[1])].map { unit in
                        unit * (Int(words[0]) ?? 0)
                    }
            )
        }
        return (0...3).map { Row(failures: $0, seconds: 0) } + steps
    }()
}

/// The file `attempts` after each number of wrong passcodes, made once.
private enum Counted {
    static let files = Result {
        let vault = try Vault()
        let keys = try vault.open()
        var files: [[UInt8]?] = [vault.temporary.contents("attempts")]
        var now: UInt64 = 0
        for number in 1...10 {
            let error = keys.refusal(of: try .passcode("wrong \(number)"), at: now)
            guard error?.code == .authFailed, keys.failedAttempts == number else { throw POSIXError(.EIO) }
            files.append(vault.temporary.contents("attempts"))
            now += 100_000 * second
        }
        return files
    }

    static func vault(after failures: Int) throws -> Vault {
        let vault = try Vault()
        if let file = try files.get()[failures] { try vault.temporary.write(file, to: "attempts") }
        return vault
    }
}

@Suite struct `Wrong passcodes` {
    @Test func `are followed by the delays of section 7`() {
        #expect(Row.all.map(\.failures) == Array(0...10))
        #expect(Row.all.map(\.seconds) == [0, 0, 0, 0, 60, 300, 900, 3600, 10_800, 28_800, nil])
    }

    @Test(arguments: Row.all)
    private func `are on the disk, and a restart starts the delay again`(row: Row) throws {
        let vault = try Counted.vault(after: row.failures)
        let start = 5_000_000 * second
        let keys = try #require(try VaultKeys.find(in: vault.directory, at: start))
        #expect(keys.failedAttempts == row.failures)
        #expect(keys.attemptsEnded == (row.seconds == nil))
        guard let seconds = row.seconds else {
            #expect(keys.secondsToNextAttempt(at: start) == nil)
            for now in [0, start, .max] {
                let error = keys.refusal(of: try .passcode(Template.passcode), at: now)
                #expect(error?.code == .authFailed)
                #expect(error?.retry == .never, "also the right one, at any time")
            }
            return
        }
        #expect(keys.secondsToNextAttempt(at: start) == (seconds == 0 ? nil : seconds))
        if seconds > 0 {
            let early: [(now: UInt64, left: Int)] = [
                (start, seconds), (start + 1, seconds), (start + second, seconds - 1),
                (start + UInt64(seconds) * second - 1, 1), (start - 1000 * second, seconds + 1000),
                (0, seconds + 5_000_000),
            ]
            for (now, left) in early {
                let error = keys.refusal(of: try .passcode(Template.passcode), at: now)
                #expect(error?.code == .authFailed, "the right one, too")
                #expect(error?.retry == .afterDelay(seconds: left), "an earlier time gains nothing")
            }
            #expect(keys.failedAttempts == row.failures, "what was not taken does not count")
        }
        let end = start + UInt64(seconds) * second
        #expect(keys.secondsToNextAttempt(at: end) == nil)
        #expect(keys.secondsToNextAttempt(at: .max) == nil)
        let error = keys.refusal(of: try .passcode(Template.passcode), at: end)
        #expect(error == nil)
        #expect(keys.failedAttempts == 0)
        #expect(try vault.open().failedAttempts == 0, "a right one clears the count, on the disk as well")
    }

    @Test func `say the delay that they have caused`() throws {
        for row in Row.all.dropFirst() {
            let vault = try Counted.vault(after: row.failures - 1)
            let keys = try vault.open()
            let now = 10_000_000 * second
            let error = keys.refusal(of: try .passcode("another wrong one"), at: now)
            let retry: CofferError.Retry =
                if let seconds = row.seconds, seconds > 0 { .afterDelay(seconds: seconds) } else { .never }
            #expect(error?.code == .authFailed)
            #expect(error?.retry == retry, "\(row.failures)")
            #expect(keys.secondsToNextAttempt(at: now) == (row.seconds == 0 ? nil : row.seconds))
        }
    }

    @Test func `count once each, also with others in between and after a restart`() throws {
        let vault = try Vault()
        var keys = try vault.open()
        for (typed, count) in [("a", 1), ("a", 1), ("b", 2), ("a", 2), ("b", 2), ("a\0", 3)] {
            #expect(try keys.attempt(typed) == .authFailed)
            #expect(keys.failedAttempts == count, "\(typed)")
            keys = try vault.open()
            #expect(keys.failedAttempts == count)
        }
        let records = try vault.storedAttempts()
        #expect(records.latest.count == 2 + 3 * 32)
        #expect(try keys.attempt(Template.passcode) == nil)
        #expect(try keys.attempt("a") == .authFailed)
        #expect(keys.failedAttempts == 1, "after a right one everything counts again")
    }

    @Test func `of another vault, or on another machine, count as nine`() throws {
        let file = try #require(try Counted.files.get()[2])
        let vault = try Vault(hasPasscode: true, hasRecoveryKey: true)
        try vault.temporary.write(file, to: "attempts")
        let keys = try vault.open()
        #expect(keys.failedAttempts == 9)
        #expect(keys.secondsToNextAttempt(at: 0) == 28_800)
    }

    @Test func `leave a recovery key its way in, which clears nothing`() throws {
        let vault = try Vault(hasRecoveryKey: true)
        let keys = try vault.open()
        for number in 1...4 { #expect(try keys.attempt("wrong \(number)") == .authFailed) }
        #expect(keys.secondsToNextAttempt(at: 0) == 60)
        let opened = try keys.show(.recoveryKey(vault.recoveryKey), at: 0)
        #expect(opened.slot == 2)
        #expect(keys.failedAttempts == 4)
        #expect(try vault.open().failedAttempts == 4)
        let change = try KeybagChange.passcode("another")
        #expect(keys.refusal(of: try .recoveryKey(vault.recoveryKey), change) == nil)
        #expect(keys.failedAttempts == 0, "a new passcode does")
        #expect(try vault.open().failedAttempts == 0)
        #expect(try keys.attempt("another") == nil)
    }
}

/// Ten wrong ones in a vault with a recovery key.
@Suite struct `After the tenth wrong passcode` {
    private let vault: Vault
    private let keys: VaultKeys

    init() throws {
        vault = try Vault(hasRecoveryKey: true)
        keys = try vault.open()
        for number in 0..<10 {
            _ = keys.refusal(of: try .passcode("wrong \(number)"), at: UInt64(number) * 100_000 * second)
        }
    }

    @Test func `a recovery key sets a new passcode, which is taken`() throws {
        #expect(keys.attemptsEnded)
        let error = keys.refusal(of: try .passcode(Template.passcode), at: .max)
        #expect(error?.retry == .never)
        let change = try KeybagChange.passcode("another")
        #expect(keys.refusal(of: try .recoveryKey(vault.recoveryKey), change) == nil)
        #expect(!keys.attemptsEnded)
        #expect(try vault.open().attempt("another") == nil)
    }

    @Test func `a recovery key takes the passcode away, and another can be set`() throws {
        #expect(keys.refusal(of: try .recoveryKey(vault.recoveryKey), .removingPasscode()) == nil)
        #expect(keys.state == .noPasscode)
        #expect(keys.failedAttempts == 0)
        let reopened = try vault.open()
        #expect(reopened.failedAttempts == 0)
        let change = try KeybagChange.passcode("another")
        #expect(reopened.refusal(of: .nothing, change) == nil)
        #expect(try reopened.attempt("another") == nil)
    }
}

@Suite struct `The erase that the tenth wrong passcode is to bring` {
    private static func vault(erasing: Bool) throws -> Vault {
        let vault = try Vault(hasPasscode: false, hasRecoveryKey: true)
        let change = KeybagChange.passcode(try NewPasscode(cheap: Template.passcode), erasesData: erasing)
        #expect(try vault.open().refusal(of: .nothing, change) == nil)
        return vault
    }

    private static func guess(_ vault: Vault, _ count: Int, from start: Int = 0) throws -> VaultKeys {
        let keys = try vault.open()
        for number in 0..<count {
            let now = UInt64(number + 1) * 100_000 * second
            #expect(keys.refusal(of: try .passcode("wrong \(start + number)"), at: now)?.code == .authFailed)
        }
        return keys
    }

    @Test(arguments: [true, false])
    func `is due from the tenth on, also after a restart, where it is turned on`(isOn: Bool) throws {
        let vault = try Self.vault(erasing: isOn)
        #expect(try !Self.guess(vault, 9).hasErasureDue)
        #expect(try Self.guess(vault, 1, from: 9).hasErasureDue == isOn)
        #expect(try vault.open().hasErasureDue == isOn)
    }

    @Test func `is not due where a guess was cut off, as that may have been the right one`() throws {
        for cut in [0, 9] {
            let vault = try Self.vault(erasing: true)
            _ = try Self.guess(vault, cut)
            let keys = try vault.open(sabotagedBy: Saboteur(failing: 3, forGood: true))
            // What is stored before the guess is made is all that there is after a kill.
            let error = keys.refusal(of: try .passcode("cut off"), at: 100_000 * second)
            #expect(error?.code == .authFailed)
            let reopened = try Self.guess(vault, 9 - cut, from: cut)
            #expect(reopened.attemptsEnded)
            #expect(!reopened.hasErasureDue)
            #expect(try !vault.open().hasErasureDue)
        }
    }

    /// Ten wrong ones, and a recovery key that sets a passcode and turns the erase on.
    @Test func `is not due for a new passcode, whatever interrupts its setting`() throws {
        let template = try Self.vault(erasing: false)
        _ = try Self.guess(template, 10)
        var outcomes: Set<String> = []
        for step in 1...100 {
            let vault = try Vault(hasPasscode: false, hasRecoveryKey: true)
            for name in ["attempts", "keybag"] {
                try vault.temporary.write(try #require(template.temporary.contents(name)), to: name)
            }
            let saboteur = Saboteur(failing: step, forGood: true)
            let keys = try vault.open(sabotagedBy: saboteur)
            let change = KeybagChange.passcode(try NewPasscode(cheap: "another"), erasesData: true)
            let error = keys.refusal(of: try .recoveryKey(vault.recoveryKey), change)
            let reopened = try vault.open()
            #expect(!reopened.hasErasureDue, "step \(step)")
            #expect(
                reopened.attemptsEnded || reopened.erasesData,
                "step \(step): no guess at the old one is given back"
            )
            outcomes.insert("\(reopened.erasesData) \(reopened.failedAttempts) \(error == nil)")
            if !saboteur.hasStruck { break }
        }
        #expect(outcomes == ["false 10 false", "true 10 false", "true 10 true", "true 0 true"])
    }
}

@Suite struct `A refused passcode` {
    @Test(arguments: [true, false])
    func `is offered a recovery key only if the vault has one`(hasRecoveryKey: Bool) throws {
        for failures in 4...10 {
            let vault = try Vault(hasPasscode: false, hasRecoveryKey: hasRecoveryKey)
            #expect(try vault.open().refusal(of: .nothing, .passcode("a")) == nil)
            let keys = try vault.open()
            for number in 1...failures {
                let now = UInt64(number) * 100_000 * second
                let error = keys.refusal(of: try .passcode("wrong \(number)"), at: now)
                guard number == failures else { continue }
                let promises = error?.hint?.contains("recovery key at any time") ?? false
                let points = error?.hint?.contains("--recovery-key") ?? false
                #expect((promises || points) == hasRecoveryKey, "\(failures)")
            }
        }
    }
}

@Suite struct `The count of passcode attempts` {
    private static let storeSteps = 2

    @Test(arguments: [Template.passcode, "wrong"])
    func `is synced before a guess is made, which is not made otherwise`(passcode: String) throws {
        for step in 1...Self.storeSteps {
            let vault = try Vault()
            let saboteur = Saboteur(failing: step)
            let keys = try vault.open(sabotagedBy: saboteur)
            let error = keys.refusal(of: try .passcode(passcode))
            #expect(error?.code == .diskFull, "step \(step)")
            #expect(keys.failedAttempts == 0)
            #expect(try vault.open().failedAttempts == 0, "step \(step)")
        }
    }

    @Test func `never misses a wrong guess, whichever write fails`() throws {
        var guessed = 0
        for step in 1...100 {
            let vault = try Vault()
            let saboteur = Saboteur(failing: step)
            let keys = try vault.open(sabotagedBy: saboteur)
            let code = try keys.attempt("wrong")
            #expect(code == (step <= Self.storeSteps ? .diskFull : .authFailed), "step \(step)")
            if step > Self.storeSteps {
                guessed += 1
                #expect(keys.failedAttempts == 1)
                #expect(try vault.open().failedAttempts == 1, "step \(step)")
            }
            if !saboteur.hasStruck { break }
        }
        #expect(guessed == Self.storeSteps + 1)
    }

    @Test func `lets a person in who knows the passcode, whichever later write fails`() throws {
        for step in (Self.storeSteps + 1)...(2 * Self.storeSteps + 1) {
            let vault = try Vault()
            let saboteur = Saboteur(failing: step)
            let keys = try vault.open(sabotagedBy: saboteur)
            #expect(try keys.attempt(Template.passcode) == nil, "step \(step)")
            #expect(keys.failedAttempts == 0)
        }
    }

    @Test(arguments: [UInt8(0x01), 0x80, 0xFF])
    func `outlives a change of one slot, and is damaged by one of both; a recovery key opens then, too`(
        mask: UInt8
    ) throws {
        let vault = try Vault(hasRecoveryKey: true)
        _ = try vault.open().attempt("wrong")
        let whole = try #require(vault.temporary.contents("attempts"))
        // The slots have as many bytes as their tags: those of the one with a guess tag are 32 more.
        for place in 0..<(20 + 2 + 32) {
            for slot in 0..<2 {
                var changed = whole
                changed[slot * 4096 + place] ^= mask
                try vault.temporary.write(changed, to: "attempts")
                #expect(try vault.open().failedAttempts == 1, "byte \(place) of slot \(slot)")
            }
            var changed = whole
            for slot in 0..<2 { changed[slot * 4096 + place] ^= mask }
            try vault.temporary.write(changed, to: "attempts")
            let keys = try vault.open()
            #expect(keys.failedAttempts == 9, "byte \(place)")
            let error = keys.refusal(of: try .passcode(Template.passcode))
            #expect(error?.retry == .afterDelay(seconds: 28_800), "byte \(place)")
            #expect(error?.message.contains("a damaged count") ?? false)
            #expect(vault.temporary.contents("attempts") == changed, "nothing is put in its place")
            let refusal = keys.refusal(of: try .recoveryKey(vault.recoveryKey))
            #expect(refusal == nil)
        }
    }

    @Test(arguments: [Template.passcode, "wrong"])
    func `leaves one guess where it is damaged, after the delay`(passcode: String) throws {
        let vault = try Vault(hasRecoveryKey: true)
        try vault.temporary.write(Array("COFFERAT and more".utf8), to: "attempts")
        let keys = try vault.open()
        let isRight = passcode == Template.passcode
        let error = keys.refusal(of: try .passcode(passcode), at: 28_800 * second)
        #expect(error?.code == (isRight ? nil : .authFailed))
        #expect(keys.failedAttempts == (isRight ? 0 : 10))
        #expect(try vault.open().failedAttempts == (isRight ? 0 : 10))
    }

    @Test func `is damaged where something else is in its place`() throws {
        let vault = try Vault(hasRecoveryKey: true)
        _ = try vault.directory.subdirectory("attempts")
        let keys = try vault.open()
        #expect(keys.failedAttempts == 9)
        #expect(keys.refusal(of: try .recoveryKey(vault.recoveryKey)) == nil)
    }

    // In a process of its own, whose memory is limited.
    @Test func `does not count a guess that there is no memory for`() async {
        await #expect(processExitsWith: .success) {
            let vault = try Vault()
            // The passcode is stretched in 64 MiB.
            let change = try KeybagChange.passcode(Template.passcode, cost: .interactive)
            let refusal = try vault.open().refusal(of: try .passcode(Template.passcode), change)
            try #require(refusal == nil)
            let keys = try vault.open()
            _ = try keys.attempt("wrong")
            let before = try vault.storedAttempts().latest
            let status = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
            let pages = try #require(rlim_t(status.split(separator: " ")[0]))
            var limit = rlimit()
            try #require(getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
            let unlimited = limit
            limit.rlim_cur = pages * 4096 + (32 << 20)
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
            let error = keys.refusal(of: try .passcode(Template.passcode))
            limit = unlimited
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
            #expect(error?.code == .io)
            #expect(error?.message == "there is not enough memory to stretch the passcode (64 MiB)")
            #expect(keys.failedAttempts == 1)
            #expect(try vault.storedAttempts().latest == before)
            #expect(try keys.attempt("wrong") == .authFailed)
            #expect(keys.failedAttempts == 1, "it is told again")
        }
    }

    @Test func `is named in the error if it can't be stored`() throws {
        func message(_ credential: consuming GivenCredential, _ vault: Vault, failing step: Int) throws -> String? {
            let keys = try vault.open(sabotagedBy: Saboteur(failing: step))
            return keys.refusal(of: credential, try .passcode("another"))?.message
        }
        let guess = try message(.passcode(Template.passcode), try Vault(), failing: 1)
        #expect(guess?.hasPrefix("can't count the attempt, so it is not made: ") ?? false)
        let change = try message(.nothing, try Vault(hasPasscode: false), failing: 1)
        #expect(change?.hasPrefix("can't store the keybag: ") ?? false)
    }

    @Test func `is not taken for none at another length, and comes back with a new passcode`() throws {
        let vault = try Vault(hasRecoveryKey: true)
        _ = try vault.open().attempt("wrong")
        let whole = try #require(vault.temporary.contents("attempts"))
        let counts = Array(0...100) + [4095, 4096, 4097, 4150, whole.count - 1]
        for bytes in counts.map({ Array(whole.prefix($0)) }) + [whole + [0], whole + whole] {
            try vault.temporary.write(bytes, to: "attempts")
            #expect(try vault.open().failedAttempts == 9, "\(bytes.count) bytes")
        }
        let keys = try vault.open()
        let change = try KeybagChange.passcode("another")
        #expect(keys.refusal(of: try .recoveryKey(vault.recoveryKey), change) == nil)
        #expect(try vault.open().attempt("another") == nil)
    }

    @Test func `is none where its file is missing, as who can remove it could put an older one back as well`() throws {
        let vault = try Counted.vault(after: 9)
        try vault.temporary.remove("attempts")
        let keys = try vault.open()
        #expect(keys.failedAttempts == 0)
        #expect(try keys.attempt(Template.passcode) == nil)
    }

    @Test func `says nothing of the passcodes without the device key`() throws {
        let one = try Vault()
        let other = try Vault(hasPasscode: true, hasRecoveryKey: true)
        let tags = try [one, other].map { vault in
            _ = try vault.open().attempt("the same wrong one")
            return Array(try vault.storedAttempts().latest.suffix(32))
        }
        #expect(tags[0] != tags[1])
    }
}
