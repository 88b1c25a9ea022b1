/// Whether some content is text that consists of named fields: one JSON object, or lines such as `NAME=value` and
/// `name: value`.
///
/// This is a guess for routing, not a parser: it tests the shape, in one pass over the bytes in place, because a copy
/// of a secret would have to be wiped. A JSON object needs one named field, lines need two. Comments, sections in
/// brackets, blank lines, indentation and `export` are allowed between and before the lines.
///
/// - Parameter bytes: Any content.
/// - Returns: `false` for content that is empty, longer than ``Limits/structuredBytes``, not UTF-8, or contains control
///   characters.
package func looksStructured(_ bytes: RawSpan) -> Bool {
    var object = ObjectShape()
    var lines = LineShape()
    guard bytes.byteCount <= Limits.structuredBytes, scan(bytes, &object, &lines) else { return false }
    return object.isStructured || lines.isStructured
}

/// Passes a text through both shapes.
///
/// - Returns: Whether it is UTF-8 without control characters.
private func scan(_ bytes: RawSpan, _ object: inout ObjectShape, _ lines: inout LineShape) -> Bool {
    let units = Span<UInt8>(_bytes: bytes)
    guard (try? UTF8Span(validating: units)) != nil else { return false }
    for index in bytes.textStart..<units.count {
        let byte = units[index]
        guard byte >= 0x20 && byte != 0x7F || byte.isBlank || byte == UInt8(ascii: "\n") else { return false }
        object.take(byte, at: index)
        lines.take(byte, at: index)
    }
    return true
}

/// The places of the named fields of a text, for a reader that has the bytes.
///
/// It is the scan of ``looksStructured(_:)``, for which every line has to be a field; here a reader decides.
package struct FieldPlaces: Sendable {
    /// A named field.
    package struct Field: Sendable {
        /// The name, in a JSON object without its quotes; spaces may follow it.
        package let name: Range<Int>
        /// All that follows the separator, up to the end of the line, or to the comma or brace after it.
        package let value: Range<Int>
        /// The colon or the equals sign.
        package let separator: UInt8
    }

    /// A line.
    package struct TextLine: Sendable {
        /// The line without its end.
        package let range: Range<Int>
        /// What it consists of.
        package let content: Content

        /// What a line consists of.
        package enum Content: Sendable {
            case field(Field)
            /// A comment, a section in brackets, or nothing.
            case aside
            case words
        }
    }

    /// Whether the text is one JSON object.
    package let isObject: Bool
    /// The fields at the top level of the object.
    package let members: [Field]
    /// The lines of the text; one that ends it without a line end is the last.
    package let lines: [TextLine]

    /// Finds the fields of a text.
    ///
    /// - Parameter bytes: Any content.
    /// - Returns: `nil` if it is not UTF-8, or contains control characters.
    package init?(_ bytes: RawSpan) {
        var object = ObjectShape(members: [])
        var lines = LineShape(found: [], from: bytes.textStart)
        guard scan(bytes, &object, &lines) else { return nil }
        lines.finish(at: bytes.byteCount)
        isObject = object.isStructured
        members = object.members ?? []
        self.lines = lines.found ?? []
    }
}

/// The shape of one JSON object: brackets that balance outside strings, and members at its top level.
private struct ObjectShape {
    private enum Place {
        case before
        case inside
        case string
        case escape
        case after
        case elsewhere
    }

    private static let maximumDepth = 32

    private var place = Place.before
    /// One bit for each open bracket, the innermost lowest: set for `{`.
    private var braces: UInt64 = 0
    private var depth = 0
    /// The size of the string just read, zero after anything else: a colon makes it a name.
    private var nameBytes = 0
    private var fields = 0
    /// Where the last string begins, and where the string that a colon made a name ends.
    private var nameStart = 0
    private var pending: (name: Range<Int>, value: Int)?
    /// The fields, if they are wanted.
    private(set) var members: [FieldPlaces.Field]?

    init(members: [FieldPlaces.Field]? = nil) { self.members = members }

    var isStructured: Bool { place == .after && fields >= 1 }

    mutating func take(_ byte: UInt8, at index: Int) {
        switch place {
        case .before: if !byte.isSpace { open(byte) }
        case .inside: takeInside(byte, at: index)
        case .string: takeInString(byte)
        case .escape:
            nameBytes += 1
            place = .string
        case .after: if !byte.isSpace { place = .elsewhere }
        case .elsewhere: break
        }
    }

    private mutating func takeInside(_ byte: UInt8, at index: Int) {
        if byte.isSpace { return }
        let name = nameBytes
        nameBytes = 0
        switch byte {
        case UInt8(ascii: "\""):
            place = .string
            nameStart = index + 1
        case UInt8(ascii: "{"), UInt8(ascii: "["): open(byte)
        case UInt8(ascii: "}"):
            if depth == 1 { endMember(at: index) }
            close(isBrace: true)
        case UInt8(ascii: "]"): close(isBrace: false)
        case UInt8(ascii: ","): if depth == 1 { endMember(at: index) }
        case UInt8(ascii: ":"):
            guard depth == 1 && name > 0 else { break }
            fields += 1
            pending = (nameStart..<(nameStart + name), index + 1)
        default: break
        }
    }

    private mutating func endMember(at index: Int) {
        guard let member = pending else { return }
        members?.append(
            FieldPlaces.Field(name: member.name, value: member.value..<index, separator: UInt8(ascii: ":"))
        )
        pending = nil
    }

    private mutating func takeInString(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): place = .inside
        case UInt8(ascii: "\\"):
            nameBytes += 1
            place = .escape
        case UInt8(ascii: "\n"): place = .elsewhere
        default: nameBytes += 1
        }
    }

    private mutating func open(_ byte: UInt8) {
        let isBrace = byte == UInt8(ascii: "{")
        guard isBrace || depth > 0, depth < Self.maximumDepth else {
            place = .elsewhere
            return
        }
        braces = braces << 1 | (isBrace ? 1 : 0)
        depth += 1
        place = .inside
    }

    private mutating func close(isBrace: Bool) {
        guard (braces & 1 == 1) == isBrace else {
            place = .elsewhere
            return
        }
        braces >>= 1
        depth -= 1
        if depth == 0 { place = .after }
    }
}

/// The shape of lines of fields: a line that is not a field makes the text something else, such as prose or code.
private struct LineShape {
    private enum Place {
        case start
        case comment
        case section
        case sectionEnd
        case name
        case colon
        case value
        case elsewhere
    }

    /// A longer name is a sentence.
    private static let maximumNameBytes = 64

    private var place = Place.start
    private var lineStart = 0
    private var nameStart = 0
    /// The place of the separator of the line.
    private var separator: (place: Int, byte: UInt8)?
    private var fields = 0
    private var others = 0
    /// The lines, if they are wanted.
    private(set) var found: [FieldPlaces.TextLine]?

    init(found: [FieldPlaces.TextLine]? = nil, from start: Int = 0) {
        self.found = found
        lineStart = start
    }

    /// A colon at the end of the text has an empty value, as one at the end of a line.
    var isStructured: Bool {
        guard others == 0 else { return false }
        return switch place {
        case .start, .comment, .sectionEnd, .value: fields >= 2
        case .colon: fields >= 1
        case .section, .name, .elsewhere: false
        }
    }

    mutating func take(_ byte: UInt8, at index: Int) {
        if byte == UInt8(ascii: "\n") { return endLine(at: index) }
        switch place {
        case .start: if !byte.isBlank { begin(byte, at: index) }
        case .section: if byte == UInt8(ascii: "]") { place = .sectionEnd }
        case .sectionEnd: takeAfterSection(byte)
        case .name: takeInName(byte, at: index)
        case .colon: takeAfterColon(byte)
        case .comment, .value, .elsewhere: break
        }
    }

    /// Ends a last line that has no end.
    mutating func finish(at end: Int) { if end > lineStart { endLine(at: end) } }

    private mutating func endLine(at index: Int) {
        var content = FieldPlaces.TextLine.Content.words
        switch place {
        case .start, .comment, .sectionEnd: content = .aside
        case .colon, .value:
            if place == .colon { fields += 1 }
            guard let separator else { break }
            content = .field(
                FieldPlaces.Field(
                    name: nameStart..<separator.place,
                    value: (separator.place + 1)..<index,
                    separator: separator.byte
                )
            )
        case .section, .name, .elsewhere: others += 1
        }
        found?.append(FieldPlaces.TextLine(range: lineStart..<index, content: content))
        place = .start
        lineStart = index + 1
    }

    private mutating func begin(_ byte: UInt8, at index: Int) {
        if byte.beginsComment {
            place = .comment
        } else if byte == UInt8(ascii: "[") {
            place = .section
        } else {
            place = byte.beginsName ? .name : .elsewhere
            nameStart = index
        }
    }

    private mutating func takeAfterSection(_ byte: UInt8) {
        if byte.beginsComment {
            place = .comment
        } else if !byte.isBlank {
            place = .elsewhere
        }
    }

    private mutating func takeInName(_ byte: UInt8, at index: Int) {
        switch byte {
        case UInt8(ascii: "="):
            fields += 1
            separator = (index, byte)
            place = .value
        case UInt8(ascii: ":"):
            separator = (index, byte)
            place = .colon
        default: if !byte.continuesName || index - nameStart >= Self.maximumNameBytes { place = .elsewhere }
        }
    }

    /// A colon without a following blank belongs to an address or a time of day, not to a field.
    private mutating func takeAfterColon(_ byte: UInt8) {
        if byte.isBlank { fields += 1 }
        place = byte.isBlank ? .value : .elsewhere
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool {
        self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") || self == UInt8(ascii: "\r")
    }

    fileprivate var isSpace: Bool { isBlank || self == UInt8(ascii: "\n") }

    fileprivate var beginsComment: Bool { self == UInt8(ascii: "#") || self == UInt8(ascii: ";") }

    /// Any character outside ASCII may be a letter here, so that names in every language count.
    fileprivate var beginsName: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }

    fileprivate var continuesName: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"): true
        default: beginsName || isBlank
        }
    }
}
