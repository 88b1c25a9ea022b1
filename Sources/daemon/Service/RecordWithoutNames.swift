internal import CofferCore

extension AuditRecord {
    /// The record for readers of the journal who may not read the vault: without the names of items, and without the
    /// words of a client or about an item, which may contain one.
    ///
    /// - Parameter tag: What stands for the name of an item; `nil` without a key for it.
    func withoutNames(_ tag: (AuditedItem) -> String?) -> AuditRecord {
        AuditRecord(
            number: number,
            time: time,
            client: client,
            action: action,
            items: items.map { AuditedItem(name: tag($0), group: $0.group, reference: $0.reference) },
            itemCount: itemCount,
            state: state,
            // A client that is refused when it connects has not named an item yet.
            refusal: action == "connect" ? refusal : refusal.map { AuditedRefusal($0.code, $0.code.rawValue) },
            reason: client == nil ? reason : reason.flatMap(Self.rule(in:)),
            count: count
        )
    }

    /// The number of the access rule that a reason names, without its own words.
    private static func rule(in reason: String) -> String? {
        for part in reason.split(separator: "; ") where part.hasPrefix("rule ") {
            let number = part.dropFirst("rule ".count).prefix { ("0"..."9").contains($0) }
            if !number.isEmpty { return "rule \(number)" }
        }
        return nil
    }
}
