internal import CofferClient
internal import CofferCrypto
internal import CofferMemory

/// Opens the JSON that Bitwarden encrypts under a password of its own: PBKDF2, AES-256-CBC and HMAC with SHA-256.
enum BitwardenEncryption {
    /// The iterations that are accepted: the program itself allows no more.
    private static let iterations: ClosedRange<Int64> = 5000...2_000_000

    /// What is inside the file.
    ///
    /// - Throws: `authFailed` if the password is wrong; `param` for an encryption that is not opened.
    static func opened(_ root: JSONItem, _ password: Secret) throws(CofferError) -> Secret {
        guard root["kdfType"].integer == 0 else {
            throw .malformed(
                "the file is encrypted with Argon2id in a form that libsodium does not have",
                hint: "choose PBKDF2 in the settings of Bitwarden and export it again, or export it as '.json'"
            )
        }
        guard let count = root["kdfIterations"].integer, iterations.contains(count), let salt = try root["salt"].text(),
            let check = try root["encKeyValidation_DO_NOT_EDIT"].text(), let data = try root["data"].text()
        else { throw .malformed("the file does not say how it is encrypted") }
        do {
            guard let typed = try? SecretBytes(copyingOf: password) else { throw CofferError.noSecretMemory }
            let key = try HMACSHA256.stretched(typed, salt: Array(salt.utf8), iterations: Int(count))
            let (cipher, mac) = (try expanded(key, "enc"), try expanded(key, "mac"))
            _ = try decrypted(check, cipher, mac)
            return try decrypted(data, cipher, mac)
        } catch let error as CofferError {
            throw error
        } catch {
            throw CofferError.noSecretMemory
        }
    }

    private static func expanded(_ key: borrowing SecretBytes, _ info: String) throws(CryptoError) -> Secret {
        Secret(try HMACSHA256.expanded(key, info: Array(info.utf8)))
    }

    /// Decrypts `2.IV|DATA|MAC`, each in base64.
    private static func decrypted(_ text: String, _ cipher: Secret, _ mac: Secret) throws -> Secret {
        let parts = text.dropFirst(2).split(separator: "|").compactMap { Base64.decode(String($0)) }
        guard text.hasPrefix("2."), parts.count == 3, parts[0].count == 16, !parts[1].isEmpty, parts[1].count % 16 == 0
        else { throw CofferError.malformed("the file is encrypted in a form that is not known") }
        let (vector, data, expected) = (parts[0], parts[1], parts[2])
        let authenticated = vector + data
        let code = Secret(try unsafe HMACSHA256.code(of: authenticated.span.bytes, under: SecretBytes(copyingOf: mac)))
        guard try code.isEqual(to: unsafe Secret(copying: expected.span.bytes)) else {
            throw CofferError(.authFailed, "the password of the file is wrong, or the file is damaged")
        }
        var key = try SecretBytes(zeros: 48)
        cipher.withBytes { key.copy($0, to: 0) }
        unsafe key.copy(vector.span.bytes, to: 32)
        do throws(EncryptedKey.Failure) {
            let padded = try unsafe EncryptedKey.decrypt(data.span.bytes, "AES-256-CBC", key, keyBytes: 32)
            return try unpadded(Secret(padded))
        } catch {
            guard error == .noLibrary else {
                throw error == .noMemory ? CofferError.noSecretMemory : .malformed("the file can't be decrypted")
            }
            throw CofferError(.notAvailable, "libcrypto.so.3 is not installed", hint: "install the package libssl3")
        }
    }

    private static func unpadded(_ padded: Secret) throws(EncryptedKey.Failure) -> Secret {
        let count = padded.withBytes { bytes -> Int? in
            let last = Int(bytes.byte(at: bytes.byteCount - 1))
            guard (1...16).contains(last), last <= bytes.byteCount else { return nil }
            return bytes.byteCount - last
        }
        guard let count, let text = try? padded.part(0..<count) else { throw .notOpened }
        return text
    }
}

extension SecretBytes {
    /// A copy of a secret with an owner.
    fileprivate init(copyingOf secret: Secret) throws(SecretMemoryError) {
        self = try secret.withBytes { (bytes) throws(SecretMemoryError) in try SecretBytes(copying: bytes) }
    }
}
