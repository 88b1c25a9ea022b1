internal import CofferCore
internal import CofferDatabase
internal import CofferSystem
internal import Glibc

/// The write-ahead log beside the catalog.
///
/// It is checked before SQLite reads it, a damaged one is copied, and each commit records its end in a mark.
final class CatalogLog {
    private static let name = Catalog.fileName + "-wal"
    private static let markName = Catalog.fileName + "-mark"
    private static let keptNames = (1...Limits.keptLogs).map { name + ".damaged" + ($0 == 1 ? "" : "-\($0)") }
    /// Files in the state directory that belong to it, besides the log itself.
    static let names = [markName] + keptNames
    /// Files that are read when the catalog is opened.
    static let liveNames = [name, markName]

    private let directory: Directory
    private var markFile: OwnedDescriptor?
    private var mark: LogMark?

    /// Checks the log; when this returns, SQLite may read it.
    ///
    /// A damaged log is copied, and then cut before the damage.
    ///
    /// - Throws: ``SystemError`` if the log can't be read, or a damaged one can't be copied: it is unchanged then.
    init(in directory: Directory) throws {
        self.directory = directory
        // A mark that can't be read counts as none: it only finds more than SQLite would.
        mark = (try? directory.contents(of: Self.markName, limit: LogMark.byteCount)).flatMap { bytes in
            bytes.flatMap { LogMark(decoding: $0) }
        }
        guard let log = try directory.openIfPresent(Self.name) else { return }
        let survey = try LogSurvey(byteCount: Int64(try log.status().st_size)) { offset, count in
            try log.bytes(count, at: offset)
        }
        switch survey.verdict(mark) {
        case .sound: return
        case .superfluous: try cut(to: 0)
        case .damaged:
            try keep(log)
            try cut(to: survey.committedBytes)
            // The mark's number includes the lost changes, so it is dropped. The copy of the log records the fault.
            try settle(survey.endMark ?? mark?.withoutNumber)
        }
    }

    /// Removes the mark of a database that is missing: it says nothing about the next database.
    static func forgetMark(in directory: Directory) throws(SystemError) {
        if directory.contains(markName) { try directory.remove(markName) }
    }

    // MARK: Marking

    /// Records the acknowledged end of the log.
    ///
    /// - Parameters:
    ///   - position: The end; `nil` if it is unknown.
    ///   - number: A number in the catalog that only grows.
    func note(_ position: LogPosition?, number: Int64) {
        guard let position else { return }
        let permits = mark.map { $0.permitsDeferring && $0.isOfGeneration(of: position) } ?? false
        let next = LogMark(position, number: number, permitsDeferring: permits)
        if next != mark { store(next) }
    }

    /// Records on the disk that commits after the acknowledged end may be deferred.
    ///
    /// - Returns: Whether that is on the disk.
    func permitDeferring(after position: LogPosition, number: Int64) -> Bool {
        let next = LogMark(position, number: number, permitsDeferring: true)
        do throws(SystemError) {
            try settle(next)
            return true
        } catch {
            return false
        }
    }

    /// Failures are ignored: an older mark is still true.
    private func store(_ next: LogMark?) {
        guard let next else { return }
        do throws(SystemError) {
            if markFile == nil { markFile = try directory.openForWriting(Self.markName) }
            if markFile == nil { markFile = try directory.create(Self.markName) }
            unsafe try markFile?.write(all: next.encoded.span.bytes, at: 0)
            mark = next
        } catch {}
    }

    // MARK: Faults

    /// Compares the catalog, once it is open, with what was acknowledged.
    ///
    /// - Parameter number: The number in the catalog that only grows.
    func check(_ number: Int64) throws(SystemError) {
        guard let mark, mark.number > number else { return }
        if let name = freeName { try directory.replace(name, with: RawSpan()) }
        try settle(mark.withoutNumber)
    }

    /// Stores a mark that expects less, and syncs it: without it, the same fault would be reported again.
    private func settle(_ next: LogMark?) throws(SystemError) {
        guard let next else { return }
        store(next)
        guard mark == next else { throw SystemError("write", code: EIO) }
        if let file = try directory.openForWriting(Self.markName) { try directory.synchronize(file) }
    }

    /// Faults of this log, found now or earlier, that were not acknowledged.
    var faults: [VaultFault] { Self.faults(in: directory) }

    /// Faults that are recorded in a state directory.
    static func faults(in directory: Directory) -> [VaultFault] {
        keptNames.filter { directory.contains($0) }.map { name in
            let byteCount = (try? directory.openIfPresent(name)?.status().st_size) ?? 0
            let damage =
                "the log of the database was damaged, and what was stored last before that is missing: "
                + "the damaged log is kept as '\(name)'"
            let loss =
                "the database is older than what was stored last: its log was lost, or an older database was put "
                + "in its place: '\(name)' is the record of it"
            return VaultFault(what: byteCount > 0 ? damage : loss, hint: hint)
        }
    }

    private static let hint =
        "store again what is missing; 'coffer doctor --acknowledge' ends this fault"

    /// Removes the copies of damaged logs, and with them the faults.
    func acknowledge() throws(SystemError) {
        for name in Self.keptNames where directory.contains(name) { try directory.remove(name) }
        try directory.synchronize()
    }

    // MARK: Copies

    private var freeName: String? { Self.keptNames.first { !directory.contains($0) } }

    /// Copies a damaged log, unless the latest copy is of the same log or the maximum number is reached.
    private func keep(_ log: borrowing OwnedDescriptor) throws {
        // The daemon may have crashed between the copy and the cut.
        if let latest = Self.keptNames.last(where: { directory.contains($0) }), try isCopy(latest, of: log) { return }
        guard let name = freeName else { return }
        let temporary = name + ".new"
        try directory.remove(temporary)
        do {
            try copy(log, to: try directory.create(temporary))
            try directory.rename(temporary, to: name)
            try directory.synchronize()
        } catch {
            try? directory.remove(temporary)
            throw error
        }
    }

    private func copy(_ log: borrowing OwnedDescriptor, to file: consuming OwnedDescriptor) throws(SystemError) {
        try directory.fileSystem.willPerform(.write)
        var offset: Int64 = 0
        while true {
            let bytes = try log.bytes(Limits.copyBytes, at: offset)
            if bytes.isEmpty { break }
            unsafe try file.write(all: bytes.span.bytes, at: offset)
            offset += Int64(bytes.count)
        }
        try directory.synchronize(file)
    }

    private func isCopy(_ name: String, of log: borrowing OwnedDescriptor) throws -> Bool {
        guard let copy = try directory.openIfPresent(name) else { return false }
        guard try copy.status().st_size >= log.status().st_size else { return false }
        var offset: Int64 = 0
        while true {
            let bytes = try log.bytes(Limits.copyBytes, at: offset)
            if bytes.isEmpty { return true }
            guard try bytes == copy.bytes(bytes.count, at: offset) else { return false }
            offset += Int64(bytes.count)
        }
    }

    private func cut(to count: Int64) throws(SystemError) {
        guard let log = try directory.openForWriting(Self.name) else { return }
        try directory.fileSystem.willPerform(.write)
        try log.truncate(to: count)
        try directory.synchronize(log)
    }
}
