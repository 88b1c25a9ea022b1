internal import CofferCore
internal import CofferMemory
internal import CofferWire

/// The blocks of a PEM text, as RFC 7468 has them, with lines of any length: some tools join all of a block.
struct PEM {
    /// What to find in a text.
    struct Subject {
        /// The noun for error texts.
        let name: String
        /// The labels of the possible blocks.
        let labels: [String]
        /// The hint if it is malformed.
        let hint: String

        func refusal(_ finding: String, hint: String? = nil) -> CofferError {
            CofferError(.param, "can't read \(name): \(finding)", hint: hint ?? self.hint)
        }
    }

    /// A decoded block.
    struct Block: ~Copyable {
        /// Its label.
        let label: String
        /// Its content.
        let bytes: SecretBytes

        /// Consumes the value and returns its bytes.
        consuming func takeBytes() -> SecretBytes { bytes }
    }

    private static let front = Array("-----BEGIN ".utf8)
    private static let back = Array("-----END ".utf8)
    private static let dashes = Array("-----".utf8)

    private let subject: Subject
    private var place = 0
    private var lineNumber = 0

    /// Begins to read a text.
    ///
    /// - Parameter subject: What to find in it.
    init(_ subject: Subject) { self.subject = subject }

    /// Decodes the first block with a label of the subject, and skips everything before it.
    consuming func block(in text: RawSpan) throws(CofferError) -> Block {
        guard text.byteCount > 0 else { throw refusal("the input is empty") }
        place = text.textStart
        var others: [String] = []
        while let line = nextLine(in: text) {
            guard text.has(Self.front, at: line.prefix(Self.front.count)) else { continue }
            let began = lineNumber
            guard let label = label(of: line, behind: Self.front, in: text) else {
                throw refusal("line \(began) begins a block and is malformed")
            }
            let lines = try block(label, from: began, in: text)
            if subject.labels.contains(label) {
                return Block(label: label, bytes: try decode(lines, of: label, in: text))
            }
            if !others.contains(label) && others.count < 4 { others.append(label) }
        }
        guard !others.isEmpty else { throw refusal("it is neither DER nor PEM") }
        let found = others.map { quotedForDisplay($0) }.joined(separator: ", ")
        throw refusal("it has no block of a \(subject.labels.joined(separator: " or a ")), but \(found)")
    }

    /// The numbered lines of a block.
    private mutating func block(
        _ label: String,
        from began: Int,
        in text: RawSpan
    ) throws(CofferError) -> [(number: Int, range: Range<Int>)] {
        var lines: [(number: Int, range: Range<Int>)] = []
        while let line = nextLine(in: text) {
            guard !text.has(Self.dashes, at: line.prefix(Self.dashes.count)) else {
                guard let ended = self.label(of: line, behind: Self.back, in: text), ended == label else {
                    throw refusal(
                        "line \(lineNumber) does not end the block \(quotedForDisplay(label)) of line \(began)"
                    )
                }
                return lines
            }
            lines.append((lineNumber, line))
        }
        throw refusal("the block \(quotedForDisplay(label)) of line \(began) has no end")
    }

    /// Strict base64: padded, without other characters or unused bits.
    private func decode(
        _ lines: [(number: Int, range: Range<Int>)],
        of label: String,
        in text: RawSpan
    ) throws(CofferError) -> SecretBytes {
        let joined = try join(lines, of: label, in: text)
        do throws(Base64.DecodingError) {
            return try joined.withBytes { (text) throws(Base64.DecodingError) in try Base64.decode(text) }
        } catch {
            switch error {
            case .noMemory: throw .noSecretMemory
            case .malformed(let place): throw malformed(lines, at: place)
            }
        }
    }

    /// The lines of a block without their ends.
    private func join(
        _ lines: [(number: Int, range: Range<Int>)],
        of label: String,
        in text: RawSpan
    ) throws(CofferError) -> SecretBytes {
        guard !lines.isEmpty else { throw refusal("the block of the \(label) is empty") }
        var joined: SecretBytes
        do { joined = try SecretBytes(zeros: lines.reduce(0) { $0 + $1.range.count }) } catch { throw .noSecretMemory }
        var place = 0
        for line in lines {
            guard !line.range.isEmpty else {
                throw refusal("line \(line.number), inside the block of the \(label), is empty")
            }
            joined.copy(text.extracting(line.range), to: place)
            place += line.range.count
        }
        return joined
    }

    /// The lines are not base64 from a character on.
    private func malformed(_ lines: [(number: Int, range: Range<Int>)], at place: Int) -> CofferError {
        var before = 0
        for line in lines {
            if place - before < line.range.count {
                return refusal("line \(line.number) is not base64, at character \(place - before + 1)")
            }
            before += line.range.count
        }
        return refusal("the base64 in line \(lines[0].number) and on is cut off: it has \(before) characters")
    }

    /// The next line, without its end.
    private mutating func nextLine(in text: RawSpan) -> Range<Int>? {
        guard place < text.byteCount else { return nil }
        let start = place
        while place < text.byteCount && text.byte(at: place) != 10 { place += 1 }
        let end = place > start && text.byte(at: place - 1) == 13 ? place - 1 : place
        place += 1
        lineNumber += 1
        return start..<end
    }

    /// The label between two marks: printable ASCII, at most 64 characters.
    private func label(of line: Range<Int>, behind mark: [UInt8], in text: RawSpan) -> String? {
        let label = line.dropFirst(mark.count).dropLast(Self.dashes.count)
        guard text.has(mark, at: line.prefix(mark.count)), (1...64).contains(label.count),
            text.has(Self.dashes, at: line.suffix(Self.dashes.count)),
            label.allSatisfy({ (0x20...0x7E).contains(text.byte(at: $0)) })
        else { return nil }
        return String(decoding: label.map { text.byte(at: $0) }, as: UTF8.self)
    }

    private func refusal(_ finding: String) -> CofferError { subject.refusal(finding) }
}

extension RawSpan {
    /// A byte of the text.
    package func byte(at place: Int) -> UInt8 { unsafe unsafeLoad(fromByteOffset: place, as: UInt8.self) }

    /// Whether the bytes begin like an element of DER that all these formats are.
    var isDER: Bool { byteCount > 0 && byte(at: 0) == 0x30 }

    /// Whether these bytes, and no others, are at these places.
    package func has(_ bytes: some Collection<UInt8>, at places: some Collection<Int>) -> Bool {
        places.count == bytes.count && zip(places, bytes).allSatisfy { byte(at: $0) == $1 }
    }

    /// Whether these bytes are anywhere.
    package func contains(_ bytes: some Collection<UInt8>) -> Bool {
        (0..<byteCount).contains { has(bytes, at: $0..<min($0 + bytes.count, byteCount)) }
    }
}
