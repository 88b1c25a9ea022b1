import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Foundation
import Testing

/// Section 4 of the semantics, without a daemon, for every class, accessibility, state and verb: locked is neither missing nor
/// denied.
@Suite struct KeychainOracleTests {
    /// Whether a secret is available: unlocked, locked after the first unlock, before the first unlock.
    private static let table: [Accessibility: [Bool]] = [
        .whenUnlocked: [true, false, false],
        .afterFirstUnlock: [true, true, false],
        .always: [true, true, true],
        .whenUnlockedThisDeviceOnly: [true, false, false],
        .afterFirstUnlockThisDeviceOnly: [true, true, false],
        .alwaysThisDeviceOnly: [true, true, true],
        .whenPasscodeSetThisDeviceOnly: [true, false, false],
        .whenUnlockedDeposit: [true, false, false],
    ]

    /// The tested kinds: the classes, and two kinds of private keys.
    enum Kind: String, CaseIterable, Sendable {
        case genericPassword, internetPassword, certificate, signingKey, agreementKey

        var itemClass: ItemClass {
            switch self {
            case .genericPassword: .genericPassword
            case .internetPassword: .internetPassword
            case .certificate: .certificate
            case .signingKey, .agreementKey: .key
            }
        }

        var isPassword: Bool { self == .genericPassword || self == .internetPassword }
    }

    /// An item of a kind, with a number of its own.
    private static func item(
        _ kind: Kind,
        _ number: Int
    ) throws -> (attributes: [KeychainAttribute: AttributeValue], secret: [UInt8]) {
        let label = AttributeValue.text("l\(number)")
        switch kind {
        case .genericPassword: return ([.account: .text("a\(number)"), .label: label], Array("s\(number)".utf8))
        case .internetPassword: return ([.server: .text("a\(number)"), .label: label], Array("s\(number)".utf8))
        case .signingKey, .agreementKey:
            let type = kind == .signingKey ? "ed25519" : "x25519"
            let attributes: [KeychainAttribute: AttributeValue] = [
                .keyClass: .text("private"), .keyType: .text(type), .label: label,
            ]
            return (attributes, pseudoRandomBytes(32, seed: UInt64(number)))
        case .certificate:
            let path = "\(Project.root)/Tests/Vectors/keys/ed25519-certificate.pem"
            let pem = try String(contentsOfFile: path, encoding: .utf8)
            let base64 = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
            var der = Array(try #require(Data(base64Encoded: base64)))
            // Another serial number; the signature is not verified.
            let place = try #require(Data(der).range(of: Data([0x02, 0x14]))).upperBound
            der[place + 19] = UInt8(number)
            return ([.label: label], der)
        }
    }

    /// The column of the table that is about a state.
    private static func column(_ state: TestState) -> Int {
        switch state {
        case .noPasscode, .unlocked, .locking: 0
        case .locked, .lockedExpired: 1
        case .beforeFirstUnlock: 2
        }
    }

    /// A vault with an item of a kind for each accessibility, in a state.
    private struct Fixture {
        let stepper: Stepper
        let kind: Kind
        let accessibilities: [Accessibility]

        init(_ kind: Kind, _ state: TestState) throws {
            self.kind = kind
            let hasPasscode = state != .noPasscode
            accessibilities = Accessibility.allCases.filter { hasPasscode || $0 != .whenPasscodeSetThisDeviceOnly }
            stepper = try Stepper(
                passcode: hasPasscode ? DaemonProcess.passcode : nil,
                entitlements: try [Entitlement].own()
            )
            for (number, accessibility) in accessibilities.enumerated() {
                let (attributes, secret) = try KeychainOracleTests.item(kind, number)
                let first = kind.isPassword ? Array("first".utf8) : secret
                let reference = try stepper.add(kind.itemClass, attributes, first, accessible: accessibility)
                guard kind.isPassword else { continue }
                try stepper.update(KeychainQuery(reference: reference), KeychainChange(), secret)
            }
            try stepper.reach(state)
        }

        func query(_ number: Int) -> KeychainQuery {
            KeychainQuery(kind.itemClass, [.label: .text("l\(number)")])
        }
    }

    /// Whatever is done with what has no name before the first unlock, it is locked.
    private func expectSealed(_ query: KeychainQuery, _ kind: Kind, _ fixture: Fixture) throws {
        let stepper = fixture.stepper
        let verbs: [(String, () throws -> Void)] = [
            ("find", { _ = try stepper.find(query) }),
            ("find attributes", { _ = try stepper.find(query, returns: [.attributes]) }),
            ("find one", { _ = try stepper.find(query, limit: .count(1)) }),
            ("update", { try stepper.update(query, KeychainChange(user: ["n": "v"])) }),
            ("delete", { _ = try stepper.deleteKeychainItems(query) }),
            ("history", { _ = try stepper.keychainHistory(of: query) }),
            ("restore", { try stepper.restoreFormerValue(1, of: query) }),
            ("public key", { _ = try stepper.publicKey(of: query) }),
        ]
        for (name, verb) in verbs {
            let outcome = try Outcome(verb)
            #expect(outcome == .locked, "\(name)")
        }
    }

    @Test(arguments: Kind.allCases, TestState.allCases)
    func `an item is there, locked, missing or denied as the table says, whatever is done with it`(
        kind: Kind,
        state: TestState
    ) throws {
        let fixture = try Fixture(kind, state)
        let stepper = fixture.stepper
        let peer = [UInt8](repeating: 9, count: 32)
        for (number, accessibility) in fixture.accessibilities.enumerated() {
            let isThere = Self.table[accessibility]?[Self.column(state)] == true
            let answer: Outcome = isThere ? .done : .locked
            // A deposit can be written in every state.
            let writing: Outcome = accessibility == .whenUnlockedDeposit ? .done : answer
            let query = fixture.query(number)
            let (attributes, secret) = try Self.item(kind, number)
            func expect(_ verb: String, _ expected: Outcome, _ body: () throws -> Void) throws {
                let outcome = try Outcome(body)
                #expect(outcome == expected, "\(verb): \(accessibility)")
            }
            try expect("add over", .refused(.duplicateItem)) {
                try stepper.add(kind.itemClass, attributes, secret, accessible: accessibility)
            }
            // Metadata is returned from the first unlock on; before it, the tags tell locked from missing.
            guard isThere || state != .beforeFirstUnlock else {
                try expectSealed(query, kind, fixture)
                continue
            }
            let shown = try stepper.find(query, returns: [.attributes]).page
            #expect(shown.items.map(\.isLocked) == [!isThere], "\(accessibility)")
            #expect(shown.items.first?.attributes?[.accessible] == .text(accessibility.rawValue))
            #expect(shown.lockedCount == 0)
            try expect("find one", answer) { _ = try stepper.find(query, limit: .count(1)) }
            try expect("find all", answer) { _ = try stepper.find(query) }
            if isThere { #expect(try stepper.find(query).secrets == [secret]) }
            if kind == .signingKey {
                try expect("sign", answer) { _ = try stepper.sign(Array("m".utf8), with: query) }
                try expect("agree", .refused(.param)) { _ = try stepper.agree(with: peer, by: query) }
            }
            if kind == .agreementKey {
                try expect("agree", answer) { _ = try stepper.agree(with: peer, by: query) }
                try expect("sign", .refused(.param)) { _ = try stepper.sign(Array("m".utf8), with: query) }
            }
            if !kind.isPassword { try expect("public key", answer) { _ = try stepper.publicKey(of: query) } }
            let values = try stepper.keychainHistory(of: query)
            #expect(values.count == (kind.isPassword ? 1 : 0), "what there was is told in every state")
            if let value = values.first {
                try expect("former value", answer) { _ = try stepper.formerValue(value.number, of: query) }
                try expect("restore", answer) { try stepper.restoreFormerValue(value.number, of: query) }
                if isThere { #expect(try stepper.find(query).secrets == [Array("first".utf8)]) }
                try expect("update the secret", writing) { try stepper.update(query, KeychainChange(), secret) }
            }
            let comment = KeychainChange(attributes: [.label: .text("l\(number)")], user: ["n": "v"])
            try expect("update an attribute", writing) { try stepper.update(query, comment) }
            try expect("update the accessibility", writing) {
                try stepper.update(query, KeychainChange(accessibility: accessibility))
            }
            if isThere { #expect(try stepper.find(query).secrets == [secret]) }
            let new = try Self.item(kind, number + 100)
            try expect("add", writing) {
                try stepper.add(kind.itemClass, new.attributes, new.secret, accessible: accessibility)
            }
            if writing == .done { _ = try stepper.deleteKeychainItems(fixture.query(number + 100)) }
        }
        // Missing and denied are reported in every state.
        let missing = fixture.query(99)
        let denied = KeychainQuery(kind.itemClass, [.accessGroup: .text("somebody else's")])
        for (query, expected) in [(missing, ErrorCode.itemNotFound), (denied, .missingEntitlement)] {
            let verbs: [(String, () throws -> Void)] = [
                ("find", { _ = try stepper.find(query) }),
                ("update", { try stepper.update(query, KeychainChange(user: ["n": "v"])) }),
                ("delete", { _ = try stepper.deleteKeychainItems(query) }),
                ("sign", { _ = try stepper.sign(Array("m".utf8), with: query) }),
                ("agree", { _ = try stepper.agree(with: peer, by: query) }),
                ("public key", { _ = try stepper.publicKey(of: query) }),
                ("history", { _ = try stepper.keychainHistory(of: query) }),
                ("restore", { try stepper.restoreFormerValue(1, of: query) }),
            ]
            for (name, verb) in verbs {
                let outcome = try Outcome(verb)
                #expect(outcome == .refused(expected), "\(name)")
            }
        }
        try checkAll(fixture, state)
        // Deleting requires no key.
        for (number, accessibility) in fixture.accessibilities.enumerated() {
            let isThere = Self.table[accessibility]?[Self.column(state)] == true
            if !isThere && state == .beforeFirstUnlock { continue }
            #expect(try stepper.deleteKeychainItems(fixture.query(number)) == 1)
        }
        let empty = try Outcome { _ = try stepper.find(KeychainQuery(kind.itemClass)) }
        #expect(empty == (state == .beforeFirstUnlock ? .locked : .refused(.itemNotFound)))
    }

    /// A query for all returns what is readable and counts what is locked; a change affects all items or
    /// none.
    private func checkAll(_ fixture: Fixture, _ state: TestState) throws {
        let stepper = fixture.stepper
        let readable = fixture.accessibilities.filter { Self.table[$0]?[Self.column(state)] ?? false }
        let all = KeychainQuery(fixture.kind.itemClass)
        let found = try stepper.find(all)
        let isSealed = state == .beforeFirstUnlock
        let named = isSealed ? readable : fixture.accessibilities
        #expect(found.page.items.count == named.count)
        #expect(found.secrets.count == readable.count)
        #expect(found.page.lockedCount == named.count - readable.count)
        #expect(found.page.sealedCount == fixture.accessibilities.count - named.count)
        let names = found.page.items.compactMap { $0.attributes?[.accessible] }
        #expect(names == named.map { .text($0.rawValue) })
        for (item, accessibility) in zip(found.page.items, named) {
            #expect(item.isLocked == !readable.contains(accessibility))
            #expect((item.byteCount == nil) == item.isLocked, "a locked one has no data")
        }
        let first = try Outcome { _ = try stepper.find(all, limit: .count(1), returns: [.data]) }
        #expect(
            first == (isSealed || found.page.items[0].isLocked ? .locked : .done),
            "never the secret of the next one"
        )
        let told = try stepper.find(all, returns: [.attributes]).page.items
        #expect(told.count == named.count)
        let isAnyLocked = readable.count < fixture.accessibilities.count
        let changed = try Outcome { try stepper.update(all, KeychainChange(user: ["all": "of them"])) }
        #expect(changed == (isAnyLocked ? .locked : .done))
        let after = try stepper.find(all, returns: [.attributes]).page.items
        #expect(after.allSatisfy { ($0.user?["all"] != nil) == !isAnyLocked }, "all or none")
    }

    @Test func `a deposit that is to be returned while locked is not added`() throws {
        let stepper = try Stepper()
        stepper.lock()
        func params(_ returns: Set<KeychainReturn>) -> KeychainAddParameters {
            KeychainAddParameters(
                .genericPassword,
                [.account: .text("a")],
                accessibility: .whenUnlockedDeposit,
                returns: returns
            )
        }
        let refused = try Outcome { _ = try stepper.addKeychainItem(params([.data]), secret: try SecretBytes("x")) }
        #expect(refused == .locked)
        #expect(try stepper.status().keychainCount == 0)
        _ = try stepper.addKeychainItem(params([.attributes]), secret: try SecretBytes("x"))
        #expect(try stepper.status().keychainCount == 1)
    }

    @Test(arguments: Kind.allCases)
    func `where everything is locked, a query for all says so`(kind: Kind) throws {
        let stepper = try Stepper()
        let (attributes, secret) = try Self.item(kind, 1)
        try stepper.add(kind.itemClass, attributes, secret)
        stepper.lock()
        let outcome = try Outcome { _ = try stepper.find(KeychainQuery(kind.itemClass)) }
        #expect(outcome == .locked)
    }

    @Test(arguments: Kind.allCases)
    func `without a passcode nothing that wants one is added, or becomes so`(kind: Kind) throws {
        let stepper = try Stepper(passcode: nil)
        let (attributes, secret) = try Self.item(kind, 1)
        let added = try Outcome {
            try stepper.add(kind.itemClass, attributes, secret, accessible: .whenPasscodeSetThisDeviceOnly)
        }
        #expect(added == .refused(.authFailed))
        let query = KeychainQuery(reference: try stepper.add(kind.itemClass, attributes, secret))
        let changed = try Outcome {
            try stepper.update(query, KeychainChange(accessibility: .whenPasscodeSetThisDeviceOnly))
        }
        #expect(changed == .refused(.authFailed))
        #expect(try stepper.find(query).secrets == [secret])
    }
}
