import Foundation
import Testing

/// Secrets to look for, under the names that a failure tells.
struct Needles {
    /// Eight bytes of a secret, wherever they came to lie, are a find: also what is left of a copy that was overwritten in
    /// part.
    private(set) var names: [UInt64: String] = [:]
    /// One byte for each hash of a piece: a first look that rules nearly every place out.
    fileprivate var marks = [UInt8](repeating: 0, count: 1 << 22)

    /// Adds a secret of at least eight bytes; what does not look random would be found by chance.
    mutating func add(_ name: String, _ bytes: [UInt8]) {
        precondition(bytes.count >= 8)
        for start in stride(from: 0, to: bytes.count - 7, by: 8) {
            let piece = bytes[start..<(start + 8)].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            names[piece] = name
            marks[needleHash(piece)] = 1
        }
    }
}

private func needleHash(_ piece: UInt64) -> Int { Int((piece &* 0x9e37_79b9_7f4a_7c15) >> 42) }

/// A mapping in which a secret lies.
struct Find: Hashable, CustomStringConvertible {
    let name: String
    let mapping: String
    let isLocked: Bool
    let isNotDumped: Bool

    /// Whether it is in memory that is for secrets.
    var isInSecretMemory: Bool { isLocked && isNotDumped }
    var description: String { "\(name) in \(mapping), locked: \(isLocked), not dumped: \(isNotDumped)" }
}

/// All memory of another process that root can read, except unmodified pages of files:
/// code and constants.
struct MemoryScanner {
    let processID: Int32

    /// Whether this process may read the memory of others: root may, unless it was put into a container without the right.
    static let isPermitted: Bool = {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") } ?? ""
        let capabilities = UInt64(line.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16) ?? 0
        let tracing = 19
        return geteuid() == 0 && capabilities >> tracing & 1 == 1
    }()

    private struct Mapping {
        let range: Range<UInt64>
        let title: String
        var flags: Set<Substring> = []
        var writtenKiB = 0
    }

    /// What there is, by name and mapping; each once.
    func find(_ needles: Needles) throws -> Set<Find> {
        let memory = open("/proc/\(processID)/mem", O_RDONLY | O_CLOEXEC)
        try #require(memory >= 0)
        defer { close(memory) }
        var finds: Set<Find> = []
        var scanned = 0
        for mapping in try mappings() where mapping.writtenKiB > 0 {
            for (name, count) in scan(memory, mapping, needles, &scanned) where count > 0 {
                finds.insert(
                    Find(
                        name: name,
                        mapping: mapping.title,
                        isLocked: mapping.flags.contains("lo"),
                        isNotDumped: mapping.flags.contains("dd")
                    )
                )
            }
        }
        // A daemon is never as small as this: nothing was read.
        try #require(scanned > 256 << 10)
        return finds
    }

    private func mappings() throws -> [Mapping] {
        let file = open("/proc/\(processID)/smaps", O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        // Foundation takes the first short read of a file of the kernel's for its end.
        let text = String(decoding: drain(file), as: UTF8.self)
        var mappings: [Mapping] = []
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            switch words[0] {
            case "Anonymous:", "Private_Dirty:", "Shared_Dirty:", "Swap:":
                mappings[mappings.count - 1].writtenKiB += Int(words[1]) ?? 0
            case "VmFlags:": mappings[mappings.count - 1].flags = Set(words.dropFirst())
            case let word where !word.hasSuffix(":"):
                let ends = word.split(separator: "-").compactMap { UInt64($0, radix: 16) }
                // The kernel's own pages are not the process's memory.
                let isKernels = line.hasSuffix("[vvar]") || line.hasSuffix("[vsyscall]")
                let range = ends[0]..<(isKernels ? ends[0] : ends[1])
                mappings.append(Mapping(range: range, title: "\(word) \(words.dropFirst(5).joined(separator: " "))"))
            default: continue
            }
        }
        return mappings
    }

    private func scan(
        _ memory: Int32,
        _ mapping: Mapping,
        _ needles: Needles,
        _ scanned: inout Int
    ) -> [String: Int] {
        let block = 1 << 20
        let page = 4096
        let buffer = UnsafeMutableRawPointer.allocate(byteCount: block, alignment: page)
        defer { buffer.deallocate() }
        var hits: [String: Int] = [:]
        var window: UInt64 = 0
        var address = mapping.range.lowerBound
        while address < mapping.range.upperBound {
            let wanted = Int(min(UInt64(block), mapping.range.upperBound - address))
            let count = pread(memory, buffer, wanted, off_t(address))
            // Guard pages can't be read, nor what was unmapped meanwhile.
            address += count > 0 ? UInt64(count) : UInt64(page)
            for start in stride(from: 0, to: count, by: page) {
                let bytes = buffer + start
                let length = min(page, count - start)
                // Most pages of a stack are untouched, and no piece of a secret is all zero.
                if memcmp(bytes, bytes + 1, length - 1) == 0 { continue }
                scanned += length
                Self.scan(bytes, length, needles, &window) { hits[$0, default: 0] += 1 }
            }
        }
        return hits
    }

    private static func scan(
        _ start: UnsafeMutableRawPointer,
        _ count: Int,
        _ needles: Needles,
        _ window: inout UInt64,
        _ hit: (String) -> Void
    ) {
        let bytes = start.assumingMemoryBound(to: UInt8.self)
        needles.marks.withUnsafeBufferPointer { buffer in
            guard let marks = buffer.baseAddress else { return }
            var piece = window
            var index = 0
            while index < count {
                piece = piece >> 8 | UInt64(bytes[index]) << 56
                if marks[needleHash(piece)] != 0, let name = needles.names[piece] { hit(name) }
                index &+= 1
            }
            window = piece
        }
    }
}
