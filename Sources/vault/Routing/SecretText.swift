internal import CofferCore

/// Whether text is one of the forms in which programs keep secrets: the variables of a `.env` file, cookies, a `.netrc`, or
/// named values of which one is called a password, a token or a private key.
///
/// Such content is never readable while the vault is locked unless the caller asks for that. So this errs on the side of
/// secrecy: a wrong guess costs an unlock. It looks at names only, in one pass over the bytes in place.
///
/// - Parameter bytes: The content, or its beginning.
package func looksSecret(_ bytes: RawSpan) -> Bool {
    let text = Span<UInt8>(_bytes: bytes.extracting(droppingFirst: bytes.textStart))
    let beginnings = ["# Netscape HTTP Cookie File", "# HTTP Cookie File", "machine "]
    for beginning in beginnings where text.begins(beginning) { return true }
    var names = NameScanner()
    for index in text.indices {
        // Text has no control characters but white space.
        if text[index] < 0x20 && !text[index].isWhiteSpace { return false }
        if names.take(index, of: text) { return true }
    }
    return names.areVariables
}

/// Finds the names before `=` and `:` in text that begins like settings, and not like prose or code.
///
/// It keeps places in the text, and no byte of it: what it looks at may be a secret.
private struct NameScanner {
    /// The ends of names of secrets, without `-`, `_` and `.`, in lower case.
    private static let secretEndings = [
        "password", "passwd", "passphrase", "secret", "token", "apikey", "privatekey", "secretkey", "accesskey",
        "clientkeydata", "credentials", "recoverycode", "totp",
    ]

    private enum Place {
        case lineStart, name, value, comment
    }

    private var place = Place.lineStart
    /// The word that may be a name.
    private var name = 0..<0
    private var isNameEnded = false
    private var wordCount = 0
    /// Whether the text begins as settings do: with a bracket, a comment, or a name and its value.
    ///
    /// `nil` until that is seen.
    private var isSettings: Bool?
    private var variableCount = 0
    private var otherLineCount = 0

    /// Whether all lines are variables of an environment.
    var areVariables: Bool { variableCount >= 2 && otherLineCount == 0 }

    /// Takes the next byte of a text.
    ///
    /// - Returns: Whether it ends the name of a secret.
    mutating func take(_ index: Int, of text: Span<UInt8>) -> Bool {
        let byte = text[index]
        if isSettings == nil && place == .lineStart && Self.beginsSettings(byte) { isSettings = true }
        switch byte {
        case UInt8(ascii: "\n"):
            endLine()
        case _ where place == .comment:
            break
        case UInt8(ascii: "#") where place == .lineStart, UInt8(ascii: ";") where place == .lineStart:
            place = .comment
        case UInt8(ascii: "="), UInt8(ascii: ":"):
            return endName(of: text, isVariable: byte == UInt8(ascii: "="))
        case _ where byte.isNamePart:
            if isNameEnded { endWord(of: text) }
            if place == .lineStart { wordCount = 1 }
            if place != .value { place = .name }
            name = (name.isEmpty ? index : name.lowerBound)..<(index + 1)
        case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"):
            isNameEnded = !name.isEmpty
        default:
            // What is between words is no part of a name.
            if place != .value { wordCount += 1 }
            forgetName()
        }
        return false
    }

    private static func beginsSettings(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "#") || byte == UInt8(ascii: ";")
    }

    /// Ends a word behind which another one begins; `export` may stand before the name of a variable.
    private mutating func endWord(of text: Span<UInt8>) {
        if place == .name && !(wordCount == 1 && text.has("export", at: name)) { wordCount += 1 }
        forgetName()
    }

    private mutating func endName(of text: Span<UInt8>, isVariable isAssigned: Bool) -> Bool {
        defer { forgetName() }
        if place == .name {
            let isField = wordCount == 1
            isSettings = isSettings ?? isField
            let isVariable = isField && isAssigned && name.allSatisfy { text[$0].isVariablePart }
            if isVariable { variableCount += 1 } else { otherLineCount += 1 }
            place = .value
        }
        // A `.npmrc` begins its names with an address.
        guard isSettings == true || text.has("_authToken", at: name) else { return false }
        for ending in Self.secretEndings where text.ends(with: ending, at: name) { return true }
        return false
    }

    private mutating func endLine() {
        if place == .name {
            otherLineCount += 1
            isSettings = isSettings ?? false
        }
        place = .lineStart
        wordCount = 0
        forgetName()
    }

    private mutating func forgetName() { (name, isNameEnded) = (0..<0, false) }
}

extension Span<UInt8> {
    fileprivate func begins(_ text: String) -> Bool {
        let wanted = text.utf8.span
        return wanted.count <= count && wanted.indices.allSatisfy { self[$0] == wanted[$0] }
    }

    /// Whether a part is a word.
    fileprivate func has(_ word: String, at range: Range<Int>) -> Bool {
        let wanted = word.utf8.span
        return range.count == wanted.count && wanted.indices.allSatisfy { self[range.lowerBound + $0] == wanted[$0] }
    }

    /// Whether a part ends with a word, whatever the case of its letters and the separators between them.
    fileprivate func ends(with word: String, at range: Range<Int>) -> Bool {
        var rest = range
        for wanted in word.utf8.reversed() {
            while let last = rest.last, self[last].isSeparator { rest.removeLast() }
            guard let last = rest.popLast(), self[last].lowercased == wanted else { return false }
        }
        return true
    }
}

extension UInt8 {
    fileprivate var isWhiteSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }

    fileprivate var isSeparator: Bool {
        self == UInt8(ascii: "-") || self == UInt8(ascii: "_") || self == UInt8(ascii: ".")
    }

    fileprivate var isVariablePart: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
        default: false
        }
    }

    fileprivate var isNamePart: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: isVariablePart || isSeparator
        }
    }

    fileprivate var lowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self + 32 : self }
}
