import CofferCore
import CofferService
import CofferWire
import Testing

/// The gate, for every method and every state.
@Suite struct GateTests {
    /// What the gate answers.
    ///
    /// In the order of the states: noVault, noPasscode, beforeFirstUnlock, unlocked, locking,
    /// locked, lockedExpired. `+` lets through, `v` has no vault, `e` has one already, `p` has no passcode.
    private static let table: [Method: String] = [
        .hello: "+++++++",
        .vaultInit: "+eeeeee",
        .vaultLock: "vp+++++",
        .vaultStatus: "+++++++",
        .vaultUnlock: "vp+++++",
        .vaultWatch: "+++++++",
        .itemExplain: "v++++++",
        .itemGet: "v++++++",
        .itemList: "v++++++",
        .itemPut: "v++++++",
        .itemRemove: "v++++++",
        .itemShow: "v++++++",
    ]

    @Test(arguments: Method.allCases, VaultState.allCases)
    func `the gate answers as its table says`(method: Method, state: VaultState) throws {
        let row = Array(try #require(Self.table[method]))
        let column = try #require(VaultState.allCases.firstIndex(of: state))
        let refusal = Gate.refusal(of: method, in: state)
        switch row[column] {
        case "v", "p": #expect(refusal?.code == .notAvailable)
        case "e": #expect(refusal?.code == .duplicateItem)
        default: #expect(refusal == nil)
        }
        #expect((row[column] == "v") == (refusal?.message == "there is no vault yet"))
    }
}
