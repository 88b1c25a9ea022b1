import CofferCore
import CofferCrypto
import CofferKeys
import CofferMemory
import CofferSystem
import Foundation
import CofferTestSupport
import Testing

@Suite struct `A vault` {
    @Test(arguments: [true, false])
    func `is made, opened and unlocked`(hasPasscode: Bool) throws {
        let temporary = try TemporaryDirectory()
        let directory = try Directory(makingPath: temporary.path)
        let none = try VaultKeys.find(in: directory)
        #expect(none == nil)
        let passcode = hasPasscode ? "1234" : nil
        let unlocked = try VaultKeys.create(in: directory, passcode: passcode)
        let maker = try #require(try VaultKeys.find(in: directory))
        #expect(maker.state == (hasPasscode ? .beforeFirstUnlock : .noPasscode))
        maker.adopt(unlocked)
        #expect(maker.state == (hasPasscode ? .unlocked : .noPasscode))
        let id = ItemID()
        let made = try Subject.file(.complete).newKey(from: maker, for: id)

        let keys = try #require(try VaultKeys.find(in: directory))
        if hasPasscode {
            let before = refusal { () throws(KeyError) in
                try Subject.file(.complete).unwrap(made.wrapped, from: keys, for: id)
            }
            #expect(before == .locked)
            try keys.unlock("1234")
        }
        #expect(keys.vaultID == maker.vaultID)
        let key = try Subject.file(.complete).unwrap(made.wrapped, from: keys, for: id)
        #expect(key == made.key)
    }

    @Test(arguments: ["", "correct horsE", "correct horse ", "correct hors", "\0", "correct horse\0"])
    func `does not open with another passcode`(passcode: String) throws {
        let keys = try Vault().open()
        #expect(try keys.attempt(passcode) == .authFailed)
        #expect(keys.state == .beforeFirstUnlock)
        #expect(try keys.attempt(Template.passcode) == nil, "a wrong one changes nothing")
    }

    @Test func `with a passcode does not open without one, and the other way round`() throws {
        #expect(try Vault().open().attempt(nil) == .authFailed)
        let open = try Vault(hasPasscode: false).open()
        #expect(try open.attempt("") == .notAvailable)
        #expect(try open.attempt("correct horse") == .notAvailable)
        #expect(try open.attempt(nil) == nil)
    }

    @Test func `may have an empty passcode, or a long one of any bytes`() throws {
        let longest = String(repeating: "\0", count: 1024)
        for passcode in ["", longest, String(String.UnicodeScalarView((0...255).compactMap(Unicode.Scalar.init)))] {
            let temporary = try TemporaryDirectory()
            let directory = try Directory(makingPath: temporary.path)
            _ = try VaultKeys.create(in: directory, passcode: passcode)
            let keys = try #require(try VaultKeys.find(in: directory))
            #expect(keys.state == .beforeFirstUnlock)
            try keys.unlock(passcode)
            #expect(keys.state == .unlocked)
        }
    }

    @Test func `has files for its owner only, and no key in the clear but the device's`() throws {
        let vault = try Vault()
        let keybag = try #require(vault.temporary.contents("keybag"))
        let deviceKey = try #require(vault.temporary.contents("device.key"))
        #expect(deviceKey.count == 32)
        #expect(!keybag.contains(deviceKey))
        #expect(!keybag.contains(Array(Template.passcode.utf8)))
        let temporary = try TemporaryDirectory()
        let directory = try Directory(makingPath: temporary.path)
        _ = try VaultKeys.create(in: directory, passcode: nil)
        for name in ["keybag", "device.key"] {
            var status = stat()
            #expect(stat(temporary.path(name), &status) == 0)
            #expect(status.st_mode & 0o077 == 0)
        }
    }

    @Test func `has other keys than the next one, and keeps the device key that is there`() throws {
        let temporary = try TemporaryDirectory()
        let directory = try Directory(makingPath: temporary.path)
        _ = try VaultKeys.create(in: directory, passcode: nil)
        let first = (temporary.contents("keybag"), temporary.contents("device.key"))
        let firstID = try #require(try VaultKeys.find(in: directory)).vaultID
        try temporary.remove("keybag")
        #expect(try VaultKeys.find(in: directory) == nil, "a device key alone is no vault")
        _ = try VaultKeys.create(in: directory, passcode: nil)
        #expect(temporary.contents("device.key") == first.1)
        #expect(temporary.contents("keybag") != first.0)
        #expect(try #require(try VaultKeys.find(in: directory)).vaultID != firstID)
    }

    @Test(arguments: [true, false])
    func `is whole or not there when the disk fails while it is made`(hasPasscode: Bool) throws {
        var outcomes: [String] = []
        for step in 1...100 {
            let temporary = try TemporaryDirectory()
            let real = try Directory(makingPath: temporary.path)
            let saboteur = Saboteur(failing: step)
            let directory = try Directory(makingPath: temporary.path, fileSystem: saboteur.fileSystem)
            let passcode = hasPasscode ? "1234" : nil
            var code: ErrorCode?
            do throws(CofferError) {
                _ = try VaultKeys.create(in: directory, passcode: passcode)
            } catch {
                code = error.code
            }
            #expect(code == (saboteur.hasStruck ? .diskFull : nil), "step \(step)")
            if try VaultKeys.find(in: real) == nil {
                outcomes.append("none")
                #expect(code != nil)
                _ = try VaultKeys.create(in: real, passcode: passcode)
            } else {
                outcomes.append("whole")
            }
            let keys = try #require(try VaultKeys.find(in: real))
            if let passcode { try keys.unlock(passcode) }
            _ = try Subject.file(.complete).newKey(from: keys, for: ItemID())
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: temporary.path).sorted() == [
                    "attempts", "device.key", "keybag",
                ]
            )
            if code == nil { break }
        }
        #expect(outcomes == Array(repeating: "none", count: 18) + ["whole"])
    }
}

private let tagBytes = 32

extension Vault {
    /// Changes the keybag and closes it with the right tag again, as only who has the device key can.
    func forge(_ change: (inout [UInt8]) -> Void) throws {
        var body = Array(try #require(temporary.contents("keybag")).dropLast(tagBytes))
        change(&body)
        let bytes = try #require(temporary.contents("device.key"))
        guard let key = SymmetricKey(try SecretBytes(copying: bytes.span.bytes)) else {
            Issue.record("the device key is no key")
            return
        }
        let tag = KeyedHash.tag(under: key, for: "coffer keybag tag v1", byteCount: tagBytes, body)
        try temporary.write(body + tag, to: "keybag")
    }
}

@Suite struct `The keybag` {
    @Test(arguments: [UInt8(0x01), 0x80, 0xFF])
    func `is found out wherever a byte is another`(mask: UInt8) throws {
        for (hasPasscode, hasRecoveryKey) in [(true, false), (false, false), (true, true), (false, true)] {
            let vault = try Vault(hasPasscode: hasPasscode, hasRecoveryKey: hasRecoveryKey)
            let whole = try #require(vault.temporary.contents("keybag"))
            for place in whole.indices {
                var changed = whole
                changed[place] ^= mask
                try vault.temporary.write(changed, to: "keybag")
                let found = vault.refusal()
                // The vault's id and the check of the device key look as those of another machine do.
                let expected: ErrorCode = (10..<42).contains(place) ? .notAvailable : .decode
                #expect(found == expected, "byte \(place)")
            }
            try vault.temporary.write(whole, to: "keybag")
            #expect(vault.refusal() == nil)
        }
    }

    @Test(arguments: [true, false])
    func `is found out at every other length`(hasRecoveryKey: Bool) throws {
        let vault = try Vault(hasRecoveryKey: hasRecoveryKey)
        let whole = try #require(vault.temporary.contents("keybag"))
        for count in 0..<whole.count {
            try vault.temporary.write(Array(whole.prefix(count)), to: "keybag")
            #expect(vault.refusal() == .decode, "\(count) bytes")
        }
        for extra in [1, 32, 64 << 10, 1 << 20] {
            try vault.temporary.write(whole + Array(repeating: 0, count: extra), to: "keybag")
            #expect(vault.refusal() == .decode, "\(extra) bytes more")
        }
    }

    @Test func `does not trap on anything`() throws {
        let vault = try Vault()
        let whole = try #require(vault.temporary.contents("keybag"))
        var random = SeededGenerator(seed: 7)
        for _ in 0..<300 {
            let kept = Int.random(in: 0...200, using: &random)
            let noise = (0..<Int.random(in: 0...1500, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            try vault.temporary.write(Array(whole.prefix(kept)) + noise, to: "keybag")
            let found = vault.refusal()
            #expect(found == .decode || found == .notAvailable)
        }
    }

    @Test func `can be forged by who has the device key, so that the next tests can fail`() throws {
        let vault = try Vault()
        try vault.forge { _ in }
        let keys = try vault.open()
        #expect(try keys.attempt(Template.passcode) == nil)
    }

    @Test(
        arguments: [
            ("a newer version", 9, 2), ("an older version", 9, 0),
            ("an unknown flag", 142, 4), ("no slots", 143, 0), ("one slot too many", 143, 2),
            ("a recovery key in the first slot", 145, 3), ("an unknown kind of slot", 145, 4),
            ("a longer slot", 147, 97), ("a shorter slot", 147, 95), ("no passes", 151, 0),
            ("too many passes", 151, 17), ("too much memory", 152, 1), ("too little memory", 154, 31),
            ("one key less", 244, 16), ("one key more", 244, 18), ("an unknown key", 245, 99),
            ("a key twice", 245, 2), ("an unknown wrapper", 246, 4), ("another wrapper", 246, 1),
            ("the wrapper of ThisDeviceOnly", 246, 3),
        ] as [(String, Int, UInt8)]
    )
    func `is refused with a value that the format does not have, authentic or not`(
        what: String,
        place: Int,
        value: UInt8
    ) throws {
        let vault = try Vault()
        try vault.forge { body in
            #expect(body[place] != value)
            body[place] = value
        }
        #expect(vault.refusal() == .decode, "\(what)")
    }

    @Test func `gives nothing through a slot that was made cheaper`() throws {
        let vault = try Vault()
        try vault.forge { $0[151] = 1 }
        let keys = try vault.open()
        #expect(try keys.attempt(Template.passcode) == .authFailed)
    }

    @Test func `gives nothing where two class keys were exchanged`() throws {
        let vault = try Vault()
        try vault.forge { body in
            // The wrapped keys of A and C, each after its code and its wrapper's.
            let (a, c) = (Array(body[247..<319]), Array(body[395..<467]))
            #expect(body[245] == 1 && body[393] == 3)
            body.replaceSubrange(247..<319, with: c)
            body.replaceSubrange(395..<467, with: a)
        }
        let keys = try vault.open()
        #expect(try keys.attempt(Template.passcode) == .decode)
    }

    @Test func `of another vault is distinguished from a damaged one`() throws {
        let vault = try Vault()
        try vault.temporary.write(try Template.withoutPasscode.get().keybag, to: "keybag")
        #expect(vault.refusal() == .notAvailable)
    }
}

@Suite struct `The device key` {
    @Test func `is missed, and named, where it is not there`() throws {
        let vault = try Vault()
        try vault.temporary.remove("device.key")
        do throws(CofferError) {
            _ = try VaultKeys.find(in: vault.directory)
            Issue.record("opened without its device key")
        } catch {
            #expect(error.code == .notAvailable)
            #expect(error.message == "the device key is missing")
        }
        #expect(vault.temporary.contents("device.key") == nil, "looking does not make one")
    }

    @Test func `of another vault opens nothing`() throws {
        let vault = try Vault()
        try vault.temporary.write(try Template.withoutPasscode.get().deviceKey, to: "device.key")
        #expect(vault.refusal() == .notAvailable)
    }

    @Test func `opens nothing with any bit changed`() throws {
        let vault = try Vault()
        let key = try #require(vault.temporary.contents("device.key"))
        for bit in 0..<256 {
            var changed = key
            changed[bit / 8] ^= 1 << (bit % 8)
            try vault.temporary.write(changed, to: "device.key")
            #expect(vault.refusal() == .notAvailable, "bit \(bit)")
        }
    }

    @Test(arguments: [0, 1, 31, 33, 64, 5000])
    func `has 32 bytes`(count: Int) throws {
        let vault = try Vault()
        try vault.temporary.write(Array(repeating: 7, count: count), to: "device.key")
        #expect(vault.refusal() == .decode)
    }

    @Test(
        arguments: [
            (0o600, true), (0o400, true), (0o700, true), (0o640, false), (0o620, false), (0o610, false),
            (0o604, false), (0o602, false), (0o601, false), (0o644, false), (0o777, false),
        ] as [(mode_t, Bool)]
    )
    func `is refused where others may use it`(mode: mode_t, isAccepted: Bool) throws {
        let vault = try Vault()
        let key = try #require(vault.temporary.contents("device.key"))
        try vault.temporary.write(key, to: "device.key", mode: mode)
        #expect(vault.refusal() == (isAccepted ? nil : .io))
    }

    @Test func `is not read through a symbolic link`() throws {
        let vault = try Vault()
        try FileManager.default.moveItem(
            atPath: vault.temporary.path("device.key"),
            toPath: vault.temporary.path("elsewhere")
        )
        try FileManager.default.createSymbolicLink(
            atPath: vault.temporary.path("device.key"),
            withDestinationPath: vault.temporary.path("elsewhere")
        )
        #expect(vault.refusal() == .io)
    }

    @Test func `that is damaged is not replaced by a new one`() throws {
        let temporary = try TemporaryDirectory()
        let directory = try Directory(makingPath: temporary.path)
        try temporary.write([1, 2, 3], to: "device.key")
        #expect(throws: CofferError(.decode, "")) {
            _ = try VaultKeys.create(in: directory, passcode: nil)
        }
        #expect(temporary.contents("device.key") == [1, 2, 3])
        #expect(temporary.contents("keybag") == nil)
    }
}
