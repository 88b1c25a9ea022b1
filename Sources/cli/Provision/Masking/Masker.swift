package import CofferClient
internal import CofferSecretFormats
internal import CofferMemory

/// Replaces secrets in what a program prints, wherever its writes begin and end.
///
/// What has arrived is passed on at once, except for an end that may be the beginning of a secret.
package struct Masker: ~Copyable {
    /// What is printed in place of a secret, whatever its size.
    package static let mask = Array("********".utf8)

    private let patterns: [MaskPattern]
    /// Which bytes a pattern begins with: the others are passed over quickly.
    private let isFirst: [Bool]
    /// What has arrived and was not passed on, at the beginning; space for more behind it.
    private var buffer: SecretBytes
    private var count = 0

    /// - Parameter patterns: Those of ``patterns(of:)``.
    package init(_ patterns: [MaskPattern]) throws(CofferError) {
        var isFirst = [Bool](repeating: false, count: 256)
        for byte in patterns.flatMap(\.firstBytes) { isFirst[Int(byte)] = true }
        self.patterns = patterns
        self.isFirst = isFirst
        // Each byte may take six characters, such as \u000a.
        let longest = patterns.map(\.byteCount).max() ?? 0
        do { buffer = try SecretBytes(zeros: 6 * longest + 16 + Limits.outputBytes) } catch { throw .noSecretMemory }
    }

    /// The patterns of secrets, as far as they or their lines are long enough.
    package static func patterns(of secrets: [Secret]) throws(CofferError) -> [MaskPattern] {
        var patterns: [MaskPattern] = []
        for secret in secrets {
            for part in try parts(of: secret) { patterns += try MaskPattern.all(of: part) }
        }
        return patterns
    }

    /// The secret without its last line end, and each of its lines.
    private static func parts(of secret: Secret) throws(CofferError) -> [Secret] {
        let whole = try secret.withoutLineEnd()
        let lines = try whole.withBytes { (bytes) throws(CofferError) in
            var lines: [Secret] = []
            var start = 0
            for place in 0...bytes.byteCount where place == bytes.byteCount || bytes.byte(at: place) == 10 {
                lines.append(try Secret(copying: bytes.extracting(bytes.withoutReturn(start..<place))))
                start = place + 1
            }
            return lines
        }
        return ([whole] + (lines.count > 1 ? lines : [])).filter { $0.count >= Limits.leastMaskedBytes }
    }

    /// Takes what a closure writes into a buffer, and passes on what can't belong to a secret any more.
    ///
    /// - Parameters:
    ///   - fill: Writes into the memory, and returns how many bytes.
    ///   - output: Gets the bytes to print.
    /// - Returns: What `fill` has returned.
    package mutating func take<Failure: Error>(
        _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int,
        to output: (RawSpan) throws(Failure) -> Void
    ) throws(Failure) -> Int {
        let held = count
        let added = try unsafe buffer.withUnsafeMutableBytes { (memory) throws(Failure) in
            unsafe try fill(UnsafeMutableRawBufferPointer(rebasing: memory[held...]))
        }
        count += added
        try pass(isLast: false, to: output)
        return added
    }

    /// Passes on what was held.
    package mutating func finish<Failure: Error>(to output: (RawSpan) throws(Failure) -> Void) throws(Failure) {
        try pass(isLast: true, to: output)
    }

    private mutating func pass<Failure: Error>(
        isLast: Bool,
        to output: (RawSpan) throws(Failure) -> Void
    ) throws(Failure) {
        let (all, patterns, isFirst, isFull) = (count, patterns, isFirst, count == buffer.count)
        let done = try buffer.withBytes { (memory) throws(Failure) in
            let bytes = memory.extracting(0..<all)
            var (start, place) = (0, 0)
            while place < all {
                guard isFirst[Int(bytes.byte(at: place))] else {
                    place += 1
                    continue
                }
                let match = Self.match(bytes, at: place, patterns)
                // Secrets that overlap without end are masked as far as there is memory.
                let mayGrow = match.isOpen && !(isFull && place == 0 && match.end != nil)
                if mayGrow && !isLast { break }
                guard let end = match.end else {
                    place += 1
                    continue
                }
                try output(bytes.extracting(start..<place))
                try unsafe output(Self.mask.span.bytes)
                (start, place) = (end, end)
            }
            try output(bytes.extracting(start..<place))
            return place
        }
        keep(from: done)
    }

    /// The secret at a place, and those that begin inside it and end behind it.
    private static func match(_ bytes: RawSpan, at start: Int, _ patterns: [MaskPattern]) -> MaskPattern.Match {
        var result = MaskPattern.Match.none
        var place = start
        repeat {
            for pattern in patterns {
                let match = pattern.match(bytes, at: place)
                result.isOpen = result.isOpen || match.isOpen
                if let end = match.end { result.end = max(end, result.end ?? end) }
            }
            place += 1
        } while place < result.end ?? start
        return result
    }

    /// Moves what is held to the beginning, and wipes the rest.
    private mutating func keep(from done: Int) {
        let (all, rest) = (count, count - done)
        unsafe buffer.withUnsafeMutableBytes { memory in
            unsafe memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[done..<all]))
            unsafe UnsafeMutableRawBufferPointer(rebasing: memory[rest..<all]).initializeMemory(
                as: UInt8.self,
                repeating: 0
            )
        }
        count = rest
    }
}
