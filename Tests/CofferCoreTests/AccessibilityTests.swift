import CofferCore
import Testing

/// Section 4 of the semantics.
@Suite struct AccessibilityTests {
    private static let columns: [VaultState] = [
        .unlocked, .locked, .beforeFirstUnlock, .locking, .noPasscode, .noVault, .lockedExpired, .deviceKeyMissing,
    ]

    /// By name: unlocked, locked, before first unlock; then the grace, a vault without a passcode, none,
    /// locked for long, and without its device key.
    private static let table: [(name: String, cells: String)] = [
        ("WhenUnlocked", "yes no no yes yes no no no"),
        ("AfterFirstUnlock", "yes yes no yes yes no yes no"),
        ("Always", "yes yes yes yes yes no yes no"),
        ("WhenUnlockedThisDeviceOnly", "yes no no yes yes no no no"),
        ("AfterFirstUnlockThisDeviceOnly", "yes yes no yes yes no yes no"),
        ("AlwaysThisDeviceOnly", "yes yes yes yes yes no yes no"),
        ("WhenPasscodeSetThisDeviceOnly", "yes no no yes no no no no"),
        ("WhenUnlockedDeposit", "yes no no yes yes no no no"),
    ]

    @Test(arguments: table)
    func `each accessibility is available in the states of section 4`(name: String, cells: String) throws {
        let accessibility = try #require(Accessibility(rawValue: name))
        let answers = Self.columns.map { accessibility.isAvailable(in: $0) ? "yes" : "no" }.joined(separator: " ")
        #expect(answers == cells)
    }

    @Test func `the table has every accessibility and every state`() {
        #expect(Self.table.map(\.name) == Accessibility.allCases.map(\.rawValue))
        #expect(Set(Self.columns) == Set(VaultState.allCases))
    }

    @Test(arguments: Accessibility.allCases, VaultState.allCases)
    func `a deposit can be created wherever there is a vault, and all else where it can be read`(
        accessibility: Accessibility,
        state: VaultState
    ) {
        let isAvailable = accessibility.isAvailable(in: state)
        let isDeposit = accessibility == .whenUnlockedDeposit
        let isThere = state != .noVault && state != .deviceKeyMissing
        #expect(accessibility.permits(.create, in: state) == (isDeposit ? isThere : isAvailable))
        for operation: ItemOperation in [.read, .write, .proceed] {
            #expect(accessibility.permits(operation, in: state) == isAvailable)
        }
    }

    @Test(arguments: Accessibility.allCases)
    func `only Always and AlwaysThisDeviceOnly are deprecated`(accessibility: Accessibility) {
        #expect(accessibility.isDeprecated == ["Always", "AlwaysThisDeviceOnly"].contains(accessibility.rawValue))
    }

    @Test(arguments: ProtectionClass.allCases, VaultState.allCases)
    func `the accessibility that matches a class is readable in the same states`(
        protectionClass: ProtectionClass,
        state: VaultState
    ) {
        guard let accessibility = Accessibility(matching: protectionClass) else {
            #expect(protectionClass == .completeWhenUserInactive)
            return
        }
        #expect(accessibility.isAvailable(in: state) == protectionClass.permits(.read, in: state))
        #expect(accessibility.permits(.create, in: state) == protectionClass.permits(.create, in: state))
        #expect(ProtectionClass(matching: accessibility) == protectionClass)
    }

    @Test(arguments: Accessibility.allCases, VaultState.allCases)
    func `the class that matches an accessibility is readable in the same states`(
        accessibility: Accessibility,
        state: VaultState
    ) {
        guard let protectionClass = ProtectionClass(matching: accessibility) else {
            #expect(accessibility.rawValue.hasSuffix("ThisDeviceOnly"))
            return
        }
        #expect(protectionClass.permits(.read, in: state) == accessibility.isAvailable(in: state))
        #expect(Accessibility(matching: protectionClass) == accessibility)
    }

    @Test(arguments: VaultState.allCases)
    func `a protection answers as its accessibility or its class does`(state: VaultState) {
        for accessibility in Accessibility.allCases {
            let protection = Protection.keychain(accessibility)
            #expect(protection.isReadable(in: state) == accessibility.isAvailable(in: state))
            #expect(protection.store == .keychain)
            #expect(protection.name == accessibility.rawValue)
        }
        for protectionClass in ProtectionClass.allCases {
            let protection = Protection.file(protectionClass)
            #expect(protection.isReadable(in: state) == protectionClass.permits(.read, in: state))
            #expect(protection.store == .file)
            #expect(protection.name == protectionClass.rawValue)
        }
    }
}
