internal import CofferClient

/// The text of `secret-tool search --all`, which names an item, its secret and its attributes.
struct SecretServiceReader {
    private var list = ExchangeList()
    private var line = 0
    private var label = ""
    private var secret: Secret?
    private var schema = ""
    private var attributes: [(name: String, value: Secret)] = []
    private var dates: [String: Int64] = [:]

    static func entries(of content: Secret) throws(CofferError) -> ExchangeList {
        let start = try content.textStart()
        var reader = SecretServiceReader()
        try content.withBytes { (bytes) throws(CofferError) in
            guard bytes.has("[", at: start) else {
                throw .malformed(
                    "this is not the text of 'secret-tool search --all': its first line is no path in brackets"
                )
            }
            var lines: [(Int, Range<Int>)] = []
            bytes.forEachLine { lines.append(($0, $1)) }
            for (index, (number, line)) in lines.enumerated() {
                try reader.take(bytes, line, number, upTo: Self.end(of: lines.map(\.1), index, in: bytes))
            }
        }
        try reader.finish()
        return reader.list
    }

    /// Where a secret ends that may have several lines: before the next line of the tool itself.
    private static func end(of lines: [Range<Int>], _ index: Int, in bytes: RawSpan) -> Int {
        guard bytes.has("secret = ", at: lines[index].lowerBound) else { return lines[index].upperBound }
        var last = index
        while last + 1 < lines.count, !bytes.has("created = ", at: lines[last + 1].lowerBound) { last += 1 }
        return lines[last + 1 < lines.count ? last : index].upperBound
    }

    private mutating func take(_ bytes: RawSpan, _ range: Range<Int>, _ number: Int, upTo end: Int) throws(CofferError)
    {
        if bytes.has("[/", at: range.lowerBound), bytes.byte(at: range.upperBound - 1) == UInt8(ascii: "]") {
            try finish()
            line = number
            return
        }
        guard let sign = range.first(where: { bytes.has(" = ", at: $0) }) else { return }
        let name = bytes.plainText(range.lowerBound..<sign)
        let value = try Secret(bulk: bytes.extracting((sign + 3)..<max(end, sign + 3)))
        switch name {
        case "label": label = value.exposeText() ?? ""
        case "secret": secret = value
        case "schema": schema = value.exposeText() ?? ""
        case "created", "modified":
            dates[name] = value.exposeText().flatMap { ExchangeDate.milliseconds(iso: $0) }
        default:
            if name.hasPrefix("attribute.") { attributes.append((String(name.dropFirst(10)), value)) }
        }
    }

    private mutating func finish() throws(CofferError) {
        defer {
            (line, label, secret, schema) = (0, "", nil, "")
            (attributes, dates) = ([], [:])
        }
        guard line > 0 else { return }
        let outcome = Result<ExchangeEntry?, CofferError> { () throws(CofferError) in try entry() }
        try list.take("line \(line)", label, outcome)
    }

    private func entry() throws(CofferError) -> ExchangeEntry {
        var entry = ExchangeEntry(place: "line \(line)")
        entry.kind = .secret
        entry.title = label
        (entry.dates.created, entry.dates.modified) = (dates["created"], dates["modified"])
        try entry.add(ExchangeEntry.password, secret)
        for (name, value) in attributes where name != "xdg:schema" {
            try entry.add(["user", "username", "username_value"].contains(name) ? ExchangeEntry.username : name, value)
        }
        return entry
    }
}
