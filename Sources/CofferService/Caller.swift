internal import CofferCore
internal import CofferKeychain

/// Who asks, decided once at accept and carried along: handlers look nothing up.
struct Caller {
    /// Who it is.
    let identity: ClientIdentity
    /// The access groups that the caller holds; the first is the default.
    let groups: [String]
    /// What was shown on this connection of the person behind it.
    let context = AuthenticationContext()
    /// The files that it has open.
    let handles = FileHandles()
    /// What its listing has looked at ahead.
    let lookAhead = LookAhead()
    /// The events that it wants.
    let subscription = EventSubscription()

    /// The group of the vault's owner.
    static let ownersGroup = "default"

    /// Lets the vault's owner in, and nobody else, root included.
    ///
    /// - Throws: `missingEntitlement` for everyone else.
    init(_ identity: ClientIdentity, ownerID: UInt32) throws(CofferError) {
        guard identity.userID == ownerID else {
            throw CofferError(
                .missingEntitlement,
                "user \(identity.userID) may not use this vault",
                hint: "it belongs to user \(ownerID)"
            )
        }
        self.identity = identity
        groups = [Self.ownersGroup]
    }

    /// Whether the caller holds an access group: names are compared as bytes.
    func holds(_ group: String) -> Bool { groups.contains { $0.utf8.elementsEqual(group.utf8) } }

    /// The group that a request means.
    ///
    /// - Parameter named: What it names, if anything.
    /// - Throws: `missingEntitlement` where the caller does not hold the group.
    func group(_ named: String?) throws(CofferError) -> String {
        guard let named else { return groups[0] }
        guard holds(named) else {
            throw CofferError(
                .missingEntitlement,
                "you don't hold the access group \(quotedForDisplay(named))",
                hint: "you hold " + groups.map { quotedForDisplay($0) }.joined(separator: ", ")
            )
        }
        return named
    }
}
