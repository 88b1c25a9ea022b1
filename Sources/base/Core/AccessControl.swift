/// The authentication that is required before the secret of a keychain item is returned, or its private key is used.
///
/// After `SecAccessControl`: constraints, joined by `and` or by `or`.
public struct AccessControl: Hashable, Sendable {

    /// The constraints, and how they are joined.
    public let flags: Set<Flag>

    /// Checks whether the words can be combined.
    ///
    /// - Throws: `param` if they can't be combined.
    public init(_ flags: Set<Flag>) throws(CofferError) {
        self.flags = flags
        if let fault = Self.fault(flags) { throw CofferError(.param, "access control: \(fault)") }
    }

    private static func fault(_ flags: Set<Flag>) -> String? {
        let constraints = flags.subtracting([.privateKeyUsage, .or, .and, .protectWrites])
        if flags.isEmpty { return "at least one word is expected" }
        if flags.isSuperset(of: [.or, .and]) { return "give either 'or' or 'and'" }
        if flags.isSuperset(of: [.userPresence, .devicePasscode]) {
            return "'userPresence' joins only 'applicationPassword' and 'privateKeyUsage'"
        }
        if flags.contains(.or) && constraints.count < 2 { return "'or' joins two constraints" }
        if flags.contains(.protectWrites) && constraints.isEmpty { return "'protectWrites' needs a constraint" }
        if constraints.isEmpty && !flags.contains(.privateKeyUsage) { return "a constraint is expected" }
        return nil
    }

    /// The factors that its constraints require.
    public var factors: Set<AuthenticationFactor> {
        var factors: Set<AuthenticationFactor> = []
        if !flags.isDisjoint(with: [.userPresence, .devicePasscode]) { factors.insert(.passcode) }
        if flags.contains(.applicationPassword) { factors.insert(.applicationPassword) }
        return factors
    }

    /// Whether one of the constraints suffices.
    public var isAlternative: Bool { flags.contains(.or) }

    /// The authentication that is still missing.
    ///
    /// - Parameter shown: The factors that were presented.
    /// - Returns: `nil` if they suffice.
    public func need(after shown: Set<AuthenticationFactor>) -> AuthenticationNeed? {
        let missing = factors.subtracting(shown)
        if missing.isEmpty || isAlternative && missing != factors { return nil }
        if missing.count == 2 {
            return isAlternative ? .passcodeOrApplicationPassword : .passcodeAndApplicationPassword
        }
        return missing.contains(.passcode) ? .passcode : .applicationPassword
    }
}

/// The authentication that is missing to meet an access control.
public enum AuthenticationNeed: String, CaseIterable, Sendable {
    case passcode
    case applicationPassword
    /// Both factors.
    case passcodeAndApplicationPassword
    /// Either factor.
    case passcodeOrApplicationPassword

    /// What is missing, for a sentence.
    public var words: String {
        switch self {
        case .passcode: "the passcode"
        case .applicationPassword: "its application password"
        case .passcodeAndApplicationPassword: "the passcode and its application password"
        case .passcodeOrApplicationPassword: "the passcode or its application password"
        }
    }
}

extension CofferError {
    /// The error for an item whose access control is not met.
    ///
    /// - Parameters:
    ///   - subject: The item, in words.
    ///   - need: The missing authentication.
    ///   - operation: What the request was going to do with it.
    public static func wantsAuthentication(
        _ subject: String,
        _ need: AuthenticationNeed,
        for operation: ItemOperation
    ) -> CofferError {
        CofferError(
            .interactionRequired,
            "can't \(operation == .read ? "use" : "change") \(subject): its access control wants \(need.words)",
            hint: "'coffer' asks for it on a terminal, and takes it by --passcode-fd and --application-password-fd",
            operation: operation,
            need: need
        )
    }
}
