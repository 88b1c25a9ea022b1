/// What has to be shown before the secret of a keychain item is given out, or its private key is used.
///
/// After `SecAccessControl`: constraints, joined by `and` or by `or`.
public struct AccessControl: Hashable, Sendable {
    /// A word of an access control, by the names of `SecAccessControlCreateFlags`.
    public enum Flag: String, CaseIterable, Sendable {
        /// The person is there: the passcode, as long as nothing else can tell.
        case userPresence
        /// The passcode of the vault.
        case devicePasscode
        /// A password of the item's own, which its key depends on.
        case applicationPassword
        /// The private key may be used; one whose access control has not this word can be read only.
        case privateKeyUsage
        /// One of the constraints is enough.
        case or
        /// All of the constraints have to be met, as they have where nothing is said.
        case and
        /// The constraints have to be met for changing and deleting the item, too.
        case protectWrites
    }

    /// Its words.
    public let flags: Set<Flag>

    /// Checks words and makes an access control of them.
    ///
    /// - Parameter flags: The words.
    /// - Throws: `param` where they make no sense together.
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

    /// What its constraints ask for.
    public var factors: Set<AuthenticationFactor> {
        var factors: Set<AuthenticationFactor> = []
        if !flags.isDisjoint(with: [.userPresence, .devicePasscode]) { factors.insert(.passcode) }
        if flags.contains(.applicationPassword) { factors.insert(.applicationPassword) }
        return factors
    }

    /// Whether one of the constraints is enough.
    public var isAlternative: Bool { flags.contains(.or) }

    /// What is missing.
    ///
    /// - Parameter shown: What was shown.
    /// - Returns: `nil` where that is enough.
    public func need(after shown: Set<AuthenticationFactor>) -> AuthenticationNeed? {
        let missing = factors.subtracting(shown)
        if missing.isEmpty || isAlternative && missing != factors { return nil }
        if missing.count == 2 {
            return isAlternative ? .passcodeOrApplicationPassword : .passcodeAndApplicationPassword
        }
        return missing.contains(.passcode) ? .passcode : .applicationPassword
    }
}

/// What a client can show of the person behind it.
public enum AuthenticationFactor: String, CaseIterable, Sendable {
    /// The passcode of the vault; a wrong one counts.
    case passcode
    /// The password of an item; whether it is right is found out with the item.
    case applicationPassword
}

/// What is missing for an item whose access control is not met.
public enum AuthenticationNeed: String, CaseIterable, Sendable {
    /// The passcode.
    case passcode
    /// The application password.
    case applicationPassword
    /// Both of them.
    case passcodeAndApplicationPassword
    /// Either of them.
    case passcodeOrApplicationPassword

    fileprivate var words: String {
        switch self {
        case .passcode: "the passcode"
        case .applicationPassword: "its application password"
        case .passcodeAndApplicationPassword: "the passcode and its application password"
        case .passcodeOrApplicationPassword: "the passcode or its application password"
        }
    }
}

extension CofferError {
    /// The answer where the access control of an item is not met.
    ///
    /// - Parameters:
    ///   - subject: The item, in words.
    ///   - need: What is missing.
    ///   - operation: What was to be done with it.
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
