/// What a client may do, and with which items.
package struct AccessRights: Hashable, Sendable {
    /// The access groups that it holds; the first is the default.
    package let groups: [String]
    /// The access groups that it may name.
    package let reach: AccessGroups
    /// The group of its own program, if it may use that.
    package let programGroup: String?
    /// The permissions.
    package let verbs: Set<Verb>
    /// The only class of items that it may use; `nil` for items and files of every kind.
    package let itemClass: ItemClass?
    /// The default protection of what it stores.
    package let protection: Protection?
    /// Whether it may say on behalf of which process a connection acts.
    package let actsOnBehalf: Bool
    /// Whether the rights end when the client's process runs another program.
    package let restOnProgram: Bool
    /// The client's share of the daemon.
    package let limits: ClientLimits
    /// The rule that gives these rights: lower case, as part of a sentence.
    package let reason: String

    package init(
        groups: [String],
        reach: AccessGroups? = nil,
        programGroup: String? = nil,
        verbs: Set<Verb>,
        itemClass: ItemClass? = nil,
        protection: Protection? = nil,
        actsOnBehalf: Bool = false,
        restOnProgram: Bool = false,
        limits: ClientLimits = ClientLimits(),
        reason: String
    ) {
        self.groups = groups
        self.reach = reach ?? .only(groups)
        self.programGroup = programGroup
        self.verbs = verbs
        self.itemClass = itemClass
        self.protection = protection
        self.actsOnBehalf = actsOnBehalf
        self.restOnProgram = restOnProgram
        self.limits = limits
        self.reason = reason
    }

    /// Whether two sets of rights are the same, regardless of the reason.
    package func isSame(as other: AccessRights) -> Bool {
        groups.elementsEqual(other.groups) { $0.hasSameBytes(as: $1) } && reach == other.reach
            && programGroup == other.programGroup && verbs == other.verbs && itemClass == other.itemClass
            && protection == other.protection && actsOnBehalf == other.actsOnBehalf
            && restOnProgram == other.restOnProgram && limits == other.limits
    }
}

/// The access policy: a total function from a client to its rights.
package struct AccessPolicy: Sendable {
    /// The identity of the daemon itself: its user is the vault's owner, and processes in its unit belong to it.
    package let daemon: ClientIdentity
    /// The entitlements, in the order in which they are checked.
    package var entitlements: [Entitlement]

    package init(daemon: ClientIdentity, entitlements: [Entitlement] = []) {
        self.daemon = daemon
        self.entitlements = entitlements
    }

    /// The entitlement that decides about a client, alone; `nil` if none matches, so that the defaults apply.
    package func entitlement(of client: ClientIdentity) -> Entitlement? { entitlements.first { $0.fits(client) } }

    /// Decides by the first entitlement that matches the client, and by nothing else; if none matches, by the defaults.
    ///
    /// - Parameters:
    ///   - client: The client that connects.
    ///   - hasRule: Whether an access rule allows the client something: a client that no entitlement matches is
    ///     then admitted, without any rights.
    /// - Throws: `missingEntitlement` for a client without any rights.
    package func rights(
        of client: ClientIdentity,
        hasRule: @autoclosure () -> Bool = false
    ) throws(CofferError) -> AccessRights {
        if let entitlement = entitlement(of: client) {
            if entitlement.verbs.isEmpty {
                throw CofferError(
                    .missingEntitlement,
                    "the entitlements of this vault refuse you"
                )
            }
            if let containment = client.containment, !entitlement.namesUnit {
                throw CofferError(
                    .missingEntitlement,
                    "a process in \(containment) does not match \(entitlement.place), which does not name its unit",
                    hint: "there, an entitlement applies only if it also names the unit"
                )
            }
            return entitlement.rights(of: client)
        }
        let isOwner = client.userID == daemon.userID
        if let service = client.service, service != daemon.service, isOwner || admits(service) {
            return AccessRights(
                groups: [service.description],
                verbs: [.read, .write, .delete],
                reason: "it is the service '\(service)', which has a group of its own"
            )
        }
        if isOwner && !client.isContained {
            return AccessRights(
                groups: [AccessGroup.owners],
                reach: .all,
                programGroup: AccessGroup.program(at: client.executablePath),
                verbs: Set(Verb.allCases),
                reason: "it is the vault's owner"
            )
        }
        if hasRule() {
            return AccessRights(
                groups: [],
                verbs: [],
                reason: "only an access rule admits you, to what it names"
            )
        }
        if isOwner, let containment = client.containment {
            throw CofferError(
                .missingEntitlement,
                "a process in \(containment) can't use the vault of its user",
                hint:
                    "start it from outside with what it needs: 'coffer run --env NAME=ITEM -- COMMAND', where COMMAND "
                    + "passes NAME on, as 'podman run --env NAME' does; a service needs an entitlement that names its unit"
            )
        }
        throw CofferError(
            .missingEntitlement,
            "user \(client.userID) may not use this vault",
            hint: "it belongs to user \(daemon.userID)"
        )
    }

    /// Whether a service is admitted regardless of its user: a user's own daemon serves only the processes of that
    /// user.
    private func admits(_ service: ClientPattern) -> Bool {
        guard case .unit = service, case .unit = daemon.service else { return false }
        return true
    }
}

extension ClientIdentity {
    /// The service that the client belongs to; `nil` for what a user started directly.
    ///
    /// Its description as a pattern is the name of its access group. The innermost service manager counts: to the
    /// system's manager, a process under a user's manager belongs to `user@UID.service`, which does not count as a
    /// service.
    package var service: ClientPattern? {
        if let userUnit {
            return userUnit.isNameOfService && !userUnit.hasPrefix("app-") ? .userUnit(userUnit) : nil
        }
        guard let unit, unit.isNameOfService, !unit.hasPrefix("user@") else { return nil }
        return .unit(unit)
    }

    /// The identity for quotas and round robin: the service that the client belongs to, or else its user.
    package var principal: ClientPattern { service ?? .user(userID) }
}

extension String {
    /// Whether a unit of this name is a service that has the same name when it is started again.
    ///
    /// A scope is a session, a terminal or a program that a user started. Services that `systemd-run` and the message
    /// bus start without a name get a new one each time: no later client could see what is stored under such a name.
    fileprivate var isNameOfService: Bool {
        guard hasSuffix(".service") else { return false }
        let stem = Substring(dropLast(".service".count))
        return !stem.isEmpty && !stem.hasPrefix("dbus-:") && !stem.isTransientName
    }
}

extension Substring {
    /// A generated name of `systemd-run`: `run-r1f0`, `run-u7`, `run-p12-i34`, depending on the version.
    fileprivate var isTransientName: Bool {
        guard hasPrefix("run-") else { return false }
        let digits = dropFirst("run-".count)
        return switch digits.first {
        case "r": digits.dropFirst().isNumber(radix: 16)
        case "u": digits.dropFirst().isNumber(radix: 10)
        case "p": digits.dropFirst().split(separator: "-i", maxSplits: 1).allSatisfy { $0.isNumber(radix: 10) }
        default: false
        }
    }

    private func isNumber(radix: Int) -> Bool {
        !isEmpty && utf8.allSatisfy { Int(String(UnicodeScalar($0)), radix: radix) != nil }
    }
}
