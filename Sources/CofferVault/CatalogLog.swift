internal import CofferCore
internal import CofferDatabase
internal import CofferSystem
internal import Glibc

/// The log beside the catalog: checked before SQLite reads it, kept if it is damaged, and marked with each commit.
final class CatalogLog {
    private static let name = Catalog.fileName + "-wal"
    private static let markName = Catalog.fileName + "-mark"
    private static let keptNames = (1...Limits.keptLogs).map { name + ".damaged" + ($0 == 1 ? "" : "-\($0)") }
    /// What of it is in the state directory, besides the log.
    static let names = [markName] + keptNames
    /// What of it is read when the catalog is opened.
    static let liveNames = [name, markName]

    private let directory: Directory
    private var markFile: OwnedDescriptor?
    private var mark: LogMark?

    /// Checks the log; when this returns, SQLite may read it.
    ///
    /// If it is damaged, a copy of it is kept, and it ends before the damage.
    ///
    /// - Throws: ``SystemError`` if the log can't be read, or a damaged one can't be kept: it is as it was then.
    init(in directory: Directory) throws {
        self.directory = directory
        // A mark that can't be read is none: it is there to find more than SQLite does.
        mark = (try? directory.contents(of: Self.markName, limit: LogMark.byteCount)).flatMap { bytes in
            bytes.flatMap { LogMark(decoding: $0) }
        }
        guard let log = try directory.openIfPresent(Self.name) else { return }
        let survey = try LogSurvey(byteCount: Int64(try log.status().st_size)) { offset, count in
            try Self.bytes(of: log, at: offset, count)
        }
        switch survey.verdict(mark) {
        case .sound: return
        case .superfluous: try cut(to: 0)
        case .damaged:
            try keep(log)
            try cut(to: survey.committedBytes)
            // Its number is behind what was lost, and the fault is kept by the copy.
            try settle(survey.endMark ?? mark?.withoutNumber)
        }
    }

    /// Forgets the mark of a database that is not there: the next one in its place is another.
    static func forgetMark(in directory: Directory) throws(SystemError) {
        if directory.contains(markName) { try directory.remove(markName) }
    }

    private static func bytes(
        of file: borrowing OwnedDescriptor,
        at offset: Int64,
        _ count: Int
    ) throws(SystemError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let outcome = unsafe bytes.withUnsafeMutableBytes { buffer in
            Result { () throws(SystemError) in unsafe try file.read(into: buffer, at: offset) }
        }
        let read = try outcome.get()
        return read == count ? bytes : Array(bytes.prefix(read))
    }

    // MARK: Marking

    /// Marks how far the log was acknowledged.
    ///
    /// - Parameters:
    ///   - position: Where it ends; `nil` if that is not known.
    ///   - number: A number in the catalog that only grows.
    func note(_ position: LogPosition?, number: Int64) {
        guard let position else { return }
        let next = LogMark(position, number: number)
        if next != mark { store(next) }
    }

    /// An older mark stays true, so a failure is none.
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

    /// Compares the catalog, now that it is open, with what was acknowledged.
    ///
    /// - Parameter number: The number in the catalog that only grows.
    func check(_ number: Int64) throws(SystemError) {
        guard let mark, mark.number > number else { return }
        if let name = freeName { try directory.replace(name, with: RawSpan()) }
        try settle(mark.withoutNumber)
    }

    /// Stores a mark that takes an expectation back: if it were lost, the same fault would be found again.
    private func settle(_ next: LogMark?) throws(SystemError) {
        guard let next else { return }
        store(next)
        guard mark == next else { throw SystemError("write", code: EIO) }
        if let file = try directory.openForWriting(Self.markName) { try directory.synchronize(file) }
    }

    /// What was found of this log, now or earlier, until that is acknowledged.
    var faults: [VaultFault] { Self.faults(in: directory) }

    /// What is kept of faults in a state directory.
    static func faults(in directory: Directory) -> [VaultFault] {
        keptNames.filter { directory.contains($0) }.map { name in
            let byteCount = (try? directory.openIfPresent(name)?.status().st_size) ?? 0
            return byteCount > 0 ? damage(name) : loss(name)
        }
    }

    private static let hint =
        "restore the vault from a backup, or store again what is missing; 'coffer doctor --acknowledge' ends this fault"

    private static func damage(_ name: String) -> VaultFault {
        VaultFault(
            what: "the log of the database was damaged, and what was stored last before that is missing: "
                + "the damaged log is kept as '\(name)'",
            hint: hint
        )
    }

    private static func loss(_ name: String) -> VaultFault {
        VaultFault(
            what: "the database is older than what was stored last: its log was lost, or an older database was put "
                + "in its place: '\(name)' is the record of it",
            hint: hint
        )
    }

    /// Removes what is kept of damaged logs.
    func acknowledge() throws(SystemError) {
        for name in Self.keptNames where directory.contains(name) { try directory.remove(name) }
        try directory.synchronize()
    }

    // MARK: Keeping

    private var freeName: String? { Self.keptNames.first { !directory.contains($0) } }

    /// Copies a damaged log, unless the latest copy is of the same one, or there are as many as may be.
    private func keep(_ log: borrowing OwnedDescriptor) throws {
        // A crash may have come between the copy and the cut.
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
            let bytes = try Self.bytes(of: log, at: offset, Limits.copyBytes)
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
            let bytes = try Self.bytes(of: log, at: offset, Limits.copyBytes)
            if bytes.isEmpty { return true }
            guard try bytes == Self.bytes(of: copy, at: offset, bytes.count) else { return false }
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
