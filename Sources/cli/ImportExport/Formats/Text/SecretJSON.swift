internal import CofferClient
internal import CofferSecretFormats

/// A JSON text whose strings stay where they are, in memory that is wiped, until one of them is asked for.
///
/// It is as strict as the parser of the wire, except that it accepts a byte order mark.
final class SecretJSON: Sendable {
    /// A value: strings and numbers are places in the text.
    enum Node: Sendable {
        case null
        case bool(Bool)
        case number(Range<Int>)
        /// What is between the quotes.
        case string(Range<Int>)
        case list([Node])
        case object([(key: String, value: Node)])
    }

    private let source: Secret
    private let top: Node

    /// Parses a text.
    ///
    /// - Throws: `param` with the line; `dataTooLarge` if it has more values than an import takes.
    init(_ source: Secret) throws(CofferError) {
        let start = try source.textStart()
        self.source = source
        top = try source.withBytes { (bytes) throws(CofferError) in
            // Each value takes several times the bytes that it has in the file.
            guard !bytes.hasMoreJSONValues(than: Limits.importValues, from: start) else {
                throw .tooLarge("the file has more than \(Limits.importValues) values")
            }
            var parser = JSONPlaces(position: start)
            return try parser.document(in: bytes)
        }
    }

    /// The whole value.
    var root: JSONItem { JSONItem(self, top) }

    /// The text of a string, without its escapes.
    fileprivate func unescaped(_ range: Range<Int>) throws(CofferError) -> Secret {
        try source.withBytes { (bytes) throws(CofferError) in
            guard bytes.place(of: UInt8(ascii: "\\"), in: range) != nil else {
                return try Secret(bulk: bytes.extracting(range))
            }
            return try JSONPlaces.unescaped(range, in: bytes)
        }
    }

    fileprivate func plain(_ range: Range<Int>) -> String { source.withBytes { $0.plainText(range) } }

    fileprivate func line(of range: Range<Int>) -> Int { source.withBytes { $0.lineNumber(at: range.lowerBound) } }

    /// The bytes of a part, as they are.
    fileprivate func raw(_ range: Range<Int>) throws(CofferError) -> Secret { try source.part(range) }
}

/// A value of a JSON text, or nothing.
struct JSONItem: Sendable {
    private let document: SecretJSON
    let node: SecretJSON.Node

    init(_ document: SecretJSON, _ node: SecretJSON.Node) {
        self.document = document
        self.node = node
    }

    /// A member of an object; `null` if there is none.
    subscript(key: String) -> JSONItem {
        guard case .object(let members) = node, let member = members.first(where: { $0.key.hasSameBytes(as: key) })
        else { return JSONItem(document, .null) }
        return JSONItem(document, member.value)
    }

    /// The members of an object.
    var members: [(key: String, value: JSONItem)] {
        guard case .object(let members) = node else { return [] }
        return members.map { ($0.key, JSONItem(document, $0.value)) }
    }

    /// The elements of a list.
    var elements: [JSONItem] { if case .list(let nodes) = node { nodes.map { JSONItem(document, $0) } } else { [] } }

    var isObject: Bool { if case .object = node { true } else { false } }
    var isList: Bool { if case .list = node { true } else { false } }
    var isNull: Bool { if case .null = node { true } else { false } }
    var isTrue: Bool { if case .bool(true) = node { true } else { false } }

    /// The value as a secret: the text of a string, or a number or truth value as it is written; `nil` for others.
    func secret() throws(CofferError) -> Secret? {
        switch node {
        case .string(let range): return try document.unescaped(range)
        case .number(let range): return try document.raw(range)
        case .bool(let value): return try Secret(bulk: value ? "true" : "false")
        case .null, .list, .object: return nil
        }
    }

    /// A string that is not secret.
    func text() throws(CofferError) -> String? {
        guard case .string(let range) = node else { return nil }
        return try document.unescaped(range).exposeText() ?? ""
    }

    /// A whole number.
    var integer: Int64? {
        guard case .number(let range) = node else { return nil }
        return Int64(document.plain(range)) ?? Double(document.plain(range)).flatMap { Int64(exactly: $0.rounded()) }
    }
}

/// The names of the members of an object, by their hashes: a set of texts would take most of the time of reading.
private struct MemberNames {
    private var hashes: Set<Int> = []

    /// Inserts a name.
    ///
    /// - Returns: Whether no member has it, byte by byte.
    mutating func insert(_ name: String, beside members: [(key: String, value: SecretJSON.Node)]) -> Bool {
        var (hasher, text) = (Hasher(), name)
        text.withUTF8 { bytes in unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
        // The hashes have a random seed, so that two names share one by chance alone.
        return hashes.insert(hasher.finalize()).inserted || !members.contains { $0.key.hasSameBytes(as: name) }
    }
}

/// Finds the places of the values of a JSON text.
private struct JSONPlaces {
    private var position: Int

    init(position: Int) { self.position = position }

    mutating func document(in bytes: RawSpan) throws(CofferError) -> SecretJSON.Node {
        let node = try value(in: bytes, depth: 0)
        skipSpace(in: bytes)
        guard position == bytes.byteCount else { throw fault("there is more behind the end of the JSON", in: bytes) }
        return node
    }

    private mutating func value(in bytes: RawSpan, depth: Int) throws(CofferError) -> SecretJSON.Node {
        guard depth <= Limits.jsonDepth else {
            throw fault("more than \(Limits.jsonDepth) brackets are nested", in: bytes)
        }
        skipSpace(in: bytes)
        switch peek(in: bytes) {
        case UInt8(ascii: "\""): return .string(try string(in: bytes))
        case UInt8(ascii: "{"): return .object(try members(in: bytes, depth: depth))
        case UInt8(ascii: "["): return .list(try elements(in: bytes, depth: depth))
        case UInt8(ascii: "t"): return try word("true", .bool(true), in: bytes)
        case UInt8(ascii: "f"): return try word("false", .bool(false), in: bytes)
        case UInt8(ascii: "n"): return try word("null", .null, in: bytes)
        default: return .number(try number(in: bytes))
        }
    }

    private mutating func word(
        _ word: String,
        _ node: SecretJSON.Node,
        in bytes: RawSpan
    ) throws(CofferError) -> SecretJSON.Node {
        guard bytes.has(word, at: position) else { throw fault("there is no JSON value", in: bytes) }
        position += word.utf8.count
        return node
    }

    private mutating func members(
        in bytes: RawSpan,
        depth: Int
    ) throws(CofferError) -> [(key: String, value: SecretJSON.Node)] {
        var members: [(key: String, value: SecretJSON.Node)] = []
        var names = MemberNames()
        position += 1
        if close(UInt8(ascii: "}"), in: bytes) { return members }
        repeat {
            skipSpace(in: bytes)
            guard peek(in: bytes) == UInt8(ascii: "\"") else { throw fault("there is no name of a member", in: bytes) }
            let key = try Self.name(try string(in: bytes), in: bytes)
            guard names.insert(key, beside: members) else {
                throw fault("the member \(quotedForDisplay(key)) occurs twice", in: bytes)
            }
            skipSpace(in: bytes)
            guard peek(in: bytes) == UInt8(ascii: ":") else { throw fault("a colon is missing", in: bytes) }
            position += 1
            members.append((key, try value(in: bytes, depth: depth + 1)))
        } while try goesOn(before: UInt8(ascii: "}"), in: bytes)
        return members
    }

    private mutating func elements(in bytes: RawSpan, depth: Int) throws(CofferError) -> [SecretJSON.Node] {
        var elements: [SecretJSON.Node] = []
        position += 1
        if close(UInt8(ascii: "]"), in: bytes) { return elements }
        repeat {
            elements.append(try value(in: bytes, depth: depth + 1))
        } while try goesOn(
            before: UInt8(ascii: "]"),
            in: bytes
        )
        return elements
    }

    private mutating func close(_ bracket: UInt8, in bytes: RawSpan) -> Bool {
        skipSpace(in: bytes)
        guard peek(in: bytes) == bracket else { return false }
        position += 1
        return true
    }

    private mutating func goesOn(before bracket: UInt8, in bytes: RawSpan) throws(CofferError) -> Bool {
        skipSpace(in: bytes)
        let byte = peek(in: bytes)
        guard byte == UInt8(ascii: ",") || byte == bracket else { throw fault("a comma is missing", in: bytes) }
        position += 1
        return byte != bracket
    }

    // MARK: Numbers and strings

    private mutating func number(in bytes: RawSpan) throws(CofferError) -> Range<Int> {
        let start = position
        guard takeNumber(in: bytes) else {
            position = start
            throw fault("there is no JSON value", in: bytes)
        }
        return start..<position
    }

    /// Passes a number, which has no zero before its other digits.
    private mutating func takeNumber(in bytes: RawSpan) -> Bool {
        if peek(in: bytes) == UInt8(ascii: "-") { position += 1 }
        let isZero = peek(in: bytes) == UInt8(ascii: "0")
        let count = takeDigits(in: bytes)
        guard count == 1 || count > 1 && !isZero else { return false }
        if peek(in: bytes) == UInt8(ascii: ".") {
            position += 1
            guard takeDigits(in: bytes) > 0 else { return false }
        }
        if peek(in: bytes) | 0x20 == UInt8(ascii: "e") {
            position += 1
            if peek(in: bytes) == UInt8(ascii: "+") || peek(in: bytes) == UInt8(ascii: "-") { position += 1 }
            guard takeDigits(in: bytes) > 0 else { return false }
        }
        return true
    }

    /// Passes digits, and returns their number.
    private mutating func takeDigits(in bytes: RawSpan) -> Int {
        let start = position
        while peek(in: bytes).isDigit { position += 1 }
        return position - start
    }

    /// The place of a string between its quotes.
    private mutating func string(in bytes: RawSpan) throws(CofferError) -> Range<Int> {
        position += 1
        let start = position
        while position < bytes.byteCount {
            switch bytes.byte(at: position) {
            case UInt8(ascii: "\""):
                position += 1
                return start..<(position - 1)
            case UInt8(ascii: "\\"): position += 1
            case 0..<0x20: throw fault("a string contains a line end or another control character", in: bytes)
            default: break
            }
            position += 1
        }
        position = start
        throw .malformed("line \(bytes.lineNumber(at: start)): a string does not end: the file is cut off")
    }

    /// The name of a member, which is no secret.
    private static func name(_ range: Range<Int>, in bytes: RawSpan) throws(CofferError) -> String {
        guard bytes.place(of: UInt8(ascii: "\\"), in: range) != nil else { return bytes.plainText(range) }
        var name = ""
        try forEachPiece(of: range, in: bytes) { (piece) throws(CofferError) in
            switch piece {
            case .bytes(let range): name += bytes.plainText(range)
            case .scalar(let scalar): name.unicodeScalars.append(scalar)
            }
        }
        return name
    }

    /// A part of a string.
    private enum Piece {
        /// Bytes that stand for themselves.
        case bytes(Range<Int>)
        /// What an escape stands for.
        case scalar(Unicode.Scalar)
    }

    /// The text of a string without its escapes.
    static func unescaped(_ range: Range<Int>, in bytes: RawSpan) throws(CofferError) -> Secret {
        var output = try SecretBuffer(capacity: range.count)
        try forEachPiece(of: range, in: bytes) { (piece) throws(CofferError) in
            switch piece {
            case .bytes(let range): try output.append(bytes.extracting(range))
            case .scalar(let scalar): try output.append(scalar)
            }
        }
        return try output.finish()
    }

    private static func forEachPiece(
        of range: Range<Int>,
        in bytes: RawSpan,
        _ body: (Piece) throws(CofferError) -> Void
    ) throws(CofferError) {
        var place = range.lowerBound
        while place < range.upperBound {
            let escape = bytes.place(of: UInt8(ascii: "\\"), in: place..<range.upperBound) ?? range.upperBound
            if escape > place { try body(.bytes(place..<escape)) }
            place = escape
            guard place < range.upperBound else { return }
            place += 1
            guard let scalar = bytes.jsonEscape(at: &place, before: range.upperBound) else {
                throw .malformed("line \(bytes.lineNumber(at: place)): a string has an escape that JSON does not have")
            }
            try body(.scalar(scalar))
        }
    }

    private mutating func skipSpace(in bytes: RawSpan) {
        while position < bytes.byteCount, bytes.byte(at: position).isJSONSpace { position += 1 }
    }

    /// The next byte, or 0 at the end, which JSON does not contain.
    private func peek(in bytes: RawSpan) -> UInt8 { position < bytes.byteCount ? bytes.byte(at: position) : 0 }

    private func fault(_ finding: String, in bytes: RawSpan) -> CofferError {
        position < bytes.byteCount
            ? .malformed("line \(bytes.lineNumber(at: position)): \(finding)")
            : .malformed("line \(bytes.lineNumber(at: position)): the JSON does not end: the file is cut off")
    }
}

extension RawSpan {
    /// Whether a JSON text has more values than a number, which is known before any of them is read.
    ///
    /// There is one before each comma, and a last one in each list and object that is not empty. In a text that is no
    /// JSON, it counts no fewer than are read before the fault.
    fileprivate func hasMoreJSONValues(than limit: Int, from start: Int) -> Bool {
        var (count, place) = (1, start)
        var (isInString, isOpened) = (false, false)
        while place < byteCount && count <= limit {
            let byte = byte(at: place)
            place += 1
            if isInString {
                if byte == UInt8(ascii: "\\") { place += 1 } else { isInString = byte != UInt8(ascii: "\"") }
                continue
            }
            if byte.isJSONSpace { continue }
            if isOpened && byte != UInt8(ascii: "]") && byte != UInt8(ascii: "}") { count += 1 }
            isOpened = false
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "["), UInt8(ascii: "{"): isOpened = true
            case UInt8(ascii: ","): count += 1
            default: break
            }
        }
        return count > limit
    }
}

extension UInt8 {
    fileprivate var isJSONSpace: Bool { self == 0x20 || self == 0x0A || self == 0x0D || self == 0x09 }
}
