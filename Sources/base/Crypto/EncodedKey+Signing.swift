package import CofferCore
package import CofferMemory

extension EncodedKey {
    /// Why a key did not sign.
    package enum SigningFailure: Error, Equatable, Sendable {
        /// `libcrypto.so.3` can't be loaded.
        case noLibrary
        /// The private key does not belong to the public key, or memory is short.
        case unusable
    }

    /// The hashes that a signature by this key can be made of, the default first.
    package var digests: [SignatureDigest] {
        switch algorithm {
        case .rsa: [.sha256, .sha384, .sha512]
        case .p256: [.sha256]
        case .p384: [.sha384]
        }
    }

    /// Signs a message: PKCS #1 v1.5 (RFC 8017) of RSA, an ECDSA-Sig-Value (RFC 3279) in DER of ECDSA.
    ///
    /// The signature is verified with the public key before it is returned. So a private number that does not belong to
    /// the public point signs nothing, and neither does a processor that calculated wrongly, of which one signature of
    /// RSA would reveal the key.
    ///
    /// - Parameters:
    ///   - message: The message itself, not a hash of it.
    ///   - digest: One of ``digests``.
    ///   - secret: The bytes that this was parsed from, of a private key.
    package func signature(
        of message: RawSpan,
        _ digest: SignatureDigest,
        by secret: borrowing SecretBytes
    ) throws(SigningFailure) -> [UInt8] {
        precondition(isPrivate && digests.contains(digest), "the caller checks the key and the hash")
        guard let library = SignatureLibrary.loaded else { throw .noLibrary }
        // libcrypto keeps parts of numbers on the stack, below more calls than libsodium makes.
        let signature = clearingUp(stackBytes: 64 << 10) {
            secret.withBytes { library.signature(of: message, by: $0, digest.libraryName) }
        }
        guard let signature else { throw .unusable }
        return signature
    }
}

extension EncodedKey {
    /// Verifies a signature by a public key.
    ///
    /// - Parameters:
    ///   - signature: The signature, in the form of ``signature(of:_:by:)``.
    ///   - message: The message.
    ///   - digest: One of ``digests``.
    ///   - bytes: The bytes that this was parsed from, of a public key.
    /// - Returns: Whether it is valid; `false` if libcrypto can't be loaded.
    package func isValid(
        _ signature: [UInt8],
        of message: RawSpan,
        _ digest: SignatureDigest,
        by bytes: RawSpan
    ) -> Bool {
        guard !isPrivate, digests.contains(digest), let library = SignatureLibrary.loaded else { return false }
        return library.isValid(signature, of: message, by: bytes, digest.libraryName)
    }
}

extension SignatureDigest {
    fileprivate var libraryName: String {
        switch self {
        case .sha256: "SHA2-256"
        case .sha384: "SHA2-384"
        case .sha512: "SHA2-512"
        }
    }
}
