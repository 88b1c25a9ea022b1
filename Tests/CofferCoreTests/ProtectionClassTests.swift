import CofferCore
import Testing

/// Section 3 of the semantics: R read, W write, N create, O go on with a handle opened while unlocked.
@Suite struct ProtectionClassTests {
    private static let classes: [ProtectionClass] = [
        .complete, .completeUnlessOpen, .completeUntilFirstUserAuthentication, .completeWhenUserInactive, .none,
    ]

    private static let letters: [(String, ItemOperation)] = [
        ("R", .read), ("W", .write), ("N", .create), ("O", .proceed),
    ]

    private static let table: [(state: VaultState, cells: [String])] = [
        //                    A       B       C       CX      D
        (.noVault, ["", "", "", "", ""]),
        (.noPasscode, ["RWNO", "RWNO", "RWNO", "RWNO", "RWNO"]),
        (.beforeFirstUnlock, ["", "NO", "", "", "RWNO"]),
        (.unlocked, ["RWNO", "RWNO", "RWNO", "RWNO", "RWNO"]),
        (.locking, ["RWNO", "RWNO", "RWNO", "RWNO", "RWNO"]),
        (.locked, ["", "NO", "RWNO", "RWNO", "RWNO"]),
        (.lockedExpired, ["", "NO", "RWNO", "", "RWNO"]),
        (.deviceKeyMissing, ["", "", "", "", ""]),
    ]

    @Test(arguments: table)
    func `each class permits in each state what section 3 says`(state: VaultState, cells: [String]) {
        for (protectionClass, cell) in zip(Self.classes, cells) {
            let permitted = Self.letters.filter { protectionClass.permits($0.1, in: state) }.map(\.0).joined()
            #expect(permitted == cell, "\(protectionClass) while \(state)")
        }
    }

    @Test func `the table has every state, class and operation`() {
        #expect(Self.table.map(\.state) == VaultState.allCases)
        #expect(Self.classes == ProtectionClass.allCases)
        #expect(Self.letters.map(\.1) == ItemOperation.allCases)
        #expect(Self.table.allSatisfy { $0.cells.count == ProtectionClass.allCases.count })
    }

    @Test func `a file of class A can't be read while locked`() {
        #expect(!ProtectionClass.complete.permits(.read, in: .locked))
        #expect(!ProtectionClass.complete.permits(.proceed, in: .locked))
    }

    @Test func `a file of class B can be made while locked, and not opened again`() {
        #expect(ProtectionClass.completeUnlessOpen.permits(.create, in: .locked))
        #expect(!ProtectionClass.completeUnlessOpen.permits(.read, in: .locked))
        #expect(!ProtectionClass.completeUnlessOpen.permits(.write, in: .locked))
    }

    @Test(arguments: VaultState.allCases)
    func `class none is readable in every state of a vault that has its device key`(state: VaultState) {
        #expect(ProtectionClass.none.permits(.read, in: state) == (state != .noVault && state != .deviceKeyMissing))
    }

    @Test func `the classes keep their names`() {
        #expect(
            ProtectionClass.allCases.map(\.rawValue) == [
                "complete", "completeUnlessOpen", "completeUntilFirstUserAuthentication", "completeWhenUserInactive",
                "none",
            ]
        )
    }
}
