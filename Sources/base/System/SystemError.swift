package import CofferCore
internal import Glibc

/// A system call that failed.
package struct SystemError: Error, Equatable, Sendable {
    /// The `errno`.
    package let code: Int32
    /// The operation, such as `open` or `write`.
    package let operation: StaticString
    /// The reason to refuse the file, if that is the error.
    package let finding: FileFinding?

    /// Makes an error, by default from the calling thread's `errno`.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - code: The `errno`.
    ///   - finding: The reason to refuse the file, if that is the error.
    package init(_ operation: StaticString, code: Int32 = errno, _ finding: FileFinding? = nil) {
        self.operation = operation
        self.code = code
        self.finding = finding
    }

    /// Whether a non-blocking call would have had to wait.
    package var wouldBlock: Bool { code == EAGAIN }

    /// The system's text for the error, in lower case.
    package var reason: String {
        let words = unsafe String(cString: strerror(code))
        return words.prefix(1).lowercased() + words.dropFirst()
    }

    /// Compares the codes only.
    package static func == (one: SystemError, other: SystemError) -> Bool { one.code == other.code }

    /// The error for a client.
    ///
    /// - Parameter subject: The failure in words, such as `can't store 'a'`.
    package func cofferError(_ subject: String) -> CofferError {
        if let finding { return CofferError(.io, "\(subject): \(finding.message)", hint: finding.hint) }
        let (kind, words, hint): (ErrorCode, String, String?) =
            switch code {
            case ENOSPC, EDQUOT:
                (.diskFull, reason, "free some space and repeat the command; what was stored before is intact")
            case EFBIG:
                (
                    .diskFull, "the file would be larger than the file-size limit allows",
                    "raise the limit ('ulimit -f', or LimitFSIZE= of the service) and start the program again"
                )
            case EROFS:
                (
                    .io, "the file system is read-only",
                    "make it writable, or copy the state directory to one that is, and start cofferd again"
                )
            default: (.io, "\(reason) (\(operation))", nil)
            }
        return CofferError(kind, "\(subject): \(words)", hint: hint, operation: hint == nil ? .read : .write)
    }
}

/// Repeats a system call while signals interrupt it.
///
/// - Parameters:
///   - operation: The operation, for the error.
///   - call: The call: a negative result is a failure with `errno`.
/// - Returns: The result of the call.
package func retrying<Value: SignedInteger>(_ operation: StaticString, _ call: () -> Value) throws(SystemError) -> Value
{
    while true {
        let result = call()
        if result >= 0 { return result }
        if errno != EINTR { throw SystemError(operation) }
    }
}

/// The result of a call; `nil` if it fails with one of some codes.
func tolerating<Value: ~Copyable>(
    _ codes: Int32...,
    call: () throws(SystemError) -> Value
) throws(SystemError) -> Value? {
    do throws(SystemError) {
        return try call()
    } catch  where codes.contains(error.code) {
        return nil
    }
}
