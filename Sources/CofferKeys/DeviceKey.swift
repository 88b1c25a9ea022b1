internal import CofferCore
internal import CofferCrypto
internal import CofferMemory
internal import CofferSystem
internal import Glibc

/// The 32 random bytes that never leave this machine.
package final class DeviceKey: Sendable {
    static let fileName = "device.key"

    private let key: SymmetricKey

    private init(_ key: consuming SymmetricKey) { self.key = key }

    /// Reads the key from the state directory.
    ///
    /// - Parameter directory: The state directory.
    /// - Returns: The key, or `nil` where there is none.
    /// - Throws: `decode` where the file is not a key; `io` where it can't be read or others can.
    static func load(from directory: Directory) throws(CofferError) -> DeviceKey? {
        do {
            guard let file = try directory.openIfPresent(fileName) else { return nil }
            let status = try file.status()
            guard status.st_mode & 0o077 == 0 else {
                throw CofferError(
                    .io,
                    "the device key can be read by others",
                    hint: "chmod 600 the file 'device.key' in the state directory, and consider the key known"
                )
            }
            // One byte more than a key has, so that a longer file is seen.
            var bytes = try SecretBytes(zeros: SymmetricKey.byteCount + 1)
            let count = unsafe try bytes.withUnsafeMutableBytes { (buffer) throws(SystemError) in
                unsafe try file.read(into: buffer, at: 0)
            }
            bytes.truncate(to: count)
            guard let key = SymmetricKey(bytes) else {
                throw CofferError.damaged("the device key", found: "it has \(count) bytes and not 32")
            }
            return DeviceKey(key)
        } catch let error as CofferError {
            throw error
        } catch let error as SystemError {
            throw error.cofferError("can't read the device key")
        } catch {
            throw .noSecretMemory
        }
    }

    /// Reads the key, or makes one where there is none.
    ///
    /// - Parameter directory: The state directory.
    static func loadOrCreate(in directory: Directory) throws(CofferError) -> DeviceKey {
        if let key = try load(from: directory) { return key }
        return try create(in: directory)
    }

    /// Makes a new key and stores it, synced.
    ///
    /// - Parameter directory: The state directory.
    /// - Returns: The key.
    private static func create(in directory: Directory) throws(CofferError) -> DeviceKey {
        do {
            let key = try SymmetricKey()
            try key.bytes.withBytes { (bytes) throws(SystemError) in try directory.replace(fileName, with: bytes) }
            return DeviceKey(key)
        } catch let error as SystemError {
            throw error.cofferError("can't store the device key")
        } catch {
            throw .noSecretMemory
        }
    }

    /// A key for one purpose, entangled with this machine.
    func subkey(
        for purpose: StaticString,
        mixing input: borrowing SymmetricKey? = nil
    ) throws(CryptoError) -> SymmetricKey {
        try KeyDerivation.subkey(of: key, for: purpose, mixing: input)
    }

    /// A tag under a key of this machine.
    func tag(for purpose: StaticString, byteCount: Int, _ fields: [UInt8]) -> [UInt8] {
        KeyedHash.tag(under: key, for: purpose, byteCount: byteCount, fields)
    }
}
