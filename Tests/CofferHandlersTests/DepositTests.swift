import CofferClient
import CofferCore
import CofferMemory
import CofferTestSupport
import CofferWire
import Testing

/// A deposit is replaced in every state as long as it stays one.
@Suite struct DepositTests {
    private static let large = pseudoRandomBytes(Limits.secretBytes + 1)

    @Test(arguments: [TestState.locked, .lockedExpired, .beforeFirstUnlock])
    func `that outgrows the keychain waits for an unlock, and keeps what it has`(state: TestState) throws {
        let stepper = try Stepper()
        for value in [1, 2] as [UInt8] {
            try stepper.put("inbox/a", [value]) { $0.protectionClass = .completeUnlessOpen }
        }
        try stepper.reach(state)
        for store in [nil, StoreName.file] {
            let error = #expect(throws: CofferError.self) {
                try stepper.put("inbox/a", Self.large) { $0.store = store }
            }
            #expect(error?.code == .interactionNotAllowed)
            #expect(error?.retry == .afterUnlock)
            #expect(error?.message.hasSuffix(", and a file would take the present value along") == true)
            #expect(error?.hint?.contains("another name takes the content now") == true)
        }
        // What the hint says.
        let other = try stepper.put("inbox/b", Self.large) { $0.protectionClass = .completeUnlessOpen }
        #expect(other.protection == .file(.completeUnlessOpen))
        #expect(try stepper.put("inbox/a", [3]).protection == .keychain(.whenUnlockedDeposit))
        try stepper.unlock()
        #expect(try stepper.get("inbox/a") == [3])
        let grown = try stepper.put("inbox/a", Self.large)
        #expect(grown.protection == .file(.completeUnlessOpen))
        let versions = FileVersionsParameters(name: try ItemName("inbox/a"))
        #expect(try stepper.call(versions).value.versions.first?.byteCount == 1, "the value before it")
    }
}
