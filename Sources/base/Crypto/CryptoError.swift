internal import CofferMemory

/// Why a cryptographic operation failed.
package enum CryptoError: Error, Equatable, Sendable {
    /// The bytes were not sealed with this key and this context. There is no detail, on purpose.
    case unauthentic
    /// A public key of a wrong length or of low order, which can't be used for key agreement.
    case unusableKey
    /// The memory for the result could not be locked.
    case noMemory
    /// There was not enough ordinary memory to stretch a passcode.
    case noMemoryToStretch
}

/// Allocates secret bytes, with this room's error.
func allocateSecret(_ count: Int) throws(CryptoError) -> SecretBytes {
    do { return try SecretBytes(zeros: count) } catch { throw .noMemory }
}
