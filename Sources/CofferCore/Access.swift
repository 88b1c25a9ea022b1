/// What a client may do, whatever the items are that it may do it with.
public enum Verb: String, CaseIterable, Sendable {
    /// Looks at items and files, and uses keys.
    case read
    /// Makes, changes, moves and protects them.
    case write
    /// Removes them.
    case delete
    /// Locks the vault.
    case lock
    /// Unlocks it, and shows its passcode for single items.
    case unlock
    /// Makes the vault, erases it, repairs it, and sets who opens it and how.
    case admin
    /// Reads who did what.
    case audit
}

/// How much of the daemon an identity may have, where somebody has written it.
public struct ClientLimits: Hashable, Sendable {
    /// The connections at once; `nil` for a fair share.
    public package(set) var connections: Int?
    /// The requests in a second, over time; `nil` for as many as the daemon can.
    public package(set) var requestsPerSecond: Int?

    /// Leaves everything to what is fair.
    package init() {}
}

/// What a client may do, and with what.
package struct AccessRights: Hashable, Sendable {
    /// The access groups that it holds; the first is the default.
    package let groups: [String]
    /// What it may do.
    package let verbs: Set<Verb>
    /// How what it stores is protected where nobody says more.
    package let protection: Protection?
    /// Whether they end when the client's process runs another program.
    package let restOnProgram: Bool
    /// How much of the daemon it may have.
    package let limits: ClientLimits
    /// Why it has these rights: lower case, as part of a sentence.
    package let reason: String

    /// Gathers rights.
    ///
    /// - Parameters:
    ///   - groups: The access groups that the client holds; the first is the default.
    ///   - verbs: What it may do.
    ///   - protection: How what it stores is protected where nobody says more.
    ///   - restOnProgram: Whether they end when the client's process runs another program.
    ///   - limits: How much of the daemon it may have.
    ///   - reason: Why it has these rights.
    package init(
        groups: [String],
        verbs: Set<Verb>,
        protection: Protection? = nil,
        restOnProgram: Bool = false,
        limits: ClientLimits = ClientLimits(),
        reason: String
    ) {
        self.groups = groups
        self.verbs = verbs
        self.protection = protection
        self.restOnProgram = restOnProgram
        self.limits = limits
        self.reason = reason
    }

    /// The group of the vault's owner.
    package static let ownersGroup = "default"

    /// Whether they come to the same, for whatever reason.
    package func isSame(as other: AccessRights) -> Bool {
        groups == other.groups && verbs == other.verbs && protection == other.protection
            && restOnProgram == other.restOnProgram && limits == other.limits
    }

    /// Whether a group is one of them: names are compared as bytes.
    package func hold(_ group: String) -> Bool { groups.contains { $0.utf8.elementsEqual(group.utf8) } }
}

/// Who may do what: a total function from a client to its rights.
package struct AccessPolicy: Sendable {
    /// The daemon, as a client of its own: its user is the vault's owner, and what runs in its unit belongs to it.
    package let daemon: ClientIdentity
    /// What was written, in the order in which it is looked at.
    package var entitlements: [Entitlement]

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - daemon: The daemon, as a client of its own.
    ///   - entitlements: What was written, in the order in which it is looked at.
    package init(daemon: ClientIdentity, entitlements: [Entitlement] = []) {
        self.daemon = daemon
        self.entitlements = entitlements
    }

    /// The entitlement that decides of a client, alone; `nil` where the rule of the house does.
    package func entitlement(of client: ClientIdentity) -> Entitlement? { entitlements.first { $0.fits(client) } }

    /// Decides: by the first entitlement that means the client, and by nothing else; by the rule of the house where none does.
    ///
    /// - Parameters:
    ///   - client: Who asks.
    ///   - hasLease: Whether a lease is for the client: then one of whom nothing is written is let in, without any rights.
    /// - Throws: `missingEntitlement` for one who may do nothing at all.
    package func rights(
        of client: ClientIdentity,
        hasLease: @autoclosure () -> Bool = false
    ) throws(CofferError) -> AccessRights {
        if let entitlement = entitlement(of: client) {
            if entitlement.verbs.isEmpty {
                throw CofferError(
                    .missingEntitlement,
                    "the entitlements of this vault say that you may do nothing with it"
                )
            }
            if let containment = client.containment, !entitlement.namesUnit {
                throw CofferError(
                    .missingEntitlement,
                    "a process in \(containment) is not meant by \(entitlement.place), which does not name its unit",
                    hint: "there, an entitlement counts where it names the unit, too"
                )
            }
            return entitlement.rights
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
                groups: [AccessRights.ownersGroup],
                verbs: Set(Verb.allCases),
                reason: "it is the vault's owner"
            )
        }
        if hasLease() { return AccessRights(groups: [], verbs: [], reason: "it has a lease, and no rights of its own") }
        if isOwner, let containment = client.containment {
            throw CofferError(
                .missingEntitlement,
                "a process in \(containment) may not use this vault just because its user is the owner",
                hint: "an entitlement that names its unit lets it in"
            )
        }
        throw CofferError(
            .missingEntitlement,
            "user \(client.userID) may not use this vault",
            hint: "it belongs to user \(daemon.userID)"
        )
    }

    /// Whether a service is let in whoever its user is: the daemon of a person is for that person's processes only.
    private func admits(_ service: ClientPattern) -> Bool {
        guard case .unit = service, case .unit = daemon.service else { return false }
        return true
    }
}

extension ClientIdentity {
    /// The service that the client belongs to; `nil` where it is a person's own doing.
    ///
    /// Its words as a pattern are the name of its access group. The innermost service manager counts: what runs under a
    /// person's manager is of no unit of the system's but `user@UID.service`, which is no service in this sense.
    package var service: ClientPattern? {
        if let userUnit {
            return userUnit.isNameOfService && !userUnit.hasPrefix("app-") ? .userUnit(userUnit) : nil
        }
        guard let unit, unit.isNameOfService, !unit.hasPrefix("user@") else { return nil }
        return .unit(unit)
    }

    /// Who it is where the daemon is shared out: the service that it belongs to, or else its user.
    package var principal: ClientPattern { service ?? .user(userID) }
}

extension String {
    /// Whether a unit of this name is a service that is there again tomorrow.
    ///
    /// A scope is somebody's session, terminal or started program. What `systemd-run` and the message bus start without a
    /// name of its own is called anew each time: nobody would see again what is stored under such a name.
    fileprivate var isNameOfService: Bool {
        guard hasSuffix(".service") else { return false }
        let stem = Substring(dropLast(".service".count))
        return !stem.isEmpty && !stem.hasPrefix("dbus-:") && !stem.isTransientName
    }
}

extension Substring {
    /// What `systemd-run` makes up: `run-r1f0`, `run-u7`, `run-p12-i34`, by version.
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
