package import CofferCore
internal import CofferCrypto
package import CofferDatabase
package import CofferKeys
internal import CofferMemory

/// The audit of the vault: a chain of records, so that a changed, removed or moved one is detected.
///
/// Records wait until the end of the turn that made them, records of reads a moment longer. Many are written together
/// as one block, which is sealed and linked with the previous block. The record of a change is in the transaction of
/// that change, or on the disk before the change is answered.
package final class AuditLog {
    let connection: Connection
    let keys: VaultKeys
    private(set) var head: AuditHead
    /// The inconsistencies that were found when the catalog was opened, now or earlier.
    private(set) var doubts: AuditDoubts
    /// The number in the anchor; 0 if there is none.
    private var anchored: Int64
    /// Whether the lock state has changed since the anchor was written.
    private var isAnchorDue = false
    /// Whether the catalog does not say yet how far the anchor has come.
    private var isWitnessDue = false

    /// The records of earlier turns that are not written yet.
    private var waiting = AuditNotes()
    /// The records of this turn.
    private var latest: [AuditRecord] = []
    /// The number of records that were dropped because the queue was full while the disk was.
    private var lostCount = 0
    /// The records that are being written, and the head on the disk meanwhile.
    private var writing: (records: [AuditRecord], formerHead: AuditHead)?
    private(set) var readings = AuditReadings()

    /// Opens the audit of a catalog after its migrations.
    ///
    /// - Parameters:
    ///   - connection: The catalog.
    ///   - keys: The keys of the vault.
    ///   - isNew: Whether the catalog is new, so that nothing was ever recorded in it.
    /// - Throws: ``DatabaseError``. A lost or older part is not an error here, but a finding of each verification from
    ///   then on.
    package init(connection: Connection, keys: VaultKeys, isNew: Bool) throws {
        self.connection = connection
        self.keys = keys
        let opening = try AuditOpening(connection, keys, isNew: isNew)
        head = opening.head
        doubts = opening.doubts
        anchored = opening.anchored
        // In a vault from before there was a witness, it begins here.
        if opening.isFirst { try connection.transaction { try writeWitness() } }
    }

    /// The number of the next record: it only grows.
    package var nextNumber: Int64 { head.next }

    // MARK: Noting

    /// Whether records wait to be written.
    package var isWaiting: Bool { !waiting.records.isEmpty || !latest.isEmpty || lostCount > 0 }

    /// Whether so many records wait that they should be written: each write costs a sync of the disk.
    package var isFull: Bool { waiting.records.count + latest.count >= Limits.auditWaitingRecords / 4 }

    /// Adds a record of this turn, to be written with the turn or later.
    ///
    /// Readings of the audit are recorded once a minute and client.
    ///
    /// - Parameters:
    ///   - record: The record, without a number.
    ///   - isAnswered: Whether it is valid even if the turn is rolled back.
    package func note(_ record: AuditRecord, isAnswered: Bool = false) {
        if record.isReading && !readings.begin(record) { return }
        if isAnswered { keep(record) } else { latest.append(record) }
    }

    /// Ends a turn without writing.
    package func postpone() {
        for record in latest { keep(record) }
        latest = []
    }

    private func keep(_ record: AuditRecord) {
        if !waiting.add(record) { lostCount += record.count }
    }

    // MARK: The end, told elsewhere

    static let witnessName = "auditEnd"

    private func writeWitness() throws {
        let witness = AuditWitness(next: head.next, chain: head.chain, anchored: anchored, doubts: doubts)
        try connection.execute(
            "INSERT OR REPLACE INTO catalog_settings (name, value) VALUES (?, ?)",
            .text(Self.witnessName),
            .blob(Self.seal(witness.encoded, Self.witnessContext(keys), keys))
        )
        isWitnessDue = false
    }

    /// The inconsistencies as faults of the vault.
    package var faults: [VaultFault] {
        doubts.words.map {
            VaultFault(what: $0, hint: "run 'coffer audit --verify', and 'coffer doctor --repair' to accept it")
        }
    }

    /// Accepts the inconsistencies, from the next record on.
    package func acknowledgeDoubts() { doubts = [] }

    /// Updates the anchor, if the lock state has changed since it was written.
    ///
    /// If that fails now, it is done after the next change.
    package func moveAnchor() {
        // What is not committed yet may be rolled back.
        if isAnchorDue && writing == nil { storeAnchor() }
    }

    /// Updates the anchor, and the row that says how far the anchor is: nothing is recorded after this.
    package func close() {
        guard writing == nil else { return }
        if isAnchorDue || anchored < head.next { storeAnchor() }
        // An anchor that is put back later is older than the row says.
        if isWitnessDue { try? connection.transaction { try writeWitness() } }
    }

    private func storeAnchor() {
        isAnchorDue = false
        guard (try? keys.store(CatalogAnchor(nextRecord: head.next, link: head.chain))) != nil else { return }
        anchored = head.next
        isWitnessDue = true
    }

    // MARK: Writing

    /// Writes the waiting records, in the transaction of the turn.
    ///
    /// - Parameter now: Milliseconds since 1970.
    /// - Throws: ``DatabaseError``; nothing was written then.
    package func write(at now: Int64) throws {
        var notes = waiting
        for record in latest { _ = notes.add(record, upTo: .max) }
        var records = notes.records
        if let lost = lostRecord(at: now) { records.append(lost) }
        if records.isEmpty { return }
        let former = head
        for index in records.indices { records[index].number = head.next + Int64(index) }
        writing = (records, former)
        do {
            var rest = records[...]
            while !rest.isEmpty { rest = rest.dropFirst(try writeBlock(rest)) }
            try makeRoom(for: records)
            let sealed = Self.seal(head.encoded, Self.headContext(keys), keys)
            try connection.execute("INSERT OR REPLACE INTO audit_head (only, sealed) VALUES (1, ?)", .blob(sealed))
            try writeWitness()
        } catch {
            head = former
            throw error
        }
    }

    /// Confirms that the turn was committed, with all its records.
    ///
    /// - Returns: The records, with their numbers.
    package func confirm() -> [AuditRecord] {
        guard let records = writing?.records else { return [] }
        if records.contains(where: \.movesAnchor) { isAnchorDue = true }
        (waiting, latest, lostCount, writing) = (AuditNotes(), [], 0, nil)
        return records
    }

    /// Whether all records that are being written are of a kind.
    package func isWriting(_ isOfKind: (AuditRecord) -> Bool) -> Bool { writing?.records.allSatisfy(isOfKind) ?? true }

    /// Replaces the records of a turn that was rolled back: its changes failed.
    ///
    /// - Parameter error: The error of the turn.
    package func undo(because error: CofferError) {
        if let writing { head = writing.formerHead }
        writing = nil
        for var record in latest {
            record.refusal = record.refusal ?? AuditedRefusal(error)
            keep(record)
        }
        latest = []
    }

    /// The record about dropped records.
    private func lostRecord(at now: Int64) -> AuditRecord? {
        guard lostCount > 0 else { return nil }
        return AuditRecord(
            time: now,
            client: nil,
            action: "audit.lost",
            state: keys.state,
            reason: "the queue was full while the disk was",
            count: lostCount
        )
    }

    private func writeBlock(_ rest: ArraySlice<AuditRecord>) throws -> Int {
        let (bytes, count) = AuditBlock.encode(rest)
        let sealed = try Self.sealBlock(bytes, head.next, keys)
        head.chain = Self.link(head.chain, head.next, sealed, keys)
        try connection.execute(
            "INSERT INTO audit_blocks (first, sealed, chain) VALUES (?, ?, ?)",
            .integer(head.next),
            .blob(sealed),
            .blob(head.chain)
        )
        head.next += Int64(count)
        head.byteCount += Int64(sealed.count)
        return count
    }

    /// Turns the oldest records into a summary while there are too many.
    ///
    /// Readings alone drop nothing: the next other record makes room for them. Before the first unlock, as much waits for
    /// it, so that the summary can count the records of each client.
    private func makeRoom(for new: [AuditRecord]) throws {
        let spared = !keys.opensNames || new.allSatisfy(\.isReading) ? Limits.auditReadingBytes : 0
        while head.byteCount > Limits.auditBytes + spared {
            guard let oldest = try blocks(from: 0, limit: 1).first, oldest.first < head.next else { return }
            switch try contents(of: oldest) {
            case .records(let records): for record in records { head.summary.add(record) }
            case .sealed: head.summary.addUnread(oldest)
            // It has no records to count, and is dropped with the others.
            case .damaged: break
            }
            head.anchor = oldest.chain
            // Sealing a block again under the passcode has added one byte.
            let byteCount = oldest.sealed.count
            head.byteCount = max(0, head.byteCount - Int64(byteCount))
            try connection.execute("DELETE FROM audit_blocks WHERE first = ?", .integer(oldest.first))
        }
    }
}

extension AuditRecord {
    /// Whether a rollback of the catalog to before this record must be detected.
    fileprivate var movesAnchor: Bool {
        refusal == nil && (action == "vault.state" || action == "passcode.change")
    }
}
