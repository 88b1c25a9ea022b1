extension KeychainQuery {
    /// Whether it names something that not every item of its class has.
    ///
    /// The access group, and whether an item is synchronizable, say where to look; every text begins with an empty one.
    package var hasCondition: Bool {
        if reference != nil || expiringBefore != nil || !user.isEmpty { return true }
        if attributes.keys.contains(where: { $0 != .accessGroup && $0 != .synchronizable }) { return true }
        return prefix.values.contains { !$0.isEmpty } || contains.values.contains { !$0.isEmpty }
    }
}
