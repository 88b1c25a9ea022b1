internal import CofferClient
internal import CofferCommandSupport
internal import CofferTerminal

/// Who uses a vault, and what a lock would end.
struct LockConsequences {
    private var blockers: [Blocker] = []
    /// The rules that end by their time.
    private var ending: [AccessRule] = []
    /// The items that can be read now, and can't be read once the vault is locked.
    private var losses: [ItemInfo] = []

    init(_ client: BlockingClient) throws(CofferError) {
        try forEachPage { (after: Int64?) throws(CofferError) in
            let page = try client.call(VaultBlockersParameters(after: after)).value
            blockers += page.blockers
            return page.next
        }
        try forEachPage { (after: Int64?) throws(CofferError) in
            let page = try client.call(AccessListParameters(after: after)).value
            ending += page.rules.filter { $0.seconds != nil }
            return page.next
        }
        try forEachPage { (after: String?) throws(CofferError) in
            let page = try client.call(ItemListParameters(after: after)).value
            losses += page.items.filter { $0.isReadable && !$0.protection.isReadableWhileLocked }
            return page.next
        }
        losses.sortByName(\.name)
    }

    /// Prints all of it; as JSON, one object a line.
    func show(_ format: FormatOptions) {
        if blockers.isEmpty { format.say("no file is open, and no transfer runs") }
        for blocker in blockers { format.show(["blocker": .object(blocker.json)], blocker.line) }
        for rule in ending { format.show(["rule": .object(rule.json)], "rule \(rule.text)") }
        format.say("a lock now makes \(losses.count == 1 ? "1 item" : "\(losses.count) items") unreadable")
        for item in losses {
            let place = "\(item.protection.store.words): \(item.protection.words)"
            format.show(["unreadable": .object(item.json)], "  \(name: item.name)  (\(place))")
        }
    }
}

extension Blocker {
    fileprivate var line: Line {
        let process = client.processID.map { "process \($0) of " } ?? ""
        let what: Line =
            switch use {
            case .handle: "\(writes ? "writes" : "reads") the open file"
            case .transfer: "runs \(method ?? "a transfer") of"
            }
        let end = endsAtLock ? ", which a lock ends" : ""
        let program = client.executablePath.map { " (\($0))" } ?? ""
        let item = name.map { quotedForDisplay($0) } ?? "that has no name"
        return "\(process)\(client.shortWords)\(program) \(what) \(item)\(end)"
    }
}
