public import CofferCore
internal import Foundation

/// It is done.
public let errSecSuccess: OSStatus = 0
/// There is no such method.
public let errSecUnimplemented: OSStatus = -4
/// The disk is full.
public let errSecDiskFull: OSStatus = -34
/// Reading or writing failed.
public let errSecIO: OSStatus = -36
/// The dictionary has something that can't be.
public let errSecParam: OSStatus = -50
/// The request was taken back.
public let errSecUserCanceled: OSStatus = -128
/// A fault of the daemon itself.
public let errSecInternalComponent: OSStatus = -2070
/// The peer sent what the protocol does not allow.
public let errSecInvalidData: OSStatus = -25257
/// There is no vault, or no daemon.
public let errSecNotAvailable: OSStatus = -25291
/// What was shown is wrong, or a passcode is missing.
public let errSecAuthFailed: OSStatus = -25293
/// There is one already.
public let errSecDuplicateItem: OSStatus = -25299
/// There is none.
public let errSecItemNotFound: OSStatus = -25300
/// It exceeds a limit.
public let errSecDataTooLarge: OSStatus = -25302
/// The vault is locked.
public let errSecInteractionNotAllowed: OSStatus = -25308
/// The access control of the item is not met.
public let errSecInteractionRequired: OSStatus = -25315
/// What is stored is damaged.
public let errSecDecode: OSStatus = -26275
/// The program may not.
public let errSecMissingEntitlement: OSStatus = -34018

/// Says in words what a status means.
///
/// - Parameters:
///   - status: The status.
///   - reserved: Nothing.
/// - Returns: `nil` for one that this library does not give; ``SecCopyLastError()`` tells more of the last one.
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    if status == errSecSuccess { return "no error" }
    return ErrorCode.table.first { $0.osStatus == Int(status) }?.code.rawValue
}

/// Says why the last keychain call of this thread failed: which parameter, what was found, what to do.
///
/// - Returns: `nil` where it did not fail.
public func SecCopyLastError() -> CofferError? { Thread.current.threadDictionary[lastErrorKey] as? CofferError }

private let lastErrorKey = "coffer.SecCopyLastError"

extension OSStatus {
    /// Makes a status of what a call came to, and keeps why it failed.
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
