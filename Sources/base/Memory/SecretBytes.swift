internal import CSodium

/// Secret bytes: a passcode, a key, a stored secret.
///
/// They are in locked, guarded, undumpable memory, have one owner, and are wiped when the owner releases them. There is
/// no description, no implicit copy and no conversion: they are read in place, through ``withBytes(_:)``.
@safe
package struct SecretBytes: ~Copyable, @unchecked Sendable {
    // Sendable: the memory is owned by one value, and changed only through a mutating access to it.
    @usableFromInline let address: UnsafeMutableRawPointer
    private let capacity: Int
    private let arena: SecretArena
    /// The number of bytes.
    @usableFromInline package private(set) var count: Int

    /// Allocates bytes that are all zero.
    ///
    /// - Throws: ``SecretMemoryError`` if the memory can't be locked.
    package init(zeros count: Int, in arena: SecretArena = .shared) throws(SecretMemoryError) {
        unsafe address = try arena.allocate(count)
        capacity = count
        self.count = count
        self.arena = arena
    }

    /// Allocates random bytes.
    ///
    /// - Throws: ``SecretMemoryError`` if the memory can't be locked.
    package init(random count: Int) throws(SecretMemoryError) {
        try self.init(zeros: count)
        unsafe randombytes_buf(address, count)
    }

    /// Copies bytes from ordinary memory, which the caller must wipe if they are secret.
    ///
    /// - Throws: ``SecretMemoryError`` if the memory can't be locked.
    package init(copying bytes: RawSpan, in arena: SecretArena = .shared) throws(SecretMemoryError) {
        try self.init(zeros: bytes.byteCount, in: arena)
        copy(bytes, to: 0)
    }

    deinit { unsafe arena.release(address, capacity) }

    /// Calls a closure with the bytes.
    ///
    /// - Parameter body: Called with the bytes, which are valid only during the call.
    /// - Returns: The result of `body`.
    @inlinable
    package borrowing func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(unsafe UnsafeRawBufferPointer(start: address, count: count).bytes)
    }

    /// Calls a closure with the memory, for a C function or a system call to fill.
    ///
    /// - Parameter body: Called with the memory, which is valid only during the call.
    /// - Returns: The result of `body`.
    @inlinable
    package mutating func withUnsafeMutableBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(UnsafeMutableRawBufferPointer(start: address, count: count))
    }

    /// Overwrites a part; traps if `bytes` extends beyond the end.
    ///
    /// Afterwards no register holds a part of them: where a value has unused bytes, such as an enumeration, the compiler may store
    /// an old register there, and so on the stack.
    package mutating func copy(_ bytes: RawSpan, to place: Int) {
        precondition(place >= 0 && bytes.byteCount <= count - place)
        unsafe bytes.withUnsafeBytes { source in
            unsafe UnsafeMutableRawBufferPointer(start: address + place, count: source.count).copyMemory(from: source)
        }
        coffer_clear_registers()
    }

    /// Wipes the first bytes, in memory that is used again.
    ///
    /// - Parameter count: How many; at most ``count``.
    package mutating func wipe(first count: Int) {
        precondition(count >= 0 && count <= self.count)
        unsafe sodium_memzero(address, count)
    }

    /// Truncates the bytes to `count`, and wipes the rest.
    ///
    /// - Parameter count: How many to keep; at most ``count``.
    package mutating func truncate(to count: Int) {
        precondition(count >= 0 && count <= self.count)
        unsafe sodium_memzero(address + count, self.count - count)
        self.count = count
    }

    /// Compares in a time that depends only on the lengths.
    package borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
        unsafe count == other.count && (count == 0 || sodium_memcmp(address, other.address, count) == 0)
    }

    /// A copy with an owner of its own.
    ///
    /// - Throws: ``SecretMemoryError`` if the memory can't be locked.
    package borrowing func duplicate() throws(SecretMemoryError) -> SecretBytes {
        try withBytes { (bytes) throws(SecretMemoryError) in try SecretBytes(copying: bytes, in: arena) }
    }

    /// Copies the bytes to ordinary memory, where nothing wipes them: for what its owner asked to see, and for tests.
    package borrowing func exposeBytes() -> [UInt8] {
        withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
    }
}

extension SecretBytes? {
    /// The number of bytes; 0 if there is no value.
    package var byteCount: Int {
        switch self {
        case .none: 0
        case .some(let bytes): bytes.count
        }
    }
}
