/// A pattern of unit names, with the rules of systemctl(1).
///
/// `*` matches any text, `?` one character, and `[a-z]` or `[!a-z]` one of a set. A backslash is a character of unit
/// names, and matches itself.
///
/// Unit names are ASCII. Matching takes at most the product of the lengths: there is one place to return to.
struct UnitPattern {
    private enum Token {
        case byte(UInt8)
        case any
        case set([ClosedRange<UInt8>], isNegated: Bool)
        case star

        func matches(_ byte: UInt8) -> Bool {
            switch self {
            case .byte(let own): own == byte
            case .any: true
            case .set(let ranges, let isNegated): ranges.contains { $0.contains(byte) } != isNegated
            case .star: false
            }
        }
    }

    private let tokens: [Token]

    /// Parses a pattern; `nil` if it is malformed.
    init?(_ text: String) {
        var tokens: [Token] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "*"): tokens.append(.star)
            case UInt8(ascii: "?"): tokens.append(.any)
            case UInt8(ascii: "["):
                guard let set = Self.set(&rest) else { return nil }
                tokens.append(set)
            default:
                guard byte.isUnitCharacter else { return nil }
                tokens.append(.byte(byte))
            }
        }
        self.tokens = tokens
    }

    /// Whether a name in a setting is a pattern: no unit's name has these characters.
    static func isPattern(_ text: String) -> Bool { text.utf8.contains { "*?[]".utf8.contains($0) } }

    /// Reads a set up to its closing bracket.
    private static func set(_ rest: inout ArraySlice<UInt8>) -> Token? {
        let isNegated = rest.first == UInt8(ascii: "!") || rest.first == UInt8(ascii: "^")
        if isNegated { rest.removeFirst() }
        var ranges: [ClosedRange<UInt8>] = []
        while let low = rest.popFirst() {
            if low == UInt8(ascii: "]") { return ranges.isEmpty ? nil : .set(ranges, isNegated: isNegated) }
            guard low.isUnitCharacter else { return nil }
            guard rest.first == UInt8(ascii: "-"), let high = rest.dropFirst().first, high != UInt8(ascii: "]") else {
                ranges.append(low...low)
                continue
            }
            guard high.isUnitCharacter, low <= high else { return nil }
            rest.removeFirst(2)
            ranges.append(low...high)
        }
        return nil
    }

    /// Whether a unit's name matches.
    func matches(_ name: String) -> Bool {
        let name = Array(name.utf8)
        var (place, token) = (0, 0)
        var star: (place: Int, token: Int)?
        while place < name.count {
            if token < tokens.count, case .star = tokens[token] {
                star = (place, token)
                token += 1
            } else if token < tokens.count, tokens[token].matches(name[place]) {
                (place, token) = (place + 1, token + 1)
            } else if let last = star {
                star = (last.place + 1, last.token)
                (place, token) = (last.place + 1, last.token + 1)
            } else {
                return false
            }
        }
        return tokens[token...].allSatisfy { if case .star = $0 { true } else { false } }
    }
}

extension ClientPattern {
    /// Whether the name of a unit is that of a pattern, or matches it.
    ///
    /// A pattern finds no `user@….service`, in which everything of a user runs, unless it names that.
    static func unit(_ name: String?, fits pattern: String) -> Bool {
        guard let name else { return false }
        guard UnitPattern.isPattern(pattern) else { return name.utf8.elementsEqual(pattern.utf8) }
        if name.utf8.starts(with: "user@".utf8) && !pattern.utf8.starts(with: "user@".utf8) { return false }
        return UnitPattern(pattern)?.matches(name) ?? false
    }
}
