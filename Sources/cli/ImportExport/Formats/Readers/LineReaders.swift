internal import CofferClient

/// Formats with one entry in each line.
enum LineReaders {
    /// Calls a closure with each line that is neither empty nor a comment.
    private static func forEachEntry(
        of content: Secret,
        _ body: (RawSpan, Range<Int>, Int) throws(CofferError) -> ExchangeEntry?
    ) throws(CofferError) -> ExchangeList {
        let start = try content.textStart()
        return try content.withBytes { (bytes) throws(CofferError) in
            var list = ExchangeList()
            try bytes.forEachLine { (number, line) throws(CofferError) in
                let line = max(line.lowerBound, start)..<max(line.upperBound, start)
                guard !bytes.trimmed(line).isEmpty, !bytes.has("#", at: bytes.trimmed(line).lowerBound) else { return }
                try list.take("line \(number)") { () throws(CofferError) in try body(bytes, line, number) }
            }
            return list
        }
    }

    // MARK: git

    /// A file `.git-credentials`: an address with user and password in each line.
    static func gitCredentials(_ content: Secret) throws(CofferError) -> ExchangeList {
        try forEachEntry(of: content) { (bytes, line, number) throws(CofferError) in
            let fault = CofferError.malformed("line \(number): an address https://USER:PASSWORD@HOST is expected")
            guard let scheme = bytes.place(of: UInt8(ascii: ":"), in: line), bytes.has("://", at: scheme) else {
                throw fault
            }
            let rest = (scheme + 3)..<line.upperBound
            let slash = bytes.place(of: UInt8(ascii: "/"), in: rest) ?? rest.upperBound
            guard let at = (rest.lowerBound..<slash).last(where: { bytes.byte(at: $0) == UInt8(ascii: "@") }),
                let colon = bytes.place(of: UInt8(ascii: ":"), in: rest.lowerBound..<at)
            else { throw fault }
            let user = try decoded(bytes, rest.lowerBound..<colon).exposeText() ?? ""
            let host = try decoded(bytes, (at + 1)..<slash).exposeText() ?? ""
            let path = try decoded(bytes, slash..<rest.upperBound).exposeText() ?? ""
            var entry = ExchangeEntry(place: "line \(number)")
            entry.kind = .credential
            let address = "\(bytes.plainText(line.lowerBound..<scheme))://\(host)\(path == "/" ? "" : path)"
            entry.server = ExchangeEntry.Server(url: address, account: user)
            try entry.add(ExchangeEntry.password, try decoded(bytes, (colon + 1)..<at))
            return entry
        }
    }

    /// A part of an address without its escapes.
    private static func decoded(_ bytes: RawSpan, _ range: Range<Int>) throws(CofferError) -> Secret {
        var output = try SecretBuffer(capacity: range.count)
        var place = range.lowerBound
        while place < range.upperBound {
            let byte = bytes.byte(at: place)
            if byte == UInt8(ascii: "%"), place + 2 < range.upperBound,
                let value = UInt8(bytes.plainText((place + 1)..<(place + 3)), radix: 16)
            {
                try output.append(value)
                place += 3
            } else {
                try output.append(byte)
                place += 1
            }
        }
        return try output.finish()
    }

    // MARK: PostgreSQL

    /// A file `.pgpass`: host, port, database, user and password between colons.
    static func pgpass(_ content: Secret) throws(CofferError) -> ExchangeList {
        try forEachEntry(of: content) { (bytes, line, number) throws(CofferError) in
            let parts = try fields(bytes, line)
            let words = parts.prefix(4).map { $0.exposeText() ?? "" }
            // Lines of other formats have colons, too.
            guard parts.count == 5, words[1] == "*" || UInt16(words[1]) != nil else {
                throw .malformed("line \(number): HOST:PORT:DATABASE:USER:PASSWORD is expected")
            }
            var entry = ExchangeEntry(place: "line \(number)")
            func named(_ word: String) -> String { word == "*" ? "any" : word }
            let port = ["*", "5432"].contains(words[1]) ? "" : ":\(words[1])"
            entry.folder = [named(words[0]) + port, named(words[2])]
            entry.title = named(words[3])
            try entry.add(ExchangeEntry.password, parts[4])
            try entry.add(ExchangeEntry.username, parts[3])
            for (name, value) in zip(["host", "port", "database"], parts) { try entry.add(name, value) }
            return entry
        }
    }

    /// The parts between colons; a backslash takes the meaning from the next character.
    private static func fields(_ bytes: RawSpan, _ line: Range<Int>) throws(CofferError) -> [Secret] {
        var fields: [Secret] = []
        var buffer = try SecretBuffer()
        var place = line.lowerBound
        while place < line.upperBound {
            let byte = bytes.byte(at: place)
            if byte == UInt8(ascii: "\\") && place + 1 < line.upperBound {
                place += 1
                try buffer.append(bytes.byte(at: place))
            } else if byte == UInt8(ascii: ":") && fields.count < 4 {
                fields.append(try buffer.finish())
                buffer = try SecretBuffer()
            } else {
                try buffer.append(byte)
            }
            place += 1
        }
        return fields + [try buffer.finish()]
    }

    // MARK: Variables

    /// A file `.env`: `NAME=value` in each line, also behind `export`, with the value in quotes or without.
    static func dotenv(_ content: Secret) throws(CofferError) -> ExchangeList {
        var list = try forEachEntry(of: content) { (bytes, line, number) throws(CofferError) in
            let line = bytes.trimmed(line)
            let isExported = line.count > 7 && bytes.has("export ", at: line.lowerBound)
            let start = isExported ? line.lowerBound + 7 : line.lowerBound
            guard let sign = bytes.place(of: UInt8(ascii: "="), in: start..<line.upperBound),
                case let name = bytes.plainText(bytes.trimmed(start..<sign)),
                name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_.]*/) != nil
            else { throw .malformed("line \(number): NAME=value is expected") }
            var entry = ExchangeEntry(place: "line \(number)")
            entry.kind = .variable
            entry.title = name
            entry.whole = try ShellValue.value(bytes, bytes.trimmed((sign + 1)..<line.upperBound), line: number)
            return entry
        }
        // A shell takes the last of several.
        var seen: Set<String> = []
        var last: [ExchangeEntry] = []
        for entry in list.entries.reversed() {
            if seen.insert(entry.title).inserted {
                last.append(entry)
            } else {
                try list.leaveOut(entry, because: "a later line sets it again")
            }
        }
        list.entries = last.reversed()
        return list
    }
}

/// The value of a variable as a shell reads it.
private enum ShellValue {
    static func value(_ bytes: RawSpan, _ range: Range<Int>, line: Int) throws(CofferError) -> Secret {
        guard let first = range.first else { return Secret(nil) }
        let quote = bytes.byte(at: first)
        guard quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") else {
            let comment = range.dropFirst().first {
                bytes.byte(at: $0) == UInt8(ascii: "#") && bytes.byte(at: $0 - 1).isSpace
            }
            return try Secret(bulk: bytes.extracting(bytes.trimmed(range.lowerBound..<(comment ?? range.upperBound))))
        }
        var output = try SecretBuffer(capacity: range.count)
        var place = first + 1
        while place < range.upperBound {
            let byte = bytes.byte(at: place)
            place += 1
            if byte == quote { return try output.finish() }
            guard byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\""), place < range.upperBound else {
                try output.append(byte)
                continue
            }
            let escaped = bytes.byte(at: place)
            place += 1
            switch escaped {
            case UInt8(ascii: "n"): try output.append(10)
            case UInt8(ascii: "t"): try output.append(9)
            case UInt8(ascii: "r"): try output.append(13)
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"), UInt8(ascii: "`"):
                try output.append(escaped)
            default:
                try output.append(byte)
                try output.append(escaped)
            }
        }
        throw .malformed("line \(line): a quote is opened and not closed on its line")
    }
}
