internal import CofferCore

/// Records that wait to be written, what is the same told once.
struct AuditNotes {
    private(set) var records: [AuditRecord] = []
    private var places: [Likeness: Int] = [:]

    /// Takes a record in.
    ///
    /// - Parameters:
    ///   - record: The record.
    ///   - limit: How many there may be.
    /// - Returns: Whether there was room for it.
    mutating func add(_ record: AuditRecord, upTo limit: Int = Limits.auditWaitingRecords) -> Bool {
        let likeness = Likeness(record: record)
        if let place = places[likeness] {
            records[place].count += record.count
            return true
        }
        guard records.count < limit else { return false }
        places[likeness] = records.count
        records.append(record)
        return true
    }

    /// What makes two records tell the same, each of another time.
    private struct Likeness: Hashable {
        let record: AuditRecord

        static func == (one: Likeness, other: Likeness) -> Bool {
            let (one, other) = (one.record, other.record)
            return one.action == other.action && one.client == other.client && one.itemCount == other.itemCount
                && one.items.elementsEqual(other.items) { $0.isSame(as: $1) } && one.state == other.state
                && one.refusal == other.refusal && one.reason == other.reason
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(record.action)
            hasher.combine(record.items.first?.name)
            hasher.combine(record.client?.userID)
        }
    }
}

extension AuditedItem {
    /// Names are compared as bytes: those of files may differ in their Unicode form alone.
    fileprivate func isSame(as other: AuditedItem) -> Bool {
        reference == other.reference && group == other.group
            && (name?.utf8.elementsEqual(other.name?.utf8 ?? "".utf8) ?? (other.name == nil))
    }
}
