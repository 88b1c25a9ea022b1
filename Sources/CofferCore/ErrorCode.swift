/// The stable name of an error.
///
/// A code that this build does not know is kept as it came, never fatal.
public struct ErrorCode: RawRepresentable, Hashable, Sendable {
    /// The name, as it stands on the wire.
    public let rawValue: String

    /// Makes a code from its name on the wire.
    ///
    /// - Parameter rawValue: The name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// There is no item of that name or query.
    public static let itemNotFound = ErrorCode(rawValue: "itemNotFound")
    /// There is one already.
    public static let duplicateItem = ErrorCode(rawValue: "duplicateItem")
    /// Locked, or before the first unlock.
    public static let interactionNotAllowed = ErrorCode(rawValue: "interactionNotAllowed")
    /// The item wants a fresh authentication.
    public static let interactionRequired = ErrorCode(rawValue: "interactionRequired")
    /// The passcode was wrong, or may not be tried now.
    public static let authFailed = ErrorCode(rawValue: "authFailed")
    /// The caller does not hold the right.
    public static let missingEntitlement = ErrorCode(rawValue: "missingEntitlement")
    /// A parameter is missing, unknown or out of range.
    public static let param = ErrorCode(rawValue: "param")
    /// The data exceeds a limit.
    public static let dataTooLarge = ErrorCode(rawValue: "dataTooLarge")
    /// Stored data is damaged or was tampered with.
    public static let decode = ErrorCode(rawValue: "decode")
    /// There is no vault yet, or a key of it is missing.
    public static let notAvailable = ErrorCode(rawValue: "notAvailable")
    /// The disk is full.
    public static let diskFull = ErrorCode(rawValue: "diskFull")
    /// Reading or writing failed for another reason than a full disk.
    public static let io = ErrorCode(rawValue: "io")
    /// The client did not want the answer any more, and nothing has happened.
    public static let userCanceled = ErrorCode(rawValue: "userCanceled")
    /// The method, or the version of the protocol, is unknown.
    public static let unimplemented = ErrorCode(rawValue: "unimplemented")
    /// The peer sent what the protocol does not allow.
    public static let protocolViolation = ErrorCode(rawValue: "protocolViolation")
    /// A fault of the daemon itself.
    public static let `internal` = ErrorCode(rawValue: "internal")

    /// Every code that this build answers with, with its numbers: the table of the protocol's errors.
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

    /// The `OSStatus` of the code; that of ``internal`` for a code this build does not know.
    public var osStatus: Int { Self.table.first { $0.code == self }?.osStatus ?? -2070 }
}
