internal import CofferCore
internal import CofferFiles
internal import CofferVault
internal import CofferWire

/// The files of a mount that programs have open: all of them share one handle for reading, and one for writing.
///
/// A later daemon begins without any: it opens a file again by its number, when a program uses it.
struct MountedFiles {
    private struct Opened {
        var reader: Int64?
        var writer: Int64?
        /// How many programs have it open to read only, and to write.
        var readerCount = 0
        var writerCount = 0
        /// Whether its mode may have bits that a change of its content drops.
        var mayHaveSpecialBits = true
    }

    private var all: [UInt64: Opened] = [:]

    /// The nodes that are open.
    var nodes: [UInt64] { Array(all.keys) }

    /// A handle that reads a node; `nil` if there is none.
    func handle(_ node: UInt64) -> Int64? { all[node].flatMap { $0.writer ?? $0.reader } }

    /// A handle that writes a node; `nil` if there is none.
    func writer(_ node: UInt64) -> Int64? { all[node]?.writer }

    /// The open file of a node.
    func file(_ node: UInt64, of caller: Caller) -> OpenFile? {
        handle(node).flatMap { try? caller.handles[$0].file }
    }

    // MARK: Opening and closing

    /// Counts a program that opens a node whose handle suffices.
    mutating func count(_ node: UInt64, _ mode: OpenMode) {
        if mode.writes { all[node]?.writerCount += 1 } else { all[node]?.readerCount += 1 }
    }

    /// Adds a handle.
    ///
    /// - Parameters:
    ///   - handle: The handle.
    ///   - writes: Whether it writes.
    ///   - node: The node.
    ///   - mode: How a program opens it; `nil` if one uses it that an earlier daemon has opened it for.
    /// - Returns: A handle that is no longer needed: another request has opened the node meanwhile.
    mutating func add(_ handle: Int64, writes: Bool, to node: UInt64, asAskedFor mode: OpenMode?) -> Int64? {
        var opened = all[node] ?? Opened()
        let surplus: Int64?
        if writes {
            (surplus, opened.writer) = (opened.writer == nil ? nil : handle, opened.writer ?? handle)
        } else {
            (surplus, opened.reader) = (opened.reader == nil ? nil : handle, opened.reader ?? handle)
        }
        all[node] = opened
        if let mode { count(node, mode) }
        return surplus
    }

    /// What is left of the programs that have a node open.
    enum Rest {
        /// Some that write it.
        case used
        /// Some that read it, by a handle of their own or by the one that writes.
        case readers(hasHandle: Bool)
        case nothing
    }

    /// Counts a program that closes a node.
    mutating func release(_ node: UInt64, _ mode: OpenMode) -> Rest {
        guard var opened = all[node] else { return .nothing }
        if mode.writes {
            opened.writerCount = max(0, opened.writerCount - 1)
        } else {
            opened.readerCount = max(0, opened.readerCount - 1)
        }
        all[node] = opened
        if opened.writerCount > 0 { return .used }
        if opened.readerCount == 0 { return .nothing }
        return opened.writer == nil ? .used : .readers(hasHandle: opened.reader != nil)
    }

    /// Takes the handles of a node out, that nothing has open any more.
    mutating func takeHandles(_ node: UInt64) -> [Int64] {
        guard let opened = all.removeValue(forKey: node) else { return [] }
        return [opened.reader, opened.writer].compactMap(\.self)
    }

    /// Takes the handle that writes a node out.
    mutating func takeWriter(_ node: UInt64) -> [Int64] { [all[node]?.writer.take() ?? nil].compactMap(\.self) }

    /// Takes the handles of a node out, that a lock has ended.
    mutating func takeRevoked(_ node: UInt64) -> [Int64] {
        let reader = all[node]?.reader.take() ?? nil
        return [reader].compactMap(\.self) + takeWriter(node)
    }

    /// The kernel has forgotten a node: nothing has it open.
    mutating func forget(_ number: UInt64) {
        if let opened = all[number], opened.reader == nil, opened.writer == nil { all[number] = nil }
    }

    // MARK: Special bits

    func mayHaveSpecialBits(_ node: UInt64) -> Bool { all[node]?.mayHaveSpecialBits ?? true }

    mutating func set(_ node: UInt64, mayHaveSpecialBits: Bool) { all[node]?.mayHaveSpecialBits = mayHaveSpecialBits }

    mutating func noteSpecialBits(of node: UInt64) { set(node, mayHaveSpecialBits: true) }

    mutating func noteNoSpecialBits(of node: UInt64) { set(node, mayHaveSpecialBits: false) }
}
