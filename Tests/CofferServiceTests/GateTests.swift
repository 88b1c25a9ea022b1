import CofferCore
import CofferService
import CofferWire
import Testing

/// The gate, for every method and every state.
@Suite struct GateTests {
    /// What the gate answers.
    ///
    /// In the order of the states: noVault, noPasscode, beforeFirstUnlock, unlocked, locking,
    /// locked, lockedExpired, deviceKeyMissing. `+` lets through, `v` has no vault, `e` has one (or a passcode) already, `p` has
    /// no passcode, `d` has no device key.
    private static let table: [Method: String] = [
        .hello: "++++++++",
        .contextAuthenticate: "v++++++d",
        .contextEnd: "v++++++d",
        .vaultCheck: "v++++++d",
        .vaultErase: "v+++++++",
        .vaultInit: "+eeeeeee",
        .vaultLock: "vp+++++d",
        .vaultQuarantine: "v++++++d",
        .vaultStatus: "++++++++",
        .vaultUnlock: "vp+++++d",
        .vaultWatch: "++++++++",
        .requestCancel: "++++++++",
        .passcodeChange: "vp++++++",
        .passcodeRemove: "vp+++++d",
        .passcodeSet: "v+eeeeed",
        .slotAdd: "v++++++d",
        .slotList: "v+++++++",
        .slotRemove: "v++++++d",
        .slotTest: "v++++++d",
        .fileAllocate: "v++++++d",
        .fileClose: "v++++++d",
        .fileList: "v++++++d",
        .fileMkdir: "v++++++d",
        .fileOpen: "v++++++d",
        .fileProtect: "v++++++d",
        .fileRead: "v++++++d",
        .fileRemove: "v++++++d",
        .fileRename: "v++++++d",
        .fileSalvage: "v++++++d",
        .fileStat: "v++++++d",
        .fileSync: "v++++++d",
        .fileTruncate: "v++++++d",
        .fileWrite: "v++++++d",
        .itemExplain: "v++++++d",
        .itemGet: "v++++++d",
        .itemList: "v++++++d",
        .itemMove: "v++++++d",
        .itemProtect: "v++++++d",
        .itemPut: "v++++++d",
        .itemRemove: "v++++++d",
        .itemShow: "v++++++d",
        .keychainAdd: "v++++++d",
        .keychainAgree: "v++++++d",
        .keychainDelete: "v++++++d",
        .keychainFind: "v++++++d",
        .keychainHistory: "v++++++d",
        .keychainPublicKey: "v++++++d",
        .keychainRestore: "v++++++d",
        .keychainSign: "v++++++d",
        .keychainUpdate: "v++++++d",
    ]

    @Test(arguments: Method.allCases, VaultState.allCases)
    func `the gate answers as its table says`(method: Method, state: VaultState) throws {
        let row = Array(try #require(Self.table[method]))
        let column = try #require(VaultState.allCases.firstIndex(of: state))
        let refusal = Gate.refusal(of: method, in: state)
        switch row[column] {
        case "v", "p", "d": #expect(refusal?.code == .notAvailable)
        case "e": #expect(refusal?.code == .duplicateItem)
        default: #expect(refusal == nil)
        }
        #expect((row[column] == "v") == (refusal?.message == "there is no vault yet"))
        let missing = refusal?.message == "the device key of this vault is not on this machine"
        #expect((row[column] == "d") == missing)
    }
}
