internal import CofferMemory
internal import CSodium

// libsodium's functions want pointers that are never null, even to nothing. These give one, for as long as `body` runs.

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
        wipingStack { bytes.withBytes { unsafe $0.withPointer(body) } }
    }
}

/// Wipes the stack below after calls into libsodium, which leaves key schedules and the states of hashes on it: what
/// runs there next may not come that far down for days.
func wipingStack<Result>(_ body: () -> Result) -> Result {
    // Argon2 goes deepest, by seven kilobytes; the rest is for what lies between here and there.
    defer { sodium_stackzero(12 << 10) }
    return body()
}

private func withNothing<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
    var nothing: UInt8 = 0
    return unsafe withUnsafePointer(to: &nothing, body)
}
