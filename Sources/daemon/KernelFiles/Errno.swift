package import CofferCore
internal import Glibc

/// A failure of an operation, as the kernel reports it to a program.
package struct Errno: Error, Hashable, Sendable {
    /// The `errno`.
    package let code: Int32

    /// Makes an error of an `errno`.
    package init(_ code: Int32) { self.code = code }

    static let nameTooLong = Errno(ENAMETOOLONG)
    static let notUTF8 = Errno(EILSEQ)
    /// The file of the kernel's number is not there any more.
    static let stale = Errno(ESTALE)
    static let missing = Errno(ENOENT)
    static let tooLarge = Errno(EFBIG)
    static let invalid = Errno(EINVAL)
    static let readFailed = Errno(EIO)
    static let readOnly = Errno(EROFS)
    static let notSupported = Errno(EOPNOTSUPP)
    static let notPermitted = Errno(EPERM)
    static let noAttribute = Errno(ENODATA)
    /// The value is longer than the program's buffer.
    static let noRoom = Errno(ERANGE)
    /// The offset is not in the file.
    static let noSuchOffset = Errno(ENXIO)
    /// The kernel carries it out by itself, and asks no more.
    static let unknown = Errno(ENOSYS)
}

extension Errno {
    /// The `errno` of an error of the vault.
    ///
    /// - Parameter error: The error. A code that this build does not know is `EIO`.
    package init(_ error: CofferError) {
        self.init(error.reason.map(Self.code(of:)) ?? Self.codes[error.code] ?? EIO)
    }

    /// The `errno` of what an error says beyond its code; `proto-docs/MOUNT.md` has the same table.
    package static func code(of reason: ErrorReason) -> Int32 {
        switch reason {
        case .attributeExists: EEXIST
        case .attributesFull: ENOSPC
        case .badHandle: EBADF
        case .insideItself: EINVAL
        case .isDirectory: EISDIR
        case .isSymbolicLink: ELOOP
        case .nameTooLong: ENAMETOOLONG
        case .noAttribute: ENODATA
        case .notDirectory: ENOTDIR
        case .notEmpty: ENOTEMPTY
        case .notPermitted: EPERM
        case .notSupported: EOPNOTSUPP
        case .tooManyLinks: EMLINK
        case .tooManyOpen: ENFILE
        case .writerElsewhere: EBUSY
        }
    }

    /// The `errno` of each code; `proto-docs/MOUNT.md` has the same table.
    package static let codes: [ErrorCode: Int32] = [
        .authFailed: EACCES,
        .dataTooLarge: EFBIG,
        .decode: EIO,
        .diskFull: ENOSPC,
        .duplicateItem: EEXIST,
        .interactionNotAllowed: EACCES,
        .interactionRequired: EACCES,
        .internal: EIO,
        .io: EIO,
        .itemNotFound: ENOENT,
        .missingEntitlement: EPERM,
        .notAvailable: EBUSY,
        .param: EINVAL,
        .protocolViolation: EIO,
        .unimplemented: EOPNOTSUPP,
        .userCanceled: EINTR,
    ]
}
