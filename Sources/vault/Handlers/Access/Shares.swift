internal import CofferCore
internal import CofferVault

// Shares: access rules by which a client that is no administrator lets other users read items of its own user group.

extension Caller {
    /// Whether the client may add and remove every rule of the groups that it may name.
    var mayAdminister: Bool { rights.verbs.contains(.admin) }

    /// Refuses a right of the client's own that it does not hold: administering is not reading.
    func requireHeld(_ verbs: Set<Verb>, toLetIn client: ClientPattern) throws(CofferError) {
        let missing = verbs.subtracting(rights.verbs)
        guard !missing.isEmpty, client.fits(identity) else { return }
        let words = Verb.allCases.filter(missing.contains).map(\.rawValue).joined(separator: " and ")
        throw CofferError(
            .missingEntitlement,
            "you may let others \(words), and not yourself",
            hint: "a right of your own is given by an entitlement; yours: \(rights.reason)"
        )
    }
}

extension AccessRule {
    /// Whether a rule is a share: all that a client may add, list and remove that is no administrator.
    ///
    /// It lets a user read one item of the client's own user group. Before the first unlock, the name is unknown.
    func isShare(of caller: Caller) -> Bool {
        guard case .user = client, kind == .allow, verbs == [.read] else { return false }
        return group.hasSameBytes(as: caller.userGroup) && isForOneName != false
    }

    private var isOfUserGroup: Bool { group.utf8.starts(with: AccessGroup.ownUser.utf8) }

    /// Refuses a rule about a user's group that would be one too many.
    ///
    /// All users together can't share so much that the administrator has no place left.
    func requirePlaceForShare(among rules: [AccessRule]) throws(CofferError) {
        guard isOfUserGroup else { return }
        let shares = rules.filter(\.isOfUserGroup)
        let own = shares.filter { $0.group.hasSameBytes(as: group) }
        guard own.count < Limits.sharesOfUser else {
            throw CofferError(
                .notAvailable,
                "\(Limits.sharesOfUser) shares of a user are the most",
                hint: "'coffer share' lists yours, and 'coffer share NAME --stop' ends one"
            )
        }
        guard shares.count < Limits.accessRules / 2 else {
            throw CofferError(
                .notAvailable,
                "the users of this vault have \(shares.count) shares, which is the most",
                hint: "its administrator lists them by 'coffer access'"
            )
        }
    }
}

extension CofferError {
    /// The answer to a client that may share, and asks for another rule.
    static func isNoShare(_ caller: Caller) -> CofferError {
        CofferError(
            .missingEntitlement,
            "you may let a user read one item of the group \(quotedForDisplay(caller.userGroup)), and no more",
            hint: "other access rules need the right 'admin'"
        )
    }
}
