internal import CofferMemory

/// Why a cryptographic operation failed.
package enum CryptoError: Error, Equatable, Sendable {
    /// The bytes are not what was sealed with this key and this context. No detail, on purpose.
    case unauthentic
    /// A public key of a wrong length or of low order: no secret can be agreed on with it.
    case unusableKey
    /// Memory for the result could not be locked.
    case noMemory
    /// There was not enough ordinary memory to stretch a passcode.
    case noMemoryToStretch
}

/// Makes secret bytes, with this room's error.
func allocateSecret(_ count: Int) throws(CryptoError) -> SecretBytes {
    do { return try SecretBytes(zeros: count) } catch { throw .noMemory }
}
