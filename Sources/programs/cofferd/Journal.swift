import CSystemd
import CofferCore
import CofferSystem
import Glibc
import Synchronization

/// Writes the audit to the journal, with fields, so that it can be searched by item, unit or kind.
///
/// It uses its own thread: a slow journal blocks nothing, and the records that it misses are counted.
final class Journal: Sendable {

    private let worker = WorkerPool(limit: 1)
    private let backlog = Mutex(Backlog())

    private struct Backlog {
        var records: [AuditRecord] = []
        var lostCount = 0
        /// Whether a thread sends records, or pauses before it looks for more.
        var isServed = false

        var isEmpty: Bool { records.isEmpty && lostCount == 0 }

        mutating func add(_ more: [AuditRecord]) {
            let room = Limits.journalQueue - records.count
            records += more.prefix(room)
            lostCount += max(0, more.count - room)
        }
    }

    /// Queues records.
    func tell(_ records: [AuditRecord]) {
        let mustStart = backlog.withLock { backlog in
            backlog.add(records)
            defer { backlog.isServed = true }
            return !backlog.isServed
        }
        guard mustStart, !worker.start({ [self] in serve() }) else { return }
        backlog.withLock { $0.isServed = false }
    }

    /// Sends the queued records, until none has come during a pause.
    ///
    /// The first record of a burst is sent at once; the others share a pause, because waking a thread costs the daemon
    /// more than a record does.
    private func serve() {
        while let (records, lostCount) = takeQueued() {
            if lostCount > 0 {
                var entry = JournalEntry()
                entry.add("MESSAGE", "\(lostCount) records of the audit did not get here: the vault has them")
                entry.add("PRIORITY", "4")
                entry.send()
            }
            for record in records { record.entry.send() }
            usleep(UInt32(Limits.journalPauseMilliseconds) * 1000)
        }
    }

    private func takeQueued() -> ([AuditRecord], lostCount: Int)? {
        backlog.withLock { backlog in
            if backlog.isEmpty {
                backlog.isServed = false
                return nil
            }
            defer { (backlog.records, backlog.lostCount) = ([], 0) }
            return (backlog.records, backlog.lostCount)
        }
    }
}

/// The fields of an entry, one after the other in one buffer.
private struct JournalEntry {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    init() {
        bytes.reserveCapacity(512)
        ends.reserveCapacity(16)
        add("SYSLOG_IDENTIFIER", "cofferd")
    }

    mutating func add(_ name: String, _ value: String) {
        bytes.append(contentsOf: name.utf8)
        bytes.append(UInt8(ascii: "="))
        bytes.append(contentsOf: value.utf8)
        ends.append(bytes.count)
    }

    func send() {
        unsafe bytes.withUnsafeBytes { buffer in
            var start = 0
            let vectors = unsafe ends.map { end in
                defer { start = end }
                return unsafe iovec(
                    iov_base: UnsafeMutableRawPointer(mutating: buffer.baseAddress?.advanced(by: start)),
                    iov_len: end - start
                )
            }
            // Errors are ignored: there may be no journal.
            _ = unsafe sd_journal_sendv(vectors, Int32(vectors.count))
        }
    }
}

extension AuditRecord {
    /// The fields of the journal, which proto-docs/AUDIT.md lists.
    fileprivate var entry: JournalEntry {
        var entry = JournalEntry()
        func add(_ name: String, _ value: String?) {
            if let value { entry.add(name, value) }
        }
        add("MESSAGE", escapedForDisplay(sentence))
        add("MESSAGE_ID", messageID)
        add("PRIORITY", priority.description)
        add("COFFER_ACTION", action)
        for item in items {
            add("COFFER_ITEM", item.name)
            add("COFFER_GROUP", item.group)
            add("COFFER_REFERENCE", item.reference?.hexadecimal)
        }
        add("COFFER_CLIENT", client?.summary)
        add("COFFER_UNIT", client?.unit)
        add("COFFER_USER_UNIT", client?.userUnit)
        // A refusal also appears in the log of the unit itself, if the journal accepts the field.
        if refusal != nil {
            add("OBJECT_SYSTEMD_UNIT", client?.unit)
            add("USER_UNIT", client?.userUnit)
        }
        add("COFFER_UID", client?.userID.description)
        add("COFFER_GID", client?.groupID.description)
        add("COFFER_EXE", client?.executablePath)
        add("COFFER_STATE", state.rawValue)
        add("COFFER_RESULT", refusal?.code.rawValue ?? "done")
        add("COFFER_REASON", reason)
        add("COFFER_COUNT", count > 1 ? count.description : nil)
        add("COFFER_RECORD", number > 0 ? number.description : nil)
        return entry
    }

    private var sentence: String {
        guard let client else {
            let subject =
                switch (action, state) {
                case ("vault.state", .noVault): "there is no vault"
                case ("vault.state", _): "the vault is \(state.rawValue)"
                default: action
                }
            return reason.map { "\(subject): \($0)" } ?? subject
        }
        let subject = items.compactMap { $0.name.map { quotedForDisplay($0) } ?? $0.reference?.hexadecimal }
        let done = ([client.summary, action] + subject).joined(separator: " ")
        return refusal.map { "\(done): refused: \($0.message)" } ?? done
    }

    private var messageID: String {
        if client == nil { return "5a0e9c9f3d2b4c1c9d7be5c0a4f2d9e1" }
        return refusal == nil ? "8c2f54c1f0e44b0f8a5c6f6c2b1f7d30" : "d1b07f2a6c9e4a3db7a8f4e1965c0b52"
    }

    /// The priority: a success, an error of the client, an attempt without rights, or an error of the daemon.
    private var priority: Int32 {
        switch refusal?.code {
        case nil: LOG_INFO
        case .missingEntitlement?, .authFailed?: LOG_WARNING
        case .decode?, .io?, .diskFull?, .internal?: LOG_ERR
        default: LOG_NOTICE
        }
    }
}
