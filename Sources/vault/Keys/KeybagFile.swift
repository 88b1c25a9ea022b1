package import CofferCore
internal import CofferCrypto
internal import CofferSystem

// The bytes of the keybag, as in proto-docs/FORMATS.md.

extension Keybag {
    static let fileName = "keybag"
    static let maximumBytes = 64 << 10
    private static let magic = Array("COFRKEYS".utf8)
    private static let version: UInt16 = 1
    /// The beginning of the keybags of builds from before the first release, whose formats are not read.
    private static let formerMagic = Array("COFFERKB".utf8)
    private static let erasesDataFlag: UInt8 = 1
    private static let witnessedFlag: UInt8 = 2

    /// Creates a keybag, without its inner tag.
    init(
        vaultID: ItemID,
        deviceKeyCheck: [UInt8],
        publicKeys: PublicKeys,
        settings: Settings,
        slots: [Keyslot],
        wrappedKeys: WrappedClassKeys
    ) {
        var writer = ByteWriter()
        writer.write(raw: Self.magic)
        writer.write(Self.version)
        writer.write(raw: vaultID.bytes)
        writer.write(raw: deviceKeyCheck)
        for key in [publicKeys.classB, publicKeys.deposits, publicKeys.metadata] { writer.write(raw: key) }
        writer.write(settings.moveCount)
        writer.write(
            (settings.erasesData ? Self.erasesDataFlag : 0) | (settings.isWitnessed ? Self.witnessedFlag : 0)
        )
        writer.write(UInt8(slots.count))
        for slot in slots {
            var contents = ByteWriter()
            slot.lock.write(to: &contents)
            contents.write(raw: slot.wrappedKeybagKey)
            writer.write(slot.id)
            writer.write(slot.kind.code)
            writer.write(counted: contents.bytes)
        }
        writer.write(UInt8(wrappedKeys.values.map(\.count).reduce(0, +)))
        for name in ClassKeyName.allCases {
            for wrapper in Wrapper.allCases {
                guard let key = wrappedKeys[wrapper]?[name] else { continue }
                writer.write(name.rawValue)
                writer.write(wrapper.rawValue)
                writer.write(raw: key)
            }
        }
        self.init(
            vaultID: vaultID,
            deviceKeyCheck: deviceKeyCheck,
            publicKeys: publicKeys,
            settings: settings,
            slots: slots,
            wrappedKeys: wrappedKeys,
            body: writer.bytes,
            innerTag: []
        )
    }

    /// The file, with a tag under the keybag key and one under the device key at the end: an attacker who has only the
    /// disk can't replace the public key of class B by his own.
    package func encoded(deviceKey: DeviceKey) -> [UInt8] {
        let tagged = body + innerTag
        return tagged + Self.outerTag(of: tagged, deviceKey)
    }

    fileprivate static func outerTag(of tagged: [UInt8], _ deviceKey: DeviceKey) -> [UInt8] {
        deviceKey.tag(for: "coffer keybag tag v1", byteCount: tagBytes, tagged)
    }

    /// Reads the keybag file, if there is one.
    static func load(from directory: Directory) throws(CofferError) -> StoredKeybag? {
        let bytes: [UInt8]?
        do throws(SystemError) {
            bytes = try directory.contents(of: fileName, limit: maximumBytes)
        } catch {
            throw error.cofferError("can't read the keybag")
        }
        return try bytes.map { (bytes) throws(CofferError) in try StoredKeybag(bytes) }
    }

    /// Stores the keybag, synced, and overwrites and removes an older one.
    func store(in directory: Directory, deviceKey: DeviceKey) throws(CofferError) {
        do {
            unsafe try directory.replace(Self.fileName, shreddingOldFor: encoded(deviceKey: deviceKey).span.bytes)
        } catch {
            guard error.mayHaveHappened else { throw error.cause.cofferError("can't store the keybag") }
            throw CofferError(
                .io,
                "the keybag was replaced, but can't be synced, and the one before can't be put back: \(error.cause.reason)",
                hint: "restart the daemon, and see which keybag is in force: the change may have happened"
            )
        }
    }
}

/// A keybag as it was read, before it is verified.
package struct StoredKeybag: Sendable {
    /// The unverified keybag.
    package let keybag: Keybag
    private let bytes: [UInt8]

    /// Parses the bytes of a keybag.
    ///
    /// - Throws: `decode` if they are not a keybag.
    package init(_ bytes: [UInt8]) throws(CofferError) {
        self.bytes = bytes
        if Keybag.isFormer(bytes) { throw .formerState }
        do {
            keybag = try Keybag(reading: bytes)
        } catch {
            throw .damagedKeybag("it is cut short or has a value that its format does not know")
        }
    }

    /// The keybag, after it is verified with the device key with which it was made.
    ///
    /// - Throws: `decode` if it is not authentic.
    package func verified(with deviceKey: DeviceKey) throws(CofferError) -> Keybag {
        let tagged = Array(bytes.dropLast(Keybag.tagBytes))
        let tag = Array(bytes.suffix(Keybag.tagBytes))
        guard isEqualInConstantTime(tag, Keybag.outerTag(of: tagged, deviceKey)) else {
            throw .damagedKeybag("its closing tag is wrong")
        }
        return keybag
    }
}

extension Keybag {
    fileprivate static func isFormer(_ bytes: [UInt8]) -> Bool { bytes.starts(with: formerMagic) }

    fileprivate init(reading bytes: [UInt8]) throws(ByteReader.Malformed) {
        guard bytes.count > 2 * Self.tagBytes else { throw ByteReader.Malformed() }
        var reader = ByteReader(Array(bytes.dropLast(Self.tagBytes)))
        guard try reader.readRaw(Self.magic.count).elementsEqual(Self.magic) else { throw ByteReader.Malformed() }
        guard try reader.read(UInt16.self) == Self.version, let vaultID = ItemID(try reader.readRaw(ItemID.byteCount))
        else { throw ByteReader.Malformed() }
        let check = Array(try reader.readRaw(Self.checkBytes))
        let publicKeys = try PublicKeys(reading: &reader)
        let moveCount = try reader.read(UInt32.self)
        let flags = try reader.read(UInt8.self)
        var slots: [Keyslot] = []
        for _ in 0..<(try reader.read(UInt8.self)) { slots.append(try Keyslot(reading: &reader)) }
        var wrapped: WrappedClassKeys = [:]
        let count = Int(try reader.read(UInt8.self))
        for _ in 0..<count {
            guard let name = ClassKeyName(rawValue: try reader.read()),
                let wrapper = Wrapper(rawValue: try reader.read())
            else { throw ByteReader.Malformed() }
            wrapped[wrapper, default: [:]][name] = Array(try reader.readRaw(KeyWrap.wrappedBytes))
        }
        let innerTag = Array(try reader.readRaw(Self.tagBytes))
        self.init(
            vaultID: vaultID,
            deviceKeyCheck: check,
            publicKeys: publicKeys,
            settings: Settings(
                erasesData: flags & Self.erasesDataFlag != 0,
                isWitnessed: flags & Self.witnessedFlag != 0,
                moveCount: moveCount
            ),
            slots: slots,
            wrappedKeys: wrapped,
            body: Array(bytes.dropLast(2 * Self.tagBytes)),
            innerTag: innerTag
        )
        guard reader.isAtEnd, flags & ~(Self.erasesDataFlag | Self.witnessedFlag) == 0, isComplete,
            wrappedKeys.values.map(\.count).reduce(0, +) == count, hasOneSpelling
        else { throw ByteReader.Malformed() }
    }

    /// Whether it is what it would be stored as.
    private var hasOneSpelling: Bool {
        let again = Keybag(
            vaultID: vaultID,
            deviceKeyCheck: deviceKeyCheck,
            publicKeys: publicKeys,
            settings: settings,
            slots: slots,
            wrappedKeys: wrappedKeys
        )
        return again.body == body
    }

    /// Whether it has the slots that it must have, and each class key under all that must wrap it.
    private var isComplete: Bool {
        !slots.isEmpty && slots[0].kind != .recoveryKey && slots.count <= Limits.keyslots
            && slots.dropFirst().allSatisfy { $0.kind == .recoveryKey }
            && Set(slots.map(\.id)).count == slots.count
            && Wrapper.allCases.allSatisfy { wrapper in
                let names = ClassKeyName.allCases.filter { $0.wrappers.contains(wrapper) }
                return Set((wrappedKeys[wrapper] ?? [:]).keys) == Set(names)
            }
    }
}

extension Keybag.PublicKeys {
    fileprivate init(reading reader: inout ByteReader) throws(ByteReader.Malformed) {
        func key() throws(ByteReader.Malformed) -> [UInt8] {
            Array(try reader.readRaw(KeyAgreement.publicKeyBytes))
        }
        self.init(classB: try key(), deposits: try key(), metadata: try key())
    }
}

extension Keyslot {
    fileprivate init(reading reader: inout ByteReader) throws(ByteReader.Malformed) {
        let id = try reader.read(UInt8.self)
        guard let kind = KeyslotKind(code: try reader.read()) else { throw ByteReader.Malformed() }
        var contents = ByteReader(Array(try reader.readCounted()))
        let lock = try Lock(kind, reading: &contents)
        let count = kind == .recoveryKey ? KeyAgreement.wrappedBytes : KeyWrap.wrappedBytes
        self.init(id: id, lock: lock, wrappedKeybagKey: Array(try contents.readRaw(count)))
        guard contents.isAtEnd else { throw ByteReader.Malformed() }
    }
}

extension CofferError {
    fileprivate static let formerState = CofferError(
        .decode,
        "the vault was made by a build of Coffer from before the first release, and this build does not read its formats",
        hint: """
            it is as it was: export it by 'coffer export --all' of the build that made it, move the state directory away, \
            and import the file into a new vault
            """
    )

    static func damagedKeybag(_ finding: String) -> CofferError {
        CofferError(
            .decode,
            "the keybag is damaged or was tampered with: \(finding)",
            hint: """
                put back a copy of the file 'keybag': without it nothing opens the vault, and 'coffer erase' makes room for \
                a new one
                """
        )
    }
}
