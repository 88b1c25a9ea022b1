package import CofferClient
package import CofferCore
internal import CofferCommandSupport
internal import CofferTerminal

/// The items that no other machine can open.
package struct LeftBehind {
    /// Their number.
    package let count: Int
    /// Their names, as far as they can be read.
    package private(set) var names: [String] = []
    /// Whether the client may not read names in any state.
    private var isRefused = false
    /// Whether its names were looked for.
    private var isSearched = true

    /// Says their number alone.
    ///
    /// - Parameter count: Their number, as the daemon counts them.
    init(count: Int) {
        self.count = count
        isSearched = false
    }

    /// Finds the names of items.
    ///
    /// - Parameter count: Their number, as the daemon counts them.
    package init(_ client: BlockingClient, count: Int) throws(CofferError) {
        self.count = count
        if count == 0 { return }
        // Such as a timer: it may read nothing but what is sealed, and what it asked for would be refused and recorded.
        isRefused = try !client.call(EntitlementExplainParameters()).value.verbs.contains(.read)
        if !isRefused { names = try Self.names(client) }
    }

    private static func names(_ client: BlockingClient) throws(CofferError) -> [String] {
        var names: [String] = []
        try forEachPage { (after: String?) throws(CofferError) in
            let page = try client.call(ItemListParameters(store: .keychain, after: after, isOfAllGroups: true)).value
            names += page.items.filter { item in
                if case .keychain(let accessibility) = item.protection {
                    return accessibility.isThisDeviceOnly
                }
                return false
            }.map(\.name)
            return page.next
        }
        names.sortByName(\.self)
        return names
    }

    /// Names them, before a person relies on the backup.
    func warn() {
        guard count > 0 else { return }
        Output.warn([summary])
        for line in details { Output.standardError.line(line) }
    }

    /// Says how many there are.
    package var summary: String {
        if count == 0 { return "nothing: another machine can restore every item" }
        let items = counted(count, "item is", "items are")
        return "\(items) ThisDeviceOnly: another machine can't restore \(count == 1 ? "it" : "them")"
    }

    /// Names them, a line each, as far as possible.
    package var details: [Line] {
        if count > 0 && !isSearched { return ["  'coffer backup status' names \(count == 1 ? "it" : "them")"] }
        var lines: [Line] = names.map { "  \(name: $0)" }
        let others = count - names.count
        if others > 0 && !isRefused { lines.append("  and \(others) whose names can be read after an unlock only") }
        return lines
    }
}
