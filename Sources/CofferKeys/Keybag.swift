internal import CofferCore
internal import CofferCrypto
internal import CofferMemory

/// The small file that holds every wrapped class key and the keyslots.
///
/// Its bytes are in proto-docs/FORMATS.md.
struct Keybag: Equatable, Sendable {
    static let fileName = "keybag"
    static let maximumBytes = 64 << 10
    private static let magic = Array("COFFERKB".utf8)
    private static let version: UInt16 = 1
    private static let checkBytes = 16
    private static let tagBytes = 32

    let vaultID: ItemID
    /// Tells this machine's device key from another's without using it.
    let deviceKeyCheck: [UInt8]
    /// The public half of class B, which new files of the class are wrapped to in every state.
    let classBPublicKey: [UInt8]
    var slots: [Keyslot]
    let wrappedClassKeys: [ClassKeyName: [UInt8]]

    var hasPasscode: Bool { slots.contains { $0.kind == .passcode } }

    static func deviceKeyCheck(_ deviceKey: DeviceKey, _ vaultID: ItemID) -> [UInt8] {
        deviceKey.tag(for: "coffer device key check v1", byteCount: checkBytes, vaultID.bytes)
    }

    /// What a wrapped class key is bound to.
    static func context(_ vaultID: ItemID, _ name: ClassKeyName) -> [UInt8] {
        Array("coffer class key v1".utf8) + vaultID.bytes + [name.rawValue]
    }
}

extension Keybag {
    /// Unwraps one class key.
    func unwrap(
        _ name: ClassKeyName,
        under wrapping: borrowing SymmetricKey
    ) throws(CryptoError) -> SymmetricKey {
        guard let wrapped = wrappedClassKeys[name] else { throw .unauthentic }
        return unsafe try KeyWrap.unwrap(wrapped.span.bytes, under: wrapping, context: Self.context(vaultID, name))
    }

    /// Opens the keybag through the first slot that the passcode, or its absence, fits.
    func open(deviceKey: DeviceKey, passcode: borrowing SecretBytes?) throws(CryptoError) -> UnlockedKeys {
        let wanted: Keyslot.Kind = passcode == nil ? .device : .passcode
        guard let slot = slots.first(where: { $0.kind == wanted }) else { throw .unauthentic }
        let keybagKey = try slot.open(vaultID: vaultID, deviceKey: deviceKey, passcode: passcode)
        return try UnlockedKeys { (name) throws(CryptoError) in try unwrap(name, under: keybagKey) }
    }
}

/// A keybag as it is made, with the keys that it wraps.
struct NewKeybag: ~Copyable {
    let keybag: Keybag
    let keys: UnlockedKeys

    /// Makes a vault's keys: random, never derived, so that nothing but wrapping depends on the passcode.
    init(
        deviceKey: DeviceKey,
        passcode: borrowing SecretBytes?,
        cost: PasscodeCost
    ) throws(CryptoError) {
        let vaultID = ItemID()
        let keybagKey = try Self.randomKey()
        let deviceWrapping = try deviceKey.subkey(for: "coffer device wrap v1")
        var wrapped: [ClassKeyName: [UInt8]] = [:]
        var publicKey: [UInt8] = []
        func make(_ name: ClassKeyName) throws(CryptoError) -> SymmetricKey {
            let key = try Self.randomKey()
            let context = Keybag.context(vaultID, name)
            wrapped[name] =
                name.isHeldByDeviceKey
                ? KeyWrap.wrap(key, under: deviceWrapping, context: context)
                : KeyWrap.wrap(key, under: keybagKey, context: context)
            if name == .bPrivate { publicKey = KeyAgreement.publicKey(of: key) }
            return key
        }
        let keys = try UnlockedKeys(make)
        _ = try DeviceClassKeys(make)
        let slot = try Keyslot.make(
            id: 1,
            vaultID: vaultID,
            deviceKey: deviceKey,
            passcode: passcode,
            cost: cost,
            keybagKey: keybagKey
        )
        self.keys = keys
        keybag = Keybag(
            vaultID: vaultID,
            deviceKeyCheck: Keybag.deviceKeyCheck(deviceKey, vaultID),
            classBPublicKey: publicKey,
            slots: [slot],
            wrappedClassKeys: wrapped
        )
    }

    /// Takes the keys out.
    consuming func takeKeys() -> UnlockedKeys { keys }

    private static func randomKey() throws(CryptoError) -> SymmetricKey {
        do { return try SymmetricKey() } catch { throw .noMemory }
    }
}

// MARK: The file

extension Keybag {
    /// The keybag's file, closed by a tag under the device key: whoever has only the disk can't exchange the public key of
    /// class B for his own.
    func encoded(deviceKey: DeviceKey) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: Self.magic)
        writer.write(Self.version)
        writer.write(raw: vaultID.bytes)
        writer.write(raw: deviceKeyCheck)
        writer.write(raw: classBPublicKey)
        writer.write(UInt8(slots.count))
        for slot in slots {
            writer.write(slot.id)
            writer.write(slot.kind.rawValue)
            writer.write(slot.operations)
            writer.write(slot.memoryKiB)
            writer.write(raw: slot.salt)
            writer.write(raw: slot.wrappedKeybagKey)
        }
        writer.write(UInt8(wrappedClassKeys.count))
        for (name, key) in wrappedClassKeys.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            writer.write(name.rawValue)
            writer.write(raw: key)
        }
        return writer.bytes + Self.tag(of: writer.bytes, deviceKey)
    }

    /// Reads a keybag.
    ///
    /// - Throws: `decode`, with what was found, or `notAvailable` where the device key belongs to another vault.
    init(decoding bytes: [UInt8], deviceKey: DeviceKey) throws(CofferError) {
        do throws(ByteReader.Malformed) {
            self = try Self.decodeBody(bytes, deviceKey)
        } catch {
            throw .damagedKeybag("it is cut short or has a value that its format does not know")
        }
        guard isEqualInConstantTime(deviceKeyCheck, Self.deviceKeyCheck(deviceKey, vaultID)) else {
            throw CofferError(
                .notAvailable,
                "the keybag was made with another device key than the one here",
                hint: "put the vault's own 'device.key' back into the state directory"
            )
        }
        let body = Array(bytes.dropLast(Self.tagBytes))
        guard isEqualInConstantTime(Array(bytes.suffix(Self.tagBytes)), Self.tag(of: body, deviceKey)) else {
            throw .damagedKeybag("its closing tag is wrong")
        }
    }

    private static func decodeBody(_ bytes: [UInt8], _ deviceKey: DeviceKey) throws(ByteReader.Malformed) -> Keybag {
        guard bytes.count > tagBytes else { throw ByteReader.Malformed() }
        var reader = ByteReader(Array(bytes.dropLast(tagBytes)))
        guard try reader.readRaw(magic.count).elementsEqual(magic), try reader.read(UInt16.self) == version,
            let vaultID = ItemID(try reader.readRaw(ItemID.byteCount))
        else { throw ByteReader.Malformed() }
        let check = Array(try reader.readRaw(checkBytes))
        let publicKey = Array(try reader.readRaw(KeyAgreement.publicKeyBytes))
        var slots: [Keyslot] = []
        for _ in 0..<(try reader.read(UInt8.self)) { slots.append(try Keyslot(reading: &reader)) }
        var wrapped: [ClassKeyName: [UInt8]] = [:]
        for _ in 0..<(try reader.read(UInt8.self)) {
            guard let name = ClassKeyName(rawValue: try reader.read()) else { throw ByteReader.Malformed() }
            wrapped[name] = Array(try reader.readRaw(KeyWrap.wrappedBytes))
        }
        guard reader.isAtEnd, !slots.isEmpty, wrapped.count == ClassKeyName.allCases.count else {
            throw ByteReader.Malformed()
        }
        return Keybag(
            vaultID: vaultID,
            deviceKeyCheck: check,
            classBPublicKey: publicKey,
            slots: slots,
            wrappedClassKeys: wrapped
        )
    }

    private static func tag(of body: [UInt8], _ deviceKey: DeviceKey) -> [UInt8] {
        deviceKey.tag(for: "coffer keybag tag v1", byteCount: tagBytes, body)
    }
}

extension Keyslot {
    fileprivate init(reading reader: inout ByteReader) throws(ByteReader.Malformed) {
        id = try reader.read()
        guard let kind = Kind(rawValue: try reader.read()) else { throw ByteReader.Malformed() }
        self.kind = kind
        operations = try reader.read()
        memoryKiB = try reader.read()
        salt = Array(try reader.readRaw(KeyDerivation.saltBytes))
        wrappedKeybagKey = Array(try reader.readRaw(KeyWrap.wrappedBytes))
        guard
            kind == .device
                || KeyDerivation.acceptedOperations.contains(operations)
                    && KeyDerivation.acceptedMemoryKiB.contains(memoryKiB)
        else { throw ByteReader.Malformed() }
    }
}

extension CofferError {
    static func damagedKeybag(_ finding: String) -> CofferError {
        CofferError(
            .decode,
            "the keybag is damaged or was tampered with: \(finding)",
            hint: "restore the file 'keybag' of the state directory from a backup"
        )
    }
}
