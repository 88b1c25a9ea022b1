internal import CofferCore

/// Records that wait to be written, with identical ones counted.
struct AuditNotes {
    private(set) var records: [AuditRecord] = []
    /// The latest record of each hash: on a collision, a record is stored separately, which does no harm.
    private var places: [UInt64: Int] = [:]

    /// Adds a record.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of records.
    /// - Returns: Whether there was space for it.
    mutating func add(_ record: AuditRecord, upTo limit: Int = Limits.auditWaitingRecords) -> Bool {
        let hash = record.likenessHash
        if let place = places[hash], records[place].facts.isLike(record.facts),
            records[place].refusal == record.refusal
        {
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
    /// Equal for records that differ only in their times.
    fileprivate var likenessHash: UInt64 {
        let unit = facts.client?.unit?.plainHash ?? 0
        let userUnit = facts.client?.userUnit?.plainHash ?? 0
        let texts = facts.action.plainHash ^ unit ^ userUnit &* 3 ^ (refusal?.code.rawValue.plainHash ?? 0)
        return texts &* 31 ^ UInt64(facts.client?.userID ?? 0) ^ (facts.items.first?.name?.plainHash ?? 0) &* 7
    }
}

extension AuditRecord.Facts {
    /// Whether they are the same, which includes the bytes of all names.
    fileprivate func isLike(_ other: AuditRecord.Facts) -> Bool {
        action == other.action && client == other.client && itemCount == other.itemCount
            && items.elementsEqual(other.items) { $0.isSame(as: $1) } && state == other.state && reason == other.reason
    }
}

extension AuditedItem {
    /// Names are compared as bytes: those of files may differ only in their Unicode form.
    fileprivate func isSame(as other: AuditedItem) -> Bool {
        reference == other.reference && (group ?? "").hasSameBytes(as: other.group ?? "")
            && (name == nil) == (other.name == nil) && (name ?? "").hasSameBytes(as: other.name ?? "")
    }
}
