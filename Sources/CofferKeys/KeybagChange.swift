package import CofferCore
package import CofferMemory

/// What is to become different in the next keybag.
package struct KeybagChange: ~Copyable, Sendable {
    /// What becomes of the slot of the device key or of the passcode.
    enum Primary: ~Copyable, Sendable {
        case keep
        case device
        case passcode(NewPasscode)
    }

    let primary: Primary

    /// Whether the passcode is another one or none, so that the wrong ones before count no more.
    var replacesPasscode: Bool {
        switch primary {
        case .passcode: true
        case .keep: false
        case .device: true
        }
    }

    /// The number of the slot that comes to be.
    package var addedSlot: Int? { addedRecoverySlot.map { Int($0.id) } }

    let erasesData: Bool?
    let addedRecoverySlot: RecoverySlot?
    let removedSlot: UInt8?

    private init(
        primary: consuming Primary,
        erasesData: Bool? = nil,
        added: RecoverySlot? = nil,
        removed: UInt8? = nil
    ) {
        self.primary = primary
        self.erasesData = erasesData
        addedRecoverySlot = added
        removedSlot = removed
    }

    /// Sets a passcode, or another one.
    ///
    /// - Parameters:
    ///   - new: The passcode.
    ///   - erasesData: Whether the tenth wrong passcode is to erase the vault; as before if nothing is said.
    package static func passcode(_ new: consuming NewPasscode, erasesData: Bool?) -> KeybagChange {
        KeybagChange(primary: .passcode(new), erasesData: erasesData)
    }

    /// Takes the passcode away: the device key alone opens the vault from then on.
    package static func removingPasscode() -> KeybagChange { KeybagChange(primary: .device, erasesData: false) }

    /// Removes the slot of a recovery key.
    static func removing(_ slot: UInt8) -> KeybagChange { KeybagChange(primary: .keep, removed: slot) }

    /// Adds the slot of a recovery key.
    static func adding(_ slot: RecoverySlot) -> KeybagChange { KeybagChange(primary: .keep, added: slot) }
}

/// A passcode that is to be set.
package struct NewPasscode: ~Copyable, Sendable {
    let passcode: SecretBytes
    let cost: PasscodeCost?

    /// Takes a passcode.
    package init(_ passcode: consuming SecretBytes, cost: PasscodeCost?) {
        self.passcode = passcode
        self.cost = cost
    }
}

/// What somebody shows to be let in.
package enum GivenCredential: ~Copyable, Sendable {
    /// Nothing: enough where there is no passcode.
    case nothing
    /// A passcode.
    case passcode(SecretBytes)
    /// A recovery key.
    case recoveryKey(RecoveryKey)
}
