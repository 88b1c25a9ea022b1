import CofferFileContent
import CofferCore
import CofferDatabase
import CofferFiles
import CofferMemory
import CofferTestSupport
import Foundation
import Testing

let chunkBytes = Limits.chunkBytes

// Open files, as the service drives them.

extension OpenStore {
    func create(_ path: String, _ protectionClass: ProtectionClass = .none) throws -> OpenFile {
        let file = try store.openFiles.create(try ItemName(path), in: "default", as: protectionClass, now: 1000)
        store.settleDurably()
        file.use.handleCount += 1
        return file
    }

    func open(_ path: String, for operation: ItemOperation = .read, salvaging: Bool = false) throws -> OpenFile {
        let opening = try store.openFiles.beginOpening(try #require(try find(path)), for: operation)
        // Few at a time, so that every file has several turns.
        while try store.openFiles.resume(opening, limit: 2) {}
        let finished = try salvaging ? store.openFiles.finishSalvaging(opening) : store.openFiles.finish(opening)
        let file = try #require(finished)
        if operation == .write { try store.openFiles.prepareWriting(file) }
        file.use.handleCount += 1
        return file
    }

    func write(_ bytes: [UInt8], at offset: Int64, to file: OpenFile, isLogged: Bool = false) throws {
        let plan = try store.plans.writing(bytes.count, at: offset, of: file)
        let content: SecretBytes? = try SecretBytes(copying: bytes.span.bytes)
        try perform(plan, content, file, isLogged) {
            FileChange($0, size: .atLeast(offset + Int64(bytes.count)), time: 2_000_000_000)
        }
    }

    func truncate(_ file: OpenFile, to count: Int64, isLogged: Bool = false) throws {
        let change = { FileChange($0, size: .exactly(count), time: 2_000_000_000) }
        guard let plan = try store.plans.cutting(to: count, of: file) else {
            return try store.openFiles.make(change([]), in: file, isLogged: isLogged)
        }
        try perform(plan, nil, file, isLogged, change)
    }

    func punch(_ plan: ZeroingPlan, _ file: OpenFile, isLogged: Bool = false) throws {
        let zeros: SecretBytes? = try SecretBytes(zeros: plan.writes.byteCount)
        try perform(plan.writes, zeros, file, isLogged) { FileChange($0, holes: plan.holes, time: 2_000_000_000) }
    }

    private func perform(
        _ plan: WritePlan,
        _ bytes: borrowing SecretBytes?,
        _ file: OpenFile,
        _ isLogged: Bool,
        _ change: ([WritePlan.Written]) -> FileChange
    ) throws {
        do {
            try store.openFiles.make(change(try plan.perform(bytes)), in: file, isLogged: isLogged)
        } catch {
            file.giveBack(plan)
            throw error
        }
    }

    func sync(_ file: OpenFile) throws {
        try store.plans.syncing(file).perform()
        try store.openFiles.commit(file, now: 2000)
        store.settleDurably()
    }

    func close(_ file: OpenFile) {
        file.use.handleCount -= 1
        store.openFiles.close(file)
    }

    /// Reads a part of an open file.
    func read(_ file: OpenFile, _ range: Range<Int64>) throws -> [UInt8] {
        var all: [UInt8] = []
        while Int64(all.count) < range.count {
            let plan = try store.plans.reading((range.lowerBound + Int64(all.count))..<range.upperBound, of: file)
            defer { file.endRead() }
            if plan.range.isEmpty { break }
            let piece = try plan.collect()
            all += piece.exposeBytes()
        }
        return all
    }

    /// All of a file.
    func contents(_ path: String) throws -> [UInt8] {
        let file = try open(path)
        defer { close(file) }
        return try read(file, 0..<file.byteCount)
    }

    /// What can be read of a file, and the first byte of each part that can't.
    func salvage(_ path: String) throws -> (bytes: [UInt8], damaged: [Int64], mayBeOlder: Bool) {
        let file = try open(path, salvaging: true)
        defer { close(file) }
        var saved: [UInt8] = []
        var damaged: [Int64] = []
        while Int64(saved.count) < file.byteCount {
            let plan = try store.plans.reading(Int64(saved.count)..<file.byteCount, of: file)
            defer { file.endRead() }
            let found = try plan.salvage(to: { saved += $0.withUnsafeBytes { Array($0) } })
            damaged += found.map(\.lowerBound)
        }
        return (saved, damaged, !file.integrity.hasItsRows)
    }

    /// The number of a file in the catalog.
    func node(_ path: String) throws -> Int64 {
        let read = try store.prepareRead(try #require(try find(path)))
        defer { store.openContents.finished(read) }
        return try #require(
            try connection.row("SELECT id FROM file_nodes WHERE content = ?", .blob(read.id.bytes)) {
                try $0.integer(0)
            }
        )
    }
}

/// Content with bytes of another in it, and zeros before them if they lie behind its end.
func replacing(_ content: [UInt8], at offset: Int, with bytes: [UInt8]) -> [UInt8] {
    var content = content + [UInt8](repeating: 0, count: max(0, offset + bytes.count - content.count))
    content.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
    return content
}
