import CofferCore
import CofferKeys
import CofferSystem
import CofferTestSupport
import Testing

@Suite struct `Destroyed keys` {
    private static let names = ["anchor", "attempts", "device.key", "keybag"]

    /// A vault whose files have a second name outside, by which to see what becomes of their content.
    private struct Watched {
        let vault: Vault
        let outside: TemporaryDirectory

        init() throws {
            vault = try Vault(hasRecoveryKey: true)
            outside = try TemporaryDirectory()
            try vault.temporary.write(Array("COFFERAT and more".utf8), to: "attempts")
            try vault.temporary.write(Array("COFFERAN and more".utf8), to: "anchor")
            for name in names {
                // What an interrupted replacement leaves.
                let bytes = try #require(vault.temporary.contents(name))
                try vault.temporary.write(bytes, to: name + ".new")
                for name in [name, name + ".new"] { try vault.temporary.watch(name, from: outside) }
            }
        }

        /// The files with content that is left anywhere on the disk.
        func remains() throws -> [String] {
            try outside.names().filter { name in outside.contents(name)?.contains { $0 != 0 } ?? true }
        }
    }

    @Test func `are overwritten on the disk, and leave no vault`() throws {
        let watched = try Watched()
        #expect(try watched.remains().count == 8, "or it would show nothing")
        try VaultKeys.destroy(in: watched.vault.directory)
        #expect(try watched.remains() == [])
        #expect(try watched.vault.temporary.names() == [])
        let found = try VaultKeys.find(in: watched.vault.directory)
        #expect(found == nil)
        try VaultKeys.destroy(in: watched.vault.directory)
    }

    @Test func `are gone after an interruption at any step and a repetition`() throws {
        var steps = 0
        for step in 1...100 {
            let watched = try Watched()
            let saboteur = Saboteur(failing: step)
            let directory = try Directory(makingPath: watched.vault.temporary.path, fileSystem: saboteur.fileSystem)
            var code: ErrorCode?
            do throws(CofferError) { try VaultKeys.destroy(in: directory) } catch { code = error.code }
            #expect(code == (saboteur.hasStruck ? .diskFull : nil), "step \(step)")
            let found = watched.vault.refusal()
            let isGone = try found != nil || VaultKeys.find(in: watched.vault.directory) == nil
            #expect(isGone, "step \(step): whatever resists, nothing opens it")
            try VaultKeys.destroy(in: watched.vault.directory)
            #expect(try watched.remains() == [], "step \(step)")
            #expect(try watched.vault.temporary.names() == [], "step \(step)")
            steps = step
            if !saboteur.hasStruck { break }
        }
        #expect(steps == 8 * 4 + 1)
    }

    @Test func `are all removed except the file that resists`() throws {
        for name in Self.names {
            let watched = try Watched()
            try watched.vault.temporary.remove(name)
            _ = try watched.vault.directory.subdirectory(name)
            var code: ErrorCode?
            do throws(CofferError) { try VaultKeys.destroy(in: watched.vault.directory) } catch { code = error.code }
            #expect(code == .io)
            #expect(try watched.remains() == [name], "its content is elsewhere, by the name outside alone")
            #expect(try watched.vault.temporary.names() == [name])
        }
    }

    @Test func `allow a new vault, which has nothing of the old one`() throws {
        let vault = try Vault(hasPasscode: false, hasRecoveryKey: true)
        let old = try vault.open()
        let belongings = try Belongings(old)
        let deviceKey = vault.temporary.contents("device.key")
        try VaultKeys.destroy(in: vault.directory)
        _ = try VaultKeys.create(in: vault.directory, passcode: nil)
        let new = try vault.open()
        #expect(new.vaultID != old.vaultID)
        #expect(vault.temporary.contents("device.key") != deviceKey)
        #expect(belongings.lost(with: new) == Subject.all)
    }

    @Test func `are the vault's own: a copy of the keybag elsewhere opens with a recovery key yet`() throws {
        let vault = try Vault(hasPasscode: false, hasRecoveryKey: true)
        let copy = try #require(vault.temporary.contents("keybag"))
        try VaultKeys.destroy(in: vault.directory)
        try vault.temporary.write(copy, to: "keybag")
        #expect(vault.refusal() == .notAvailable)
        let source = try DeviceKeySource(in: vault.directory, credentialsPath: nil)
        guard case .deviceKeyMissing(let moved) = try VaultKeys.open(in: vault.directory, source, at: 0) else {
            Issue.record("a copy is no moved vault")
            return
        }
        let key = try RecoveryKey(text: vault.recoveryKey)
        _ = try moved.recover(with: key, .removingPasscode())
        #expect(vault.refusal() == nil)
    }
}
