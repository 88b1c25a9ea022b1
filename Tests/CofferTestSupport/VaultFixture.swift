package import CofferCore
package import CofferKeys
package import CofferMemory
package import CofferSystem
import Foundation

/// The states that a vault's keys can be brought into.
package enum TestState: String, CaseIterable, Sendable {
    case noPasscode, beforeFirstUnlock, unlocked, locking, locked, lockedExpired

    package var name: VaultState {
        switch self {
        case .noPasscode: .noPasscode
        case .beforeFirstUnlock: .beforeFirstUnlock
        case .unlocked: .unlocked
        case .locking: .locking
        case .locked: .locked
        case .lockedExpired: .lockedExpired
        }
    }
}

/// The files of a vault, which are made once because key derivation is slow.
package struct Template: Sendable {
    package static let passcode = "correct horse"
    package static let withPasscode = Result { try Template(passcode, hasRecoveryKey: false) }
    package static let withoutPasscode = Result { try Template(nil, hasRecoveryKey: false) }
    package static let recoverable = Result { try Template(passcode, hasRecoveryKey: true) }
    package static let recoverableWithoutPasscode = Result { try Template(nil, hasRecoveryKey: true) }

    package let keybag: [UInt8]
    package let deviceKey: [UInt8]
    /// The text of the recovery key; empty if there is none.
    package let recoveryKey: [UInt8]

    private init(_ passcode: String?, hasRecoveryKey: Bool) throws {
        let temporary = try TemporaryDirectory()
        let directory = try Directory(makingPath: temporary.path)
        let recoveryKey = try NewRecoveryKey()
        let publicKey = recoveryKey.publicKey
        _ = try VaultKeys.create(
            in: directory,
            passcode: passcode,
            recoveryPublicKey: hasRecoveryKey ? publicKey : nil
        )
        keybag = temporary.contents("keybag") ?? []
        deviceKey = temporary.contents("device.key") ?? []
        self.recoveryKey = hasRecoveryKey ? recoveryKey.takeText().exposeBytes() : []
    }
}

/// The keys of a vault in its own directory, without a daemon.
package struct Vault {
    package let temporary: TemporaryDirectory
    package let directory: Directory
    /// The text of the recovery key; empty if there is none.
    package let recoveryKey: [UInt8]

    package init(hasPasscode: Bool = true, hasRecoveryKey: Bool = false) throws {
        let temporary = try TemporaryDirectory()
        self.temporary = temporary
        // The keys write their counters, so the files must exist while the directory is open.
        let keeping = FileSystem { _ in withExtendedLifetime(temporary) {} }
        directory = try Directory(makingPath: temporary.path, fileSystem: keeping)
        let template =
            switch (hasPasscode, hasRecoveryKey) {
            case (true, true): try Template.recoverable.get()
            case (true, false): try Template.withPasscode.get()
            case (false, true): try Template.recoverableWithoutPasscode.get()
            case (false, false): try Template.withoutPasscode.get()
            }
        recoveryKey = template.recoveryKey
        try temporary.write(template.keybag, to: "keybag", mode: 0o600)
        try temporary.write(template.deviceKey, to: "device.key", mode: 0o600)
    }

    /// Opens the keys in the state after a start of the daemon.
    package func open() throws -> VaultKeys {
        guard let keys = try VaultKeys.find(in: directory) else { throw POSIXError(.ENOENT) }
        return keys
    }

    /// Opens the keys and brings them into a state.
    package func open(_ state: TestState) throws -> VaultKeys {
        let keys = try open()
        switch state {
        case .noPasscode, .beforeFirstUnlock: break
        case .unlocked: try keys.unlock()
        case .locking:
            try keys.unlock()
            keys.beginLocking()
        case .locked:
            try keys.unlock()
            keys.beginLocking()
            keys.lock()
        case .lockedExpired:
            try keys.unlock()
            keys.lock()
            keys.expireInactive()
        }
        precondition(keys.state == state.name, "a vault with a passcode has none of the states of one without")
        return keys
    }
}

extension NewPasscode {
    /// One whose guesses take milliseconds, with the least memory that a keybag may name.
    package init(cheap passcode: String) throws {
        self.init(try SecretBytes(passcode), operations: 2, memoryKiB: 8 << 10)
    }
}

extension VaultKeys {
    /// Unlocks with the passcode of the template.
    ///
    /// - Parameter now: Nanoseconds of boot time.
    package func unlock(_ passcode: String = Template.passcode, at now: UInt64 = 0) throws {
        adopt(try show(.passcode(try SecretBytes(passcode)), at: now).takeKeys())
    }

    /// Authenticates with a credential and makes a change, on the calling thread.
    ///
    /// - Parameter now: Nanoseconds of boot time.
    package func show(
        _ credential: consuming GivenCredential,
        _ change: consuming KeybagChange? = nil,
        at now: UInt64 = 0
    ) throws(CofferError) -> Authentication.Granted {
        let kind: Credential
        switch credential {
        case .recoveryKey: kind = .recoveryKey
        case .passcode: kind = .passcode
        case .nothing: kind = .passcode
        }
        return try settle(try authentication(with: kind, at: now).perform(credential, change), at: now)
    }

    /// Makes a vault, with the device key in its directory.
    package static func create(
        in directory: Directory,
        passcode: String?,
        recoveryPublicKey: [UInt8]? = nil,
        erasesData: Bool = false
    ) throws(CofferError) -> UnlockedKeys {
        var new: NewPasscode?
        if let passcode {
            do { new = try NewPasscode(cheap: passcode) } catch { throw .noSecretMemory }
        }
        let plan = VaultPlan(passcode: new, recoveryPublicKey: recoveryPublicKey, erasesData: erasesData)
        return try create(in: directory, try DeviceKeySource(in: directory, credentialsPath: nil), plan)
    }

    /// Opens the keys in a directory.
    ///
    /// - Parameter now: Nanoseconds of boot time.
    /// - Returns: `nil` if there is no keybag.
    /// - Throws: `notAvailable` if its device key is missing.
    package static func find(
        in directory: Directory,
        credentialsPath: String? = nil,
        at now: UInt64 = 0
    ) throws(CofferError) -> VaultKeys? {
        let source = try DeviceKeySource(in: directory, credentialsPath: credentialsPath)
        switch try open(in: directory, source, at: now) {
        case .noVault: return nil
        case .deviceKeyMissing: throw CofferError(.notAvailable, "the device key is missing")
        case .vault(let keys): return keys
        }
    }
}

extension SecretBytes {
    /// Copies a text that is not secret.
    package init(_ text: String) throws(SecretMemoryError) { try self.init(copying: Array(text.utf8).span.bytes) }
}
