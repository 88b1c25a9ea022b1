package import CofferCore
internal import Glibc

/// A system call that failed.
package struct SystemError: Error, Equatable, Sendable {
    /// The `errno`.
    package let code: Int32
    /// What was being done, such as `open` or `write`.
    package let operation: StaticString
    /// What is wrong with the file that was found, if it is that.
    package let finding: FileFinding?

    /// Makes an error of the calling thread's `errno`, unless one is given.
    ///
    /// - Parameters:
    ///   - operation: What was being done.
    ///   - code: The `errno`.
    ///   - finding: What is wrong with the file that was found, if it is that.
    package init(_ operation: StaticString, code: Int32 = errno, _ finding: FileFinding? = nil) {
        self.operation = operation
        self.code = code
        self.finding = finding
    }

    /// Checks the result of a system call.
    ///
    /// - Parameters:
    ///   - operation: What was being done.
    ///   - result: What the call returned: negative where it failed.
    /// - Returns: The result.
    package static func check(_ operation: StaticString, _ result: Int32) throws(SystemError) -> Int32 {
        if result < 0 { throw SystemError(operation) }
        return result
    }

    /// Whether a call that does not wait would have had to.
    package var wouldBlock: Bool { code == EAGAIN }

    /// The system's words for the error, in lower case.
    package var reason: String {
        let words = unsafe String(cString: strerror(code))
        return words.prefix(1).lowercased() + words.dropFirst()
    }

    /// Whether the errors are the same.
    package static func == (one: SystemError, other: SystemError) -> Bool { one.code == other.code }

    /// The error as a client sees it.
    ///
    /// - Parameter subject: What failed, in words, such as `can't store 'a'`.
    package func cofferError(_ subject: String) -> CofferError {
        if let finding { return CofferError(.io, "\(subject): \(finding.message)", hint: finding.hint) }
        return switch code {
        case ENOSPC, EDQUOT:
            CofferError(
                .diskFull,
                "\(subject): \(reason)",
                hint: "free some space and repeat the command; what was stored before is intact",
                operation: .write
            )
        case EFBIG:
            CofferError(
                .diskFull,
                "\(subject): the file would be larger than the file-size limit allows",
                hint: "raise the limit ('ulimit -f', or LimitFSIZE= of the service) and start the program again",
                operation: .write
            )
        case EROFS:
            CofferError(
                .io,
                "\(subject): the file system is read-only",
                hint: "make it writable, or copy the state directory to one that is, and start cofferd again",
                operation: .write
            )
        default:
            CofferError(.io, "\(subject): \(reason) (\(operation))")
        }
    }
}

/// Calls a system call again while a signal interrupts it.
///
/// - Parameters:
///   - operation: The name for the error.
///   - call: The call: a negative result is a failure with `errno`.
/// - Returns: What the call returned.
func retrying<Value: SignedInteger>(_ operation: StaticString, _ call: () -> Value) throws(SystemError) -> Value {
    while true {
        let result = call()
        if result >= 0 { return result }
        if errno != EINTR { throw SystemError(operation) }
    }
}
