// packaging/tools/interface writes this file from proto-docs/openrpc.json.

extension ErrorCode {
    /// The credential is wrong, or passcodes are throttled.
    public static let authFailed = ErrorCode(rawValue: "authFailed")
    /// Beyond a limit.
    public static let dataTooLarge = ErrorCode(rawValue: "dataTooLarge")
    /// Stored data is damaged or was tampered with.
    public static let decode = ErrorCode(rawValue: "decode")
    /// The disk is full.
    public static let diskFull = ErrorCode(rawValue: "diskFull")
    /// It exists already.
    public static let duplicateItem = ErrorCode(rawValue: "duplicateItem")
    /// The item's key is not in memory: the vault is locked, or has not been unlocked since the daemon
    /// started.
    public static let interactionNotAllowed = ErrorCode(rawValue: "interactionNotAllowed")
    /// The access control of the item requires authentication first; need says which.
    public static let interactionRequired = ErrorCode(rawValue: "interactionRequired")
    /// A bug in the daemon.
    public static let `internal` = ErrorCode(rawValue: "internal")
    /// Reading or writing failed for another reason, or memory or threads are short.
    public static let io = ErrorCode(rawValue: "io")
    /// No item has that name.
    public static let itemNotFound = ErrorCode(rawValue: "itemNotFound")
    /// Another user's vault, or an access group or a verb that the caller does not hold.
    public static let missingEntitlement = ErrorCode(rawValue: "missingEntitlement")
    /// No vault yet, no passcode, a key missing, or too many connections.
    public static let notAvailable = ErrorCode(rawValue: "notAvailable")
    /// A parameter, payload or descriptor is missing, unknown or out of range.
    public static let param = ErrorCode(rawValue: "param")
    /// The peer sent an invalid message: clients only.
    public static let protocolViolation = ErrorCode(rawValue: "protocolViolation")
    /// The method, or the version of the protocol, is unknown.
    public static let unimplemented = ErrorCode(rawValue: "unimplemented")
    /// The client cancelled the request.
    public static let userCanceled = ErrorCode(rawValue: "userCanceled")

    /// Every code that this build knows, with its numbers: the table of the protocol's errors.
    public static let table: [(code: ErrorCode, osStatus: Int, cocoaRead: Int?, cocoaWrite: Int?)] = [
        (.authFailed, -25293, nil, nil),
        (.dataTooLarge, -25302, 263, 263),
        (.decode, -26275, 259, 259),
        (.diskFull, -34, 640, 640),
        (.duplicateItem, -25299, 516, 516),
        (.interactionNotAllowed, -25308, 257, 513),
        (.interactionRequired, -25315, nil, nil),
        (.internal, -2070, nil, nil),
        (.io, -36, nil, nil),
        (.itemNotFound, -25300, 260, 260),
        (.missingEntitlement, -34018, nil, nil),
        (.notAvailable, -25291, nil, nil),
        (.param, -50, nil, nil),
        (.protocolViolation, -25257, nil, nil),
        (.unimplemented, -4, nil, nil),
        (.userCanceled, -128, 3072, 3072),
    ]
}
