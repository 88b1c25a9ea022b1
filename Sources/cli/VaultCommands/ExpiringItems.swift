internal import CofferClient
internal import CofferCommandSupport
internal import CofferSystem
internal import CofferTerminal
internal import Glibc

/// The items that have expired, or expire soon, as far as the client may read names in the state of the vault.
struct ExpiringItems {
    private let expired: [ItemInfo]
    private let soon: [ItemInfo]

    /// - Returns: `nil` if there is no catalog, or the client may not read names: a list would be refused and recorded.
    init?(_ client: BlockingClient, _ status: VaultStatus) throws(CofferError) {
        guard ![.noVault, .deviceKeyMissing].contains(status.state),
            try client.call(EntitlementExplainParameters()).value.verbs.contains(.read)
        else { return nil }
        let end = Moment.now + Limits.expiresSoonDays * 86_400_000
        var items: [ItemInfo] = []
        try client.takePages { after in
            ItemListParameters(after: after, expiringBefore: end, isOfAllGroups: true)
        } take: { (page: ItemPage) throws(CofferError) in
            items += page.items
        }
        items.sort { ($0.expiryDate ?? 0) < ($1.expiryDate ?? 0) }
        (expired, soon) = (items.filter(\.isExpired), items.filter { !$0.isExpired })
    }

    /// The members of `status --json`.
    func add(to json: inout JSONObject) {
        json.set("expired", .array(expired.map { .object($0.json) }))
        json.set("expiring", .array(soon.map { .object($0.json) }))
    }

    /// The lines of `status`.
    var fields: [(String, Line?)] {
        [
            ("expired", expired.isEmpty ? nil : Self.words(expired)),
            ("expiring", soon.isEmpty ? nil : "\(Self.words(soon)) within \(Limits.expiresSoonDays) days"),
        ]
    }

    private static func words(_ items: [ItemInfo]) -> Line {
        let more = items.count - Limits.expiringNames
        let names =
            items.prefix(Limits.expiringNames).map { quotedForDisplay($0.name) } + (more > 0 ? ["\(more) more"] : [])
        return "\(counted(items.count, "item", "items")): \(names.joined(separator: ", "))"
    }

    /// Warns a person of them, at most once a day.
    ///
    /// Without a directory for the record of the day, it is silent.
    func warnOncePerDay() {
        if expired.isEmpty && soon.isEmpty { return }
        guard let cache = environment("XDG_CACHE_HOME") ?? environment("HOME").map({ $0 + "/.cache" }) else { return }
        let (folder, today) = (cache + "/coffer", Timestamp.day(Moment.now))
        let path = folder + "/expiry-warning"
        do {
            if let bytes = try OwnedDescriptor.content(ofFile: path, upTo: today.utf8.count),
                bytes.elementsEqual(today.utf8)
            {
                return
            }
            _ = try Directory(makingPath: folder)
            let file = try OutputFile(path)
            try file.write(today)
            try file.finish()
        } catch {
            return
        }
        for (what, words) in fields { if let words { Output.standardError.line("\(what): \(words)") } }
    }
}
