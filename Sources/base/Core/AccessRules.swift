/// The verdict of access rules on one operation in one group.
package enum AccessVerdict: Hashable, Sendable {
    /// No rule allows it, or one denies it.
    case refused
    /// A rule of the client may allow it: the passcode protects the names that it is for.
    case sealed
    /// A rule allows it.
    case allowed(AccessRule)
}

extension AccessRule {
    /// The verbs that a rule can be about.
    package static let possibleVerbs: Set<Verb> = [.read, .write, .delete]

    /// Whether the rule is for a client.
    ///
    /// One that denies is for every client that its pattern fits: in doubt, it takes away.
    ///
    /// - Parameters:
    ///   - client: The client.
    ///   - owner: The user that the daemon runs as: a program counts only as a program of this user.
    ///   - isProgramHeld: Whether the connection ends if its process runs another program.
    package func isFor(_ client: ClientIdentity, of owner: UInt32, isProgramHeld: Bool) -> Bool {
        guard self.client.fits(client) else { return false }
        if kind == .deny { return true }
        guard !client.isContained || self.client.isUnit else { return false }
        if case .executable = self.client { return isProgramHeld && client.userID == owner }
        return true
    }

    /// Whether two rules that count until they are removed say the same, regardless of their numbers.
    package func saysTheSame(as other: AccessRule) -> Bool {
        kind == other.kind && client == other.client && verbs == other.verbs && group.hasSameBytes(as: other.group)
            && pattern != nil && pattern == other.pattern && !ends && !other.ends
    }

    /// Whether it ends by itself: with its time, its uses or its item.
    package var ends: Bool { seconds != nil || uses != nil || name != nil }

    /// Whether it is for one name or one item; `nil` before the first unlock.
    package var isForOneName: Bool? { name != nil ? true : pattern?.isOneName }

    /// Whether it is for a name; `nil` before the first unlock.
    func matches(_ text: String) -> Bool? {
        name.map { $0.path.hasSameBytes(as: text) } ?? pattern?.matches(text)
    }
}

extension [AccessRule] {
    /// Decides about an operation on an item, by the rules of one client.
    ///
    /// A denial prevails, in whatever order the rules were added. Of those that allow, one whose uses are counted comes
    /// last.
    ///
    /// - Parameters:
    ///   - verb: The operation.
    ///   - name: The name by which the item is listed: a rule that allows must match it.
    ///   - alias: The name by which it was asked for: a denial may match either.
    ///   - group: The access group of the item.
    package func verdict(on verb: Verb, _ name: String, askedAs alias: String, in group: String) -> AccessVerdict {
        let concerned = filter { $0.verbs.contains(verb) && $0.group.hasSameBytes(as: group) }
        let allowing = concerned.filter { $0.kind == .allow }
        if allowing.isEmpty { return .refused }
        let denying = concerned.filter { $0.kind == .deny }
        if denying.contains(where: { rule in [name, alias].contains { rule.matches($0) == true } }) { return .refused }
        if denying.contains(where: { $0.matches(name) == nil }) { return .sealed }
        let fitting = allowing.filter { $0.matches(name) == true }
        if let rule = fitting.first(where: { $0.uses == nil }) ?? fitting.first { return .allowed(rule) }
        return allowing.contains { $0.matches(name) == nil } ? .sealed : .refused
    }

    /// The groups in which a rule allows an operation, in the order of the rules.
    package func groups(for verb: Verb) -> [String] {
        var groups: [String] = []
        for rule in self where rule.kind == .allow && rule.verbs.contains(verb) {
            if !groups.contains(where: { $0.hasSameBytes(as: rule.group) }) { groups.append(rule.group) }
        }
        return groups
    }
}

extension ClientPattern {
    /// Refuses patterns for which there can be no access rule.
    ///
    /// - Throws: `param` for an invalid name of a unit, or of a program.
    package func checkRuled() throws(CofferError) {
        switch self {
        case .user, .group: return
        case .unit(let name), .userUnit(let name):
            guard description.utf8.count <= Limits.groupBytes else {
                throw CofferError(.param, "the name of a unit is longer than \(Limits.groupBytes) bytes")
            }
            _ = try Entitlement.unitOrPattern(name)
        case .executable(let path):
            guard path.utf8.count <= Limits.nameBytes else {
                throw CofferError(.param, "the path of a program is longer than \(Limits.nameBytes) bytes")
            }
            _ = try Entitlement.program(path)
        case .outsideServices:
            throw CofferError(
                .param,
                "\(quotedForDisplay(description)) does not identify a client",
                hint: "such as 'unit:backup.service', 'user-unit:mail.service', 'uid:1000' or 'exe:/usr/bin/mail'"
            )
        }
    }
}
