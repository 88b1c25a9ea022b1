import CofferCore
import CofferKeys
import CofferTestSupport
import Foundation
import Testing

extension Vault {
    /// The vault of the frozen store of a version, whose keybag has that version.
    init(frozen version: UInt8) throws {
        try self.init()
        for name in ["keybag", "device.key"] {
            let path = "\(Project.root)/Tests/Vectors/stores/v\(version)/\(name)"
            try temporary.write(try Data(contentsOf: URL(filePath: path)), to: name)
        }
        try #require(keybagVersion == version)
    }

    fileprivate var keybagVersion: UInt8? { temporary.contents("keybag")?[9] }
}

private let passcode = "frozen passcode"

@Suite struct `A keybag of an older version` {
    @Test(arguments: [UInt8(1), 2])
    func `is of the current one after its first unlock, with the same keys`(version: UInt8) throws {
        let vault = try Vault(frozen: version)
        let keys = try vault.open()
        #expect(keys.state == .beforeFirstUnlock)
        #expect(keys.slots == [KeyslotInfo(number: 1, kind: .passcode)])
        #expect(!keys.erasesData)
        #expect(try keys.attempt("wrong") == .authFailed)
        #expect(keys.failedAttempts == 1)
        #expect(vault.keybagVersion == version)
        let early = ItemID()
        let file = TestKey(try keys.newFileKey(for: .completeUnlessOpen, of: early))
        try keys.unlock(passcode)
        #expect(vault.keybagVersion == 3)
        #expect(keys.moveCount == 0)
        let belongings = try Belongings(keys)
        let reopened = try vault.open()
        #expect(try reopened.attempt("wrong") == .authFailed)
        try reopened.unlock(passcode)
        #expect(belongings.lost(with: reopened) == [])
        let kept = try Subject.file(.completeUnlessOpen).unwrap(file.wrapped, from: reopened, for: early)
        #expect(kept == file.key)
    }

    @Test func `stays what it is, and locked, if the current one can't be stored`() throws {
        var step = 1
        while true {
            let vault = try Vault(frozen: 2)
            let saboteur = Saboteur(failing: step)
            let keys = try vault.open(sabotagedBy: saboteur)
            let code = try keys.attempt(passcode)
            if code != nil { #expect(keys.state == .beforeFirstUnlock, "step \(step)") }
            try vault.open().unlock(passcode)
            #expect(vault.keybagVersion == 3)
            guard saboteur.hasStruck else { break }
            step += 1
        }
        #expect(step > 6, "each step of storing a keybag was made to fail")
    }
}

/// The keybag of the store that version 1 of the format has left.
@Suite struct `A keybag of version 1` {
    private static let passcode = "frozen passcode"
    private let vault: Vault

    init() throws { vault = try Vault(frozen: 1) }

    @Test func `is opened on any machine by a recovery key that was added, but for ThisDeviceOnly`() throws {
        let keys = try vault.open()
        try keys.unlock(Self.passcode)
        let belongings = try Belongings(keys)
        let change = try KeybagChange.passcode("another")
        #expect(keys.refusal(of: try .passcode(Self.passcode), change) == nil)

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
        #expect(belongings.lost(with: try vault.open()) == Subject.thisDeviceOnly)
    }

    @Test func `gets a slot for a recovery key without a change of the passcode`() throws {
        let keys = try vault.open()
        let recoveryKey = try NewRecoveryKey()
        #expect(keys.refusal(of: try .passcode(Self.passcode), try keys.addingSlot(recoveryKey)) == nil)
        let reopened = try vault.open()
        #expect(reopened.refusal(of: try .recoveryKey(recoveryKey.takeBytes())) == nil)
        #expect(try reopened.attempt(Self.passcode) == nil)
    }

    @Test func `is damaged with another public key of class B, and stays what it is`() throws {
        try vault.forge { $0.replaceSubrange(42..<74, with: [UInt8](repeating: 9, count: 32)) }
        let forged = vault.temporary.contents("keybag")
        #expect(try vault.open().attempt(Self.passcode) == .decode)
        #expect(vault.temporary.contents("keybag") == forged)
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
