package import CofferCore
internal import CofferMemory
package import CofferSystem

/// The lines of a pinentry, in locked memory: one of them has a passcode.
package struct AssuanBuffer: ~Copyable {
    private var bytes: SecretBytes
    /// The bytes that were received.
    private var count = 0

    package init() throws(CofferError) {
        // A line may end with a carriage return and a line feed.
        do { bytes = try SecretBytes(zeros: Limits.assuanLineBytes + 2) } catch { throw .noSecretMemory }
    }

    /// Whether there is no room for more of a line that has no end yet.
    package var isFull: Bool { count == bytes.count }

    /// Receives bytes.
    ///
    /// - Parameter read: Fills some memory, and returns how much of it.
    /// - Returns: The number of bytes; 0 at the end.
    package mutating func receive(
        _ read: (UnsafeMutableRawBufferPointer) throws(SystemError) -> Int
    ) throws(SystemError) -> Int {
        let start = count
        let received = try unsafe bytes.withUnsafeMutableBytes { (memory) throws(SystemError) in
            try unsafe read(UnsafeMutableRawBufferPointer(rebasing: memory[start...]))
        }
        count += received
        return received
    }

    /// Takes the next line, which is wiped then.
    ///
    /// - Parameter body: Gets the line without its end, and may change it.
    /// - Returns: The result of `body`; `nil` if no line is whole.
    package mutating func next<Result>(_ body: (UnsafeMutableRawBufferPointer) -> Result) -> Result? {
        let filled = count
        let taken: (result: Result, count: Int)? = unsafe bytes.withUnsafeMutableBytes { memory in
            guard let end = unsafe memory[..<filled].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            let hasReturn = unsafe end > 0 && memory[end - 1] == UInt8(ascii: "\r")
            let line = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[..<(hasReturn ? end - 1 : end)])
            let result = unsafe body(line)
            let rest = unsafe memory[(end + 1)..<filled]
            unsafe memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: rest))
            for index in (filled - end - 1)..<filled { unsafe memory[index] = 0 }
            return (result, end + 1)
        }
        guard let taken else { return nil }
        count -= taken.count
        return taken.result
    }
}
