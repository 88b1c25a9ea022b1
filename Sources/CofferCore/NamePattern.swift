/// A pattern of names: `*` stands for any text within a part, `**` for any text with slashes in it, `?` for one character; anything
/// else for itself.
///
/// Compared as bytes, as names are; `?` takes one whole character of UTF-8.
public struct NamePattern: Hashable, Sendable {
    /// The pattern as it was given.
    public let text: String
    private let tokens: [Token]

    private enum Token: Hashable {
        case byte(UInt8)
        case one
        case many
        case all
    }

    /// Reads a pattern.
    ///
    /// - Parameter text: The pattern.
    /// - Throws: `param` where it is empty, or longer than a name.
    public init(_ text: String) throws(CofferError) {
        guard !text.isEmpty, text.utf8.count <= Limits.nameBytes else {
            throw CofferError(.param, "a pattern of names has 1 to \(Limits.nameBytes) bytes")
        }
        self.text = text
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
        self.tokens = tokens
    }

    /// Whether a name fits.
    ///
    /// - Parameter name: The name.
    public func matches(_ name: String) -> Bool {
        let name = Array(name.utf8)
        // Both kinds of stars are taken back to the last place where they might have taken more: a star that may cross a
        // slash, before the last one that may not.
        var (token, byte) = (0, 0)
        var within: (token: Int, byte: Int)?
        var across: (token: Int, byte: Int)?
        while byte < name.count || token < tokens.count {
            if token < tokens.count {
                switch tokens[token] {
                case .all:
                    across = (token, byte)
                    within = nil
                    token += 1
                    continue
                case .many:
                    within = (token, byte)
                    token += 1
                    continue
                case .one where byte < name.count && name[byte] != UInt8(ascii: "/"):
                    byte = Self.characterEnd(in: name, from: byte)
                    token += 1
                    continue
                case .byte(let wanted) where byte < name.count && name[byte] == wanted:
                    byte += 1
                    token += 1
                    continue
                default: break
                }
            }
            if let last = within, last.byte < name.count, name[last.byte] != UInt8(ascii: "/") {
                within = (last.token, last.byte + 1)
                (token, byte) = (last.token + 1, last.byte + 1)
            } else if let last = across, last.byte < name.count {
                across = (last.token, last.byte + 1)
                within = nil
                (token, byte) = (last.token + 1, last.byte + 1)
            } else {
                return false
            }
        }
        return true
    }

    private static func characterEnd(in name: [UInt8], from start: Int) -> Int {
        var end = start + 1
        while end < name.count, name[end] & 0xC0 == 0x80 { end += 1 }
        return end
    }
}
