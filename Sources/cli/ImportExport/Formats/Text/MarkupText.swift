internal import CofferClient

/// An element of an XML text: its texts stay where they are, in memory that is wiped, until one is asked for.
///
/// It is a small part of XML: elements, attributes, character data, CDATA, comments, and the entities that XML itself
/// names. A document type, and with it every entity of its own, and processing instructions are refused, so that nothing
/// is expanded and nothing is fetched.
final class MarkupElement: Sendable {
    /// A part of the character data.
    struct Piece: Sendable {
        let range: Range<Int>
        /// Whether entities in it stand for themselves.
        let isLiteral: Bool
    }

    let name: String
    let attributes: [String: String]
    let children: [MarkupElement]
    /// The line of its beginning.
    let line: Int
    private let pieces: [Piece]
    private let source: Secret

    init(
        _ name: String,
        _ attributes: [String: String],
        _ children: [MarkupElement],
        _ pieces: [Piece],
        line: Int,
        _ source: Secret
    ) {
        self.name = name
        self.attributes = attributes
        self.children = children
        self.pieces = pieces
        self.line = line
        self.source = source
    }

    /// The first child of a name.
    func child(_ name: String) -> MarkupElement? { children.first { $0.name == name } }

    /// The children of a name.
    func all(_ name: String) -> [MarkupElement] { children.filter { $0.name == name } }

    /// The character data.
    func text() throws(CofferError) -> Secret {
        try source.withBytes { (bytes) throws(CofferError) in
            var output = try SecretBuffer(capacity: pieces.reduce(0) { $0 + $1.range.count })
            for piece in pieces {
                if piece.isLiteral {
                    try output.append(bytes.extracting(piece.range))
                } else {
                    try MarkupScanner.append(piece.range, to: &output, in: bytes)
                }
            }
            return try output.finish()
        }
    }

    /// Character data that is not secret.
    func plainText() throws(CofferError) -> String { try text().exposeText() ?? "" }

    /// Parses a text.
    static func root(of content: Secret) throws(CofferError) -> MarkupElement {
        let start = try content.textStart()
        return try content.withBytes { (bytes) throws(CofferError) in
            var scanner = MarkupScanner(position: start, source: content)
            return try scanner.document(in: bytes)
        }
    }
}

/// Divides an XML text into elements.
struct MarkupScanner {
    var position: Int
    let source: Secret
    private var elementCount = 0
    /// A place, and the number of its line: counted on from there.
    private var counted = (place: 0, line: 1)

    init(position: Int, source: Secret) {
        self.position = position
        self.source = source
    }

    mutating func document(in bytes: RawSpan) throws(CofferError) -> MarkupElement {
        skipSpace(in: bytes)
        if bytes.has("<?xml", at: position) { try skip(past: "?>", in: bytes) }
        try skipMisc(in: bytes)
        let root = try element(in: bytes, depth: 0)
        try skipMisc(in: bytes)
        guard position == bytes.byteCount else { throw fault("there is more behind the end of the XML", in: bytes) }
        return root
    }

    private mutating func skipMisc(in bytes: RawSpan) throws(CofferError) {
        skipSpace(in: bytes)
        while bytes.has("<!--", at: position) {
            try skip(past: "-->", in: bytes)
            skipSpace(in: bytes)
        }
    }

    private mutating func element(in bytes: RawSpan, depth: Int) throws(CofferError) -> MarkupElement {
        let line = lineNumber(in: bytes)
        elementCount += 1
        guard elementCount <= Limits.importValues else {
            throw .tooLarge("the file has more than \(Limits.importValues) elements")
        }
        guard depth <= Limits.markupDepth else { throw fault("elements are nested too deeply", in: bytes) }
        guard bytes.has("<", at: position) else { throw fault("an element is expected", in: bytes) }
        try refuseDeclarations(in: bytes)
        position += 1
        let name = try name(in: bytes)
        let attributes = try attributes(in: bytes)
        if bytes.has("/>", at: position) {
            position += 2
            return MarkupElement(name, attributes, [], [], line: line, source)
        }
        guard bytes.has(">", at: position) else { throw fault("the tag <\(name)> does not end", in: bytes) }
        position += 1
        var (children, pieces): ([MarkupElement], [MarkupElement.Piece]) = ([], [])
        while !bytes.has("</", at: position) {
            try content(in: bytes, depth: depth, name, &children, &pieces)
        }
        position += 2
        guard try self.name(in: bytes) == name else {
            throw fault("<\(name)> of line \(line) is closed by another tag", in: bytes)
        }
        skipSpace(in: bytes)
        guard bytes.has(">", at: position) else { throw fault("the tag </\(name)> does not end", in: bytes) }
        position += 1
        return MarkupElement(name, attributes, children, pieces, line: line, source)
    }

    private mutating func content(
        in bytes: RawSpan,
        depth: Int,
        _ name: String,
        _ children: inout [MarkupElement],
        _ pieces: inout [MarkupElement.Piece]
    ) throws(CofferError) {
        guard position < bytes.byteCount else { throw fault("<\(name)> is never closed", in: bytes) }
        if bytes.has("<!--", at: position) { return try skip(past: "-->", in: bytes) }
        if bytes.has("<![CDATA[", at: position) {
            let start = position + 9
            try skip(past: "]]>", in: bytes)
            return pieces.append(.init(range: start..<(position - 3), isLiteral: true))
        }
        if bytes.has("<", at: position) { return children.append(try element(in: bytes, depth: depth + 1)) }
        let start = position
        position = bytes.place(of: UInt8(ascii: "<"), in: start..<bytes.byteCount) ?? bytes.byteCount
        pieces.append(.init(range: start..<position, isLiteral: false))
    }

    private func refuseDeclarations(in bytes: RawSpan) throws(CofferError) {
        if bytes.has("<!", at: position) {
            throw fault("a document type or an entity is declared, which is refused: no program exports one", in: bytes)
        }
        if bytes.has("<?", at: position) { throw fault("a processing instruction is refused", in: bytes) }
    }

    private mutating func name(in bytes: RawSpan) throws(CofferError) -> String {
        let start = position
        while position < bytes.byteCount, !bytes.byte(at: position).isSpace,
            !"<>/=\"'&".utf8.contains(bytes.byte(at: position))
        { position += 1 }
        guard (1...256).contains(position - start) else { throw fault("a name is expected", in: bytes) }
        return bytes.plainText(start..<position)
    }

    private mutating func attributes(in bytes: RawSpan) throws(CofferError) -> [String: String] {
        var attributes: [String: String] = [:]
        while true {
            skipSpace(in: bytes)
            guard position < bytes.byteCount, !"/>".utf8.contains(bytes.byte(at: position)) else { return attributes }
            let name = try name(in: bytes)
            skipSpace(in: bytes)
            guard bytes.has("=", at: position) else { throw fault("the attribute \(name) has no value", in: bytes) }
            position += 1
            skipSpace(in: bytes)
            let quote = position < bytes.byteCount ? bytes.byte(at: position) : 0
            guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"),
                let end = bytes.place(of: quote, in: (position + 1)..<bytes.byteCount)
            else { throw fault("the attribute \(name) has no value in quotes", in: bytes) }
            attributes[name] = bytes.plainText((position + 1)..<end)
            position = end + 1
            guard attributes.count <= Limits.importFields else {
                throw fault("an element has too many attributes", in: bytes)
            }
        }
    }

    // MARK: Entities

    /// Appends character data, with what its entities stand for.
    static func append(
        _ range: Range<Int>,
        to output: inout SecretBuffer,
        in bytes: RawSpan
    ) throws(CofferError) {
        var place = range.lowerBound
        while place < range.upperBound {
            let byte = bytes.byte(at: place)
            guard byte == UInt8(ascii: "&") else {
                try output.append(byte)
                place += 1
                continue
            }
            let limit = min(place + 12, range.upperBound)
            guard let end = bytes.place(of: UInt8(ascii: ";"), in: place..<limit),
                let scalar = scalar(bytes.plainText((place + 1)..<end))
            else {
                throw .malformed(
                    "line \(bytes.lineNumber(at: place)): an entity that XML itself does not have is refused"
                )
            }
            try output.append(scalar)
            place = end + 1
        }
    }

    private static func scalar(_ name: String) -> Unicode.Scalar? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default: break
        }
        guard name.hasPrefix("#") else { return nil }
        let digits = name.dropFirst()
        let number = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        guard let number, number > 0 else { return nil }
        return Unicode.Scalar(number)
    }

    private mutating func skip(past mark: String, in bytes: RawSpan) throws(CofferError) {
        let start = position
        while position < bytes.byteCount {
            if bytes.has(mark, at: position) {
                position += mark.utf8.count
                return
            }
            position += 1
        }
        position = start
        throw fault("'\(mark)' is missing", in: bytes)
    }

    private mutating func lineNumber(in bytes: RawSpan) -> Int {
        while counted.place < position {
            if bytes.byte(at: counted.place) == 10 { counted.line += 1 }
            counted.place += 1
        }
        return counted.line
    }

    private mutating func skipSpace(in bytes: RawSpan) {
        while position < bytes.byteCount, bytes.byte(at: position).isSpace { position += 1 }
    }

    private func fault(_ finding: String, in bytes: RawSpan) -> CofferError {
        .malformed("line \(bytes.lineNumber(at: position)): \(finding)")
    }
}
