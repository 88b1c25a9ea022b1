internal import CofferCore

/// Records that wait to be written, what is the same told once.
struct AuditNotes {
    private(set) var records: [AuditRecord] = []
    /// Where the latest record of a hash is: another one of that hash stands by itself, which is no harm.
    private var places: [Int: Int] = [:]

    /// Takes a record in.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - limit: How many there may be.
    /// - Returns: Whether there was room for it.
    mutating func add(_ record: AuditRecord, upTo limit: Int = Limits.auditWaitingRecords) -> Bool {
        let hash = record.likenessHash
        if let place = places[hash], records[place].isLike(record) {
            records[place].count += record.count
            return true
        }
        guard records.count < limit else { return false }
        places[hash] = records.count
        records.append(record)
        return true
    }
}

extension AuditRecord {
    /// The same for two that tell the same, each of another time.
    fileprivate var likenessHash: Int {
        var hasher = Hasher()
        hasher.combine(action)
        hasher.combine(items.first?.name)
        hasher.combine(client?.userID)
        hasher.combine(client?.unit)
        hasher.combine(client?.userUnit)
        hasher.combine(refusal?.code)
        return hasher.finalize()
    }

    /// Whether another one tells the same, of another time.
    fileprivate func isLike(_ other: AuditRecord) -> Bool {
        action == other.action && client == other.client && itemCount == other.itemCount
            && items.elementsEqual(other.items) { $0.isSame(as: $1) } && state == other.state
            && refusal == other.refusal && reason == other.reason
    }
}

extension AuditedItem {
    /// Names are compared as bytes: those of files may differ in their Unicode form alone.
    fileprivate func isSame(as other: AuditedItem) -> Bool {
        reference == other.reference && group == other.group
            && (name?.utf8.elementsEqual(other.name?.utf8 ?? "".utf8) ?? (other.name == nil))
    }
}
