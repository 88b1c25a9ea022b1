import CofferCore
import CofferCrypto
import CofferKeys
import CofferSystem
import CofferTestSupport
import Foundation
import Testing

/// The tables of `proto-docs/KEYS.md`, and the strings of it and of `FORMATS.md`.
@Suite struct KeysPageTests {
    private let page: Page

    init() throws { page = try Page("KEYS.md") }

    @Test func `every class key is in the table, with its code and what wraps it`() throws {
        let rows = try page.table(["key", "code", "wrapped by", "protects"])
        let expected = ClassKeyName.allCases.map { name in
            ["`\(name)`", "\(name.rawValue)", Self.wrappers(of: name)]
        }
        let found = rows.map { Array($0.prefix(3)) }
        #expect(found == expected)
    }

    private static func wrappers(of name: ClassKeyName) -> String {
        switch (name.isHeldByDeviceKey, name.isThisDeviceOnly) {
        case (true, true): "device key"
        case (true, false): "keybag key, device key"
        case (false, true): "both together"
        case (false, false): "keybag key"
        }
    }

    @Test func `every class and accessibility stands beside its key`() throws {
        let rows = try page.table(["key", "code", "wrapped by", "protects"])
        let protected = Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[3].quotedWords.first ?? "") })
        for protectionClass in ProtectionClass.allCases {
            #expect(protected["`\(ClassKeyName(protectionClass))`"] == protectionClass.rawValue)
        }
        for accessibility in Accessibility.allCases {
            #expect(protected["`\(ClassKeyName(accessibility))`"] == accessibility.rawValue)
        }
    }

    @Test func `every cost of a guess is in the table`() throws {
        let rows = try page.table(["cost", "passes", "memory KiB", "about"])
        let expected = PasscodeCost.allCases.map { ["`\($0.rawValue)`", "\($0.operations)", "\($0.memoryKiB)"] }
        let found = rows.map { Array($0.prefix(3)) }
        #expect(found == expected)
        for bound in [KeyDerivation.acceptedMemoryKiB.lowerBound, KeyDerivation.acceptedMemoryKiB.upperBound] {
            #expect(page.text.contains("\(bound)"))
        }
    }

    @Test func `the table of keyslots has every kind, with the code that the keybag has`() throws {
        let rows = try page.table(["kind", "code", "needs"])
        #expect(rows.map { $0[0] } == KeyslotKind.allCases.map { "`\($0.rawValue)`" })
        var codes: [KeyslotKind: String] = [:]
        for passcode in [nil, "correct horse"] {
            let temporary = try TemporaryDirectory()
            let directory = try Directory(makingPath: temporary.path)
            let recoveryKey = try NewRecoveryKey()
            _ = try VaultKeys.create(in: directory, passcode: passcode, recoveryPublicKey: recoveryKey.publicKey)
            let slots = try #require(try VaultKeys.find(in: directory)).slots
            let keybag = try #require(temporary.contents("keybag"))
            // Two slots, from the offset that FORMATS.md gives them: number, kind, length, body.
            let second = 148 + Int(keybag[146]) * 256 + Int(keybag[147])
            for (slot, offset) in zip(slots, [144, second]) {
                #expect(Int(keybag[offset]) == slot.number)
                codes[slot.kind] = "\(keybag[offset + 1])"
            }
        }
        let expected = KeyslotKind.allCases.map { codes[$0] }
        let found = rows.map { Optional($0[1]) }
        #expect(found == expected)
    }

    @Test func `the table of attempts says how long each wrong passcode makes the next one wait`() throws {
        let numbers = (1...Limits.passcodeAttempts).map { "\($0)" }
        let row = try #require(try page.table(["wrong passcodes"] + numbers).first)
        let vault = try Vault()
        let keys = try vault.open()
        var now: UInt64 = 0
        for (number, cell) in zip(1..., row.dropFirst()) {
            let time = now
            #expect(throws: CofferError.self) { try keys.unlock("wrong \(number)", at: time) }
            let wait = keys.secondsToNextAttempt(at: now)
            let found = keys.attemptsEnded ? "no more" : "\(wait ?? 0)"
            #expect(found == cell, "\(number)")
            now += UInt64(wait ?? 0) * 1_000_000_000
        }
        #expect(row.count == Limits.passcodeAttempts + 1)
    }

    @Test func `the table of states says which keys are there`() throws {
        let header = ["state"] + Self.keyGroups
        let rows = try page.table(header)
        let expected = VaultState.allCases.map { state in
            let groups: [ProtectionClass] = [
                .none, .completeUntilFirstUserAuthentication, .completeWhenUserInactive, .complete,
            ]
            return ["`\(state.rawValue)`"] + groups.map { $0.permits(.read, in: state) ? "yes" : "no" }
        }
        #expect(rows == expected)
    }

    private static let keyGroups = ["d, dk, dku, store", "c, ck, cku", "cx", "a, bPrivate, ak, aku, akpu, bkPrivate"]

    @Test func `the groups of the table of states are all class keys`() throws {
        let named = Self.keyGroups.flatMap { $0.components(separatedBy: ", ") }.sorted()
        #expect(named == ClassKeyName.allCases.map { "\($0)" }.sorted())
    }

    @Test func `every string of the sources that keys hang on is on a page`() throws {
        let described = try Self.strings(in: page.text + Page("FORMATS.md").text + Page("BACKUP.md").text)
        let missing = try Self.stringsOfSources().subtracting(described)
        #expect(missing == [])
    }

    @Test func `every such string on a page is in the sources`() throws {
        let described = try Self.strings(in: page.text + Page("FORMATS.md").text + Page("BACKUP.md").text)
        let unknown = described.subtracting(try Self.stringsOfSources())
        #expect(unknown == [])
        #expect(described.count >= 15)
    }

    private static func strings(in text: String) -> Set<String> {
        Set(text.matches(of: /coffer [a-zA-Z -]+ v1/).map { String($0.0) })
    }

    private static func stringsOfSources() throws -> Set<String> {
        let sources = Page.root.appending(path: "Sources")
        let names = try FileManager.default.subpathsOfDirectory(atPath: sources.path).filter { $0.hasSuffix(".swift") }
        return try names.reduce(into: []) { found, name in
            found.formUnion(strings(in: try String(contentsOf: sources.appending(path: name), encoding: .utf8)))
        }
    }
}
