/// The grammar of RFC 8259 and nothing else: a second reading, by other means than the parser's, that says yes or no.
///
/// It takes what the RFC leaves to the reader as the RFC has it: any depth, any number, equal keys, half of a surrogate pair.
/// Like section 8.1, it wants UTF-8 and no byte order mark.
struct JSONGrammar {
    private enum Expectation {
        case value
        case valueOrEnd
        case keyOrEnd
        case key
        case colon
        case separator
    }

    private let units: [UInt8]
    private var place = 0
    /// The brackets that are open, from the outermost.
    private var open: [UInt8] = []

    private init(_ units: [UInt8]) { self.units = units }

    /// Whether some bytes are a JSON text.
    static func accepts(_ bytes: [UInt8]) -> Bool {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) || String(validating: bytes, as: UTF8.self) == nil { return false }
        var grammar = JSONGrammar(bytes)
        return grammar.takeText()
    }

    private mutating func takeText() -> Bool {
        var expected = Expectation.value
        while true {
            skip { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
            if expected == .separator && open.isEmpty { return place == units.count }
            guard place < units.count, let next = take(units[place], expected) else { return false }
            expected = next
        }
    }

    /// Takes one token where it may stand.
    ///
    /// - Returns: What may follow it; `nil` if it is not allowed there.
    private mutating func take(_ unit: UInt8, _ expected: Expectation) -> Expectation? {
        switch (unit, expected) {
        case (UInt8(ascii: "]"), .valueOrEnd), (UInt8(ascii: "}"), .keyOrEnd):
            return close(unit)
        case (UInt8(ascii: "]"), .separator), (UInt8(ascii: "}"), .separator):
            return open.last == unit - 2 ? close(unit) : nil
        case (UInt8(ascii: ","), .separator):
            place += 1
            return open.last == UInt8(ascii: "[") ? .value : .key
        case (UInt8(ascii: ":"), .colon):
            place += 1
            return .value
        case (UInt8(ascii: "\""), .key), (UInt8(ascii: "\""), .keyOrEnd):
            return takeString() ? .colon : nil
        case (_, .value), (_, .valueOrEnd):
            return takeValue(unit)
        default:
            return nil
        }
    }

    private mutating func close(_ unit: UInt8) -> Expectation {
        place += 1
        open.removeLast()
        return .separator
    }

    private mutating func takeValue(_ unit: UInt8) -> Expectation? {
        switch unit {
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            open.append(unit)
            place += 1
            return unit == UInt8(ascii: "[") ? .valueOrEnd : .keyOrEnd
        case UInt8(ascii: "\""): return takeString() ? .separator : nil
        case UInt8(ascii: "t"): return take("true") ? .separator : nil
        case UInt8(ascii: "f"): return take("false") ? .separator : nil
        case UInt8(ascii: "n"): return take("null") ? .separator : nil
        default: return takeNumber() ? .separator : nil
        }
    }

    private mutating func take(_ word: String) -> Bool {
        guard units[place...].starts(with: word.utf8) else { return false }
        place += word.utf8.count
        return true
    }

    private mutating func takeNumber() -> Bool {
        _ = take("-")
        if !take("0") && !takeDigits() { return false }
        if take(".") && !takeDigits() { return false }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            return takeDigits()
        }
        return true
    }

    private mutating func takeDigits() -> Bool {
        let start = place
        skip { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return place > start
    }

    private mutating func takeString() -> Bool {
        place += 1
        while place < units.count {
            let unit = units[place]
            place += 1
            switch unit {
            case UInt8(ascii: "\""): return true
            case ..<0x20: return false
            case UInt8(ascii: "\\"): if !takeEscape() { return false }
            default: continue
            }
        }
        return false
    }

    private mutating func takeEscape() -> Bool {
        guard place < units.count else { return false }
        let unit = units[place]
        place += 1
        if #""\/bfnrt"#.utf8.contains(unit) { return true }
        let digits = units[place...].prefix(4)
        place += digits.count
        return unit == UInt8(ascii: "u") && digits.count == 4 && digits.allSatisfy { Character(.init($0)).isHexDigit }
    }

    private mutating func skip(while isTaken: (UInt8) -> Bool) {
        while place < units.count, isTaken(units[place]) { place += 1 }
    }
}
