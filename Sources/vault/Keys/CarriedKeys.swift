internal import CofferCore
internal import CofferCrypto
internal import CofferMemory

/// The keys that a daemon leaves to the next one: those of class C and their keychain counterparts, and no others.
///
/// They leave the process, so they are wrapped under a key that is derived from the device key. proto-docs/FORMATS.md
/// describes the bytes.
package enum CarriedKeys {
    /// The size of the carried-over keys.
    package static let byteCount = magic.count + 2 + 8 + names.count * KeyWrap.wrappedBytes

    fileprivate static let magic = Array("COFFERCO".utf8)
    fileprivate static let version: UInt16 = 1
    fileprivate static let names: [ClassKeyName] = [.c, .ck, .cku]

    /// The context of a key: its vault and class, and the time, so that none of them can be exchanged.
    fileprivate static func context(_ vaultID: ItemID, _ lockedSince: UInt64, _ name: ClassKeyName) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: "coffer carry-over v1".utf8)
        writer.write(raw: vaultID.bytes)
        writer.write(lockedSince)
        writer.write(name.rawValue)
        return writer.bytes
    }
}

extension VaultKeys {
    /// Whether there are keys to carry over: in a vault with a passcode, after its first unlock.
    package var hasKeysToCarry: Bool {
        switch state {
        case .unlocked, .locking, .locked, .lockedExpired: true
        default: false
        }
    }

    /// Wraps the keys for the next daemon.
    ///
    /// - Parameter lockedSince: When the vault was locked, in nanoseconds of boot time; `nil` if it is not.
    /// - Returns: ``CarriedKeys/byteCount`` bytes.
    /// - Throws: `locked` if there are no keys to carry over.
    package func carriedKeys(lockedSince: UInt64?) throws(KeyError) -> [UInt8] {
        let time = lockedSince ?? 0
        let wrapping = try carryOverKey()
        var writer = ByteWriter()
        writer.write(raw: CarriedKeys.magic)
        writer.write(CarriedKeys.version)
        writer.write(time)
        for name in CarriedKeys.names {
            let context = CarriedKeys.context(vaultID, time, name)
            let wrapped = lockState.withKey(name) { KeyWrap.wrap($0, under: wrapping, context: context) }
            guard hasKeysToCarry, let wrapped else { throw .locked }
            writer.write(raw: wrapped)
        }
        return writer.bytes
    }

    /// Restores the keys that an earlier daemon has left: the vault becomes locked, with class CX expired.
    ///
    /// - Parameter bytes: The result of ``carriedKeys(lockedSince:)``.
    /// - Returns: When the vault was locked; `nil` if it was not.
    /// - Throws: `damaged` if they are not authentic, or belong to another vault or machine.
    package func restore(carried bytes: [UInt8]) throws(KeyError) -> UInt64? {
        let time: UInt64
        var wrapped: [ClassKeyName: [UInt8]] = [:]
        do throws(ByteReader.Malformed) {
            var reader = ByteReader(bytes)
            guard try reader.readRaw(CarriedKeys.magic.count).elementsEqual(CarriedKeys.magic),
                try reader.read(UInt16.self) == CarriedKeys.version
            else { throw ByteReader.Malformed() }
            time = try reader.read()
            for name in CarriedKeys.names { wrapped[name] = Array(try reader.readRaw(KeyWrap.wrappedBytes)) }
            guard reader.isAtEnd else { throw ByteReader.Malformed() }
        } catch {
            throw .damaged
        }
        let wrapping = try carryOverKey()
        do throws(CryptoError) {
            restore(
                try AfterFirstUnlockKeys { (name) throws(CryptoError) in
                    guard let bytes = wrapped[name] else { throw .unauthentic }
                    let context = CarriedKeys.context(vaultID, time, name)
                    return unsafe try KeyWrap.unwrap(bytes.span.bytes, under: wrapping, context: context)
                }
            )
        } catch {
            throw KeyError(error)
        }
        return time == 0 ? nil : time
    }

    private func carryOverKey() throws(KeyError) -> SymmetricKey {
        do { return try deviceKey.subkey(for: "coffer carry-over v1") } catch { throw KeyError(error) }
    }
}
