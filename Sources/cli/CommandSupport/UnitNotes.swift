package import CofferClient
internal import CofferTerminal

extension BlockingClient {
    /// Warns if a unit can't load an item of its own group as a credential.
    ///
    /// - Parameters:
    ///   - name: The item.
    ///   - group: The group that the caller has named for it: only that of a unit matters.
    ///   - byteCount: Its size; `nil` to ask for it.
    /// - Returns: Whether it can.
    @discardableResult
    package func warnIfNotLoadable(_ name: ItemName, in group: String?, byteCount: Int64? = nil) -> Bool {
        guard let unit = CredentialAddress.unit(ofGroup: group) else { return true }
        let size = byteCount ?? (try? call(ItemShowParameters(name: name, group: group)))?.value.byteCount
        return warnIfNotLoadable(name, size, by: unit)
    }

    /// Warns if a client that is a unit can't load an item as a credential.
    ///
    /// - Parameters:
    ///   - pattern: The items that it may read: a warning needs the name of one.
    ///   - group: Their group; `nil` for that of the caller.
    ///   - client: The client.
    package func warnIfNotLoadable(_ pattern: NamePattern, in group: String?, by client: ClientPattern) {
        guard pattern.isOneName, let name = try? ItemName(pattern.text) else { return }
        warnIfNotLoadable(name, in: group, by: client)
    }

    /// The same for one item.
    package func warnIfNotLoadable(_ name: ItemName, in group: String?, by client: ClientPattern) {
        switch client {
        case .unit(let unit) where !unit.isPatternOfUnits, .userUnit(let unit) where !unit.isPatternOfUnits:
            let size = (try? call(ItemShowParameters(name: name, group: group)))?.value.byteCount
            warnIfNotLoadable(name, size, by: unit)
        default: return
        }
    }

    @discardableResult
    private func warnIfNotLoadable(_ name: ItemName, _ size: Int64?, by unit: String) -> Bool {
        guard let obstacle = CredentialAddress.obstacle(name, size, in: unit) else { return true }
        Output.warn(["\(unit) can't load \(name.quoted) as a credential: \(obstacle)"])
        return false
    }
}

extension String {
    /// Whether it has characters that no name of a unit has, and patterns of names do.
    var isPatternOfUnits: Bool { utf8.contains { "*?[]".utf8.contains($0) } }
}
