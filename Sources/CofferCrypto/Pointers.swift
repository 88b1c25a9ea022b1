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
        clearingUp { bytes.withBytes { unsafe $0.withPointer(body) } }
    }
}

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
