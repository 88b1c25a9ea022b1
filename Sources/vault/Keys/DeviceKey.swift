package import CofferCore
internal import CofferCrypto
package import CofferMemory
package import CofferSystem

/// The device key: 32 random bytes that never leave this machine.
package final class DeviceKey: Sendable {
    static let fileName = "device.key"

    private let key: SymmetricKey

    package init(_ key: consuming SymmetricKey) { self.key = key }

    /// Reads the key from a file.
    fileprivate static func load(
        _ name: String,
        from directory: Directory
    ) throws(CofferError) -> DeviceKey? {
        do {
            // The service manager decides who may read a credential: its directory is not checked.
            guard let file = try directory.openIfPresent(name, isSecret: true) else { return nil }
            // One byte more than a key has, so that a longer file is detected.
            var bytes = try SecretBytes(zeros: SymmetricKey.byteCount + 1)
            let count = unsafe try bytes.withUnsafeMutableBytes { (buffer) throws(SystemError) in
                unsafe try file.read(into: buffer, at: 0)
            }
            bytes.truncate(to: count)
            guard let key = SymmetricKey(bytes) else {
                throw CofferError(
                    .decode,
                    "the device key is damaged: '\(name)' has not exactly 32 bytes",
                    hint: """
                        put back the key as it was, or move the file away: 'coffer passcode change --recovery-key' then \
                        replaces it
                        """
                )
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

    /// Derives a key for one purpose from the device key.
    func subkey(
        for purpose: StaticString,
        mixing input: borrowing SymmetricKey? = nil
    ) throws(CryptoError) -> SymmetricKey {
        try KeyDerivation.subkey(of: key, for: purpose, mixing: input)
    }

    /// Derives a key for one purpose from the device key and another key.
    func subkey(for purpose: StaticString, mixing input: borrowing SymmetricKey) throws(CryptoError) -> SymmetricKey {
        try KeyDerivation.subkey(of: key, for: purpose, mixing: input)
    }

    /// A tag under a key that is derived from the device key.
    func tag(for purpose: StaticString, byteCount: Int, _ fields: [UInt8]) -> [UInt8] {
        KeyedHash.tag(under: key, for: purpose, byteCount: byteCount, fields)
    }
}

/// The places of the device key: the service manager's credential takes precedence over the file in the state
/// directory.
package struct DeviceKeySource: Sendable {
    /// The name of the service manager's credential.
    package static let credentialName = "device-key"

    private let directory: Directory
    private let credentials: Directory?

    /// Opens the directories.
    ///
    /// - Parameters:
    ///   - directory: The state directory.
    ///   - credentialsPath: The directory of the service manager's credentials, if there is one.
    package init(in directory: Directory, credentialsPath: String?) throws(CofferError) {
        self.directory = directory
        do throws(SystemError) {
            credentials = try credentialsPath.map { (path) throws(SystemError) in try Directory(openingPath: path) }
        } catch {
            throw error.cofferError("can't open the directory of credentials")
        }
    }

    /// The key with which a keybag was made; `nil` if it is not here.
    func key(of keybag: Keybag) throws(CofferError) -> DeviceKey? {
        if let key = try passed(), keybag.belongs(to: key) { return key }
        if let key = try stored(), keybag.belongs(to: key) { return key }
        return nil
    }

    /// The key for a new keybag; created and stored, synced, if there is none.
    func keyForNewKeybag() throws(CofferError) -> DeviceKey {
        if let key = try passed() { return key }
        if let key = try stored() { return key }
        return try DeviceKey.create(in: directory)
    }

    private func passed() throws(CofferError) -> DeviceKey? {
        guard let credentials else { return nil }
        return try DeviceKey.load(Self.credentialName, from: credentials)
    }

    private func stored() throws(CofferError) -> DeviceKey? {
        try DeviceKey.load(DeviceKey.fileName, from: directory)
    }
}

extension DeviceKey {
    /// Creates a key and stores it, synced.
    fileprivate static func create(in directory: Directory) throws(CofferError) -> DeviceKey {
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
}
