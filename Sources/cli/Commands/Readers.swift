internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

/// Who may read an item, in words.
enum Readers {
    /// The clients that may read an item, and the rules that allow it.
    ///
    /// - Returns: `nil` if the caller may not ask.
    static func words(of item: ItemInfo, _ client: BlockingClient) throws(CofferError) -> Line? {
        do throws(CofferError) {
            let readers = try entitled(to: item.group, client) + ruled(item, client)
            return readers.isEmpty
                ? "no client: no entitlement names the item's group" : readers.joined(separator: ", ")
        } catch  where error.code == .missingEntitlement {
            return nil
        }
    }

    private static func entitled(to group: String, _ client: BlockingClient) throws(CofferError) -> [Line] {
        var readers: [Line] = []
        var count = 0
        var hasSome = false
        while true {
            let page = try client.call(EntitlementListParameters(after: count)).value
            hasSome = hasSome || !page.entitlements.isEmpty
            for entitlement in page.entitlements where entitlement.verbs.contains(.read) {
                guard entitlement.groups.contains(where: { $0.utf8.elementsEqual(group.utf8) }) else { continue }
                readers.append("\(entitlement.clients.map(\.description).joined(separator: " and "))")
            }
            count += page.entitlements.count
            guard page.next == count else { break }
        }
        if hasSome { return readers }
        return group == AccessGroup.owners ? ["you"] : ["you", "\(group)"]
    }
}

extension Readers {
    /// The clients to which a rule allows an item, unless another rule makes an exception for them.
    private static func ruled(_ item: ItemInfo, _ client: BlockingClient) throws(CofferError) -> [Line] {
        var rules: [AccessRule] = []
        try forEachPage { (after: Int64?) throws(CofferError) in
            let page = try client.call(AccessListParameters(after: after)).value
            rules += page.rules
            return page.next
        }
        return rules.compactMap { rule in
            let same = rules.filter { $0.client == rule.client }
            guard case .allowed(rule) = same.verdict(on: .read, item.name, askedAs: item.name, in: item.group) else {
                return nil
            }
            let time = rule.seconds.map { " for \(durationForDisplay(seconds: Int($0)))" } ?? ""
            return "\(rule.client.words)\(time) by rule \(rule.number)"
        }
    }
}
