internal import CofferMemory
internal import CSodium

// libsodium's functions require pointers that are not null, even to empty buffers. These provide one while `body` runs.

extension RawSpan {
    func withPointer<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
        unsafe withUnsafeBytes { bytes in
            guard let start = unsafe bytes.assumingMemoryBound(to: UInt8.self).baseAddress else {
                return unsafe withNothing(body)
            }
            return unsafe body(start)
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    func withPointer<Result>(_ body: (UnsafeMutablePointer<UInt8>) -> Result) -> Result {
        guard let start = unsafe assumingMemoryBound(to: UInt8.self).baseAddress else {
            return unsafe withNothing { unsafe body(UnsafeMutablePointer(mutating: $0)) }
        }
        return unsafe body(start)
    }
}

extension SymmetricKey {
    borrowing func withPointer<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
        clearingUp(stackBytes: cipherStackBytes) { bytes.withBytes { unsafe $0.withPointer(body) } }
    }
}

/// The stack that is cleared after a cipher or a hash.
///
/// They use up to 2.4 kilobytes, and the dynamic linker 3.3 when it binds one of their functions; the rest is for the
/// frames in between. It is cleared fifteen times for a put.
private let cipherStackBytes = 6 << 10

/// Calls into libsodium, and clears what it leaves: key schedules, states of hashes and plaintext on the stack, where
/// later calls may not overwrite them for days, and in registers, which the dynamic linker saves on the stack when a
/// function is first used.
///
/// - Parameter stackBytes: The stack that is cleared. Of libsodium, Argon2 uses most, seven kilobytes; the rest is for
///   the frames in between.
func clearingUp<Result>(stackBytes: Int = 12 << 10, _ body: () -> Result) -> Result {
    defer {
        coffer_clear_registers()
        sodium_stackzero(stackBytes)
    }
    return body()
}

private func withNothing<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
    var nothing: UInt8 = 0
    return unsafe withUnsafePointer(to: &nothing, body)
}
