/// The stable name of an error.
///
/// A code that this build does not know is kept unchanged, and never fatal.
public struct ErrorCode: RawRepresentable, Hashable, Sendable {
    /// The name on the wire.
    public let rawValue: String

    /// Creates a code from its name on the wire.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// No item has that name, or matches that query.
    public static let itemNotFound = ErrorCode(rawValue: "itemNotFound")
    /// It exists already.
    public static let duplicateItem = ErrorCode(rawValue: "duplicateItem")
    /// The vault is locked, or has not been unlocked yet.
    public static let interactionNotAllowed = ErrorCode(rawValue: "interactionNotAllowed")
    /// The access control of the item requires authentication first.
    public static let interactionRequired = ErrorCode(rawValue: "interactionRequired")
    /// The credential is wrong, or passcodes are throttled.
    public static let authFailed = ErrorCode(rawValue: "authFailed")
    /// The caller lacks a permission or a group.
    public static let missingEntitlement = ErrorCode(rawValue: "missingEntitlement")
    /// A parameter is missing, unknown or out of range.
    public static let param = ErrorCode(rawValue: "param")
    /// The data exceeds a limit.
    public static let dataTooLarge = ErrorCode(rawValue: "dataTooLarge")
    /// Stored data is damaged or was tampered with.
    public static let decode = ErrorCode(rawValue: "decode")
    /// There is no vault yet, or one of its keys is missing.
    public static let notAvailable = ErrorCode(rawValue: "notAvailable")
    /// The disk is full.
    public static let diskFull = ErrorCode(rawValue: "diskFull")
    /// Reading or writing failed for a reason other than a full disk.
    public static let io = ErrorCode(rawValue: "io")
    /// The client cancelled the request, and nothing has changed.
    public static let userCanceled = ErrorCode(rawValue: "userCanceled")
    /// The method, or the version of the protocol, is unknown.
    public static let unimplemented = ErrorCode(rawValue: "unimplemented")
    /// The peer violated the protocol.
    public static let protocolViolation = ErrorCode(rawValue: "protocolViolation")
    /// A bug in the daemon.
    public static let `internal` = ErrorCode(rawValue: "internal")

    /// Every code that this build knows, with its numbers: the table of the protocol's errors.
    public static let table: [(code: ErrorCode, osStatus: Int, cocoaRead: Int?, cocoaWrite: Int?)] = [
        (.itemNotFound, -25300, 260, 260),
        (.duplicateItem, -25299, 516, 516),
        (.interactionNotAllowed, -25308, 257, 513),
        (.interactionRequired, -25315, nil, nil),
        (.authFailed, -25293, nil, nil),
        (.missingEntitlement, -34018, nil, nil),
        (.param, -50, nil, nil),
        (.dataTooLarge, -25302, 263, 263),
        (.decode, -26275, 259, 259),
        (.notAvailable, -25291, nil, nil),
        (.diskFull, -34, 640, 640),
        (.io, -36, nil, nil),
        (.userCanceled, -128, 3072, 3072),
        (.unimplemented, -4, nil, nil),
        (.protocolViolation, -25257, nil, nil),
        (.internal, -2070, nil, nil),
    ]

    /// The `OSStatus` of the code; for an unknown code, that of ``internal``.
    public var osStatus: Int { Self.table.first { $0.code == self }?.osStatus ?? -2070 }
}
