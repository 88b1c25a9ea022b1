import CofferCore
import CofferTestSupport
import CofferWire
import Testing

/// The tables of sections 3 and 4 of the semantics, for items by their names, without a daemon.
@Suite struct ItemOracleTests {
    private static let content = pseudoRandomBytes(70_000)

    @Test(arguments: TestState.allCases)
    func `a file can be read, replaced and created as the table of section 3 says`(state: TestState) throws {
        let stepper = try Stepper(passcode: state == .noPasscode ? nil : DaemonProcess.passcode)
        for protectionClass in ProtectionClass.allCases {
            try stepper.put("old/\(protectionClass)", Self.content) {
                $0.kind = .document
                $0.protectionClass = protectionClass
            }
        }
        try stepper.reach(state)
        let row = try #require(FileOracleTests.table[state])
        for (protectionClass, letters) in zip(ProtectionClass.allCases, row) {
            let name = "old/\(protectionClass)"
            var content: [UInt8] = []
            let read = try Outcome { content = try stepper.get(name) }
            if read == .done { #expect(content == Self.content) }
            #expect(read == (letters.contains("R") ? .done : .locked), "read \(protectionClass)")
            let write = try Outcome { try stepper.put(name, Self.content.reversed()) { $0.kind = .database } }
            // To replace all of a file is to make it; handles show what W is.
            #expect(write == (letters.contains("N") ? .done : .locked), "replace \(protectionClass)")
            let create = try Outcome {
                try stepper.put("new/\(protectionClass)", Self.content) {
                    $0.kind = .document
                    $0.protectionClass = protectionClass
                }
            }
            #expect(create == (letters.contains("N") ? .done : .locked), "create \(protectionClass)")
            // Locked is not missing: an existing item is shown from the first unlock on.
            var info: ItemInfo?
            let show = try Outcome { info = try stepper.show(try ItemName(name)) }
            if state == .beforeFirstUnlock && protectionClass != .none {
                #expect(show == .locked)
            } else {
                #expect(info?.isReadable == letters.contains("R"))
                #expect(info?.protection == .file(protectionClass))
            }
        }
    }

    @Test func `a file of class B that was made while locked opens again after unlock, and not before`() throws {
        let stepper = try Stepper()
        try stepper.reach(.locked)
        try stepper.put("recording", Self.content) {
            $0.scenario = .recording; $0.kind = .document
        }
        let before = try Outcome { _ = try stepper.get("recording") }
        #expect(before == .locked)
        try stepper.unlock()
        #expect(try stepper.get("recording") == Self.content)
    }

    @Test func `what a lock left alone is there unchanged after unlock`() throws {
        let stepper = try Stepper()
        for protectionClass in ProtectionClass.allCases {
            try stepper.put("f/\(protectionClass)", Self.content) {
                $0.kind = .document
                $0.protectionClass = protectionClass
            }
        }
        try stepper.reach(.locked)
        let refused = try Outcome {
            try stepper.put("f/complete", [1, 2, 3]) { $0.protectionClass = ProtectionClass.none }
        }
        #expect(refused == .locked)
        try stepper.unlock()
        for protectionClass in ProtectionClass.allCases {
            let content = try stepper.get("f/\(protectionClass)")
            #expect(content == Self.content)
        }
    }

    // MARK: Section 4

    /// Whether a secret is there, in the order of ``Accessibility``: ak, ck, dk, aku, cku, dku, akpu, bk; `w`: it can be
    /// added and replaced, but not read; `-`: no such item.
    private static let keychainTable: [TestState: String] = [
        .noPasscode: "yyyyyy-y",
        .beforeFirstUnlock: "nnynnynw",
        .unlocked: "yyyyyyyy",
        .locking: "yyyyyyyy",
        .locked: "nyynyynw",
        .lockedExpired: "nyynyynw",
    ]

    @Test(arguments: TestState.allCases)
    func `a secret can be read and replaced as the table of section 4 says`(state: TestState) throws {
        let stepper = try Stepper(passcode: state == .noPasscode ? nil : DaemonProcess.passcode)
        for accessibility in Accessibility.allCases {
            let outcome = try Outcome {
                try stepper.put("old/\(accessibility)", [1, 2, 3]) { $0.accessibility = accessibility }
            }
            let wantsPasscode = accessibility == .whenPasscodeSetThisDeviceOnly && state == .noPasscode
            #expect(outcome == (wantsPasscode ? .refused(.authFailed) : .done))
        }
        try stepper.reach(state)
        let row = Array(try #require(Self.keychainTable[state]))
        for (accessibility, letter) in zip(Accessibility.allCases, row) where letter != "-" {
            let expected: Outcome = letter == "y" ? .done : .locked
            let writing: Outcome = letter == "n" ? .locked : .done
            let name = "old/\(accessibility)"
            var content: [UInt8] = []
            let read = try Outcome { content = try stepper.get(name) }
            if read == .done { #expect(content == [1, 2, 3]) }
            #expect(read == expected, "read \(accessibility)")
            let write = try Outcome { try stepper.put(name, [4, 5]) }
            #expect(write == writing, "write \(accessibility)")
            let create = try Outcome {
                try stepper.put("new/\(accessibility)", [6]) { $0.accessibility = accessibility }
            }
            #expect(create == writing, "create \(accessibility)")
            var info: ItemInfo?
            let show = try Outcome { info = try stepper.show(try ItemName(name)) }
            let isNamed = state != .beforeFirstUnlock || letter == "y"
            #expect(show == (isNamed ? .done : .locked))
            #expect(info?.isReadable == (isNamed ? letter == "y" : nil))
        }
    }

    // MARK: Three answers

    @Test(arguments: TestState.allCases)
    func `missing is never locked`(state: TestState) throws {
        let stepper = try Stepper(passcode: state == .noPasscode ? nil : DaemonProcess.passcode)
        try stepper.reach(state)
        let read = try Outcome { _ = try stepper.get("nothing/here") }
        #expect(read == .refused(.itemNotFound))
        let remove = try Outcome { try stepper.remove(try ItemName("nothing")) }
        #expect(remove == .refused(.itemNotFound))
    }

    @Test(arguments: TestState.allCases)
    func `an item can be listed and removed from the first unlock on`(state: TestState) throws {
        let stepper = try Stepper(passcode: state == .noPasscode ? nil : DaemonProcess.passcode)
        try stepper.put("a/secret", [1])
        try stepper.put("a/file", Self.content) { $0.kind = .database }
        try stepper.reach(state)
        let listed = try stepper.list()
        if state == .beforeFirstUnlock {
            #expect(listed.items.isEmpty && listed.sealedCount == 2)
            let removal = try Outcome { try stepper.remove(try ItemName("a/secret")) }
            #expect(removal == .locked, "its access control may protect it")
            try stepper.remove(try ItemName("a/file"))
            #expect(try stepper.list().sealedCount == 1)
            try stepper.unlock()
        } else {
            #expect(listed.items.map(\.name).sortedByBytes() == ["a/file", "a/secret"])
            try stepper.remove(try ItemName("a/file"))
        }
        try stepper.remove(try ItemName("a/secret"))
        let rest = try stepper.list()
        #expect(rest.items.isEmpty && rest.sealedCount == 0)
    }

    @Test func `a wrong passcode is denied, and nothing changes`() throws {
        let stepper = try Stepper()
        try stepper.put("a", [1])
        try stepper.reach(.locked)
        let outcome = try Outcome { try stepper.unlock("wrong") }
        #expect(outcome == .refused(.authFailed))
        #expect(try stepper.status().state == .locked)
        try stepper.unlock()
        #expect(try stepper.get("a") == [1])
    }
}
