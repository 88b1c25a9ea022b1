internal import CofferCore

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
    guard bytes.byteCount <= Limits.structuredBytes else { return false }
    let units = Span<UInt8>(_bytes: bytes)
    guard (try? UTF8Span(validating: units)) != nil else { return false }
    var object = ObjectShape()
    var lines = LineShape()
    for index in units.indices {
        let byte = units[index]
        guard byte >= 0x20 && byte != 0x7F || byte.isBlank || byte == UInt8(ascii: "\n") else { return false }
        object.take(byte)
        lines.take(byte)
    }
    return object.isStructured || lines.isStructured
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

    var isStructured: Bool { place == .after && fields >= 1 }

    mutating func take(_ byte: UInt8) {
        switch place {
        case .before: if !byte.isSpace { open(byte) }
        case .inside: takeInside(byte)
        case .string: takeInString(byte)
        case .escape:
            nameBytes += 1
            place = .string
        case .after: if !byte.isSpace { place = .elsewhere }
        case .elsewhere: break
        }
    }

    private mutating func takeInside(_ byte: UInt8) {
        if byte.isSpace { return }
        let name = nameBytes
        nameBytes = 0
        switch byte {
        case UInt8(ascii: "\""): place = .string
        case UInt8(ascii: "{"), UInt8(ascii: "["): open(byte)
        case UInt8(ascii: "}"): close(isBrace: true)
        case UInt8(ascii: "]"): close(isBrace: false)
        case UInt8(ascii: ":"): if depth == 1 && name > 0 { fields += 1 }
        default: break
        }
    }

    private mutating func takeInString(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): place = .inside
        case UInt8(ascii: "\\"): place = .escape
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
    private var nameBytes = 0
    private var fields = 0

    /// A colon at the end of the text has an empty value, as one at the end of a line.
    var isStructured: Bool {
        switch place {
        case .start, .comment, .sectionEnd, .value: fields >= 2
        case .colon: fields >= 1
        case .section, .name, .elsewhere: false
        }
    }

    mutating func take(_ byte: UInt8) {
        let isEnd = byte == UInt8(ascii: "\n")
        switch place {
        case .start: if !byte.isSpace { begin(byte) }
        case .comment, .value: if isEnd { place = .start }
        case .section: takeInSection(byte, isEnd: isEnd)
        case .sectionEnd: takeAfterSection(byte, isEnd: isEnd)
        case .name: takeInName(byte)
        case .colon: takeAfterColon(byte, isEnd: isEnd)
        case .elsewhere: break
        }
    }

    private mutating func begin(_ byte: UInt8) {
        if byte.beginsComment {
            place = .comment
        } else if byte == UInt8(ascii: "[") {
            place = .section
        } else {
            place = byte.beginsName ? .name : .elsewhere
            nameBytes = 1
        }
    }

    private mutating func takeInSection(_ byte: UInt8, isEnd: Bool) {
        if isEnd { place = .elsewhere }
        if byte == UInt8(ascii: "]") { place = .sectionEnd }
    }

    private mutating func takeAfterSection(_ byte: UInt8, isEnd: Bool) {
        if isEnd {
            place = .start
        } else if byte.beginsComment {
            place = .comment
        } else if !byte.isBlank {
            place = .elsewhere
        }
    }

    private mutating func takeInName(_ byte: UInt8) {
        nameBytes += 1
        switch byte {
        case UInt8(ascii: "="):
            fields += 1
            place = .value
        case UInt8(ascii: ":"): place = .colon
        default: if !byte.continuesName || nameBytes > Self.maximumNameBytes { place = .elsewhere }
        }
    }

    /// A colon without a following blank belongs to an address or a time of day, not to a field.
    private mutating func takeAfterColon(_ byte: UInt8, isEnd: Bool) {
        guard isEnd || byte.isBlank else {
            place = .elsewhere
            return
        }
        fields += 1
        place = isEnd ? .start : .value
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
