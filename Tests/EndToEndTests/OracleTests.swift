import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Testing

/// The tables of sections 3 and 4 of the semantics through the real socket of the real daemon, for the two situations that take
/// the most; ItemOracleTests has all.
@Suite struct OracleTests {
    /// How a vault comes to the state that a column of the tables is about.
    enum Situation: String, CaseIterable, Sendable {
        case noPasscode, beforeFirstUnlock, unlocked, locking, locked, lockedExpired, restarted

        var state: VaultState {
            switch self {
            case .noPasscode: .noPasscode
            case .beforeFirstUnlock, .restarted: .beforeFirstUnlock
            case .unlocked: .unlocked
            case .locking: .locking
            case .locked: .locked
            case .lockedExpired: .lockedExpired
            }
        }

        /// Brings a vault that is unlocked, or has no passcode, to the situation.
        func reach(_ daemon: DaemonProcess) throws {
            switch self {
            case .noPasscode, .unlocked: break
            case .beforeFirstUnlock, .restarted: try daemon.restart()
            case .locking: _ = try daemon.connect().lock(graceSeconds: 10)
            case .locked: _ = try daemon.connect().lock(graceSeconds: 0)
            case .lockedExpired:
                let client = try daemon.connect()
                let locked = try client.lock(graceSeconds: 0).state
                #expect(locked == .locked)
                _ = try settles { try client.status().state == .lockedExpired }
            }
            let state = try daemon.connect().status().state
            #expect(state == self.state)
        }
    }

    private static let content = pseudoRandomBytes(70_000)

    // MARK: Section 3

    /// R read existing, W write existing, N create new, by class: A, B, C, CX, D.
    private static let fileTable: [Situation: [String]] = [
        .locked: ["", "N", "RWN", "RWN", "RWN"],
        .restarted: ["", "N", "", "", "RWN"],
    ]

    @Test(arguments: [Situation.locked, .restarted])
    func `a file can be read, replaced and created as the table of section 3 says`(situation: Situation) throws {
        let daemon = try DaemonProcess()
        let first = try daemon.connect()
        try first.makeVault()
        for protectionClass in ProtectionClass.allCases {
            try first.put("old/\(protectionClass)", Self.content) {
                $0.kind = .document
                $0.protectionClass = protectionClass
            }
        }
        try situation.reach(daemon)
        let client = try daemon.connect()
        let row = try #require(Self.fileTable[situation])
        for (protectionClass, letters) in zip(ProtectionClass.allCases, row) {
            let name = "old/\(protectionClass)"
            var content: [UInt8] = []
            let read = try Outcome { content = try client.get(name) }
            if read == .done { #expect(content == Self.content) }
            #expect(read == (letters.contains("R") ? .done : .locked), "read \(protectionClass)")
            let write = try Outcome { try client.put(name, Self.content.reversed()) { $0.kind = .database } }
            // To replace all of a file is to make it; handles show what W is.
            #expect(write == (letters.contains("N") ? .done : .locked), "replace \(protectionClass)")
            let create = try Outcome {
                try client.put("new/\(protectionClass)", Self.content) {
                    $0.kind = .document
                    $0.protectionClass = protectionClass
                }
            }
            #expect(create == (letters.contains("N") ? .done : .locked), "create \(protectionClass)")
            // Locked is not missing: an existing item is shown from the first unlock on.
            var info: ItemInfo?
            let show = try Outcome { info = try client.show(try ItemName(name)) }
            if situation.state == .beforeFirstUnlock && protectionClass != .none {
                #expect(show == .locked)
            } else {
                #expect(info?.isReadable == letters.contains("R"))
                #expect(info?.protection == .file(protectionClass))
            }
        }
    }

    // MARK: Section 4

    /// Whether a secret is there, in the order of ``Accessibility``: ak, ck, dk, aku, cku, dku, akpu, bk; `w`: it can be
    /// added and replaced, but not read.
    private static let keychainTable: [Situation: String] = [
        .locked: "nyynyynw",
        .restarted: "nnynnynw",
    ]

    @Test(arguments: [Situation.locked, .restarted])
    func `a secret can be read and replaced as the table of section 4 says`(situation: Situation) throws {
        let daemon = try DaemonProcess()
        let first = try daemon.connect()
        try first.makeVault()
        for accessibility in Accessibility.allCases {
            try first.put("old/\(accessibility)", [1, 2, 3]) { $0.accessibility = accessibility }
        }
        try situation.reach(daemon)
        let client = try daemon.connect()
        let row = Array(try #require(Self.keychainTable[situation]))
        for (accessibility, letter) in zip(Accessibility.allCases, row) {
            let expected: Outcome = letter == "y" ? .done : .locked
            let writing: Outcome = letter == "n" ? .locked : .done
            let name = "old/\(accessibility)"
            var content: [UInt8] = []
            let read = try Outcome { content = try client.get(name) }
            if read == .done { #expect(content == [1, 2, 3]) }
            #expect(read == expected, "read \(accessibility)")
            let write = try Outcome { try client.put(name, [4, 5]) }
            #expect(write == writing, "write \(accessibility)")
            let create = try Outcome {
                try client.put("new/\(accessibility)", [6]) { $0.accessibility = accessibility }
            }
            #expect(create == writing, "create \(accessibility)")
            var info: ItemInfo?
            let show = try Outcome { info = try client.show(try ItemName(name)) }
            let isNamed = situation.state != .beforeFirstUnlock || letter == "y"
            #expect(show == (isNamed ? .done : .locked))
            #expect(info?.isReadable == (isNamed ? letter == "y" : nil))
        }
    }

    @Test func `an unlock during the grace cancels the lock`() throws {
        let daemon = try DaemonProcess(["--grace", "1"])
        let client = try daemon.connect()
        try client.makeVault()
        try client.put("a", [1])
        _ = try client.lock()
        #expect(try client.status().state == .locking)
        try client.unlock()
        sleepSeconds(1.3)
        #expect(try client.status().state == .unlocked)
        #expect(try client.get("a") == [1])
    }

    @Test func `the grace ends after its time`() throws {
        let daemon = try DaemonProcess(["--grace", "1"])
        let client = try daemon.connect()
        try client.makeVault()
        try client.put("a", [1])
        let left = try client.lock().graceMilliseconds
        #expect((1...1000).contains(left ?? 0))
        #expect(try client.get("a") == [1])
        sleepSeconds(1.3)
        #expect(try client.status().state == .locked)
        let outcome = try Outcome { _ = try client.get("a") }
        #expect(outcome == .locked)
    }
}
