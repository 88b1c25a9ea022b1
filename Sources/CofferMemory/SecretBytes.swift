internal import CSodium

/// Bytes that must not be seen: a passcode, a key, a stored secret.
///
/// They live in locked, guarded, undumpable memory, have one owner, and are wiped when it lets go. There is no
/// description, no copy and no conversion: they are read where they lie, through ``withBytes(_:)``.
@safe
package struct SecretBytes: ~Copyable, @unchecked Sendable {
    // Sendable: the memory is owned by one value, and changed only through a mutating access to it.
    private let address: UnsafeMutableRawPointer
    private let capacity: Int
    private let arena: SecretArena
    /// How many bytes there are.
    package private(set) var count: Int

    /// Makes bytes that are all zero.
    ///
    /// - Throws: ``SecretMemoryError`` where the memory can't be locked.
    package init(zeros count: Int, in arena: SecretArena = .shared) throws(SecretMemoryError) {
        unsafe address = try arena.allocate(count)
        capacity = count
        self.count = count
        self.arena = arena
    }

    /// Makes random bytes.
    ///
    /// - Throws: ``SecretMemoryError`` where the memory can't be locked.
    package init(random count: Int) throws(SecretMemoryError) {
        try self.init(zeros: count)
        unsafe randombytes_buf(address, count)
    }

    /// Takes bytes over from ordinary memory, which the caller has to wipe where it matters.
    ///
    /// - Throws: ``SecretMemoryError`` where the memory can't be locked.
    package init(copying bytes: RawSpan, in arena: SecretArena = .shared) throws(SecretMemoryError) {
        try self.init(zeros: bytes.byteCount, in: arena)
        unsafe bytes.withUnsafeBytes { source in
            if let start = source.baseAddress { unsafe address.copyMemory(from: start, byteCount: source.count) }
        }
    }

    deinit { unsafe arena.release(address, capacity) }

    /// Reads the bytes where they lie.
    ///
    /// - Parameter body: Gets the bytes, for as long as it runs.
    /// - Returns: What `body` returns.
    package borrowing func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(unsafe UnsafeRawBufferPointer(start: address, count: count).bytes)
    }

    /// Reads and writes the bytes where they lie, for a C function or a system call to fill.
    ///
    /// - Parameter body: Gets the memory, for as long as it runs.
    /// - Returns: What `body` returns.
    package mutating func withUnsafeMutableBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(UnsafeMutableRawBufferPointer(start: address, count: count))
    }

    /// Wipes the first bytes, in memory that is used again.
    ///
    /// - Parameter count: How many; at most what there are.
    package mutating func wipe(first count: Int) {
        precondition(count >= 0 && count <= self.count)
        unsafe sodium_memzero(address, count)
    }

    /// Cuts the bytes off behind the first `count`, and wipes what is cut off.
    ///
    /// - Parameter count: How many to keep; at most what there are.
    package mutating func truncate(to count: Int) {
        precondition(count >= 0 && count <= self.count)
        unsafe sodium_memzero(address + count, self.count - count)
        self.count = count
    }

    /// Compares in a time that depends on the counts only.
    ///
    /// - Parameter other: The bytes to compare with.
    /// - Returns: Whether they are the same.
    package borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
        unsafe count == other.count && (count == 0 || sodium_memcmp(address, other.address, count) == 0)
    }

    /// A copy with an owner of its own.
    ///
    /// - Throws: ``SecretMemoryError`` where the memory can't be locked.
    package borrowing func duplicate() throws(SecretMemoryError) -> SecretBytes {
        try withBytes { (bytes) throws(SecretMemoryError) in try SecretBytes(copying: bytes, in: arena) }
    }
}

extension SecretBytes {
    /// Hands the bytes out to ordinary memory, where nothing wipes them: for what its owner asked to see, and for tests.
    ///
    /// - Returns: A copy of the bytes.
    package borrowing func exposeBytes() -> [UInt8] {
        withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
    }
}

extension SecretBytes? {
    /// The bytes there are: none where there is no value.
    package var byteCount: Int {
        switch self {
        case .none: 0
        case .some(let bytes): bytes.count
        }
    }
}
