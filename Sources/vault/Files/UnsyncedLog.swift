internal import CofferCore
internal import CofferCrypto
package import CofferKeys
internal import CofferMemory
package import CofferSystem
internal import Glibc

/// The log of the changes of open files that are not synced: a kill of the daemon loses none of them.
///
/// The chunks are in their slots, in the kernel's cache, before a request is answered. A record for each change has what only
/// the memory of the daemon would have. The file is valid for one boot: what the kernel had in its cache is gone after it.
///
/// Numbers of records grow within a boot. The row of a file has the last one that it includes, by the same transaction: so no
/// record is applied to a later state, whatever the file has behind its valid part.
package final class UnsyncedLog {
    private static let name = "unsynced"
    private static let temporaryName = name + ".new"
    /// Its files in the state directory.
    package static let fileNames = [name, temporaryName]
    private static let headBytes: Int64 = 18
    private static let prefixBytes = 12

    /// What the end of the transaction decides.
    private struct Turn {
        /// The last numbers that rows include then.
        var recording: [ItemID: UInt64] = [:]
        /// The last numbers that count no longer then.
        var ending: [ItemID: UInt64] = [:]

        var isEmpty: Bool { recording.isEmpty && ending.isEmpty }
    }

    private let directory: Directory
    private let keys: VaultKeys
    /// Identifies the boot.
    private let boot: UInt64
    private var file: OwnedDescriptor?
    private var end: Int64 = 0
    /// The bytes beyond which the file is written anew.
    private var mostBytes = Limits.unsyncedBytes
    private var lastNumber: UInt64
    /// The contents with records that no row includes, and the last number of each.
    private var live: [ItemID: UInt64] = [:]
    private var turn = Turn()
    /// What an earlier process has left, as far as no row includes it yet.
    private(set) var waiting: [ItemID: [(number: UInt64, record: UnsyncedRecord)]] = [:]
    /// What of that is lost.
    private(set) var losses: [VaultFault] = []

    /// - Parameters:
    ///   - directory: The state directory.
    ///   - keys: The keys of the vault.
    ///   - clock: The clock of the boot.
    /// - Returns: `nil` if the kernel does not identify the boot.
    package init?(in directory: Directory, keys: VaultKeys, clock: BootClock) {
        guard let bootID = clock.bootID else { return nil }
        (self.directory, self.keys) = (directory, keys)
        let tag = KeyedHash.tag(
            under: keys.catalog.fileMetadata,
            for: "coffer boot v1",
            byteCount: 16,
            Array(bootID.utf8)
        )
        boot = tag.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        lastNumber = clock.now
    }

    // MARK: Writing

    /// Whether it has records of a content that no row includes: then each of its changes must have one.
    func isLogging(_ content: ItemID) -> Bool { live[content] != nil }

    /// Whether files are to be synced, so that the log becomes shorter.
    var isFull: Bool { mostBytes > Limits.unsyncedBytes }

    /// Whether it is to be written anew.
    var isLong: Bool { end > mostBytes && turn.isEmpty }

    /// Has later records follow a number that a row has.
    func number(above number: ChangeNumber?) {
        if let number, number.boot == boot { lastNumber = max(lastNumber, number.number) }
    }

    /// Writes a record, and does not sync it.
    func append(_ record: UnsyncedRecord) throws(SystemError) {
        if file == nil { try rewrite([]) }
        let number = lastNumber + 1
        let bytes = sealed(record, number)
        try checkRoom(for: end + Int64(bytes.count))
        try directory.fileSystem.willPerform(.write)
        unsafe try file?.write(all: bytes.span.bytes, at: end)
        end += Int64(bytes.count)
        lastNumber = number
        if case .change = record.body { live[record.content] = number }
    }

    /// Writes the file anew, with what is waiting and other records.
    func rewrite(_ records: [UnsyncedRecord]) throws(SystemError) {
        let kept = waiting.values.joined().sorted { $0.number < $1.number }
        let new = records.enumerated().map { (number: lastNumber + 1 + UInt64($0.offset), record: $0.element) }
        let bytes = (kept + new).reduce(into: head) { $0 += sealed($1.record, $1.number) }
        try checkRoom(for: Int64(bytes.count))
        try directory.remove(Self.temporaryName)
        let file = try directory.create(Self.temporaryName)
        try directory.fileSystem.willPerform(.write)
        unsafe try file.write(all: bytes.span.bytes, at: 0)
        try directory.rename(Self.temporaryName, to: Self.name)
        self.file = consume file
        end = Int64(bytes.count)
        mostBytes = max(Limits.unsyncedBytes, 2 * end)
        lastNumber += UInt64(new.count)
        live = (kept + new).reduce(into: [:]) { $0[$1.record.content] = $1.number }
    }

    /// Refuses a file of which the next start would not read all.
    private func checkRoom(for byteCount: Int64) throws(SystemError) {
        if byteCount > Limits.unsyncedLogBytes { throw SystemError("write", code: ENOSPC) }
    }

    /// Writes the file anew if possible.
    func shorten(to records: [UnsyncedRecord]) {
        do throws(SystemError) { try rewrite(records) } catch { mostBytes = 2 * end }
    }

    /// Ends the records of a content whose slots are about to become free without a commit.
    func drop(_ content: ItemID) {
        if let number = live[content] { drop(content, upTo: number) }
    }

    private func drop(_ content: ItemID, upTo number: UInt64) {
        if live[content] == number { live[content] = nil }
        waiting[content] = nil
        if (try? append(UnsyncedRecord(content, .end(number)))) != nil || (try? rewrite([])) != nil { return }
        // On a full disk, the others log all of their changes with the next one. Where neither is possible, no slot can be
        // written either.
        live = [:]
        file = nil
        if (try? directory.remove(Self.name)) == nil {
            try? directory.openForWriting(Self.name)?.truncate(to: 0)
        }
    }

    // MARK: The transaction

    /// The number that a row has to have that includes all changes of its content so far; `nil` if none is logged.
    func number(of content: ItemID) -> ChangeNumber? {
        live[content].map { ChangeNumber(boot: boot, number: $0) }
    }

    /// A row includes what is logged of its content once the transaction is committed.
    func willRecord(_ content: ItemID) { turn.recording[content] = live[content] }

    /// What is logged of a content counts no longer once the transaction is committed.
    func willDrop(_ content: ItemID) { turn.ending[content] = live[content] }

    /// The transaction was committed.
    func settle() {
        let ended = turn
        turn = Turn()
        for (content, number) in ended.ending { drop(content, upTo: number) }
        for (content, number) in ended.recording where live[content] == number {
            live[content] = nil
            waiting[content] = nil
        }
        if !live.isEmpty { return }
        // Rows include all of its records.
        end = Self.headBytes
        mostBytes = Limits.unsyncedBytes
    }

    /// The transaction was rolled back.
    func abandon() { turn = Turn() }

    /// Removes the file if it has nothing that rows do not include.
    func removeIfUnused() {
        if file == nil || !live.isEmpty { return }
        file = nil
        try? directory.remove(Self.name)
    }

    // MARK: After a kill

    /// Reads what an earlier process has left.
    func read() throws(SystemError) {
        if directory.contains(Self.temporaryName) { try directory.remove(Self.temporaryName) }
        guard let found = try directory.openForWriting(Self.name) else { return }
        // One of another boot, or of another vault.
        guard try found.bytes(Int(Self.headBytes)) == head else { return try directory.remove(Self.name) }
        var place = Self.headBytes
        var last: UInt64 = 0
        while let (number, record, byteCount) = try readRecord(at: place, after: last, in: found) {
            switch record.body {
            case .change: waiting[record.content, default: []].append((number, record))
            case .end(let ended): waiting[record.content]?.removeAll { $0.number <= ended }
            }
            place += Int64(byteCount)
            last = number
        }
        if try isDamaged(behind: place, after: last, found) {
            lose("what was written last before the daemon ended is lost in part: its log is damaged")
        }
        waiting = waiting.filter { !$0.value.isEmpty }
        live = waiting.compactMapValues(\.last?.number)
        file = consume found
        (end, lastNumber) = (place, max(lastNumber, last))
    }

    /// Reads a record; `nil` behind the last one, which may be incomplete.
    private func readRecord(
        at place: Int64,
        after last: UInt64,
        in file: borrowing OwnedDescriptor
    ) throws(SystemError) -> (number: UInt64, record: UnsyncedRecord, byteCount: Int)? {
        var prefix = ByteReader(try file.bytes(Self.prefixBytes, at: place))
        guard let count = try? prefix.read(UInt32.self), let number = try? prefix.read(UInt64.self), number > last,
            count <= Limits.unsyncedRecordBytes,
            place + Int64(Self.prefixBytes) + Int64(count) <= Limits.unsyncedLogBytes
        else { return nil }
        let sealed = try file.bytes(Int(count), at: place + Int64(Self.prefixBytes))
        let context = context(number)
        guard sealed.count == count,
            let opened = unsafe try? AEAD.open(sealed.span.bytes, under: keys.catalog.fileMetadata, context: context),
            let record = try? UnsyncedRecord(decoding: opened.exposeBytes())
        else { return nil }
        return (number, record, Self.prefixBytes + sealed.count)
    }

    /// Whether the number of a later record is behind the place at which the reading ends, or more than there can be.
    ///
    /// Such a number hardly comes by chance, so its record is not opened: in a crafted file, each byte could begin a long one.
    private func isDamaged(
        behind place: Int64,
        after last: UInt64,
        _ file: borrowing OwnedDescriptor
    ) throws(SystemError) -> Bool {
        let most = Int(Limits.unsyncedLogBytes - place)
        let rest = try file.bytes(most + 1, at: place)
        if rest.count > most { return true }
        var word: UInt64 = 0
        for (index, byte) in rest.enumerated() {
            word = word << 8 | UInt64(byte)
            // The first number is that of a record that may be incomplete. Those of former records behind the last one are
            // smaller.
            if index >= Self.prefixBytes, word > last, word - last < UInt64(Limits.unsyncedBytes) { return true }
        }
        return false
    }

    /// What is waiting of a content and is not included by its row; `nil` if nothing is.
    func state(of content: ItemID, after included: ChangeNumber?) -> UnsyncedState? {
        let least = included?.boot == boot ? included?.number ?? 0 : 0
        return waiting[content]?.reduce(into: nil) { state, entry in
            guard entry.number > least, case .change(let next, _) = entry.record.body else { return }
            if state?.add(next) == nil { state = next }
        }
    }

    /// Whether the row of a content is older than what is logged of it.
    func isAwaited(_ content: ItemID) -> Bool {
        waiting[content] != nil && turn.recording[content] == nil && turn.ending[content] == nil
    }

    /// Reports a loss.
    func lose(_ what: String) {
        let fault = VaultFault(what: what, hint: "check the file; 'coffer doctor --acknowledge' ends this fault")
        if !losses.contains(fault) { losses.append(fault) }
    }

    func acknowledgeLosses() { losses = [] }

    // MARK: Bytes

    private var head: [UInt8] {
        var writer = ByteWriter(capacity: Int(Self.headBytes))
        writer.write(raw: "COFFERUC")
        writer.write(UInt16(1))
        writer.write(boot)
        return writer.bytes
    }

    private func context(_ number: UInt64) -> [UInt8] {
        var writer = ByteWriter(capacity: 48)
        writer.write(raw: "coffer unsynced change v1")
        writer.write(boot)
        writer.write(number)
        return writer.bytes
    }

    private func sealed(_ record: UnsyncedRecord, _ number: UInt64) -> [UInt8] {
        let plaintext = record.encoded
        let context = context(number)
        let sealed = unsafe AEAD.seal(plaintext.span.bytes, under: keys.catalog.fileMetadata, context: context)
        var writer = ByteWriter(capacity: Self.prefixBytes + sealed.count)
        writer.write(UInt32(sealed.count))
        writer.write(number)
        writer.write(raw: sealed)
        return writer.bytes
    }
}
