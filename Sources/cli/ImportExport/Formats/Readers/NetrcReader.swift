internal import CofferClient

/// A file `.netrc`: words between spaces, in quotes if they have some themselves.
enum NetrcReader {
    private struct Token {
        let range: Range<Int>
        let line: Int
        let isQuoted: Bool
    }

    static func entries(of content: Secret) throws(CofferError) -> ExchangeList {
        let start = try content.textStart()
        let tokens = try content.withBytes { (bytes) throws(CofferError) in try Self.tokens(in: bytes, from: start) }
        var list = ExchangeList()
        var entry: ExchangeEntry?
        var parts: [(String, Secret)] = []
        func finished() throws(CofferError) -> ExchangeEntry? {
            guard var done = entry else { return nil }
            for wanted in [ExchangeEntry.password, ExchangeEntry.username, "account"] {
                for (name, value) in parts where name == wanted { try done.add(name, value) }
            }
            return done
        }
        var index = 0
        func next(_ what: String) throws(CofferError) -> Secret {
            guard index < tokens.count else {
                throw .malformed("line \(tokens[index - 1].line): there is no \(what): the file is cut off")
            }
            defer { index += 1 }
            return try value(of: tokens[index], content)
        }
        while index < tokens.count {
            let token = tokens[index]
            let word = content.withBytes { $0.plainText(token.range) }
            index += 1
            switch word {
            case "machine", "default":
                if let done = try finished() { try list.append(done) }
                parts = []
                entry = ExchangeEntry(place: "line \(token.line)")
                entry?.folder = [word == "default" ? word : try next("name of the machine").exposeText() ?? ""]
            case "login", "user":
                let name = try next("user name")
                entry?.title = name.exposeText() ?? ""
                parts.append((ExchangeEntry.username, name))
            case "password", "passwd": parts.append((ExchangeEntry.password, try next("password")))
            case "account": parts.append(("account", try next("account")))
            case "macdef":
                index = endOfMacro(tokens, from: index, content)
                var macro = ExchangeEntry(place: "line \(token.line)")
                macro.title = "macdef"
                try list.leaveOut(macro, because: "a macro has no password")
            default:
                let finding = "a word of .netrc is expected, such as machine, login or password"
                try list.leaveOut("line \(token.line)", "", .malformed("line \(token.line): \(finding)"))
            }
        }
        if let done = try finished() { try list.append(done) }
        if list.entries.isEmpty && list.firstFault == nil { throw .malformed("the file has no password of a machine") }
        return list
    }

    /// Passes over a macro, which ends with an empty line.
    private static func endOfMacro(_ tokens: [Token], from start: Int, _ content: Secret) -> Int {
        var index = start
        while index + 1 < tokens.count && tokens[index + 1].line - tokens[index].line < 2 { index += 1 }
        return index + 1
    }

    private static func tokens(in bytes: RawSpan, from start: Int) throws(CofferError) -> [Token] {
        var tokens: [Token] = []
        var (place, line) = (start, 1)
        while place < bytes.byteCount {
            let byte = bytes.byte(at: place)
            if byte == 10 { line += 1 }
            if byte.isSpace {
                place += 1
            } else if byte == UInt8(ascii: "#") {
                place = bytes.place(of: 10, in: place..<bytes.byteCount) ?? bytes.byteCount
            } else if byte == UInt8(ascii: "\"") {
                let end = try endOfQuote(in: bytes, from: place + 1, line)
                tokens.append(Token(range: (place + 1)..<end, line: line, isQuoted: true))
                place = end + 1
            } else {
                var end = place
                while end < bytes.byteCount && !bytes.byte(at: end).isSpace { end += 1 }
                tokens.append(Token(range: place..<end, line: line, isQuoted: false))
                place = end
            }
            guard tokens.count <= 8 * Limits.importEntries else {
                throw .tooLarge("line \(line): the file has too many words")
            }
        }
        return tokens
    }

    private static func endOfQuote(in bytes: RawSpan, from start: Int, _ line: Int) throws(CofferError) -> Int {
        var place = start
        while place < bytes.byteCount, bytes.byte(at: place) != 10 {
            if bytes.byte(at: place) == UInt8(ascii: "\"") { return place }
            place += bytes.byte(at: place) == UInt8(ascii: "\\") ? 2 : 1
        }
        throw .malformed("line \(line): a quote is opened and never closed")
    }

    private static func value(of token: Token, _ content: Secret) throws(CofferError) -> Secret {
        guard token.isQuoted else { return try content.part(token.range) }
        return try content.withBytes { (bytes) throws(CofferError) in
            var output = try SecretBuffer(capacity: token.range.count)
            var place = token.range.lowerBound
            while place < token.range.upperBound {
                if bytes.byte(at: place) == UInt8(ascii: "\\") && place + 1 < token.range.upperBound { place += 1 }
                try output.append(bytes.byte(at: place))
                place += 1
            }
            return try output.finish()
        }
    }
}
