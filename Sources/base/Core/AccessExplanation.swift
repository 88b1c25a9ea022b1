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
        var (rights, isRefused) = (AccessRights(groups: [], verbs: [], reason: ""), false)
        do throws(CofferError) {
            rights = try self.rights(of: client)
        } catch {
            (rights, isRefused) = (AccessRights(groups: [], verbs: [], reason: error.message), true)
        }
        return AccessExplanation(
            client: client,
            path: entitlement?.path,
            line: entitlement?.line,
            reason: rights.reason,
            isRefused: isRefused,
            groups: rights.groups,
            reachesAllGroups: rights.reach == .all,
            programGroup: rights.programGroup,
            verbs: rights.verbs,
            itemClass: rights.itemClass,
            protection: rights.protection,
            actsOnBehalf: rights.actsOnBehalf,
            limits: rights.limits,
            credential: credential
        )
    }

    /// A client in a unit, whether anything runs there or not.
    ///
    /// What the unit does not determine comes from the first entitlement that names the unit, or else is the owner's
    /// user and group.
    package func client(in unit: ClientPattern) -> ClientIdentity {
        var client = ClientIdentity(userID: daemon.userID, groupID: daemon.groupID)
        let written = entitlements.first { $0.names(unit) }?.clients ?? []
        for pattern in written + [unit] { client.fit(pattern) }
        return client
    }
}

extension Entitlement {
    /// Whether the section names a unit, in full or by a pattern.
    fileprivate func names(_ unit: ClientPattern) -> Bool {
        var client = ClientIdentity(userID: 0, groupID: 0)
        client.fit(unit)
        return clients.contains { $0.isUnit && $0.fits(client) }
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
        case .outsideServices: break
        }
    }
}
