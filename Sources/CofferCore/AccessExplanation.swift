/// What a client may do, and which rule says so.
public struct AccessExplanation: Hashable, Sendable {
    /// The client.
    public let client: ClientIdentity
    /// The file of the entitlement that decides; `nil` where none does.
    public let path: String?
    /// Where it begins there, from 1.
    public let line: Int?
    /// Why the client has these rights, or what it is told when it is refused.
    public let reason: String
    /// Whether it is refused when it connects.
    public let isRefused: Bool
    /// The access groups that it holds; the first is the default.
    public let groups: [String]
    /// What it may do.
    public let verbs: Set<Verb>
    /// How what it stores is protected where nobody says more.
    public let protection: Protection?
    /// How much of the daemon it may have.
    public let limits: ClientLimits
    /// What comes of a credential that the service manager fetches for the client now; `nil` where none was asked about.
    public let credential: CredentialAnswer?

    /// Describes what a client may do.
    ///
    /// - Parameters:
    ///   - client: The client.
    ///   - path: The file of the entitlement that decides.
    ///   - line: Where it begins there.
    ///   - reason: Why the client has these rights, or what it is told.
    ///   - isRefused: Whether it is refused when it connects.
    ///   - groups: The access groups that it holds.
    ///   - verbs: What it may do.
    ///   - protection: How what it stores is protected.
    ///   - limits: How much of the daemon it may have.
    ///   - credential: What comes of a credential.
    package init(
        client: ClientIdentity,
        path: String?,
        line: Int?,
        reason: String,
        isRefused: Bool,
        groups: [String] = [],
        verbs: Set<Verb> = [],
        protection: Protection? = nil,
        limits: ClientLimits = ClientLimits(),
        credential: CredentialAnswer? = nil
    ) {
        self.client = client
        self.path = path
        self.line = line
        self.reason = reason
        self.isRefused = isRefused
        self.groups = groups
        self.verbs = verbs
        self.protection = protection
        self.limits = limits
        self.credential = credential
    }
}

/// What comes of a credential that a service manager fetches for a unit.
public struct CredentialAnswer: Hashable, Sendable {
    /// The name of the item that is meant.
    public let name: String
    /// Why it is refused: locked, missing and denied are three answers; `nil` where it is given.
    public let refusal: AuditedRefusal?
    /// How the item is protected; `nil` where there is none, or none that the unit may see.
    public let protection: Protection?

    /// Describes what comes of a credential.
    ///
    /// - Parameters:
    ///   - name: The name of the item that is meant.
    ///   - refusal: Why it is refused.
    ///   - protection: How the item is protected.
    package init(name: String, refusal: AuditedRefusal?, protection: Protection?) {
        self.name = name
        self.refusal = refusal
        self.protection = protection
    }
}

/// Whose rights are to be explained.
public enum AccessSubject: Hashable, Sendable {
    /// Those of who asks.
    case caller
    /// Those that a process would have if it connected now.
    case process(Int32)
    /// Those of a unit of the system's service manager.
    case unit(String)
    /// Those of a unit of the user's service manager.
    case userUnit(String)
}

extension AccessPolicy {
    /// Explains what a client may do.
    ///
    /// - Parameters:
    ///   - client: The client.
    ///   - credential: What comes of a credential, where one was asked about.
    package func explanation(of client: ClientIdentity, _ credential: CredentialAnswer? = nil) -> AccessExplanation {
        let entitlement = entitlement(of: client)
        do throws(CofferError) {
            let rights = try rights(of: client)
            return AccessExplanation(
                client: client,
                path: entitlement?.path,
                line: entitlement?.line,
                reason: rights.reason,
                isRefused: false,
                groups: rights.groups,
                verbs: rights.verbs,
                protection: rights.protection,
                limits: rights.limits,
                credential: credential
            )
        } catch {
            return AccessExplanation(
                client: client,
                path: entitlement?.path,
                line: entitlement?.line,
                reason: error.message,
                isRefused: true,
                credential: credential
            )
        }
    }

    /// A client in a unit, whether anything runs there or not: for the rest as the first entitlement says that names the unit,
    /// else of the owner's user and group.
    ///
    /// - Parameter unit: The unit.
    package func client(in unit: ClientPattern) -> ClientIdentity {
        var client = ClientIdentity(userID: daemon.userID, groupID: daemon.groupID)
        let written = entitlements.first { $0.clients.contains(unit) }?.clients ?? []
        for pattern in written + [unit] { client.fit(pattern) }
        return client
    }
}

extension ClientIdentity {
    /// Becomes a client that fits a pattern, and stays as it is for the rest.
    package mutating func fit(_ pattern: ClientPattern) {
        switch pattern {
        case .user(let number): userID = number
        case .group(let number): groupID = number
        case .unit(let name): unit = name
        case .userUnit(let name): userUnit = name
        case .executable(let path): executablePath = path
        }
    }
}
