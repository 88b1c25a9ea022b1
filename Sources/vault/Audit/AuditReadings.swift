internal import CofferCore

/// The clients that have read the audit within the last minute.
///
/// Their readings are recorded once: a record of each page would be all that the next reader sees.
struct AuditReadings {
    /// When the reading of each client was recorded, in milliseconds since 1970.
    private var times: [ClientIdentity: Int64] = [:]

    /// Begins a reading.
    ///
    /// - Parameter record: The record of it.
    /// - Returns: Whether to record it: not if it belongs to an earlier one.
    mutating func begin(_ record: AuditRecord) -> Bool {
        guard let client = record.client else { return true }
        times = times.filter { Self.isRecent($0.value, at: record.time) }
        if times[client] != nil { return false }
        if times.count < Limits.auditReaders { times[client] = record.time }
        return true
    }

    /// Whether a record is that of a client's present reading.
    func isPresent(_ record: AuditRecord, of client: ClientIdentity, at now: Int64) -> Bool {
        guard record.isReading, record.client == client, let time = times[client] else { return false }
        return record.time == time && Self.isRecent(time, at: now)
    }

    /// The clock may have been set back.
    private static func isRecent(_ time: Int64, at now: Int64) -> Bool {
        (0..<Limits.auditReadingMilliseconds).contains(now.nearestDifference(time))
    }
}
