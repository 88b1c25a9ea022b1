import CofferCore
import CofferKeys
import CofferTestSupport
import Foundation
import Testing

/// The keybag of the store that version 1 of the format has left.
@Suite struct `A keybag of version 1` {
    private static let passcode = "frozen passcode"
    private let vault: Vault

    init() throws {
        vault = try Vault()
        for name in ["keybag", "device.key"] {
            let path = "\(Project.root)/Tests/Vectors/stores/v1/\(name)"
            try vault.temporary.write(try Data(contentsOf: URL(filePath: path)), to: name)
        }
        let bytes = try #require(vault.temporary.contents("keybag"))
        try #require(Array(bytes[8..<10]) == [0, 1])
    }

    @Test func `opens with its passcode, and stays what it is`() throws {
        let before = vault.temporary.contents("keybag")
        let keys = try vault.open()
        #expect(keys.state == .beforeFirstUnlock)
        #expect(keys.slots == [KeyslotInfo(number: 1, kind: .passcode)])
        #expect(!keys.erasesData)
        #expect(try keys.attempt("wrong") == .authFailed)
        #expect(keys.failedAttempts == 1)
        try keys.unlock(Self.passcode)
        #expect(Set(try Belongings(keys).lost(with: keys)) == [])
        #expect(vault.temporary.contents("keybag") == before)
    }

    @Test func `is one of version 2 after a change, which a recovery key opens on any machine`() throws {
        let keys = try vault.open()
        try keys.unlock(Self.passcode)
        let belongings = try Belongings(keys)
        let change = try KeybagChange.passcode("another")
        #expect(keys.refusal(of: try .passcode(Self.passcode), change) == nil)
        let bytes = try #require(vault.temporary.contents("keybag"))
        #expect(Array(bytes[8..<10]) == [0, 2])

        let reopened = try vault.open()
        try reopened.unlock("another")
        #expect(belongings.lost(with: reopened) == [])
        let recoveryKey = try NewRecoveryKey()
        #expect(reopened.refusal(of: try .passcode("another"), try reopened.addingSlot(recoveryKey)) == nil)
        let text = recoveryKey.takeBytes()

        try vault.temporary.remove("device.key")
        let source = try DeviceKeySource(in: vault.directory, credentialsPath: nil)
        guard case .deviceKeyMissing(let moved) = try VaultKeys.open(in: vault.directory, source, at: 0) else {
            Issue.record("opened without its device key")
            return
        }
        _ = try moved.recover(with: try RecoveryKey(text: text), .removingPasscode())
        #expect(belongings.lost(with: try vault.open()) == [.item(.whenPasscodeSetThisDeviceOnly)])
    }

    @Test func `gets a slot for a recovery key without a change of the passcode`() throws {
        let keys = try vault.open()
        let recoveryKey = try NewRecoveryKey()
        #expect(keys.refusal(of: try .passcode(Self.passcode), try keys.addingSlot(recoveryKey)) == nil)
        let reopened = try vault.open()
        #expect(reopened.refusal(of: try .recoveryKey(recoveryKey.takeBytes())) == nil)
        #expect(try reopened.attempt(Self.passcode) == nil)
    }

    @Test func `is found out wherever a byte is another`() throws {
        let whole = try #require(vault.temporary.contents("keybag"))
        for place in whole.indices {
            var changed = whole
            changed[place] ^= 1
            try vault.temporary.write(changed, to: "keybag")
            let expected: ErrorCode = (10..<42).contains(place) ? .notAvailable : .decode
            #expect(vault.refusal() == expected, "byte \(place)")
        }
    }

    @Test func `is no way around a recovery key: without its device key nothing opens it`() throws {
        try vault.temporary.remove("device.key")
        #expect(vault.refusal() == .notAvailable)
    }
}
