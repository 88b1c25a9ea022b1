internal import CofferCore
internal import CofferCrypto
internal import CofferMemory

/// One way to obtain the keybag key.
struct Keyslot: Equatable, Sendable {
    let id: UInt8
    let lock: Lock
    let wrappedKeybagKey: [UInt8]

    /// How a slot is opened, with its parameters that are not secret.
    enum Lock: Equatable, Sendable {
        /// By the device key alone: a vault without a passcode.
        case device
        /// By the device key and a passcode.
        case passcode(Stretching)
        /// By the recovery key with this public key alone, without the device key.
        case recoveryKey(publicKey: [UInt8])
    }

    /// The parameters for stretching a passcode.
    struct Stretching: Equatable, Sendable {
        /// Argon2id's passes.
        let operations: UInt32
        /// Argon2id's memory, in KiB.
        let memoryKiB: UInt32
        let salt: [UInt8]

        /// Those of a new passcode; without a cost, that of the previous passcode, or moderate.
        init(_ cost: (operations: UInt32, memoryKiB: UInt32)?, replacing lock: Lock?) {
            var (operations, memoryKiB) = (PasscodeCost.moderate.operations, PasscodeCost.moderate.memoryKiB)
            if case .passcode(let before) = lock { (operations, memoryKiB) = (before.operations, before.memoryKiB) }
            if let cost { (operations, memoryKiB) = cost }
            self.init(operations: operations, memoryKiB: memoryKiB, salt: randomBytes(KeyDerivation.saltBytes))
        }

        init(operations: UInt32, memoryKiB: UInt32, salt: [UInt8]) {
            self.operations = operations
            self.memoryKiB = memoryKiB
            self.salt = salt
        }

        /// Stretches a passcode.
        func stretch(_ passcode: borrowing SecretBytes) throws(CofferError) -> SymmetricKey {
            do {
                return try KeyDerivation.passcodeKey(passcode, salt: salt, operations: operations, memoryKiB: memoryKiB)
            } catch {
                throw error == .noMemoryToStretch ? .noMemoryToStretch(memoryKiB: memoryKiB) : .noSecretMemory
            }
        }
    }

    var kind: KeyslotKind { lock.kind }

    /// The context of the wrapped key: a slot can't be passed off as another, or as one with a lower cost.
    private static func context(_ vaultID: ItemID, _ id: UInt8, _ lock: Lock) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: "coffer keyslot v1".utf8)
        writer.write(raw: vaultID.bytes)
        writer.write(id)
        writer.write(lock.kind.code)
        lock.write(to: &writer)
        return writer.bytes
    }

    /// Creates a slot that a KEK opens: that of the device key, or of the device key and a passcode.
    init(
        id: UInt8,
        _ lock: Lock,
        of vaultID: ItemID,
        wrapping keybagKey: borrowing SymmetricKey,
        under kek: borrowing SymmetricKey
    ) {
        let context = Self.context(vaultID, id, lock)
        self.init(id: id, lock: lock, wrappedKeybagKey: KeyWrap.wrap(keybagKey, under: kek, context: context))
    }

    /// Creates a slot that a recovery key opens, from its public key.
    init(
        id: UInt8,
        recoveryPublicKey: [UInt8],
        of vaultID: ItemID,
        wrapping keybagKey: borrowing SymmetricKey
    ) throws(CryptoError) {
        let lock = Lock.recoveryKey(publicKey: recoveryPublicKey)
        let wrapped = try KeyAgreement.wrap(
            keybagKey,
            to: recoveryPublicKey,
            for: Self.recoveryPurpose,
            context: Self.context(vaultID, id, lock)
        )
        self.init(id: id, lock: lock, wrappedKeybagKey: wrapped)
    }

    init(id: UInt8, lock: Lock, wrappedKeybagKey: [UInt8]) {
        self.id = id
        self.lock = lock
        self.wrappedKeybagKey = wrappedKeybagKey
    }

    /// Opens a slot of the device key, or of a passcode.
    func open(of vaultID: ItemID, under kek: borrowing SymmetricKey) throws(CryptoError) -> SymmetricKey {
        let context = Self.context(vaultID, id, lock)
        return unsafe try KeyWrap.unwrap(wrappedKeybagKey.span.bytes, under: kek, context: context)
    }

    /// Opens a slot of a recovery key.
    func open(of vaultID: ItemID, with recoveryKey: borrowing RecoveryKey) throws(CryptoError) -> SymmetricKey {
        unsafe try KeyAgreement.unwrap(
            wrappedKeybagKey.span.bytes,
            with: try recoveryKey.privateKey(),
            for: Self.recoveryPurpose,
            context: Self.context(vaultID, id, lock)
        )
    }

    private static var recoveryPurpose: StaticString { "coffer recovery wrap v1" }
}

extension Keyslot.Lock {
    var kind: KeyslotKind {
        switch self {
        case .device: .device
        case .passcode: .passcode
        case .recoveryKey: .recoveryKey
        }
    }

    /// Writes the parameters, as they are in the keybag.
    func write(to writer: inout ByteWriter) {
        switch self {
        case .device: break
        case .passcode(let stretching):
            writer.write(stretching.operations)
            writer.write(stretching.memoryKiB)
            writer.write(raw: stretching.salt)
        case .recoveryKey(let publicKey):
            writer.write(raw: publicKey)
        }
    }

    /// Reads the parameters.
    init(_ kind: KeyslotKind, reading reader: inout ByteReader) throws(ByteReader.Malformed) {
        switch kind {
        case .device: self = .device
        case .passcode:
            let stretching = try Keyslot.Stretching(reading: &reader)
            guard KeyDerivation.acceptedOperations.contains(stretching.operations),
                KeyDerivation.acceptedMemoryKiB.contains(stretching.memoryKiB)
            else { throw ByteReader.Malformed() }
            self = .passcode(stretching)
        case .recoveryKey:
            self = .recoveryKey(publicKey: Array(try reader.readRaw(KeyAgreement.publicKeyBytes)))
        }
    }
}

extension Keyslot.Stretching {
    fileprivate init(reading reader: inout ByteReader) throws(ByteReader.Malformed) {
        let operations = try reader.read(UInt32.self)
        let memoryKiB = try reader.read(UInt32.self)
        let salt = Array(try reader.readRaw(KeyDerivation.saltBytes))
        self.init(operations: operations, memoryKiB: memoryKiB, salt: salt)
    }
}

extension CofferError {
    fileprivate static func noMemoryToStretch(memoryKiB: UInt32) -> CofferError {
        CofferError(
            .io,
            "there is not enough memory to stretch the passcode (\(memoryKiB >> 10) MiB)",
            hint: "free some memory, or raise what the daemon may use, and repeat the command"
        )
    }
}

extension KeyslotKind {
    /// The code of the kind in the keybag; 4 and 5 are reserved for FIDO2 and TPM2.
    var code: UInt8 {
        switch self {
        case .device: 1
        case .passcode: 2
        case .recoveryKey: 3
        }
    }

    init?(code: UInt8) {
        guard let kind = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = kind
    }
}
