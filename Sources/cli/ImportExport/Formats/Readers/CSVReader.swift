internal import CofferClient

/// CSV files, whose dialect their first line tells.
struct CSVReader {
    private let text: DelimitedText
    private let columns: [CSVColumn]
    /// The folder in which all entries are, if there is one: KeePassXC writes the name of its root.
    private let root: String?

    init(_ content: Secret) throws(CofferError) {
        text = try DelimitedText(content)
        var columns = text.header.map { CSVColumn($0) }
        // A second column with the address of mail beside the user name is a field.
        let hasUsername = text.header.contains { $0.lowercased().hasSuffix("username") }
        for (index, name) in text.header.enumerated() where hasUsername && name.lowercased() == "email" {
            columns[index] = .other("email")
        }
        guard columns.contains(where: \.isPassword) else {
            throw .malformed(
                "line 1 names no column 'password': \(quotedForDisplay(text.header.joined(separator: ",")))",
                hint: "the first line names the columns, such as name,url,username,password"
            )
        }
        self.columns = columns
        root = try Self.commonFolder(text)
    }

    /// Whether a line names the columns of passwords.
    static func looksLikeHeader(_ line: String) -> Bool {
        let names = line.split { [",", ";", "\t"].contains($0) }.map { String($0).replacing("\"", with: "") }
        return names.count > 1 && names.contains { CSVColumn($0).isPassword }
    }

    func entries() throws(CofferError) -> ExchangeList {
        var list = ExchangeList()
        let titles = columns.firstIndex { if case .title = $0 { true } else { false } }
        for (line, fault) in text.faults { try list.leaveOut("line \(line)", "", fault) }
        for row in text.rows {
            let title = try titles.flatMap { (column) throws(CofferError) in
                try text.value(column, of: row)?.exposeText()
            }
            try list.take("line \(row.line)", title ?? "") { () throws(CofferError) in try entry(row) }
        }
        return list
    }

    private func entry(_ row: DelimitedText.Row) throws(CofferError) -> ExchangeEntry {
        var entry = ExchangeEntry(place: "line \(row.line)")
        entry.title = try first(row) { if case .title = $0 { true } else { false } }?.exposeText() ?? ""
        // The password and what belongs to a login come first, in whatever order the columns are.
        for wanted in [ExchangeEntry.password, ExchangeEntry.username, ExchangeEntry.url, ExchangeEntry.otp] {
            for (index, column) in columns.enumerated() where column.fieldName == wanted {
                try addLoginField(wanted, try text.value(index, of: row), to: &entry)
            }
        }
        for (index, column) in columns.enumerated() {
            guard let value = try text.value(index, of: row) else { continue }
            try add(value, of: column, to: &entry)
        }
        if entry[ExchangeEntry.password] == nil && entry[ExchangeEntry.username] == nil { entry.kind = .note }
        return entry
    }

    private func addLoginField(
        _ name: String,
        _ value: Secret?,
        to entry: inout ExchangeEntry
    ) throws(CofferError) {
        guard let value else { return }
        if name == ExchangeEntry.otp { return try entry.addOneTimeKey(value) }
        // LastPass gives a note this address.
        if name == ExchangeEntry.url, value.withBytes({ $0.isText("http://sn", in: 0..<$0.byteCount) }) { return }
        guard name == ExchangeEntry.url else { return try entry.add(name, value) }
        for range in value.withBytes({ $0.addresses }) { try entry.add(name, try value.part(range)) }
    }

    private func add(_ value: Secret, of column: CSVColumn, to entry: inout ExchangeEntry) throws(CofferError) {
        switch column {
        case .title, .url, .username, .password, .otp, .ignored: break
        case .notes: try entry.setNotes(value)
        case .folder: entry.folder = Self.parts(value.exposeText() ?? "", below: root)
        case .tags: entry.tags += (value.exposeText() ?? "").split { $0 == "," || $0 == ";" }.map(String.init)
        case .favorite: if ["1", "true"].contains(value.exposeText()?.lowercased()) { entry.tags.append("favorite") }
        case .created: entry.dates.created = Self.date(value)
        case .modified: entry.dates.modified = Self.date(value)
        case .fields: try addLines(value, to: &entry)
        case .other(let name): try entry.add(name, value)
        }
    }

    /// Takes the fields that Bitwarden writes as lines `name: value`.
    private func addLines(_ value: Secret, to entry: inout ExchangeEntry) throws(CofferError) {
        var fields: [(String, Range<Int>)] = []
        value.withBytes { bytes in
            bytes.forEachLine { _, line in
                let colon = bytes.place(of: UInt8(ascii: ":"), in: line) ?? line.lowerBound
                fields.append((bytes.plainText(line.lowerBound..<colon), bytes.trimmed(colon..<line.upperBound)))
            }
        }
        for (name, range) in fields {
            try entry.add(name, try value.part(name.isEmpty ? range : range.dropFirst().trimmed(in: value)))
        }
    }

    private func first(_ row: DelimitedText.Row, where isWanted: (CSVColumn) -> Bool) throws(CofferError) -> Secret? {
        for (index, column) in columns.enumerated() where isWanted(column) {
            if let value = try text.value(index, of: row) { return value }
        }
        return nil
    }

    /// Seconds or milliseconds since 1970, or a date of ISO 8601.
    private static func date(_ value: Secret) -> Int64? {
        guard let text = value.exposeText() else { return nil }
        guard let number = Int64(text) else { return ExchangeDate.milliseconds(iso: text) }
        return number > 100_000_000_000 ? number : number * 1000
    }

    // MARK: Folders

    private static func parts(_ folder: String, below root: String?) -> [String] {
        let parts = folder.split { $0 == "/" || $0 == "\\" }.map(String.init)
        return parts.first == root && root != nil ? Array(parts.dropFirst()) : parts
    }

    private static func commonFolder(_ text: DelimitedText) throws(CofferError) -> String? {
        guard let column = text.header.firstIndex(where: { $0 == "Group" }) else { return nil }
        var root: String?
        for row in text.rows {
            let first = parts(try text.value(column, of: row)?.exposeText() ?? "", below: nil).first
            guard let first, root == nil || root == first else { return nil }
            root = first
        }
        return root
    }
}

extension CSVColumn {
    /// The name of the field, if it is one of those of a login.
    fileprivate var fieldName: String? {
        switch self {
        case .password: ExchangeEntry.password
        case .username: ExchangeEntry.username
        case .url: ExchangeEntry.url
        case .otp: ExchangeEntry.otp
        default: nil
        }
    }
}

extension RawSpan {
    /// The addresses of a value, which has a comma, a line end or a blank between several, each with its scheme.
    fileprivate var addresses: [Range<Int>] {
        var starts = [0]
        for place in 1..<Swift.max(1, byteCount) {
            let before = byte(at: place - 1)
            guard before == UInt8(ascii: ",") || before == 10 || before == UInt8(ascii: " ") else { continue }
            if startsAddress(at: place) { starts.append(place) }
        }
        return zip(starts, starts.dropFirst() + [byteCount]).map { start, end in
            let range = trimmed(start..<end)
            let isSeparated = end < byteCount && !range.isEmpty && byte(at: range.upperBound - 1) == UInt8(ascii: ",")
            return isSeparated ? trimmed(range.dropLast()) : range
        }
    }

    /// Whether a scheme and `://` stand at a place.
    private func startsAddress(at start: Int) -> Bool {
        var place = start
        while place < byteCount,
            byte(at: place) & 0xDF >= 65 && byte(at: place) & 0xDF <= 90 || byte(at: place).isDigit
                || [43, 45, 46].contains(byte(at: place))
        { place += 1 }
        return place > start && has("://", at: place)
    }
}

extension Range<Int> {
    /// The range without the white space around it.
    fileprivate func trimmed(in value: Secret) -> Range<Int> { value.withBytes { $0.trimmed(self) } }
}
