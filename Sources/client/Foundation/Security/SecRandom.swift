/// A source of random bytes: there is only that of the system.
public struct SecRandomRef: Sendable {
    fileprivate init() {}
}

/// The source of the system.
public let kSecRandomDefault = SecRandomRef()

/// Fills memory with random bytes of the system.
///
/// - Parameters:
///   - source: The source; `nil` is that of the system as well.
///   - count: The number of bytes.
///   - bytes: The memory.
/// - Returns: `errSecSuccess`; `errSecParam` for a negative number.
public func SecRandomCopyBytes(_ source: SecRandomRef?, _ count: Int, _ bytes: UnsafeMutableRawPointer) -> Int32 {
    guard count >= 0 else { return errSecParam }
    var system = SystemRandomNumberGenerator()
    let memory = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: count)
    for index in memory.indices { unsafe memory[index] = UInt8.random(in: .min ... .max, using: &system) }
    return errSecSuccess
}
