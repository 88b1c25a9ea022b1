import CofferCore
import CofferKeys
import CofferSystem
import CofferTestSupport
import Testing

extension Vault {
    /// The vault as one whose device key is not here; `nil` where it is something else.
    fileprivate func moved(_ fileSystem: FileSystem = .real, credentials: String? = nil) throws -> MovedVault? {
        let directory = try Directory(makingPath: temporary.path, fileSystem: fileSystem)
        let source = try DeviceKeySource(in: directory, credentialsPath: credentials)
        guard case .deviceKeyMissing(let vault) = try VaultKeys.open(in: directory, source, at: 0) else { return nil }
        return vault
    }

    /// Makes a vault without its device key one of this machine.
    fileprivate func recover(
        _ recoveryKey: [UInt8]? = nil,
        _ change: consuming KeybagChange = .removingPasscode(),
        _ fileSystem: FileSystem = .real,
        credentials: String? = nil
    ) throws -> ErrorCode? {
        let vault = try #require(try moved(fileSystem, credentials: credentials))
        let key = try RecoveryKey(text: recoveryKey ?? self.recoveryKey)
        do throws(CofferError) {
            _ = try vault.recover(with: key, change)
            return nil
        } catch {
            return error.code
        }
    }
}

@Suite struct `A vault without its device key` {
    @Test(arguments: [true, false])
    func `says which it is and what opens it, and makes no key by that`(isReplaced: Bool) throws {
        let vault = try Vault(hasRecoveryKey: true)
        let id = try vault.open().vaultID
        try vault.temporary.remove("device.key")
        if isReplaced { try vault.temporary.write(try Template.withPasscode.get().deviceKey, to: "device.key") }
        let names = try vault.temporary.names()
        let moved = try #require(try vault.moved())
        #expect(moved.vaultID == id)
        #expect(moved.slots == [.init(number: 1, kind: .passcode), .init(number: 2, kind: .recoveryKey)])
        #expect(try vault.temporary.names() == names)
    }

    @Test(arguments: [true, false])
    func `becomes this machine's with a recovery key, without what is ThisDeviceOnly`(isReplaced: Bool) throws {
        let vault = try Vault(hasRecoveryKey: true)
        let belongings = try Belongings(try vault.open(.unlocked))
        let old = try #require(vault.temporary.contents("device.key"))
        _ = try vault.open().attempt("wrong")
        try vault.temporary.remove("device.key")
        if isReplaced { try vault.temporary.write(try Template.withPasscode.get().deviceKey, to: "device.key") }
        #expect(try vault.recover(nil, try .passcode("another")) == nil)

        let new = try #require(vault.temporary.contents("device.key"))
        #expect(new.count == 32)
        #expect(new != old)
        let keys = try vault.open()
        #expect(keys.failedAttempts == 0)
        #expect(try keys.attempt(Template.passcode) == .authFailed, "the passcode before is of no use")
        try keys.unlock("another")
        #expect(keys.moveCount == 1)
        #expect(belongings.lost(with: keys) == Subject.thisDeviceOnly)
        let newer = try Belongings(keys)
        let again = try vault.open()
        again.adopt(try again.show(.recoveryKey(vault.recoveryKey)).takeKeys())
        #expect(belongings.lost(with: again) == Subject.thisDeviceOnly, "the recovery key opens it as before")
        #expect(newer.lost(with: again) == [], "what is made here is of this device")

        try vault.temporary.write(old, to: "device.key")
        #expect(try vault.moved() != nil, "the device key before is of no use")
    }

    @Test func `is not opened by another recovery key, and makes no device key for it`() throws {
        let vault = try Vault(hasRecoveryKey: true)
        try vault.temporary.remove("device.key")
        let keybag = vault.temporary.contents("keybag")
        let other = try NewRecoveryKey().takeBytes()
        #expect(try vault.recover(other) == .authFailed)
        #expect(try vault.temporary.names() == ["keybag"])
        #expect(vault.temporary.contents("keybag") == keybag)
    }

    @Test func `is not opened at all where it has no recovery key`() throws {
        let vault = try Vault()
        try vault.temporary.remove("device.key")
        #expect(try vault.recover(try NewRecoveryKey().takeBytes()) == .authFailed)
    }

    /// The count that came along has a tag of the device key before.
    @Test func `starts without wrong passcodes after any kill, and gives none back where it came from`() throws {
        let template = try Vault(hasRecoveryKey: true)
        for number in 1...4 { #expect(try template.open().attempt("wrong \(number)") == .authFailed) }
        let count = try #require(template.temporary.contents("attempts"))
        var moved = 0
        for step in 1...100 {
            let vault = try Vault(hasRecoveryKey: true)
            let deviceKey = try #require(vault.temporary.contents("device.key"))
            try vault.temporary.write(count, to: "attempts")
            try vault.temporary.remove("device.key")
            let saboteur = Saboteur(failing: step, forGood: true)
            _ = try vault.recover(nil, .removingPasscode(), saboteur.fileSystem)
            if try vault.moved() == nil {
                #expect(try vault.open().failedAttempts == 0, "step \(step)")
            } else {
                moved += 1
                try vault.temporary.write(deviceKey, to: "device.key")
                #expect([4, 9].contains(try vault.open().failedAttempts), "step \(step)")
            }
            if !saboteur.hasStruck { break }
        }
        #expect(moved == 17, "the last sync can't be taken back, and may be on the disk")
    }

    @Test func `can be recovered again after any interruption`() throws {
        var outcomes: [String] = []
        for step in 1...100 {
            let vault = try Vault(hasPasscode: false, hasRecoveryKey: true)
            let belongings = try Belongings(try vault.open())
            try vault.temporary.remove("device.key")
            let saboteur = Saboteur(failing: step)
            let code = try vault.recover(nil, .removingPasscode(), saboteur.fileSystem)
            if try vault.moved() != nil {
                outcomes.append("moved")
                #expect(code == .diskFull, "step \(step)")
                #expect(try vault.recover() == nil, "step \(step)")
            } else {
                outcomes.append("here")
            }
            let keys = try vault.open()
            #expect(belongings.lost(with: keys) == Subject.thisDeviceOnly, "step \(step)")
            #expect(keys.refusal(of: try .recoveryKey(vault.recoveryKey)) == nil)
            #expect(try vault.temporary.names() == ["attempts", "device.key", "keybag"], "step \(step)")
            if !saboteur.hasStruck { break }
        }
        // The device key, the count and the keybag in six steps each; from then on it is this machine's, and the old keybag is
        // shredded in four steps, and the count stored again in two.
        #expect(outcomes == Array(repeating: "moved", count: 18) + Array(repeating: "here", count: 7))
    }

    @Test func `is not opened with a keybag that was tampered with on the way`() throws {
        let vault = try Vault(hasPasscode: false, hasRecoveryKey: true)
        let whole = try #require(vault.temporary.contents("keybag"))
        try vault.temporary.remove("device.key")
        // The closing tag alone is beyond who has not the device key.
        for place in 0..<(whole.count - 32) {
            var changed = whole
            changed[place] ^= 1
            try vault.temporary.write(changed, to: "keybag")
            let found = vault.refusal()
            if found == .notAvailable {
                let code = try vault.recover()
                #expect(code == .decode || code == .authFailed, "byte \(place)")
            } else {
                #expect(found == .decode, "byte \(place)")
            }
        }
        #expect(try vault.temporary.names() == ["keybag"])
    }
}

@Suite struct `A device key from the service manager` {
    private let vault: Vault
    private let credentials: TemporaryDirectory
    private let other: [UInt8]

    init() throws {
        vault = try Vault(hasPasscode: false, hasRecoveryKey: true)
        credentials = try TemporaryDirectory()
        other = try Template.withPasscode.get().deviceKey
    }

    private func code() -> ErrorCode? {
        do throws(CofferError) {
            _ = try VaultKeys.find(in: vault.directory, credentialsPath: credentials.path)
            return nil
        } catch {
            return error.code
        }
    }

    private func pass(_ key: [UInt8]) throws { try credentials.write(key, to: DeviceKeySource.credentialName) }

    @Test func `goes before the file, which need not be there`() throws {
        try pass(try #require(vault.temporary.contents("device.key")))
        try vault.temporary.write(other, to: "device.key")
        #expect(code() == nil)
        try vault.temporary.remove("device.key")
        #expect(code() == nil)
        #expect(vault.temporary.contents("device.key") == nil)
    }

    @Test func `that does not fit, or is not there, leaves the file its turn`() throws {
        #expect(code() == nil, "none is passed")
        try pass(other)
        #expect(code() == nil)
        try vault.temporary.remove("device.key")
        #expect(code() == .notAvailable)
    }

    @Test(arguments: [0, 1, 31, 33, 64])
    func `has 32 bytes, also where the file would do`(count: Int) throws {
        try pass(Array(repeating: 7, count: count))
        do throws(CofferError) {
            _ = try VaultKeys.find(in: vault.directory, credentialsPath: credentials.path)
            Issue.record("opened with a credential of \(count) bytes")
        } catch {
            #expect(error.code == .decode)
            #expect(error.message.contains("'device-key' has not exactly 32 bytes"))
        }
    }

    @Test func `is what a new vault is made with, and no file is`() throws {
        let temporary = try TemporaryDirectory()
        let directory = try Directory(makingPath: temporary.path)
        try pass(other)
        let source = try DeviceKeySource(in: directory, credentialsPath: credentials.path)
        _ = try VaultKeys.create(in: directory, source, VaultPlan(passcode: nil))
        #expect(try temporary.names() == ["attempts", "keybag"])
        #expect(try VaultKeys.find(in: directory, credentialsPath: credentials.path)?.state == .noPasscode)
    }

    @Test func `is what a moved vault is bound to`() throws {
        try vault.temporary.remove("device.key")
        try pass(other)
        #expect(try vault.recover(credentials: credentials.path) == nil)
        #expect(code() == nil)
        #expect(vault.temporary.contents("device.key") == nil)
        #expect(vault.refusal() == .notAvailable, "without the credential it does not open")
    }

    @Test func `is missed where its directory is not there`() throws {
        #expect(throws: CofferError(.io, "")) {
            _ = try DeviceKeySource(in: vault.directory, credentialsPath: credentials.path("nowhere"))
        }
    }
}
