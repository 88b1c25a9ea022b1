/// A pattern of names: `*` matches any text within a part, `**` any text across parts, `?` one character; anything else
/// matches itself.
///
/// Patterns are compared as bytes, as names are; `?` matches one whole character of UTF-8.
///
/// Matching takes one step for each byte of the name and each 64 tokens of the pattern, without backtracking, because
/// clients supply patterns.
public struct NamePattern: Sendable {
    /// The text of the pattern.
    public let text: String
    private let tokenCount: Int
    /// For each byte, the places at which it matches itself.
    private var literals: [UInt8: Places] = [:]
    /// The places of `?`.
    private var characters: Places
    /// The places of `*`.
    private var starsWithin: Places
    /// The places of `**`.
    private var starsAcross: Places

    private enum Token {
        case byte(UInt8)
        case one
        case many
        case all
    }

    /// Parses a pattern.
    ///
    /// - Throws: `param` if it is empty, or longer than a name.
    public init(_ text: String) throws(CofferError) {
        guard !text.isEmpty, text.utf8.count <= Limits.nameBytes else {
            throw CofferError(.param, "a pattern of names has 1 to \(Limits.nameBytes) bytes")
        }
        self.text = text
        let tokens = Self.tokens(text)
        tokenCount = tokens.count
        let none = Places(upTo: tokens.count)
        (characters, starsWithin, starsAcross) = (none, none, none)
        for (place, token) in tokens.enumerated() {
            switch token {
            case .byte(let byte): literals[byte, default: none].insert(place)
            case .one: characters.insert(place)
            case .many: starsWithin.insert(place)
            case .all: starsAcross.insert(place)
            }
        }
    }

    /// Whether it has no wildcard, and so matches one name only.
    public var isOneName: Bool { characters.isEmpty && starsWithin.isEmpty && starsAcross.isEmpty }

    private static func tokens(_ text: String) -> [Token] {
        var tokens: [Token] = []
        for byte in text.utf8 {
            switch (byte, tokens.last) {
            case (UInt8(ascii: "*"), .many?): tokens[tokens.count - 1] = .all
            case (UInt8(ascii: "*"), .all?): continue
            case (UInt8(ascii: "*"), _): tokens.append(.many)
            case (UInt8(ascii: "?"), _): tokens.append(.one)
            default: tokens.append(.byte(byte))
            }
        }
        return tokens
    }

    /// Whether a name matches.
    public func matches(_ name: String) -> Bool {
        // All places of the pattern that the bytes so far can lead to.
        var reached = Places(upTo: tokenCount)
        reached.insert(0)
        skipStars(&reached)
        // The places after a `?` whose character is incomplete.
        var amidst = Places(upTo: tokenCount)
        for byte in name.utf8 {
            let isContinuation = byte & 0xC0 == 0x80
            if !isContinuation { endCharacter(&reached, &amidst) }
            let isSlash = byte == UInt8(ascii: "/")
            if !isSlash { amidst.formUnion(advancing: reached, at: characters) }
            var next = Places(upTo: tokenCount)
            if let literal = literals[byte] { next.formUnion(advancing: reached, at: literal) }
            if !isSlash { next.formUnion(reached, at: starsWithin) }
            next.formUnion(reached, at: starsAcross)
            skipStars(&next)
            reached = next
            if reached.isEmpty && amidst.isEmpty { return false }
        }
        endCharacter(&reached, &amidst)
        return reached.contains(tokenCount)
    }

    private func endCharacter(_ reached: inout Places, _ amidst: inout Places) {
        if amidst.isEmpty { return }
        reached.formUnion(amidst)
        skipStars(&reached)
        amidst = Places(upTo: tokenCount)
    }

    /// A star may match nothing; two stars are never adjacent.
    private func skipStars(_ places: inout Places) {
        let before = places
        places.formUnion(advancing: before, at: starsWithin)
        places.formUnion(advancing: before, at: starsAcross)
    }
}

extension NamePattern: Hashable {
    /// Whether the bytes of the patterns are the same.
    public static func == (one: NamePattern, other: NamePattern) -> Bool {
        one.text.utf8.elementsEqual(other.text.utf8)
    }

    /// Hashes the bytes of the pattern.
    public func hash(into hasher: inout Hasher) { for byte in text.utf8 { hasher.combine(byte) } }
}

/// A set of places in a pattern, as bits.
private struct Places {
    private var words: [UInt64]

    /// Creates the empty set.
    init(upTo last: Int) { words = [UInt64](repeating: 0, count: last / 64 + 1) }

    var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

    func contains(_ place: Int) -> Bool { words[place / 64] & (1 << UInt64(place % 64)) != 0 }

    mutating func insert(_ place: Int) { words[place / 64] |= 1 << UInt64(place % 64) }

    mutating func formUnion(_ others: Places) { for index in words.indices { words[index] |= others.words[index] } }

    /// Adds the places of another set that are also in a third one.
    mutating func formUnion(_ others: Places, at filter: Places) {
        for index in words.indices { words[index] |= others.words[index] & filter.words[index] }
    }

    /// Adds the successors of the places of another set that are also in a third one.
    mutating func formUnion(advancing others: Places, at filter: Places) {
        var carry: UInt64 = 0
        for index in words.indices {
            let moved = others.words[index] & filter.words[index]
            words[index] |= moved << 1 | carry
            carry = moved >> 63
        }
    }
}
