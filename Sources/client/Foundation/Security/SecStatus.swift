public import CofferCore
internal import Foundation

/// The call succeeded.
public let errSecSuccess: OSStatus = 0
/// The daemon has no such method.
public let errSecUnimplemented: OSStatus = -4
/// The disk is full.
public let errSecDiskFull: OSStatus = -34
/// Reading or writing failed.
public let errSecIO: OSStatus = -36
/// The dictionary contains an invalid key or value.
public let errSecParam: OSStatus = -50
/// The request was cancelled.
public let errSecUserCanceled: OSStatus = -128
/// An internal error of the daemon.
public let errSecInternalComponent: OSStatus = -2070
/// The peer violated the protocol.
public let errSecInvalidData: OSStatus = -25257
/// There is no vault, or no daemon.
public let errSecNotAvailable: OSStatus = -25291
/// The authentication failed, or a passcode is missing.
public let errSecAuthFailed: OSStatus = -25293
/// The item exists already.
public let errSecDuplicateItem: OSStatus = -25299
/// There is no such item.
public let errSecItemNotFound: OSStatus = -25300
/// It exceeds a limit.
public let errSecDataTooLarge: OSStatus = -25302
/// The vault is locked.
public let errSecInteractionNotAllowed: OSStatus = -25308
/// The access control of the item is not met.
public let errSecInteractionRequired: OSStatus = -25315
/// The stored data is damaged.
public let errSecDecode: OSStatus = -26275
/// The program lacks the permission.
public let errSecMissingEntitlement: OSStatus = -34018

/// Describes a status.
///
/// - Parameters:
///   - status: The status.
///   - reserved: Ignored.
/// - Returns: `nil` for a status that this library does not use; ``SecCopyLastError()`` has the details of
///   the last one.
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    if status == errSecSuccess { return "no error" }
    return ErrorCode.table.first { $0.osStatus == Int(status) }?.code.rawValue
}

/// The error of the last keychain call of this thread, with its reason and a hint.
///
/// - Returns: `nil` if the call succeeded.
public func SecCopyLastError() -> CofferError? { Thread.current.threadDictionary[lastErrorKey] as? CofferError }

private let lastErrorKey = "coffer.SecCopyLastError"

extension OSStatus {
    /// Makes the status of a call, and stores its error for ``SecCopyLastError()``.
    ///
    /// - Parameter body: The call.
    init(of body: () throws(CofferError) -> Void) {
        do throws(CofferError) {
            try body()
            Thread.current.threadDictionary[lastErrorKey] = nil
            self = errSecSuccess
        } catch {
            Thread.current.threadDictionary[lastErrorKey] = error
            self = OSStatus(error.code.osStatus)
        }
    }
}
