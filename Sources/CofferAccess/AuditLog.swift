package import CofferCore
internal import CofferCrypto
package import CofferDatabase
package import CofferKeys
internal import CofferMemory

/// Who did what: the records of the vault, chained so that none can be changed, taken out or moved unnoticed.
///
/// Records wait until the turn that made them ends, and those of what changes nothing a moment longer: they are written many
/// at a time, one block each, sealed and linked with the block before. A record of a change is in the transaction of that
/// change, or is on the disk before the change is answered.
package final class AuditLog {
    let connection: Connection
    let keys: VaultKeys
    private(set) var head: AuditHead
    /// As it is on the disk, while the present one is being written.
    private var writtenHead: AuditHead?
    /// What did not fit together when the catalog was opened, now or earlier.
    private(set) var doubts: AuditDoubts
    /// The number that the anchor has; 0 if there is none.
    private var anchored: Int64
    /// Whether the lock state has changed since the anchor was written.
    private var isAnchorDue = false
    /// Whether the catalog does not say yet how far the anchor has come.
    private var isWitnessDue = false

    /// What earlier turns have left to be written.
    private var waiting = AuditNotes()
    /// What this turn has made.
    private var latest: [AuditRecord] = []
    /// Records for which there was no room while nothing could be written.
    private var lostCount = 0
    /// What is being written.
    private var writing: [AuditRecord] = []

    /// Opens the log of a catalog that was migrated.
    ///
    /// - Parameters:
    ///   - connection: The catalog.
    ///   - keys: The vault's keys.
    ///   - isNew: Whether the catalog was just made, and nothing was ever recorded in it.
    /// - Throws: ``DatabaseError``. What was lost or put back is no error here, but a finding of each check from then on.
    package init(connection: Connection, keys: VaultKeys, isNew: Bool) throws {
        self.connection = connection
        self.keys = keys
        let opening = try AuditOpening(connection, keys, isNew: isNew)
        head = opening.head
        doubts = opening.doubts
        anchored = opening.anchored
        // That of a vault from before there were any begins here.
        if opening.isFirst { try connection.transaction { try writeWitness() } }
    }

    /// The number of the record that comes next: it only grows.
    package var nextNumber: Int64 { head.next }

    // MARK: Noting

    /// Whether records wait to be written.
    package var isWaiting: Bool { !waiting.records.isEmpty || !latest.isEmpty || lostCount > 0 }

    /// Whether so many wait that they are to be written: each time costs a sync of the disk.
    package var isFull: Bool { waiting.records.count + latest.count >= Limits.auditWaitingRecords / 4 }

    /// Notes what was done in this turn; written with the turn, or later.
    ///
    /// - Parameters:
    ///   - record: What was done, without a number.
    ///   - isAnswered: Whether that stands, whatever comes of the turn.
    package func note(_ record: AuditRecord, isAnswered: Bool = false) {
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

    /// What did not fit together when the catalog was opened, now or earlier.
    package var faults: [VaultFault] {
        doubts.words.map {
            VaultFault(what: $0, hint: "run 'coffer audit --verify', and 'coffer doctor --repair' to take note")
        }
    }

    /// Finds what did not fit together no fault any more, from the next record on.
    package func acknowledgeDoubts() { doubts = [] }

    /// Stores outside of the database how far it has come, if the lock state has changed since that was stored last.
    ///
    /// What can't be stored now is stored after the next change.
    package func moveAnchor() {
        // What is not on the disk yet may never be.
        if isAnchorDue && writtenHead == nil { storeAnchor() }
    }

    /// Stores how far it has come, outside of the database and in it: nothing is recorded any more.
    package func close() {
        guard writtenHead == nil else { return }
        if isAnchorDue || anchored < head.next { storeAnchor() }
        // An anchor that is put back later is older than what the catalog says.
        if isWitnessDue { try? connection.transaction { try writeWitness() } }
    }

    private func storeAnchor() {
        isAnchorDue = false
        guard (try? keys.store(CatalogAnchor(nextRecord: head.next, link: head.chain))) != nil else { return }
        anchored = head.next
        isWitnessDue = true
    }

    // MARK: Writing

    /// Writes what waits, in the transaction of the turn.
    ///
    /// - Parameter now: Milliseconds since 1970.
    /// - Throws: ``DatabaseError``; nothing was written then.
    package func write(at now: Int64) throws {
        var notes = waiting
        for record in latest { _ = notes.add(record, upTo: .max) }
        writing = notes.records + lostRecord(at: now)
        if writing.isEmpty { return }
        let former = head
        writtenHead = former
        for index in writing.indices { writing[index].number = head.next + Int64(index) }
        do {
            var rest = writing[...]
            while !rest.isEmpty { rest = rest.dropFirst(try writeBlock(rest)) }
            try makeRoom()
            let sealed = Self.seal(head.encoded, Self.headContext(keys), keys)
            try connection.execute("INSERT OR REPLACE INTO audit_head (only, sealed) VALUES (1, ?)", .blob(sealed))
            try writeWitness()
        } catch {
            head = former
            throw error
        }
    }

    /// The turn is on the disk, with all that was written.
    ///
    /// - Returns: The records, with their numbers.
    package func confirm() -> [AuditRecord] {
        guard writtenHead != nil else { return [] }
        if writing.contains(where: \.movesAnchor) { isAnchorDue = true }
        defer { (waiting, latest, lostCount, writing, writtenHead) = (AuditNotes(), [], 0, [], nil) }
        return writing
    }

    /// The turn was undone: what was done in it was not, and will be told so.
    ///
    /// - Parameter error: Why.
    package func undo(because error: CofferError) {
        if let writtenHead { head = writtenHead }
        (writing, writtenHead) = ([], nil)
        for var record in latest {
            record.refusal = record.refusal ?? AuditedRefusal(error)
            keep(record)
        }
        latest = []
    }

    /// What tells of those for which there was no room.
    private func lostRecord(at now: Int64) -> [AuditRecord] {
        guard lostCount > 0 else { return [] }
        return [
            AuditRecord(
                time: now,
                client: nil,
                action: "audit.lost",
                state: keys.state,
                reason: "there was no room for more while the disk took none",
                count: lostCount
            )
        ]
    }

    private func writeBlock(_ rest: ArraySlice<AuditRecord>) throws -> Int {
        let (bytes, count) = AuditBlock.encode(rest)
        let sealed = Self.seal(bytes, Self.blockContext(head.next, keys), keys)
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

    /// Turns the oldest records into a summary, as long as there are too many.
    private func makeRoom() throws {
        while head.byteCount > Limits.auditBytes {
            let oldest = try connection.row("SELECT first, sealed, chain FROM audit_blocks ORDER BY first LIMIT 1") {
                StoredBlock(first: try $0.integer(0), sealed: try $0.blob(1), chain: try $0.blob(2))
            }
            guard let oldest, oldest.first < head.next else { return }
            // One that can't be read has no records to count, and is gone with the others.
            for record in (try? records(of: oldest)) ?? [] { head.summary.add(record) }
            head.anchor = oldest.chain
            head.byteCount -= Int64(oldest.sealed.count)
            try connection.execute("DELETE FROM audit_blocks WHERE first = ?", .integer(oldest.first))
        }
    }
}

extension AuditRecord {
    /// Whether the catalog must not be taken back to before this without notice.
    fileprivate var movesAnchor: Bool {
        refusal == nil && (action == "vault.state" || action == "passcode.change")
    }
}
