package import CofferCore
package import CofferMemory

/// The changes for the next keybag.
package struct KeybagChange: ~Copyable, Sendable {
    /// The change of the slot of the device key or of the passcode.
    enum Primary: ~Copyable, Sendable {
        case keep
        case device
        case passcode(NewPasscode)
    }

    let primary: Primary

    /// Whether the passcode is replaced or removed, so that earlier wrong passcodes no longer count.
    var replacesPasscode: Bool {
        switch primary {
        case .passcode: true
        case .keep: false
        case .device: true
        }
    }

    /// The number of the added slot.
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

    /// Sets or replaces a passcode.
    ///
    /// - Parameters:
    ///   - new: The new passcode.
    ///   - erasesData: Whether the tenth wrong passcode erases the vault; `nil` to keep the setting.
    package static func passcode(_ new: consuming NewPasscode, erasesData: Bool?) -> KeybagChange {
        KeybagChange(primary: .passcode(new), erasesData: erasesData)
    }

    /// Removes the passcode: from then on the device key alone opens the vault.
    package static func removingPasscode() -> KeybagChange { KeybagChange(primary: .device, erasesData: false) }

    /// Removes the slot of a recovery key.
    static func removing(_ slot: UInt8) -> KeybagChange { KeybagChange(primary: .keep, removed: slot) }

    /// Adds the slot of a recovery key.
    static func adding(_ slot: RecoverySlot) -> KeybagChange { KeybagChange(primary: .keep, added: slot) }
}

/// A passcode to be set.
package struct NewPasscode: ~Copyable, Sendable {
    let passcode: SecretBytes
    /// The cost of a guess; `nil` for that of the previous passcode, or moderate.
    let cost: (operations: UInt32, memoryKiB: UInt32)?

    /// Creates a new passcode.
    package init(_ passcode: consuming SecretBytes, cost: PasscodeCost?) {
        self.passcode = passcode
        self.cost = cost.map { ($0.operations, $0.memoryKiB) }
    }

    /// Creates a new passcode with a cost that no request can name: tests unlock some thousand times.
    package init(_ passcode: consuming SecretBytes, operations: UInt32, memoryKiB: UInt32) {
        self.passcode = passcode
        cost = (operations, memoryKiB)
    }
}

/// A presented credential.
package enum GivenCredential: ~Copyable, Sendable {
    /// None: enough if there is no passcode.
    case nothing
    /// A passcode.
    case passcode(SecretBytes)
    /// A recovery key.
    case recoveryKey(RecoveryKey)
}
