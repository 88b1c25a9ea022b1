/// What a client may do, and which rule decides that.
public struct AccessExplanation: Hashable, Sendable {
    /// The client whose rights these are.
    public let client: ClientIdentity
    /// The file of the entitlement that decides; `nil` if none does.
    public let path: String?
    /// The line at which the section begins, from 1.
    public let line: Int?
    /// Why the client has these rights, or the error with which it is refused.
    public let reason: String
    /// Whether it is refused when it connects.
    public let isRefused: Bool
    /// The access groups that it holds; the first is the default.
    public let groups: [String]
    /// Its permissions.
    public let verbs: Set<Verb>
    /// The default protection of what it stores.
    public let protection: Protection?
    /// The client's share of the daemon.
    public let limits: ClientLimits
    /// The outcome if the service manager fetched a credential for the client now; `nil` if none was named.
    public let credential: CredentialAnswer?

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

/// The outcome of fetching a credential for a unit.
public struct CredentialAnswer: Hashable, Sendable {
    /// The name of the item.
    public let name: String
    /// Why it is refused: locked, missing and denied are three answers; `nil` if it is delivered.
    public let refusal: AuditedRefusal?
    /// The protection of the item; `nil` if there is none, or none that the unit may see.
    public let protection: Protection?

    package init(name: String, refusal: AuditedRefusal?, protection: Protection?) {
        self.name = name
        self.refusal = refusal
        self.protection = protection
    }
}

/// The client whose rights are to be explained.
public enum AccessSubject: Hashable, Sendable {
    /// The client that asks.
    case caller
    /// A process, as if it connected now.
    case process(Int32)
    /// A unit of the system's service manager.
    case unit(String)
    /// A unit of the user's service manager.
    case userUnit(String)
}

extension AccessPolicy {
    /// Explains what a client may do.
    ///
    /// - Parameters:
    ///   - client: The client.
    ///   - credential: The outcome of fetching a credential, if one was named.
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

    /// A client in a unit, whether anything runs there or not.
    ///
    /// What the unit does not determine comes from the first entitlement that names the unit, or else is the owner's
    /// user and group.
    package func client(in unit: ClientPattern) -> ClientIdentity {
        var client = ClientIdentity(userID: daemon.userID, groupID: daemon.groupID)
        let written = entitlements.first { $0.clients.contains(unit) }?.clients ?? []
        for pattern in written + [unit] { client.fit(pattern) }
        return client
    }
}

extension ClientIdentity {
    /// Changes the identity so that it matches a pattern.
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
