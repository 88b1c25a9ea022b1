internal import CofferCore
internal import CofferCrypto
internal import CofferMemory

/// The keys that a daemon leaves to the one after it: those of class C and their like, and no others.
///
/// They leave the process, so they are wrapped under a key of this machine. The bytes are in proto-docs/FORMATS.md.
package enum CarriedKeys {
    /// How many bytes they are.
    package static let byteCount = magic.count + 2 + 8 + names.count * KeyWrap.wrappedBytes

    fileprivate static let magic = Array("COFFERCO".utf8)
    fileprivate static let version: UInt16 = 1
    fileprivate static let names: [ClassKeyName] = [.c, .ck, .cku]

    /// What a key is bound to: its vault and class, and the time, so that none of them can be exchanged.
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
    /// Whether there is something to carry over: a vault with a passcode, after its first unlock.
    package var hasKeysToCarry: Bool {
        switch state {
        case .unlocked, .locking, .locked, .lockedExpired: true
        default: false
        }
    }

    /// Wraps the keys that the next daemon is to have.
    ///
    /// - Parameter lockedSince: When the vault was locked, in nanoseconds of boot time; `nil` where it is not.
    /// - Returns: ``CarriedKeys/byteCount`` bytes.
    /// - Throws: `locked` where there is nothing to carry over.
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

    /// Takes the keys that an earlier daemon has left: before the first unlock becomes locked, class CX expired.
    ///
    /// - Parameter bytes: What ``carriedKeys(lockedSince:)`` returned there.
    /// - Returns: When the vault was locked; `nil` where it was not.
    /// - Throws: `damaged` where they are not whole, or another vault's or machine's.
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
